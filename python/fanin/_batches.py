# SPDX-License-Identifier: Apache-2.0
"""A result for each segment or group: fanin.segment_sum, fanin.group_sum and so on, and fanin.index_add."""

import cmath
import ctypes
import operator

from . import _library as c
from ._buffers import Held
from ._catalogue import EXTREMES, INDEXED, OPERATIONS, default_method, has_exact, is_index, name_of, \
    name_to_code, options_for, policy_for, story_of
from ._contexts import context_of
from ._errors import Error, InvalidArgument, Overflow, Unsupported, a, shown
from ._inputs import view_of
from ._keys import factorised, named, with_names
from ._keywords import refuse
from ._operations import ShortCalls
from ._reduce import DIGITS, arrays_read, as_floats, contiguous, converted, make_call, reduce_views, views_for
from ._results import result_type_for
from ._sequences import integer_of
from ._short_calls import torch_calls
from ._state import State
from ._types import CODES, COMPLEX, CTYPE_OF, F64, I8, I64, INDICES, INTEGERS, NAMES, NARROW, SIZES, code_of, value_at
from ._views import overlap

NO_INDICES = "offsets, and keys with a number of groups, have to be integers on one axis, without missing ones: " \
    "convert them with numpy.asarray(keys, 'int64'), or leave out the number of groups"

SEGMENTS_DOC = """%s, of each segment.

Segment k is x[offsets[k]:offsets[k + 1]]; there is one more offset than segments. `empty` is the result of segments
without elements, where the operation has none: without it, NaN for floats, and an error otherwise. The other arguments
are those of fanin.%s.%s

%s
"""
GROUPS_DOC = """%s, of each group.

Group k is the elements of x whose key is k, from 0 up to groups - 1. A key of no group is an error, unless
`drop_others` leaves its element out. Without `groups` the keys are of any kind, such as text: the call returns the
different keys in order, and their results; of pandas it returns a Series. `empty` is as for segments; the other
arguments are those of fanin.%s.%s

%s
"""
EXAMPLES = {
    "segment_argmax": ">>> fanin.segment_argmax([1.0, 2.0, 9.0, 4.0], [0, 1, 4]).tolist()\n[0, 1]",
    "group_argmax": ">>> fanin.group_argmax([1.0, 2.0, 9.0, 4.0], [0, 1, 1, 1], 2).tolist()\n[0, 2]",
    "segment_sum": ">>> fanin.segment_sum(array('d', [1, 2, 3, 4]), [0, 1, 1, 4]).tolist()\n[1.0, 0.0, 9.0]",
    "group_sum": ">>> fanin.group_sum(array('d', [1, 2, 3, 4]), [0, 2, 0, 2], 3).tolist()\n[4.0, 0.0, 6.0]"
                 "\n>>> fanin.group_sum([1.0, 2.0, 3.0], [\"b\", \"a\", \"b\"])\n(['a', 'b'], array('d', [2.0, 4.0]))",
}


_short_calls = {what: ShortCalls(what) for what in OPERATIONS.values()}
_short_additions = {what: ShortCalls(what) for what in OPERATIONS.values()}


def make(full_name):
    kind, _, name = full_name.partition("_")
    what = OPERATIONS[name]
    two = c.operation_inputs(what) == 2
    default = default_method(name)

    def check_words(unknown):
        if unknown:
            refuse(full_name, unknown)
    if kind == "segment":
        def reduce_one(x, offsets, *, method=default, dtype=None, empty=None, out=None, where=None, nan="propagate",
                       skipna=None, backend="auto", threads=0, **unknown):
            check_words(unknown)
            return _reduce(what, (x,), offsets, None, False, method, dtype, empty, out, where, policy_for(nan, skipna),
                           backend, threads)

        def reduce_two(x, y, offsets, *, method=default, dtype=None, empty=None, out=None, where=None, nan="propagate",
                       skipna=None, backend="auto", threads=0, **unknown):
            check_words(unknown)
            return _reduce(what, (x, y), offsets, None, False, method, dtype, empty, out, where,
                           policy_for(nan, skipna), backend, threads)
    else:
        def reduce_one(x, keys, groups=None, *, drop_others=False, method=default, dtype=None, empty=None, out=None,
                       where=None, nan="propagate", skipna=None, backend="auto", threads=0, **unknown):
            check_words(unknown)
            return _reduce_groups(what, (x,), keys, groups, drop_others, method, dtype, empty, out, where,
                                  policy_for(nan, skipna), backend, threads)

        def reduce_two(x, y, keys, groups=None, *, drop_others=False, method=default, dtype=None, empty=None, out=None,
                       where=None, nan="propagate", skipna=None, backend="auto", threads=0, **unknown):
            check_words(unknown)
            return _reduce_groups(what, (x, y), keys, groups, drop_others, method, dtype, empty, out, where,
                                  policy_for(nan, skipna), backend, threads)
    function = reduce_two if two else reduce_one
    function.__name__ = function.__qualname__ = full_name
    function.__module__ = "fanin"
    document, place = (SEGMENTS_DOC, "segment") if kind == "segment" else (GROUPS_DOC, "whole array")
    index = " The index counts from the beginning of the %s." % place if is_index(what) else ""
    function.__doc__ = document % (story_of(what), name, index, EXAMPLES.get(full_name, ""))
    return function


