# SPDX-License-Identifier: Apache-2.0
"""The part that all tests share: exact values to compare with, and numpy if it is installed."""

import random
import struct
from fractions import Fraction

try:
    import numpy
except ImportError:
    numpy = None


def bits(x):
    """The bits of a float, so that -0.0 and 0.0 differ and NaN equal each other."""
    return struct.pack("<d", x) if x == x else b"NaN"


def exact_sum(values):
    """The correctly rounded sum of finite numbers."""
    total = sum(map(Fraction, values))
    return float(total)


def wide_numbers(count, seed, binades=60):
    """Numbers of both signs over many binades. Their sums in floating point are wrong."""
    made = random.Random(seed)
    return [made.uniform(-1, 1) * 2.0 ** made.randint(-binades, binades) for _ in range(count)]
