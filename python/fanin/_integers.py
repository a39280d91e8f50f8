# SPDX-License-Identifier: Apache-2.0
"""Lists of integers that do not fit into 64 bits, or whose result does not: Python computes them, exactly."""

import math
from operator import index, truediv


def root(numerator, denominator):
    """The square root of a quotient of integers, rounded once."""
    shift = max(0, 64 + (denominator.bit_length() - numerator.bit_length()) // 2)
    scaled = (numerator << 2 * shift) // denominator
    found = math.isqrt(scaled)
    inexact = found * found * denominator != numerator << 2 * shift
    return (2 * found + inexact) / (1 << shift + 1)


def spread(x, ddof):
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
    "sum_of_magnitudes": lambda x: sum(map(abs, x)),
    "max_magnitude": lambda x: max(map(abs, x)),
    "count_nonzero": lambda x: sum(map(bool, x)),
    "any": any,
    "all": all,
    "variance": lambda x: truediv(*spread(x, 0)),
    "sample_variance": lambda x: truediv(*spread(x, 1)),
    "standard_deviation": lambda x: root(*spread(x, 0)),
    "sample_standard_deviation": lambda x: root(*spread(x, 1)),
}


def result_of_integers(operation, x):
    """The result for an iterable of integers; NotImplemented for an array, other numbers, or another operation."""
    try:
        memoryview(x)
        return NotImplemented
    except TypeError:
        pass
    if operation not in RESULTS or hasattr(x, "dtype"):
        return NotImplemented
    try:
        return RESULTS[operation](list(map(index, x)))
    except (TypeError, OverflowError):  # an element is no integer, or the result no float
        return NotImplemented