def number_of(groups):
    count = operator.index(groups)
    if count < 0:
        raise InvalidArgument("groups=%d: the number of groups cannot be negative" % count)
    return count


def _reduce_groups(what, inputs, keys, groups, drop_others, *others):
    """The results of groups. If the number of groups is not given, each different key has a result."""
    if groups is not None:
        return _reduce(what, inputs, keys, number_of(groups), drop_others, *others)
    codes, names = factorised(keys)
    if not drop_others and len(codes):
        first = int(reduce_views(OPERATIONS["argmin"], [view_of(codes)]))
        if codes[first] < 0:
            raise InvalidArgument("key %d is missing: leave its element out with drop_others=True" % first)
    try:
        results = _reduce(what, inputs, codes, len(names), True, *others)
    except Error as error:
        raise type(error)(with_names(str(error), names)) from None
    return named(results, names, inputs[0], keys)


def _reduce(what, inputs, index, groups, drop_others, method, dtype, empty, out, where, nan, backend, threads):
    short = torch_calls[type(inputs[0])]
    if short is not None and len(inputs) == 1 and empty is out is where is None and type(backend) is str:
        results = short.reduce_short_indexed(_short_calls[what], inputs[0], index, groups, drop_others,
                                             (method, nan, backend, threads), dtype)
        if results is not NotImplemented:
            return results
    wanted = c.DEFAULT_TYPE if dtype is None else code_of(dtype)
    views = views_for(what, inputs, wanted, where)
    batch, count = batch_of(views[0], index, groups, drop_others)
    wanted = result_type_for(what, views[0].code, views[0].library.narrow, method, wanted)
    if empty is not None:
        number, form, _ = c.result_of(what, views[0].code, wanted)
        try:
            batch.if_empty = ctypes.addressof(result_for_empty(empty, number, form, batch))
        except (Unsupported, TypeError, ValueError):
            kind = "a pair of numbers" if form == EXTREMES else "an index" if form == INDEXED else NAMES[number]
            raise Unsupported("empty=%s cannot be a result, which is %s" % (shown(empty), kind)) from None
    return reduce_views(what, views, None, method, wanted, False, out, where, nan, backend, threads,
                        batch=(batch, (count,)))


def batch_of(x, index, groups, drop_others):
    """The struct for segments (groups is None) or groups, and the number of results."""
    if len(x.shape) != 1 or x.strides is not None:
        raise Unsupported("segments and groups need an array with one axis and without gaps: hand over "
                          "x.reshape(-1) or %s" % contiguous(x))
    indices = indices_of(index, INDICES if groups is None else INTEGERS)
    if indices.place != x.place or indices.device != x.device:
        raise Unsupported("offsets and keys have to be in the same memory as the elements")
    batch = c.Batch(layout=c.SEGMENTS if groups is None else c.GROUPS, index=indices.address,
                    index_count=indices.count, index_type=indices.code, drop_others=drop_others,
                    group_count=0 if groups is None else groups)
    batch.kept = indices
    if groups is None and not indices.count:
        raise InvalidArgument("there are no offsets: segments need one offset more than there are segments")
    return batch, indices.count - 1 if groups is None else groups


def indices_of(index, types):
    """The view of offsets or keys as integers of one of the types: of a copy if they have another type, or gaps."""
    try:
        indices = view_of(index)
    except Unsupported:
        raise Unsupported(NO_INDICES) from None
    if not indices.count:
        indices.code = I64  # the type of an empty list is unknown
    if indices.code not in INTEGERS or len(indices.shape) != 1 or indices.presence is not None:
        raise Unsupported(NO_INDICES)
    if indices.code not in types or indices.strides is not None:
        return converted(indices, indices.code if indices.code in types else CODES["i32"])
    return indices


def result_for_empty(empty, number, form, batch):
    """The memory of a result that stands for no elements. An index alone stands beside the element 0."""
    memory = batch.kept_empty = (ctypes.c_uint64 * 2)()
    address = ctypes.addressof(memory)
    if form == INDEXED:
        memory[1] = empty & 0xffffffffffffffff
    elif form == EXTREMES:
        least, largest = empty
        write_number(least, number, address)
        write_number(largest, number, address + SIZES[number])
    else:
        write_number(empty, number, address)
    return memory


