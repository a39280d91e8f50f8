# SPDX-License-Identifier: Apache-2.0
"""Keys of any kind as numbers of groups, and results with the keys that they belong to."""

import re
import sys
from array import array

from ._errors import Unsupported, a, shown
from ._numpy import is_instance_of
from ._pandas import is_pandas


def factorised(keys):
    """The number of each key among the different keys, or -1 of a missing key; and the different keys in order."""
    if is_pandas(keys):
        return factorised_column(sys.modules["pandas"], keys)
    if is_instance_of(keys, "numpy", "ndarray"):
        return factorised_array(keys)
    if is_instance_of(keys, "torch", "Tensor") or hasattr(keys, "__cuda_array_interface__"):
        raise Unsupported("with keys of %s, give the number of groups" % a(type(keys).__name__))
    return factorised_list(list_of(keys))


def factorised_column(pandas, keys):
    """Does what factorised() does, for a column of pandas or the rows of a frame. The different keys are an Index."""
    if is_instance_of(keys, "pandas", "DataFrame"):
        there = ~keys.isna().any(axis=1).to_numpy()
        found, names = factorised_column(pandas, pandas.MultiIndex.from_frame(keys[there]))
        codes = there.astype("int64") - 1
        codes[there] = found
        return codes, names
    codes, names = pandas.factorize(keys, sort=True)
    if isinstance(keys, pandas.MultiIndex):
        return codes, pandas.MultiIndex.from_tuples(names, names=keys.names)
    return codes, pandas.Index(names, name=getattr(keys, "name", None))


def factorised_array(keys):
    numpy = sys.modules["numpy"]
    if keys.ndim != 1:
        raise Unsupported("keys have more than one axis: call keys.ravel()")
    names, codes = numpy.unique(keys, return_inverse=True)
    found = names == names  # NaN and NaT, which are the last ones, differ from themselves
    codes[~found[codes]] = -1
    return codes, names[found]


def list_of(keys):
    """The keys as Python's objects."""
    for name in ("to_pylist", "to_list", "tolist"):  # of pyarrow, polars, array and memoryview
        if hasattr(keys, name):
            return getattr(keys, name)()
    return list(keys)


def factorised_list(keys):
    for kind in set(map(type, keys)):
        if hasattr(kind, "__len__") and not issubclass(kind, (str, bytes, tuple)):
            raise Unsupported("a list with %s in it is not a list of keys: hand over a frame of these columns, or a "
                              "tuple for each element, such as list(zip(*keys))" % a(kind.__name__))
    names = {key for key in keys if not is_missing(key)}
    try:
        names = sorted(names)
    except TypeError as error:
        raise Unsupported("keys of these types cannot be sorted: %s" % error) from None
    places = {name: place for place, name in enumerate(names)}
    return array("q", [places.get(key, -1) for key in keys]), names


def is_missing(key):
    return key is None or key != key


def named(results, names, x, keys):
    """The results with the keys: a Series where an input is of pandas."""
    if not (is_pandas(x) or is_pandas(keys)):
        return (names, *results) if isinstance(results, tuple) else (names, results)
    if isinstance(results, tuple):
        return tuple(named(part, names, x, keys) for part in results)
    values = results if is_instance_of(results, "numpy", "ndarray") else list_of(results)
    return sys.modules["pandas"].Series(values, names, name=getattr(x, "name", None))


def with_names(words, names):
    """An error with the key of a group in place of the number of the group."""
    return re.sub(r"\bgroup (\d+)\b", lambda found: "group " + shown(names[int(found.group(1))]), words)
