# SPDX-License-Identifier: Apache-2.0
"""Columns of pandas: a Series, an Index or an array of its own types, whose missing numbers (NA) are left out."""

import sys

from ._errors import Unsupported
from ._libraries import numpy_library
from ._numpy import is_instance_of, library_of, read_numpy
from ._presence import Presence

def is_pandas(x):
    """Whether x is a column or a frame of pandas."""
    return is_instance_of(x, "pandas", "Series") or is_instance_of(x, "pandas", "DataFrame") or \
        library_of(x) == "pandas" and hasattr(x, "to_numpy") and hasattr(x, "dtype")


def read_pandas(x):
    """The view of a column. It is a copy where pandas has no array of it, or one with gaps."""
    name = type(x).__name__
    if is_instance_of(x, "pandas", "DataFrame"):
        raise Unsupported("a DataFrame is not read here: take one column, such as x['name'], or call x.to_numpy()")
    # Nullable types and Arrow's name the type of numpy that has their numbers.
    dtype = getattr(x.dtype, "numpy_dtype", x.dtype)
    kind = getattr(dtype, "kind", "O")
    if is_instance_of(x, "pandas", "MultiIndex") or not hasattr(dtype, "isnative") or kind not in "biufc":
        raise Unsupported("this %s of %s is not read: %s" % (name, x.dtype, advice_for(x, kind)))
    numpy = numpy_library().numpy
    if dtype is x.dtype:
        return read_numpy(numpy.ascontiguousarray(x.to_numpy()))
    there = ~numpy.asarray(x.isna())
    if there.all():
        return read_numpy(numpy.ascontiguousarray(x.to_numpy(dtype)))
    view = read_numpy(numpy.ascontiguousarray(x.to_numpy(dtype, na_value=dtype.type().item())))
    view.presence = Presence(there.__array_interface__["data"][0], len(there), kept=there)
    return view


def advice_for(x, kind):
    """The advice for a column that is not read: what the caller can pass instead."""
    text = str(x.dtype)
    if kind in "Mm" or text.startswith("period"):
        return "hand over its integers, x.dropna().astype('int64')"
    if text.startswith("Sparse"):
        return "call numpy.asarray(x)"
    if text == "object" or is_instance_of(x.dtype, "pandas", "StringDtype"):
        call, convert = "pandas.to_numeric(x)", sys.modules["pandas"].to_numeric
    else:  # such as categories and decimals
        call, convert = "x.astype('float64')", lambda x: x.astype("float64")
    try:
        convert(x)
        return "hand over its numbers, " + call
    except (TypeError, ValueError):
        return "it has no numbers: leave the column out with frame.select_dtypes('number')"
