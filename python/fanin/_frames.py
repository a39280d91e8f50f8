# SPDX-License-Identifier: Apache-2.0
"""Frames of pandas and polars, which are reduced column by column, or row by row."""

import sys

from ._errors import Error, InvalidArgument, Unsupported, shown
from ._numpy import is_instance_of
from ._pandas import read_pandas
from ._reduce import MISSING, as_floats
from ._types import F64, INTEGERS

COLUMNS, ROWS = (None, 0, "index", "rows"), (1, "columns")


def is_frame(x):
    return is_instance_of(x, "pandas", "DataFrame") or is_instance_of(x, "polars", "DataFrame")


def require_no_arrays(keepdims, out, where):
    """Raises Unsupported where arguments are given that a frame has no place for."""
    if keepdims or out is not None or where is not None:
        raise Unsupported("keepdims=, out= and where= are for arrays: hand over x.to_numpy()")


def reduce_frame(x, axis, nan, reduce):
    """The result of each column (axis None, 0, "index" or "rows") or of each row (1, "columns").

    Results of pandas are a Series, and results of polars a DataFrame of one row. `reduce` gives the result of a part of
    x along an axis, in an array if its last argument is true.
    """
    if axis not in COLUMNS + ROWS:
        raise InvalidArgument("the axis of a DataFrame is 0 or 1, not " + shown(axis))
    in_polars = is_instance_of(x, "polars", "DataFrame")
    if axis in COLUMNS:
        results = [in_column(name, lambda: call_or_row(
            column, nan, lambda: reduce(column, None, in_polars),
            lambda row: by_parts(reduce(row, 1, False), lambda found: found if in_polars else found[0])))
            for name, column in columns_of(x)]
        return by_parts(results, lambda found: row_of(x, found))
    if in_polars:
        raise Unsupported("rows of a polars DataFrame are not reduced: hand over x.to_numpy(), with axis=1")
    return by_parts(reduce(rows_of(x, nan), 1, False), lambda found: sys.modules["pandas"].Series(found, x.index))


def describe_frame(x, nan, members, describe, describe_row):
    """The descriptions of the columns of numbers, in a frame that has a row for each member."""
    if is_instance_of(x, "polars", "DataFrame"):
        raise Unsupported("a polars DataFrame is not described: call fanin.describe(column) for its columns")
    of_numbers = x.select_dtypes(["number", "bool", "boolean"], ["timedelta", "complexfloating"])
    found = [in_column(name, lambda: call_or_row(column, nan, lambda: describe(column), describe_row))
             for name, column in columns_of(of_numbers)]
    pandas = sys.modules["pandas"]
    return pandas.DataFrame(found, of_numbers.columns, members, dtype=object).T


def columns_of(x):
    """The names of the columns, each with its column."""
    if is_instance_of(x, "polars", "DataFrame"):
        return list(zip(x.columns, x.get_columns()))
    return [(name, x.iloc[:, i]) for i, name in enumerate(x.columns)]


def in_column(name, call):
    """Returns the result of a call. Its errors name the column."""
    try:
        return call()
    except Error as error:
        raise type(error)("column %r: %s" % (name, error)) from None


def call_or_row(column, nan, call, of_row):
    """What `call` returns, or where it raises InvalidArgument, what `of_row` makes of the column as a row of an array.

    Rows without a value have NaN, so that such a column does not ruin the results of the others.
    """
    try:
        return call()
    except InvalidArgument as error:
        try:
            return of_row(row_of_column(column, nan))
        except (Error, ImportError):
            raise error from None


def row_of_column(column, nan):
    if not is_instance_of(column, "polars", "Series"):
        return rows_of(column.to_frame(), nan).T
    if nan == "propagate" and column.null_count():
        raise InvalidArgument(MISSING)
    import numpy
    return numpy.reshape(column.to_numpy(), (1, -1))


def by_parts(results, make):
    """Applies `make` to results. Results that are pairs become a pair."""
    if isinstance(results, tuple):
        return tuple(map(make, results))
    if isinstance(results, list) and results and isinstance(results[0], tuple):
        return tuple(make(list(part)) for part in zip(*results))
    return make(results)


def row_of(x, results):
    """The results of the columns, each with its type."""
    if is_instance_of(x, "polars", "DataFrame"):
        return sys.modules["polars"].DataFrame(dict(zip(x.columns, results)))
    one_type = len(set(map(type, results))) == 1
    return sys.modules["pandas"].Series(results, x.columns, dtype=None if one_type else object)


def rows_of(x, nan):
    """The frame as an array of numpy, with NaN for what is missing. Raises Overflow where a number would be rounded."""
    import numpy
    columns = columns_of(x)
    views = [in_column(name, lambda: read_pandas(column)) for name, column in columns]
    missing = any(view.presence is not None for view in views)
    if missing and nan == "propagate":
        raise InvalidArgument(MISSING)
    common = numpy.dtype("float64")
    if views and not missing:
        common = numpy.result_type(*{view.owner.dtype for view in views})
    made = numpy.empty(x.shape, common)
    for i, (name, _) in enumerate(columns):
        view = views[i]
        if common.kind == "f" and view.code in INTEGERS:
            view = in_column(name, lambda: as_floats(view, F64))
        made[:, i] = view.owner
        if view.presence is not None:
            made[numpy.frombuffer(view.presence.as_bytes(), "u1") == 0, i] = numpy.nan
    return made
