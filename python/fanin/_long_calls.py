# SPDX-License-Identifier: Apache-2.0
"""Calls of any inputs, with any choices. This module is imported when the first call is not a short one."""

from . import _library as c
from ._catalogue import NAMES
from ._errors import Overflow
from ._frames import is_frame, reduce_frame, require_no_arrays
from ._integers import result_of_integers
from ._reduce import reduce_views, views_for
from ._types import code_of


def reduce_one(function, what, x, axis, method, dtype, keepdims, out, where, nan, backend, threads):
    """The results of an operation of one input. `function` is that of the operation."""
    if is_frame(x):
        require_no_arrays(keepdims, out, where)
        return reduce_frame(x, axis, nan, lambda part, along, as_array: function(
            part, along, method=method, dtype=dtype, keepdims=as_array, nan=nan, backend=backend, threads=threads))
    return reduced(what, (x,), axis, method, dtype, keepdims, out, where, nan, backend, threads)


def reduced(what, inputs, axis, method, dtype, keepdims, out, where, nan, backend, threads):
    wanted = c.DEFAULT_TYPE if dtype is None else code_of(dtype)
    inputs = [list(x) if hasattr(x, "__next__") else x for x in inputs]
    try:
        return reduce_views(what, views_for(what, inputs, wanted, where), axis, method, wanted, keepdims, out, where,
                            nan, backend, threads)
    except Overflow:
        result = computed_by_python(what, inputs, axis, keepdims, dtype, out, where)
        if result is NotImplemented:
            raise
        return result


def computed_by_python(what, inputs, axis, keepdims, dtype, out, where):
    """The result for lists of integers; NotImplemented for other inputs, or other choices than an axis."""
    if axis not in (None, 0, -1) or keepdims or dtype is not None or out is not None or where is not None:
        return NotImplemented
    return result_of_integers(NAMES[what], *inputs)
