# SPDX-License-Identifier: Apache-2.0
"""Calls for rows of one shape on a device, whose facts are looked up once."""

from ctypes import byref
from math import prod

from . import _library as c
from ._catalogue import INDEXED, NUMBER, is_truth, kept_options
from ._contexts import PER_THREAD_STREAM, context_of, is_left_to_long_call
from ._reduce import batch_of
from ._results import result_type_for
from ._types import COMPLEX, I64, code_of


class RowsCall:
    """A call of one operation for arrays of one shape.

    The lock of the stream's context guards the structs, too. Raises KeyError for what is left to the long call.
    """

    __slots__ = ("lock", "handle", "what", "input", "batch", "options", "output", "form", "held", "shape", "is_truth")

    def __init__(self, what, x, axis, choices, dtype):
        wanted = c.DEFAULT_TYPE if dtype is None else code_of(dtype)
        if is_left_to_long_call(what, x.code, x.is_bool, wanted):
            raise KeyError(what)
        wanted = result_type_for(what, x.code, x.library.narrow, choices[0], wanted)
        number, self.form, _ = c.result_of(what, x.code, wanted)
        if x.code in COMPLEX or 0 in x.shape or x.stream == PER_THREAD_STREAM:
            raise KeyError(what)
        batch, shape = batch_of(x, axis, False, choices[0], self.form, None)
        if batch is None:
            raise KeyError(what)  # one array, whose additions have another order
        self.batch = batch
        self.shape, self.held = (shape, number) if self.form == NUMBER else \
            (shape + (2,), I64 if self.form == INDEXED else number)
        context = context_of(x.device, x.stream, x.library)
        self.lock, self.handle, self.what = context.lock, context.handle, what
        self.options = kept_options[choices + (wanted,)]
        self.input = c.Input(count=x.count, type=x.code, place=c.DEVICE)
        self.output = c.Output(count=prod(shape), place=c.DEVICE)
        self.is_truth = is_truth(what, x.is_bool)


def enqueue_rows(call, address, results):
    """Enqueues the reduction of the elements at `address` to results in device memory."""
    with call.lock:
        call.input.x, call.output.data = address, results
        status = c.context_enqueue_batch(call.handle, call.what, byref(call.input), byref(call.batch), call.options,
                                         byref(call.output))
    if status:
        c.check(status)
