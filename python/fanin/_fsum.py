# SPDX-License-Identifier: Apache-2.0
"""math.fsum for any iterable and array."""

import math
import struct

from ._catalogue import OPERATIONS
from ._errors import InvalidArgument, Unsupported
from ._inputs import view_of
from ._numpy import library_of
from ._reduce import reduce_views
from ._sequences import split
from ._state import State
from ._types import F32, F64, NARROW

MINUS_ZERO = struct.pack("<d", -0.0)
DROPPED = {"polars": "x.drop_nulls()", "pyarrow": "x.drop_null()"}  # how others than pandas drop missing elements
FLOATS = frozenset((F32, F64)) | NARROW


def fsum(values):
    """The sum of the numbers, correctly rounded: math.fsum for any iterable, and for arrays at the speed of fanin.sum.

    As math.fsum, +inf and -inf together are a ValueError, and a sum of finite numbers that overflows is an
    OverflowError; sums that only overflow on the way do not.

    >>> fsum([0.1] * 10)
    1.0
    >>> fsum([1e308, 1e308, -1e308])
    1e+308
    """
    view, integers = _floats_and_integers(values)
    if integers:
        total = State(view.owner).add(integers).value()
    else:
        total = float(reduce_views(OPERATIONS["sum"], [view], wanted=F64))
    if math.isfinite(total):
        # math.fsum turns -0 into 0. A comparison takes subnormals for 0 if the caller's environment does.
        return 0.0 if struct.pack("<d", total) == MINUS_ZERO else total
    if math.isnan(total) and math.isnan(float(reduce_views(OPERATIONS["sum"], [view], nan="skip"))):
        raise ValueError("-inf + inf in fsum")
    if math.isinf(total) and not math.isinf(float(reduce_views(OPERATIONS["max_magnitude"], [view]))):
        raise OverflowError("the sum is too large for a float")
    return total


def _floats_and_integers(values):
    if hasattr(values, "__len__") and (hasattr(values, "dtype") or library_of(values) == "pyarrow"):
        try:
            view = view_of(values)
            if view.presence is not None:
                raise InvalidArgument("elements are missing (null or NA): hand over " + DROPPED.get(
                    library_of(values), "x.dropna()"))
            if view.code in FLOATS:
                return view, []
        except Unsupported:
            pass
    return split(values)
