# SPDX-License-Identifier: Apache-2.0
"""A reduction of views, of one array or of rows, and the results in the input's library."""

import ctypes
import operator
from itertools import compress
from math import prod

from . import _library as c
from ._catalogue import EXTREMES, INDEXED, NUMBER, OF_FLOATS, OF_FLOATS_ON_DEVICES, OPERATIONS, is_count, \
    is_read_as_integers, is_read_on_devices, is_truth, options_for
from ._device import reduce_on_device
from ._errors import InvalidArgument, Overflow, Unsupported, shown
from ._inputs import view_of
from ._libraries import bytes_of
from ._pieces import reduce_batch, reduce_in_pieces
from ._presence import Presence, combined
from ._results import finish, result_type_for
from ._types import F32, F64, I8, I64, INTEGERS, LETTER_OF, LONG, NAMES, SIZES, U64, U8
from ._views import in_c_order, overlap

MISSING = "elements are missing (null or NA): leave them out with nan=\"skip\""
DIGITS = {F32: 24, F64: 53}  # Floats of these types hold integers up to 2^24 and 2^53 in size.


def reduce_views(what, views, axis=None, method="exact", wanted=c.DEFAULT_TYPE, keepdims=False, out=None, mask=None,
                 nan="propagate", backend="auto", threads=0, batch=None, report=None, bound=False):
    """The results of an operation of one view or two, in the library of the first."""
    x = views[0]
    check_pair(views)
    wanted = result_type_for(what, x.code, x.library.narrow, method, wanted)
    number, form, size = c.result_of(what, x.code, wanted)
    options = options_for(method, nan, backend, threads, wanted, bound)
    call = make_call(views, mask, nan)
    batch, shape = batch or batch_of(x, axis, keepdims, method, form, call.mask)
    # The index is the second 64-bit integer of {value, index}; min and max stand side by side.
    pairs = (2,) if form != NUMBER else ()
    held = I64 if form == INDEXED else number
    if out is not None:
        if form == EXTREMES:
            raise Unsupported("minmax takes no out=, because it has two results")
        if str(getattr(out, "dtype", "")).endswith("bool") and not is_truth(what, x.is_bool):
            raise Unsupported("out has the type bool, but the results are numbers")
        x.library.check(out, shape, I64 if held == U64 and is_count(what, x.is_bool) else held)
    direct = None  # where results are written without another copy of them: not over what is still read
    if out is not None and form == NUMBER:
        begin = x.library.address_of(out)
        if not overlap(begin, begin + prod(shape) * size, arrays_read(views, call, batch)):
            direct = out, begin
    if x.place == c.DEVICE:
        return reduce_on_device(what, x, call, batch, options, shape, number, form, held, out, direct, report)
    memory, address = direct or x.library.empty(shape + pairs, held, x)
    if batch is not None:
        output = c.Output(data=address, count=prod(shape), place=c.HOST)
        reduce_batch(what, call, batch, options, output, size, report)
    elif x.count * SIZES[x.code] >= LONG and not bound:
        reduce_in_pieces(what, call, options, address, report)
    else:
        c.check(c.reduce(what, call, options, address, report))
    if memory is out:
        return out
    return finish(what, x, memory, shape, held, form, out)


def views_for(what, inputs, wanted=c.DEFAULT_TYPE, where=None):
    """The views of inputs of an operation with the mask `where`. Integers become floats if the operation or the type of
    results asks so, and beside elements of another type."""
    views = [view_of(x) for x in inputs]
    differ = len({view.code for view in views}) > 1
    if not differ and wanted == c.DEFAULT_TYPE and is_read_as_it_is(what, views[0], where):
        if views[0].place == c.DEVICE:
            check_digits(views[0], F64)
    elif differ or what in (OF_FLOATS_ON_DEVICES if views[0].place == c.DEVICE else OF_FLOATS):
        wanted = F64
    for view in views:
        if view.is_bool and wanted == I64:
            view.code = I8  # whose sums are i64
    return [as_floats(view, wanted) if wanted in DIGITS and view.code in INTEGERS else view for view in views]


def is_read_as_it_is(what, view, where):
    """Whether the library reads integers of an operation of floats as they are. Masks need a copy, because -infinity
    stands for an element that is left out. Large integers in host memory are compared with a copy."""
    if view.presence is not None or not (where is None or where is True):
        return False
    if view.place == c.DEVICE:
        return is_read_on_devices(what, view.code)
    return is_read_as_integers(what, view.code) and has_digits(view, F64)


def as_floats(view, code):
    """The view of a copy of integers as floats of 32 or 64 bits. Raises Overflow if one would be rounded."""
    made = converted(view, code)
    check_digits(view, code, made)
    return made


def check_digits(view, code, made=None):
    """Raises Overflow if floats of 32 or 64 bits do not hold all integers. `made` is a copy as such floats."""
    if not has_digits(view, code) and not (view.place == c.HOST and are_equal(view, made)):
        raise Overflow("an element is an integer above 2^%d, and %s does not hold all of these: convert the elements "
                       "with x.astype('float64')" % (DIGITS[code], NAMES[code]))


def has_digits(view, code):
    """Whether floats of 32 or 64 bits hold all integers up to the largest magnitude of the view."""
    most = DIGITS[code]
    return 8 * SIZES[view.code] <= most or \
        0 <= int(reduce_views(OPERATIONS["max_magnitude"], [view], nan="skip")) <= 2 ** most


