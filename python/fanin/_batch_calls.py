# SPDX-License-Identifier: Apache-2.0
"""Calls for batches on a device, of which all but addresses and counts is looked up once."""

from ctypes import byref
from math import prod

from . import _library as c
from ._catalogue import INDEXED, NUMBER, is_truth, kept_options
from ._contexts import PER_THREAD_STREAM, context_of, is_left_to_long_call
from ._reduce import batch_of
from ._results import result_type_for
from ._types import COMPLEX, I64, INDICES, code_of


class BatchCall:
    """A call of one operation for arrays of one type, whose results have `pair` as their last axis.

    The lock of the stream's context guards the structs, too. Raises KeyError for what is left to the long call.
    """

    __slots__ = ("lock", "handle", "what", "input", "batch", "options", "output", "form", "held", "pair", "is_truth")

    def __init__(self, what, x, choices, dtype):
        wanted = c.DEFAULT_TYPE if dtype is None else code_of(dtype)
        if is_left_to_long_call(what, x.code, x.is_bool, wanted):
            raise KeyError(what)
        wanted = result_type_for(what, x.code, x.library.narrow, choices[0], wanted)
        number, self.form, _ = c.result_of(what, x.code, wanted)
        if x.code in COMPLEX or 0 in x.shape or x.stream == PER_THREAD_STREAM:
            raise KeyError(what)
        self.pair, self.held = ((), number) if self.form == NUMBER else ((2,), I64 if self.form == INDEXED else number)
        context = context_of(x.device, x.stream, x.library)
        self.lock, self.handle, self.what = context.lock, context.handle, what
        self.options = kept_options[choices + (wanted,)]
        self.input = c.Input(count=x.count, type=x.code, place=c.DEVICE)
        self.output = c.Output(place=c.DEVICE)
        self.is_truth = is_truth(what, x.is_bool)

    def enqueue(self):
        status = c.context_enqueue_batch(self.handle, self.what, byref(self.input), byref(self.batch), self.options,
                                         byref(self.output))
        if status:
            c.check(status)


class RowsCall(BatchCall):
    """A call for arrays of one shape, whose results have the shape `shape`."""

    __slots__ = ("shape",)

    def __init__(self, what, x, axis, choices, dtype):
        super().__init__(what, x, choices, dtype)
        self.batch, shape = batch_of(x, axis, False, choices[0], self.form, None)
        if self.batch is None:
            raise KeyError(what)  # one array, whose additions have another order
        self.output.count = prod(shape)
        self.shape = shape + self.pair

    def __call__(self, address, results):
        """Enqueues the reduction of the elements at `address` to results in device memory."""
        with self.lock:
            self.input.x, self.output.data = address, results
            self.enqueue()


class IndexedCall(BatchCall):
    """A call for segments (groups is None) or groups, whose offsets or keys have one type."""

    __slots__ = ()

    def __init__(self, what, x, index_type, groups, drop_others, choices, dtype):
        if index_type not in INDICES:
            raise KeyError(what)
        super().__init__(what, x, choices, dtype)
        self.batch = c.Batch(layout=c.SEGMENTS if groups is None else c.GROUPS, index_type=index_type,
                             drop_others=drop_others, group_count=groups or 0)

    def __call__(self, x, index, results):
        """Enqueues the reduction to results in device memory. Each of the three is an address and a count."""
        with self.lock:
            self.input.x, self.input.count = x
            self.batch.index, self.batch.index_count = index
            self.output.data, self.output.count = results
            self.enqueue()
