#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares medians, quantiles and counts of the command with rational arithmetic, and with numpy where numpy is exact.

quantile_values.py FANIN
"""
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile
from fractions import Fraction

try:
    import numpy
except ImportError:
    print("numpy is missing")
    sys.exit(77)

SHARES = ["0", "0.1", "0.25", "0.333333333333333333", ".5", "0.625", "0.9", "0.999999", "1.0"]


def key(x):
    """Orders numbers, with -0 below +0."""
    return (x, math.copysign(1, x)) if isinstance(x, float) else x


def rounded(value, result):
    """The rational number rounded once to numpy's type `result`, ties to even. An exact 0 is +0."""
    middle = result(float(value))
    if not numpy.isfinite(middle):
        return middle
    around = [numpy.nextafter(middle, result(-math.inf)), middle, numpy.nextafter(middle, result(math.inf))]
    around = [one for one in around if numpy.isfinite(one)]
    is_odd = lambda one: int(one.view(f"u{one.itemsize}")) & 1
    nearest = min(around, key=lambda one: (abs(Fraction(float(one)) - value), is_odd(one)))
    return result(-0.0) if nearest == 0 and value < 0 else result(nearest)


def truth(elements, share, result):
    """The quantile of Python numbers without NaN."""
    place = Fraction(share) * (len(elements) - 1)
    below = math.floor(place)
    x, part = elements[below], place - below
    y = elements[below + 1] if part > 0 else x
    if key(x) == key(y):
        return result(x)
    if math.inf in (abs(x), abs(y)):
        return result(x + y)
    return rounded(x + (y - x) * part if isinstance(x, int) else Fraction(x) + (Fraction(y) - Fraction(x)) * part, result)


def asked(fanin, files, *arguments):
    run = subprocess.run([fanin, *arguments, *map(str, files), "--json"], check=True, capture_output=True, text=True)
    return json.loads(run.stdout)


def bits(x):
    """The number as text, which tells -0 from +0. All NaN are alike."""
    return float(x).hex()


def saved(folder, arrays):
    files = [folder / f"{i}.npy" for i in range(len(arrays))]
    for file, array in zip(files, arrays, strict=True):
        numpy.save(file, array)
    return files


def check(fanin, folder, arrays):
    files = saved(folder, arrays)
    found = iter(asked(fanin, files, "quantile", ",".join(SHARES)))
    medians, counts = asked(fanin, files, "median"), asked(fanin, files, "count")
    for array, median, count in zip(arrays, medians, counts, strict=True):
        result = numpy.float32 if array.dtype in (numpy.float32, numpy.float16) else numpy.float64
        elements = sorted(array.tolist(), key=key)
        for share, one in [*((share, next(found)) for share in SHARES), ("0.5", median)]:
            value, expected = bits(float.fromhex(one["value_hex"])), bits(truth(elements, share, result))
            assert value == expected, (array, share, value, expected)
        assert count["value"] == len(elements), array
    assert next(found, None) is None


def check_as_numpy(fanin, folder, arrays):
    """Small integers and shares with few bits, so numpy's own arithmetic does not round."""
    files = saved(folder, arrays)
    shares = ["0", "0.125", "0.25", "0.5", "0.8125", "1"]
    found = [one["value"] for one in asked(fanin, files, "quantile", ",".join(shares))]
    expected = [numpy.quantile(array, [float(one) for one in shares]).tolist() for array in arrays]
    assert found == sum(expected, [])
    assert [one["value"] for one in asked(fanin, files, "median")] == [numpy.median(array) for array in arrays]


def check_groups(fanin, folder, array, keys):
    """Groups by keys in an array, and by the same keys as text of a table."""
    files, share = saved(folder, [array, keys]), "0.3"
    groups = [sorted(array[keys == k].tolist(), key=key) for k in range(int(keys.max()) + 1)]
    expected = [bits(truth(group, share, numpy.float64)) if group else "nan" for group in groups]
    found = asked(fanin, files[:1], "quantile", share, "--keys", files[1])
    assert [bits(math.nan if x is None else x) for x in found["values"]] == expected
    table = folder / "table.csv"
    table.write_text("".join(f"{k},{x!r}\n" for k, x in zip(keys.tolist(), array.tolist(), strict=True)))
    found = asked(fanin, [table], "quantile", share, "--column", "2", "--by", "1", "--type", "f64")
    for group in found["groups"]:
        assert bits(group["value"]) == expected[int(group["key"])]


def main(fanin):
    chance = random.Random(1)
    inputs = [
        numpy.array([0.1]),
        numpy.array([0.0, -0.0, -0.0, 0.0, -0.0]),
        numpy.array([-0.0, 5e-324, -5e-324, 0.0]),
        numpy.array([1e308, -1e308, 1.7e308, 5e-324, 1.0, -1.0, 1e-300, 3e-308]),
        numpy.array([-math.inf, 1.0, 2.0, 3.0, math.inf, math.inf]),
        numpy.array([-math.inf, -math.inf, math.inf, math.inf]),
        numpy.array([2**53 + 1, 2**53 + 3, 2**63 - 1, -2**63, 2**62 + 1, 7], dtype="i8"),
        numpy.array([2**64 - 1, 2**64 - 3, 2**63 + 1, 2**53 + 1, 0], dtype="u8"),
    ]
    for dtype in ("f8", "f4", "f2", "i8", "u8", "i1"):
        for count in (2, 3, 10, 1000, 4097):
            if dtype.startswith("f"):
                low, high = {"f8": (-1074, 1020), "f4": (-149, 120), "f2": (-24, 14)}[dtype]
                wide = [math.ldexp(chance.uniform(-2, 2), chance.randint(low, high)) for _ in range(count)]
                inputs.append(numpy.array(wide).astype(dtype))
                ties = [chance.choice([0.0, -0.0, 0.1, -0.3, 1 / 3]) for _ in range(count)]
                inputs.append(numpy.array(ties).astype(dtype))
            else:
                limits = numpy.iinfo(dtype)
                whole = [chance.randint(int(limits.min), int(limits.max)) for _ in range(count)]
                inputs.append(numpy.array(whole, dtype=dtype))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check(fanin, folder, inputs)
        small = [[chance.randint(-1000, 1000) for _ in range(count)] for count in (1, 2, 17, 1000)]
        for array in inputs:
            if array.dtype == "f8" and len(array) in (10, 1000):
                keys = [chance.randrange(7) for _ in array]
                check_groups(fanin, folder, array, numpy.array(keys))
        check_as_numpy(fanin, folder, [numpy.array(one, dtype=dtype) for one in small for dtype in ("i8", "f8")])


if __name__ == "__main__":
    main(sys.argv[1])