def are_equal(x, y):
    """Whether the numbers of two views in host memory are equal. Python compares integers and floats without rounding."""
    whole = (view if view.strides is None else converted(view, view.code) for view in (x, y))
    equal = map(operator.eq, *(memoryview(bytes_of(view)).cast(LETTER_OF[view.code]) for view in whole))
    return all(equal if x.presence is None else compress(equal, x.presence.as_bytes()))


def converted(view, code):
    """The view of a copy of the elements in C order, as numbers of a type that holds them."""
    made = view_of(view.library.converted(view, code))
    made.presence = view.presence
    return made


def make_call(views, where, nan):
    """The struct of the inputs, without the elements that `where` leaves out, and those that are missing."""
    x = views[0]
    call = c.Input(x=x.address, y=views[1].address if len(views) > 1 else None, count=x.count, type=x.code,
                   place=x.place)
    parts = [view.presence for view in views if view.presence is not None]
    if parts and nan == "propagate":
        raise InvalidArgument(MISSING)
    if where is not None and where is not True:
        parts.append(presence_of(where, x))
    presence = combined(parts)
    if presence is not None:
        call.mask, call.mask_first, call.mask_form = presence.address, presence.first, presence.form
        call.kept = presence
    return call


def arrays_read(views, call, batch):
    """The views of all that a call reads: the inputs, the mask, and offsets or keys."""
    return [*views, *(given.kept for given in (call, batch) if hasattr(given, "kept"))]


def check_pair(views):
    if len(views) == 1:
        return
    x, y = views
    if x.code != y.code:
        raise Unsupported("the inputs have the types %s and %s: convert one of them" % (NAMES[x.code], NAMES[y.code]))
    if x.place != y.place or x.device != y.device:
        raise Unsupported("both inputs have to be in the same memory")
    if x.shape != y.shape:
        raise InvalidArgument("the inputs have the shapes %s and %s" % (x.shape, y.shape))
    if x.strides != y.strides:
        raise Unsupported("the elements of both inputs have to be in the same order: hand over %s of each"
                          % contiguous(x))


def axes_of(axis, ndim):
    """The axes that `axis` names, from 0 on."""
    if axis is None:
        return tuple(range(ndim))
    try:
        named = tuple(map(operator.index, axis if isinstance(axis, (tuple, list)) else (axis,)))
    except TypeError:
        advice = ": names of axes are for a DataFrame of pandas" if isinstance(axis, str) else ""
        raise Unsupported("axis is a number, a tuple of numbers or None, and not %s%s"
                          % (shown(axis), advice)) from None
    axes = tuple(i + ndim if i < 0 else i for i in named)
    for i, given in zip(axes, named):
        if not 0 <= i < ndim:
            raise InvalidArgument("there is no axis %d: the array has %d" % (given, ndim))
    if len(set(axes)) != len(axes):
        raise InvalidArgument("an axis is named twice")
    return axes


def batch_of(x, axis, keepdims, method, form, masked):
    """The rows of an array along the axes, or None where they are one array; and the shape of the results."""
    ndim = len(x.shape)
    along = axes_of(axis, ndim)
    shape = tuple(1 if i in along else x.shape[i] for i in range(ndim) if keepdims or i not in along)
    if len(along) == ndim:
        if x.strides is None:
            return None, shape
        # If the order does not matter, an array whose axes are turned round is one array too.
        if method == "exact" and form != INDEXED and not masked and in_c_order(x.shape[::-1], x.strides[::-1]):
            return None, shape
    batch = c.Batch(layout=c.ROWS, axis_count=ndim, along_count=len(along),
                    shape=(ctypes.c_uint64 * ndim)(*x.shape), along=(ctypes.c_int32 * len(along))(*along))
    if x.strides is not None:
        batch.strides = (ctypes.c_int64 * ndim)(*x.strides)
    return batch, shape


def call_without_gaps(x, where, nan, who):
    """The struct of an array that is read in any order of its axes; with a mask, in C order."""
    call = make_call([x], where, nan)
    turned = x.strides is not None
    if turned and (call.mask is not None or not in_c_order(x.shape[::-1], x.strides[::-1])):
        raise Unsupported("%s reads arrays without gaps, and with where= also in C order: hand over %s"
                          % (who, contiguous(x)))
    return call


def contiguous(view):
    """The call of the view's library that gives a copy in C order."""
    return {"torch": "x.contiguous()", "cupy": "cupy.ascontiguousarray(x)"}.get(view.library.name,
                                                                               "numpy.ascontiguousarray(x)")


def presence_of(where, x):
    """The presence that `where` says, an array of bool that is broadcast to the shape of x, or one truth value."""
    if isinstance(where, bool) or isinstance(where, (list, tuple)) and set(map(type, where)) <= {bool}:
        truths = bytes([where] if isinstance(where, bool) else where)
        where = memoryview(truths).cast("?", () if isinstance(where, bool) else (len(truths),))
    view = view_of(where)
    if view.code != U8 or view.place != x.place or view.presence is not None:
        raise Unsupported("where has to be an array of bool without missing elements, in the same memory as "
                          "the input")
    if view.shape != x.shape or view.strides is not None:
        if not is_broadcast(view.shape, x.shape):
            raise InvalidArgument("where has the shape %s, which cannot be broadcast to the shape of the input, %s"
                                  % (view.shape, x.shape))
        view = view_of(view.library.broadcast(view, x.shape))
    return Presence(view.address, view.count, kept=view)


def is_broadcast(shape, target):
    """Whether numpy's rules broadcast an array of that shape to the target's."""
    return len(shape) <= len(target) and all(n in (1, m) for n, m in zip(shape[::-1], target[::-1]))
