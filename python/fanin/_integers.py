# SPDX-License-Identifier: Apache-2.0
"""Lists of integers that do not fit into 64 bits, or whose result does not: Python computes them, exactly."""

import math
from operator import index, mul, truediv


def root(numerator, denominator):
    """The square root of a quotient of integers, rounded once."""
    shift = max(0, 64 + (denominator.bit_length() - numerator.bit_length()) // 2)
    scaled = (numerator << 2 * shift) // denominator
    found = math.isqrt(scaled)
    inexact = found * found * denominator != numerator << 2 * shift
    return (2 * found + inexact) / (1 << shift + 1)


def variance_quotient(x, ddof):
    """The variance of integers as a quotient: its numerator and denominator."""
    count, total = len(x), sum(x)
    return count * sum(number * number for number in x) - total * total, count * (count - ddof)


# The result by the operation. Python divides integers with one rounding.
RESULTS = {
    "sum": sum,
    "product": math.prod,
    "min": min,
    "max": max,
    "minmax": lambda x: (min(x), max(x)),
    "argmin": lambda x: x.index(min(x)),
    "argmax": lambda x: x.index(max(x)),
    "mean": lambda x: sum(x) / len(x),
    "sum_of_squares": lambda x: sum(number * number for number in x),
    "norm2": lambda x: root(sum(number * number for number in x), 1),
    "dot": lambda x, y: float(sum(map(mul, x, y))),
    "vdot": lambda x, y: float(sum(map(mul, x, y))),
    "sum_of_magnitudes": lambda x: sum(map(abs, x)),
    "max_magnitude": lambda x: max(map(abs, x)),
    "count_nonzero": lambda x: sum(map(bool, x)),
    "any": any,
    "all": all,
    "variance": lambda x: truediv(*variance_quotient(x, 0)),
    "sample_variance": lambda x: truediv(*variance_quotient(x, 1)),
    "standard_deviation": lambda x: root(*variance_quotient(x, 0)),
    "sample_standard_deviation": lambda x: root(*variance_quotient(x, 1)),
}


def is_buffer(x):
    try:
        memoryview(x)
        return True
    except TypeError:
        return False


def result_of_integers(operation, *inputs):
    """The result for iterables of integers; NotImplemented for an array, other numbers, or another operation."""
    if operation not in RESULTS or any(hasattr(x, "dtype") or is_buffer(x) for x in inputs):
        return NotImplemented
    try:
        lists = [list(map(index, x)) for x in inputs]
        return RESULTS[operation](*lists) if len(set(map(len, lists))) == 1 else NotImplemented
    except (TypeError, OverflowError):  # an element is no integer, or the result no float
        return NotImplemented
