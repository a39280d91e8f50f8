# SPDX-License-Identifier: Apache-2.0
"""Calls for batches on a device, of which all but addresses and counts is looked up once."""

from math import prod

from . import _library as c
from ._catalogue import INDEXED, NUMBER, has_exact, is_truth, kept_options
from ._contexts import PER_THREAD_STREAM, context_of, is_left_to_long_call
from ._direct_calls import call_of
from ._reduce import batch_of
from ._results import result_type_for
from ._types import COMPLEX, I64, INDICES, INTEGERS, code_of


class BatchCall:
    """A call of one operation for arrays of one type. Results have the shape `shape`, with `pair` as the last axis.

    run() is the function of call_of(). batch_for(form) gives the batch, and the number and the shape of results, which
    are 0 and None if each call has its own. Raises KeyError for what is left to the long call. The library of the array
    may keep the type of results, and what makes and finishes them.
    """

    __slots__ = ("run", "form", "held", "pair", "shape", "is_truth", "dtype", "make", "finish")

    def __init__(self, what, x, choices, dtype, batch_for, adds=False):
        wanted = c.DEFAULT_TYPE if dtype is None else code_of(dtype)
        if is_left_to_long_call(what, x.code, x.is_bool, wanted):
            raise KeyError(what)
        wanted = result_type_for(what, x.code, x.library.narrow, choices[0], wanted)
        number, self.form, _ = c.result_of(what, x.code, wanted)
        if x.code in COMPLEX or 0 in x.shape or x.stream == PER_THREAD_STREAM:
            raise KeyError(what)
        self.pair, self.held = ((), number) if self.form == NUMBER else ((2,), I64 if self.form == INDEXED else number)
        batch, count, self.shape = batch_for(self.form)
        self.is_truth = is_truth(what, x.is_bool)
        self.run = call_of(what, c.Input(count=x.count, type=x.code, place=c.DEVICE), kept_options[choices + (wanted,)],
                           context_of(x.device, x.stream, x.library), batch, c.Output(count=count, place=c.DEVICE), adds)


def rows_call(what, x, axis, choices, dtype):
    """The call for arrays of one shape."""
    def rows(form):
        batch, shape = batch_of(x, axis, False, choices[0], form, None)
        if batch is None:
            raise KeyError(axis)  # one array, whose additions have another order
        return batch, prod(shape), shape
    return BatchCall(what, x, choices, dtype, rows)


def indexed_call(what, x, index_type, groups, drop_others, choices, dtype=None, adds=False):
    """The call for segments (groups is None) or groups, whose offsets or keys have one type. With `adds` it
    adds to results."""
    if index_type not in (INDICES if groups is None else INTEGERS):
        raise KeyError(what)
    batch = c.Batch(layout=c.SEGMENTS if groups is None else c.GROUPS, index_type=index_type, drop_others=drop_others,
                    group_count=groups or 0)
    return BatchCall(what, x, choices, dtype, lambda form: (batch, 0, None), adds)


def adding_call(what, x, index_type, groups, drop_others, choices):
    """The call of index_add for arrays and keys of one type. Operations without exact results are fast."""
    if x.is_bool:
        raise KeyError(what)  # whose counts are added to results of i64
    if choices[0] == "exact" and not has_exact(what):
        choices = ("fast", *choices[1:])
    return indexed_call(what, x, index_type, groups, drop_others, choices, adds=True)