def write_number(value, code, address):
    """Writes a number of that type. Raises Overflow where it is too large, or an integer that the type does not have."""
    integer = integer_of(value)
    if integer is not None:
        value = integer
    if code in COMPLEX:
        number, part = complex(value), COMPLEX[code]
        write_float(number.real, part, address)
        write_float(number.imag, part, address + SIZES[part])
    elif code in INTEGERS:
        CTYPE_OF[code].from_address(address).value = value
    else:
        write_float(value, code, address)
    found = value_at(address, code)
    if found != value and (integer is not None or cmath.isfinite(value) and not cmath.isfinite(found)):
        raise Overflow("empty=%r does not fit into a result of %s" % (value, NAMES[code]))


def write_float(value, code, address):
    """Writes a number rounded to a floating-point type, which is done by a state: in any environment alike."""
    State([value]).write_value(OPERATIONS["sum"], code, address)


def index_add(out, keys, x, *, operation="sum", drop_others=False, method="exact", where=None, nan="propagate",
              skipna=None, backend="auto", threads=0):
    """Adds each x[i] to out[keys[i]], and returns out, an array of the type that the operation has for x.

    With method="exact" each out[k] and its elements are added without rounding, and rounded once. `operation` is
    sum, product, min or max, by its name or its function. In device memory the additions are enqueued on the stream of
    the library of x; where a key is of no group, nothing is added there.

    >>> total = array('d', [1.0, 1.0])
    >>> fanin.index_add(total, [1, 1, 0], array('d', [1e16, -1e16, 3.0]))
    array('d', [4.0, 1.0])
    """
    what = name_to_code(OPERATIONS, name_of(operation), "operation")
    nan, short = policy_for(nan, skipna), torch_calls[type(x)]
    if short is not None and where is None and type(backend) is str:
        found = short.add_short(_short_additions[what], out, keys, x, drop_others, (method, nan, backend, threads))
        if found is not NotImplemented:
            return found
    target, view = view_of(out), view_of(x)
    if len(target.shape) != 1 or target.strides is not None:
        raise Unsupported("out of index_add has to have one axis and no gaps")
    if target.place != view.place or target.device != view.device:
        raise Unsupported("out has to be in the same memory as the elements")
    if target.owner is not out or not (target.kept is None or isinstance(target.kept, Held)):
        raise Unsupported("%s cannot be out: hand over an array of numpy, torch or CuPy, or of the buffer protocol"
                          % a(type(out).__name__))
    if target.kept is not None and target.kept.buffer.readonly or not getattr(
            getattr(out, "flags", None), "writeable", True):
        raise InvalidArgument("out is read-only")
    if method == "exact" and not has_exact(what):
        method = "fast"
    if view.is_bool and target.code == I64:
        view.code = I8  # Counts of bool are int64, as numpy's are.
    if view.code in INTEGERS and target.code in DIGITS:
        view = as_floats(view, target.code)
    default = c.result_of(what, view.code)[0]
    if target.code != default and not (view.code not in INTEGERS and (target.code in NARROW or target.code == F64)):
        raise Unsupported("out has another type than the results, which are %s" % NAMES[default])
    batch, count = batch_of(view, keys, target.count, drop_others)
    call = make_call([view], where, nan)
    wanted = c.DEFAULT_TYPE if target.code == default else target.code
    options = options_for(method, nan, backend, threads, wanted)
    memory = Copy(target, view) if overlap(*target.extent, arrays_read([view], call, batch)) else target
    output = c.Output(data=memory.address, count=count, place=target.place)
    if view.place == c.DEVICE:
        context = context_of(view.device, view.stream, view.library)
        with context.lock:
            c.check(c.context_enqueue_add_to(context.handle, what, call, batch, options, output))
    else:
        c.check(c.add_to(what, call, batch, options, output, None))
    if memory is not target:
        memory.write_back()
    return out


class Copy:
    """A copy of `out`, for additions whose input overlaps `out`; write_back() copies the sums back."""

    def __init__(self, target, x):
        self.target, self.size = target, target.count * SIZES[target.code]
        if target.place == c.HOST:
            self.memory = (ctypes.c_uint64 * (self.size // 8 + 1))()
            self.address = ctypes.addressof(self.memory)
            ctypes.memmove(self.address, target.address, self.size)
        elif target.library is x.library:
            self.memory, self.address = target.library.empty_on_device(target.shape, target.code, target)
            self.memory[...] = target.owner
        else:
            raise Unsupported("out overlaps the other arrays: hand over a copy of out")

    def write_back(self):
        if self.target.place == c.HOST:
            ctypes.memmove(self.target.address, self.address, self.size)
        else:
            self.target.owner[...] = self.memory
