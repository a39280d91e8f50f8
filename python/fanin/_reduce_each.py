# SPDX-License-Identifier: Apache-2.0
"""Several operations of one array, or of its rows, in one read."""

import ctypes
from ctypes import POINTER, byref, pointer
from math import prod

from . import _library as c
from ._catalogue import INDEXED, NUMBER, OF_FLOATS, OPERATIONS, default_method, name_of, name_to_code, options_of, \
    policy_for
from ._contexts import context_of
from ._device import one_row
from ._errors import InvalidArgument, Overflow, shown
from ._frames import is_frame
from ._keywords import refuse
from ._operations import functions
from ._reduce import batch_of, make_call, views_for
from ._results import finish, result_type_for
from ._types import I64, INTEGERS, code_of


def reduce_each(operations, x, axis=None, *, method=None, dtype=None, keepdims=False, where=None, nan="propagate",
                skipna=None, backend="auto", threads=0, **unknown):
    """The results of several operations of x, in a tuple. Each has the bits of its own function's result.

    `operations` is a list of operations of one input, by their names or functions. The other arguments are those of
    fanin.sum; without `method` each operation has its own default. Host memory is read once, except for frames and for
    integers with log_sum_exp. Device memory is read once for each operation, except for rows: there measures of
    dispersion with one method share a read, and exact means and sums share the read of exact measures of floats.

    >>> import fanin
    >>> fanin.reduce_each(["min", "max", fanin.mean], [2.0, 4.0, 9.0])
    (2.0, 9.0, 5.0)
    """
    if unknown:
        refuse("reduce_each", unknown)
    names = names_of(operations)
    whats = [OPERATIONS[name] for name in names]
    nan = policy_for(nan, skipna)
    if hasattr(x, "__next__"):
        x = list(x)

    def alone():
        given = {} if method is None else {"method": method}
        return tuple(functions[name](x, axis, dtype=dtype, keepdims=keepdims, where=where, nan=nan, backend=backend,
                                     threads=threads, **given) for name in names)
    if is_frame(x):
        return alone()
    wanted = c.DEFAULT_TYPE if dtype is None else code_of(dtype)
    view, = views_for(OPERATIONS["max"], (x,), wanted)
    on_device = view.place == c.DEVICE
    if view.code in INTEGERS and not OF_FLOATS.isdisjoint(whats):
        return alone()
    options = options_of(method or "fast", nan, backend, threads)
    if method is None:
        options.method = -1
    call = make_call([view], where, nan)
    batch, shape = batch_of(view, axis, keepdims, "fast", NUMBER, call.mask)
    if on_device and (batch is None or not hasattr(view.library, "empty_on_device")):
        return alone()
    results = [Results(name, method or default_method(name), view, wanted, shape) for name in names]
    count, report = len(whats), c.CReport()
    arguments = ((ctypes.c_int32 * count)(*whats), (ctypes.c_int32 * count)(*(r.wanted for r in results)), count,
                 byref(call), byref(batch or one_row(view)), byref(options),
                 (POINTER(c.Output) * count)(*(pointer(r.output) for r in results)))
    if on_device:
        context = context_of(view.device, view.stream, view.library)
        with context.lock:
            c.check(c.context_enqueue_each(context.handle, *arguments))
        return tuple(r.finished() for r in results)
    try:
        c.check(c.reduce_each(*arguments, (POINTER(c.CReport) * count)(pointer(report))))
    except Overflow:
        return alone()  # whose sums of lists are integers of Python
    if batch is None and call.count - report.absent < 2:
        return alone()  # Too few elements are an error for one array, and NaN in a row.
    return tuple(r.finished() for r in results)


class Results:
    """The memory for the results of an operation."""

    def __init__(self, name, method, x, wanted, shape):
        self.what, self.x, self.shape = OPERATIONS[name], x, shape
        self.wanted = result_type_for(self.what, x.code, x.library.narrow, method, wanted)
        number, self.form, _ = c.result_of(self.what, x.code, self.wanted)
        self.held = I64 if self.form == INDEXED else number
        pairs = () if self.form == NUMBER else (2,)
        empty = x.library.empty_on_device if x.place == c.DEVICE else x.library.empty
        self.memory, address = empty(shape + pairs, self.held, x)
        self.output = c.Output(data=address, count=prod(shape), place=x.place)

    def finished(self):
        return finish(self.what, self.x, self.memory, self.shape, self.held, self.form)


def names_of(operations):
    """The names of operations of one input. Raises InvalidArgument for others."""
    if isinstance(operations, str) or not hasattr(operations, "__iter__"):
        raise InvalidArgument("operations is a list such as [\"mean\", \"max\"], not %s" % shown(operations))
    names = [name_of(operation) for operation in operations]
    if not names:
        raise InvalidArgument("there are no operations")
    for name in names:
        what = name_to_code(OPERATIONS, name, "operation")
        if c.operation_inputs(what) != 1:
            raise InvalidArgument("%s reads two inputs: call fanin.%s(x, y)" % (name, name))
    return names
