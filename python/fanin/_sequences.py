# SPDX-License-Identifier: Apache-2.0
"""Lists, tuples and other iterables of numbers, which are copied: for small data."""

import operator
from array import array

from ._errors import Overflow, Unsupported
from ._libraries import PYTHON
from ._types import CODES, F64, I64, U64
from ._views import View


def read_sequence(values):
    """The numbers as i64 if all are integers, as u64 if they fit there only, as f64, or as c128."""
    if isinstance(values, (str, bytes, dict)) or not hasattr(values, "__iter__"):
        raise Unsupported("a %s is no array, and no iterable of numbers" % type(values).__name__)
    if not isinstance(values, (list, tuple)):
        values = list(values)
    if not values:
        return View(values, None, F64, (0,), None, PYTHON)
    integers = True
    for value in values:
        if not hasattr(value, "__index__"):
            integers = False
            if isinstance(value, (str, bytes)):
                raise Unsupported("a list of %s is not read: convert it, as by [float(text) for text in x]"
                                  % type(value).__name__)
            if hasattr(value, "__len__"):
                raise Unsupported("a list of lists is not read: call numpy.asarray(x)")
            break
    for letter, code in (("q", I64), ("Q", U64)) if integers else ():
        try:
            return of_array(array(letter, values), code)
        except OverflowError:
            continue
    if integers:
        raise Overflow("the integers of the list do not all fit into 64 bits, with a sign or without")
    for value in values:
        if type(value) is not float and is_lost(value):
            raise Overflow("the integer %d stands beside floats, and is no float of 64 bits" % value)
    try:
        return of_array(array("d", values), F64)
    except TypeError:
        if not all(isinstance(value, complex) or hasattr(value, "__float__") for value in values):
            raise
    parts = array("d")
    for value in values:
        number = complex(value)
        parts.extend((number.real, number.imag))
    return View(parts, parts.buffer_info()[0], CODES["c128"], (len(values),), None, PYTHON)


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
    lost = [integer_of(value) for value in values if type(value) is not float and is_lost(value)]
    if lost:
        values = [value for value in values if type(value) is float or not is_lost(value)]
    return of_array(array("d", values), F64), lost


def of_array(numbers, code):
    address, count = numbers.buffer_info()
    return View(numbers, address, code, (count,), None, PYTHON)
