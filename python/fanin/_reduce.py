# SPDX-License-Identifier: Apache-2.0
"""A reduction of views, of one array or of rows, and the results in the input's library."""

import ctypes
from ctypes import byref
from math import prod

from . import _library as c
from ._catalogue import EXTREMES, INDEXED, NUMBER, OF_FLOATS, OPERATIONS, is_count, is_truth, options_for
from ._device import reduce_on_device
from ._errors import InvalidArgument, Overflow, Unsupported
from ._inputs import view_of
from ._pieces import LONG, reduce_batch, reduce_in_pieces
from ._results import finish, result_type_for
from ._types import I64, INTEGERS, SIZES, U64, U8
from ._views import in_c_order, overlap


def reduce_views(what, views, axis=None, method="exact", wanted=c.DEFAULT_TYPE, keepdims=False, out=None, mask=None,
                 nan="propagate", backend="auto", threads=0, batch=None, report=None, bound=False):
    """The results of an operation of one view or two, in the library of the first."""
    x = views[0]
    check_pair(views)
    wanted = result_type_for(what, x, method, wanted)
    number, form, size = c.result_of(what, x.code, wanted)
    options = options_for(method, nan, backend, threads, wanted, bound)
    batch, shape = batch or batch_of(x, axis, keepdims, method, form, mask)
    call = c.Input(x=x.address, y=views[1].address if len(views) > 1 else None, count=x.count, type=x.code,
                   place=x.place)
    if mask is not None:
        set_mask(call, x, mask)
    # The index is the second 64-bit integer of {value, index}; min and max stand side by side.
    pairs = (2,) if form != NUMBER else ()
    held = I64 if form == INDEXED else number
    if out is not None:
        if form == EXTREMES:
            raise Unsupported("minmax has two results, and no out=")
        if str(getattr(out, "dtype", "")).endswith("bool") and not is_truth(what, x.is_bool):
            raise Unsupported("out has the type bool, and the results have that of numbers")
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
        c.check(c.reduce(ctypes.c_int32(what), byref(call), options, ctypes.c_void_p(address),
                         None if report is None else byref(report)))
    if memory is out:
        return out
    return finish(what, x, memory, shape, held, form, out)


def views_for(what, *inputs):
    """The views of inputs of an operation: integers as floats of 64 bits, where the operation is one of floats."""
    views = [view_of(x) for x in inputs]
    return [as_floats(view) if what in OF_FLOATS and view.code in INTEGERS else view for view in views]


def as_floats(view):
    """The view of a copy of integers as floats of 64 bits. Raises Overflow where one is above 2^53 in size."""
    if SIZES[view.code] == 8 and not 0 <= int(reduce_views(OPERATIONS["max_magnitude"], [view])) <= 2 ** 53:
        raise Overflow("integers above 2^53 are among the elements, and floats of 64 bits do not hold all of these: "
                       "convert them, as by x.astype('float64')")
    return view_of(view.library.as_floats(view))


def arrays_read(views, call, batch):
    """The views of all that a call reads: the inputs, the mask, and offsets or keys."""
    return [*views, *(given.kept for given in (call, batch) if hasattr(given, "kept"))]


def check_pair(views):
    if len(views) == 1:
        return
    x, y = views
    if x.code != y.code or x.place != y.place or x.device != y.device:
        raise Unsupported("both inputs have to be of one type and in one memory")
    if x.shape != y.shape:
        raise InvalidArgument("the inputs have the shapes %s and %s" % (x.shape, y.shape))
    if x.strides != y.strides:
        raise Unsupported("both inputs have to lie in the same order: call numpy.ascontiguousarray(x) of each, or "
                          "x.contiguous() of torch")


def axes_of(axis, ndim):
    """The axes that `axis` names, from 0 on."""
    if axis is None:
        return tuple(range(ndim))
    named = axis if isinstance(axis, (tuple, list)) else (axis,)
    axes = tuple(i + ndim if i < 0 else i for i in named)
    for i, given in zip(axes, named):
        if not 0 <= i < ndim:
            raise InvalidArgument("there is no axis %d: the array has %d" % (given, ndim))
    if len(set(axes)) != len(axes):
        raise InvalidArgument("an axis is named twice")
    return axes


def batch_of(x, axis, keepdims, method, form, mask):
    """The rows of an array along the axes, or None where they are one array; and the shape of the results."""
    ndim = len(x.shape)
    along = axes_of(axis, ndim)
    shape = tuple(1 if i in along else x.shape[i] for i in range(ndim) if keepdims or i not in along)
    if len(along) == ndim:
        if x.strides is None:
            return None, shape
        # Where the order does not matter, an array whose axes are turned round is one array too.
        if method == "exact" and form != INDEXED and mask is None and in_c_order(x.shape[::-1], x.strides[::-1]):
            return None, shape
    batch = c.Batch(layout=c.ROWS, axis_count=ndim, along_count=len(along),
                    shape=(ctypes.c_uint64 * ndim)(*x.shape), along=(ctypes.c_int32 * len(along))(*along))
    if x.strides is not None:
        batch.strides = (ctypes.c_int64 * ndim)(*x.strides)
    return batch, shape


def input_without_gaps(x, mask, who):
    """The struct of an array that is read in any order of its axes; with a mask, in C order."""
    turned = x.strides is not None
    if turned and (mask is not None or not in_c_order(x.shape[::-1], x.strides[::-1])):
        raise Unsupported("%s reads arrays without gaps, and with where= in C order: call numpy.ascontiguousarray(x), "
                          "or x.contiguous() of torch" % who)
    call = c.Input(x=x.address, count=x.count, type=x.code, place=x.place)
    if mask is not None:
        set_mask(call, x, mask)
    return call


def set_mask(call, x, mask):
    """Elements take part where the mask, an array of bool of the same shape and in C order, is true."""
    view = view_of(mask)
    if view.code != U8 or view.place != x.place:
        raise Unsupported("where has to be an array of bool, in the memory of the input")
    if view.shape != x.shape or view.strides is not None:
        raise InvalidArgument("where has the shape %s, and the input %s: call "
                         "numpy.ascontiguousarray(numpy.broadcast_to(where, x.shape))" % (view.shape, x.shape))
    call.mask = view.address
    call.kept = view
