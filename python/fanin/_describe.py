# SPDX-License-Identifier: Apache-2.0
"""Descriptions of arrays."""

import ctypes
from collections import namedtuple

from . import _library as c
from ._catalogue import options_of, policy_for
from ._contexts import context_of
from ._frames import describe_frame, is_frame, require_no_arrays
from ._inputs import view_of
from ._keywords import refuse
from ._operations import functions
from ._reduce import call_without_gaps, presence_of
from ._types import value_at


class Description(namedtuple("Description", "count nan min max sum mean standard_deviation")):
    """Numbers that are no NaN, NaN, the extremes, the sum, the mean and the standard deviation of a population.

    Missing elements (null or NA) count as NaN. `sum` is None where the sum of integers does not fit into 64 bits.
    """

    __slots__ = ()


def describe(x, *, where=None, nan="propagate", skipna=None, backend="auto", threads=0, **unknown):
    """A Description of x. Each number has the bits of its own operation's exact result.

    The numbers are Python's. Host memory is read once; that of a device four times, and the call waits for the numbers.
    The columns of numbers of a DataFrame are described each, in a DataFrame with a row for each member.

    >>> import fanin
    >>> fanin.describe([2.0, 4.0, 9.0]).mean
    5.0
    """
    if unknown:
        refuse("describe", unknown)
    nan = policy_for(nan, skipna)
    if is_frame(x):
        require_no_arrays(False, None, where)
        choices = {"nan": nan, "backend": backend, "threads": threads}
        return describe_frame(x, nan, Description._fields, lambda column: describe(column, **choices),
                              lambda row: describe_nothing(row, choices))
    view = view_of(x)
    call = call_without_gaps(view, where, nan, "describe")
    found = c.CDescription()
    options = options_of("exact", nan, backend, threads)
    if view.place == c.DEVICE:
        context = context_of(view.device, view.stream, view.library)
        with context.lock:
            c.check(c.context_describe(context.handle, call, options, found, None))
    else:
        c.check(c.describe(call, options, found, None))

    def number(member, code):
        return value_at(ctypes.addressof(found) + getattr(c.CDescription, member).offset, code)
    total = None if found.sum_overflows else number("sum", found.sum_type)
    return Description(found.count, found.nan + missing_in(view, where), number("min", found.type),
                       number("max", found.type), total, number("mean", found.quotient_type),
                       number("standard_deviation", found.quotient_type))


def describe_nothing(row, choices):
    """The Description of an array of one row that has no number: its members are the results of the operations."""
    return Description(0, row.size, *(functions[name](row, 1, **choices).item() for name in Description._fields[2:]))


def missing_in(view, where):
    """How many elements are missing, without those that `where` leaves out."""
    if view.presence is None:
        return 0
    there = view.presence.as_bytes()
    asked = bytes([1]) * len(there) if where is None else presence_of(where, view).as_bytes()
    return sum(asked) - sum(map(int.__and__, there, asked))
