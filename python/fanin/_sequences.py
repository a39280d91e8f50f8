# SPDX-License-Identifier: Apache-2.0
"""Lists, tuples and other iterables of numbers, which are copied: for small data."""

import operator
import sys
from array import array

from ._errors import Overflow, Unsupported, a, shown
from ._libraries import PYTHON
from ._numpy import is_instance_of, library_of
from ._types import BY_NUMPY, CODES, F32, F64, I64, NARROW, U64, float_of_bits
from ._views import View


def read_sequence(values):
    """The numbers as i64 if all are integers, as u64 if they fit there only, as f64, or as c128."""
    of_frames = library_of(values) in ("pandas", "polars")  # such as groups, whose items are no numbers
    if isinstance(values, (str, bytes, dict)) or of_frames or not hasattr(values, "__iter__"):
        raise Unsupported("%s is neither an array nor an iterable of numbers%s"
                          % (a(type(values).__name__), advice_for(values)))
    values = listed(values)
    if not values:
        return View(values, None, F64, (0,), None, PYTHON)
    if are_floats(values):
        return of_array(array("d", values), F64)
    kinds = set(map(type, values))
    for kind in kinds:
        if issubclass(kind, (str, bytes)):
            raise Unsupported("a list of %s is not read: convert it with [float(text) for text in x]" % kind.__name__)
        if hasattr(kind, "__len__"):
            raise Unsupported("a list with %s in it is not read: hand over one array, such as numpy.asarray(x)"
                              % a(kind.__name__))
    integers = all(hasattr(kind, "__index__") for kind in kinds)
    for letter, code in (("q", I64), ("Q", U64)) if integers else ():
        try:
            return of_array(array(letter, values), code)
        except OverflowError:
            continue
    if integers:
        raise Overflow("the integers of the list fit neither into int64 nor into uint64: round them with "
                       "[float(number) for number in x]")
    for value in values:
        if type(value) is not float and is_lost(value):
            raise Overflow("the list also has floats, and as a float the integer %d would be rounded" % value)
    if not any(map(is_complex, values)):
        return of_array(array("d", [float_of(value, i) for i, value in enumerate(values)]), F64)
    parts = array("d")
    for i, value in enumerate(values):
        pair = (value.real, value.imag) if is_complex(value) else (value, 0.0)
        parts.extend(float_of(part, i) for part in pair)
    return View(parts, parts.buffer_info()[0], CODES["c128"], (len(values),), None, PYTHON)


def advice_for(x):
    """The call that makes numbers of x, behind a colon; empty where there is none."""
    if library_of(x) == "pandas" and hasattr(x, "agg"):
        return ": call x.agg(fanin.sum) for a result of each group or window"
    if library_of(x) == "polars":
        return ": call x.collect()" if hasattr(x, "collect") else ": hand over a column, such as frame['name']"
    if isinstance(x, dict):
        return ": hand over x.values()"
    return ": hand over a list, such as [1.5, 2]" if isinstance(x, (int, float)) else ""


def listed(values):
    """The values as a list or tuple, with numbers in place of arrays without axes."""
    if not isinstance(values, (list, tuple)):
        values = values.to_pylist() if hasattr(values, "to_pylist") else list(values)  # of pyarrow
    if any(hasattr(kind, "ndim") for kind in set(map(type, values))):
        return list(map(number_of, values))
    return values


def number_of(value):
    """The number that an array without axes is; anything else as it stands."""
    if getattr(value, "ndim", None) != 0 or is_instance_of(value, "numpy", "generic"):
        return value
    return value[()] if is_instance_of(value, "numpy", "ndarray") else value.item()


def are_floats(values):
    """Whether all of the numbers are Python's floats, which are copied without a look at each."""
    return set(map(type, values)) <= {float}


def is_complex(value):
    """Whether the number is of a type of complex numbers."""
    return isinstance(value, complex) or getattr(getattr(value, "dtype", None), "kind", "") == "c"


def float_of(value, position):
    """The number as Python's float. Raises Unsupported where no float is equal to it, as to Fraction(1, 3)."""
    if type(value) is float:
        return value
    code = BY_NUMPY.get(value.dtype.name) if is_instance_of(value, "numpy", "generic") else None
    if code == F32 or code in NARROW:
        return float_of_bits(int.from_bytes(value.tobytes(), sys.byteorder), code)
    try:
        number = float(value)
        # An object that compares with no number has no other value than its float.
        if number == value or value != value or type(value).__eq__ is object.__eq__:
            return number
    except TypeError:
        advice = ": leave it out with [number for number in x if number is not None]" if value is None else ""
        raise Unsupported("element %d of the list is %s, which is not a number%s"
                          % (position, shown(value), advice)) from None
    except (OverflowError, ValueError):
        pass
    raise Unsupported("element %d of the list is %s, which as a float would be rounded: round it with float(x)"
                      % (position, shown(value)))


def integer_of(value):
    """The integer that the number is, as Python's; None if it is of no type of integers."""
    try:
        return operator.index(value)
    except TypeError:
        return None


def is_lost(value):
    """Whether the number is an integer that would become another number as a float of 64 bits."""
    integer = integer_of(value)
    try:
        return integer is not None and float(integer) != integer
    except OverflowError:
        raise Overflow("an integer of the list is too large for a float of 64 bits") from None


def split(values):
    """The view of the numbers as floats of 64 bits, without the integers that would be lost; and a list of these."""
    values = listed(values)
    if are_floats(values):
        return of_array(array("d", values), F64), []
    floats, lost = [], []
    for i, value in enumerate(values):
        if type(value) is not float and is_lost(value):
            lost.append(integer_of(value))
        else:
            floats.append(float_of(value, i))
    return of_array(array("d", floats), F64), lost


def of_array(numbers, code):
    address, count = numbers.buffer_info()
    return View(numbers, address, code, (count,), None, PYTHON)
