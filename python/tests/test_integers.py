# SPDX-License-Identifier: Apache-2.0
"""Integers that floats of 64 bits do not hold are exact, or refused: never rounded on the way in."""

import ctypes
import math
import random
import unittest
from array import array
from decimal import Decimal, localcontext
from fractions import Fraction

import fanin
from fanin._batches import write_number
from fanin._integers import RESULTS, root as root_of_quotient
from fanin._types import CODES, value_at
from support import numpy

LARGE = 2 ** 53 + 1


def root(x):
    """The square root of a Fraction, with more digits than a float has."""
    with localcontext() as context:
        context.prec = 200
        return (Decimal(x.numerator) / Decimal(x.denominator)).sqrt()


class Lists(unittest.TestCase):
    def test_lists_of_integers(self):
        x = [LARGE, -2 ** 53]
        self.assertEqual(fanin.sum(x), 1)
        self.assertEqual(fanin.mean(x), 0.5)
        self.assertEqual(fanin.segment_sum(x, [0, 2]).tolist(), [1])
        self.assertEqual(fanin.group_max(x, [1, 1], 2, empty=0).tolist(), [0, LARGE])
        self.assertEqual(fanin.index_add(array("q", [0]), [0, 0], x).tolist(), [1])
        self.assertEqual(fanin.describe(x)[2:5], (-2 ** 53, LARGE, 1))
        self.assertEqual(fanin.report("max", x).value, LARGE)

    def test_description_whose_sum_overflows(self):
        for x in ([2 ** 63 - 1, 2 ** 63 - 3], [2 ** 64 - 1, 2 ** 64 - 3], [-2 ** 63, -2 ** 63 + 2]):
            found = fanin.describe(x)
            self.assertIsNone(found.sum)
            self.assertEqual(found[:4], (2, 0, min(x), max(x)))
            self.assertEqual(found[5:], (float(sum(x) // 2), 1.0))

    def test_operations_of_floats(self):
        """Results are floats of 64 bits, and no integer is rounded on the way in."""
        large = 2 ** 53
        self.assertEqual(fanin.dot([1, 2], [3, 4]), 11.0)
        self.assertEqual(fanin.dot([large, 1, large], [1, 1, -1]), 1.0)
        self.assertEqual(fanin.dot([1, 2], [0.5, 0.25]), 1.0)
        self.assertEqual(fanin.vdot([1, 2], [3, 4]), 11.0)
        self.assertEqual(fanin.norm2([3, -4]), 5.0)
        x = [large - 1, 94906265, 3]
        self.assertEqual(fanin.norm2(x), float(Decimal(sum(number ** 2 for number in x)).sqrt()))
        self.assertEqual(fanin.log_sum_exp([1, 2]), fanin.log_sum_exp([1.0, 2.0]))
        self.assertEqual(fanin.report("norm2", [3, 4]).method, "exact")
        self.assertEqual(fanin.segment_norm2([3, 4, 2], [0, 2, 3]).tolist(), [5.0, 2.0])
        self.assertEqual(fanin.group_dot([1, 2, 3], [1, 1, 2], [0, 1, 0], 2).tolist(), [7.0, 2.0])
        self.assertEqual(fanin.segment_log_sum_exp([1], [0, 0, 1], empty=3).tolist(), [-math.inf, 1.0])
        self.assertEqual((fanin.norm2([-2 ** 63]), fanin.log_sum_exp([-2 ** 63])), (2.0 ** 63, -2.0 ** 63))
        for x in ([LARGE], [2 ** 64 - 1], [1 - 2 ** 63]):
            self.assertEqual(fanin.norm2(x), float(abs(x[0])))
            self.assertEqual(fanin.dot(x, x), float(x[0] ** 2))
            with self.assertRaisesRegex(fanin.Overflow, r"above 2\^53, .* x.astype\('float64'\)"):
                fanin.log_sum_exp(x)

    def test_operations_of_floats_of_buffers(self):
        for letter in "bBhHiIlLqQ":
            x = array(letter, [3, 0, 4, 0])
            self.assertEqual(fanin.norm2(x), 5.0)
            self.assertEqual(fanin.norm2(memoryview(x)[::2]), 5.0)
            self.assertEqual(fanin.dot(x, x), 25.0)
            self.assertEqual(fanin.norm2(memoryview(x).cast("B").cast(letter, (2, 2)), 0).tolist(), [5.0, 0.0])
            self.assertEqual(fanin.norm2(x, where=memoryview(b"\0\1\1\1").cast("?")), 4.0)
        self.assertEqual(fanin.norm2(array("q")), 0.0)
        self.assertEqual(fanin.norm2(b"\3\4"), 5.0)

    def test_integers_beside_floats(self):
        for x in ([LARGE, 0.5], [0.5, -LARGE], [0.5, 2 ** 64 + 1], [1j, LARGE], (0.5, 10 ** 400), {0.5, LARGE}):
            for call in (fanin.sum, fanin.min, fanin.norm2, fanin.describe, lambda x: fanin.dot(x, x),
                         lambda x: fanin.segment_sum(x, [0, 2]), lambda x: fanin.group_sum(x, [0, 0], 1),
                         lambda x: fanin.index_add(array("d", [0]), [0, 0], x)):
                with self.assertRaises(fanin.Overflow):
                    call(x)
        self.assertEqual(fanin.sum([2 ** 53 + 2, 0.5, True]), 2.0 ** 53 + 4)

    def test_integers_of_any_size(self):
        """Python computes what 64 bits do not hold: elements, or results."""
        for x in ([-1, 2 ** 63], [2 ** 64], [-2 ** 63], [2 ** 62] * 4, [10 ** 40, -3, 10 ** 40, 0], {2 ** 64, -5},
                  range(2 ** 63, 2 ** 63 + 3), iter([2 ** 63, -1])):
            numbers = list(x)
            x = iter(numbers) if hasattr(x, "__next__") else x
            self.assertEqual(fanin.sum(x), sum(numbers))
        for x in ([-1, 2 ** 63], [2 ** 64 + 1, -2 ** 70, 7], [-10 ** 40] * 3 + [10 ** 40 + 1]):
            mean = Fraction(sum(x), len(x))
            squares = sum((number - mean) ** 2 for number in x)
            expected = {
                "sum": sum(x), "product": math.prod(x), "min": min(x), "max": max(x), "minmax": (min(x), max(x)),
                "argmin": x.index(min(x)), "argmax": x.index(max(x)), "mean": float(mean),
                "sum_of_squares": sum(number ** 2 for number in x), "sum_of_magnitudes": sum(map(abs, x)),
                "max_magnitude": max(map(abs, x)), "count_nonzero": len(x), "any": True, "all": True,
                "variance": float(squares / len(x)), "sample_variance": float(squares / (len(x) - 1)),
                "standard_deviation": float(root(squares / len(x))),
                "sample_standard_deviation": float(root(squares / (len(x) - 1)))}
            expected["norm2"] = float(root(Fraction(expected["sum_of_squares"])))
            self.assertEqual(set(expected), set(RESULTS) - {"dot", "vdot"})
            for name, value in expected.items():
                for axis in (None, 0, -1):
                    found = getattr(fanin, name)(x, axis)
                    self.assertEqual((type(found), found), (type(value), value), name)
            y = [1 - 2 * number for number in x]
            total = float(sum(a * b for a, b in zip(x, y)))
            for given in (y, tuple(y), iter(y)):
                self.assertEqual(fanin.dot(x, given), total)
            self.assertEqual(fanin.vdot(iter(x), [2] * len(x), 0), float(2 * sum(x)))
            for call in (lambda: fanin.dot(x, y + [1]), lambda: fanin.dot(x, [0.5] * len(x)), lambda: fanin.describe(x)):
                with self.assertRaisesRegex(fanin.Overflow, r"neither into int64 nor into uint64.* \[float\(number\)"):
                    call()
        self.assertEqual(fanin.sum_of_magnitudes([-2 ** 63]), 2 ** 63)
        self.assertEqual(fanin.sum_of_squares([2 ** 40]), 2 ** 80)

    def test_roots(self):
        """A root is rounded once, also beside the middle between two floats."""
        draw = random.Random(1)
        quotients = [Fraction(draw.getrandbits(200), draw.getrandbits(100) + 1) for _ in range(200)]
        middle = Fraction((2 ** 53 + 1) ** 2)
        for x in (*quotients, middle, middle + Fraction(1, 2 ** 200), middle - Fraction(1, 2 ** 200), Fraction(0)):
            self.assertEqual(root_of_quotient(x.numerator, x.denominator), float(root(x)))

    def test_no_type_for_all(self):
        for call in (lambda: fanin.segment_sum([2 ** 63, -1], [0, 2]), lambda: fanin.sum([2 ** 64 + 1, 0.5]),
                     lambda: fanin.mean([10 ** 400]), lambda: fanin.sum([2 ** 64], keepdims=True),
                     lambda: fanin.sum(array("q", [2 ** 62] * 2))):
            with self.assertRaises(fanin.Overflow):
                call()

    def test_fsum(self):
        for x, total in (([LARGE, -2 ** 53], 1.0), ([LARGE, 0.25, -2 ** 53], 1.25), ([2 ** 99 + 1, -2 ** 99], 1.0),
                         ([LARGE, math.inf], math.inf)):
            self.assertEqual(fanin.fsum(x), total)
            self.assertEqual(fanin.fsum(iter(x)), total)
        with self.assertRaises(ValueError):
            fanin.fsum([LARGE, math.inf, -math.inf])
        with self.assertRaises(OverflowError):
            fanin.fsum([1.5e308, 1e308, LARGE])

    def test_values_for_nothing(self):
        self.assertEqual(fanin.segment_max([1.0], [0, 0, 1], empty=2 ** 53).tolist(), [2.0 ** 53, 1.0])
        for name, empty in (("max", "1"), ("max", 1j), ("max", [1]), ("minmax", 1), ("argmax", "first"), ("argmax", 0.5)):
            with self.assertRaisesRegex(fanin.Unsupported, "^empty=.* cannot be a result"):
                getattr(fanin, "segment_" + name)([1.0], [0, 0, 1], empty=empty)
        for name, empty in (("max", LARGE), ("minmax", (0, LARGE))):
            with self.assertRaises(fanin.Overflow):
                getattr(fanin, "segment_" + name)([1.0], [0, 0, 1], empty=empty)
        with self.assertRaises(fanin.Overflow):
            fanin.segment_minmax(array("b", [1]), [0, 0, 1], empty=(0, 1000))

    def test_narrow_values_for_nothing(self):
        memory = ctypes.c_uint64()
        address = ctypes.addressof(memory)
        for name, nearest in (("f16", 0.0999755859375), ("bf16", 0.10009765625), ("e5m2", 0.09375),
                              ("e4m3", 0.1015625)):
            write_number(0.1, CODES[name], address)
            self.assertEqual(value_at(address, CODES[name]), nearest)
            with self.assertRaises(fanin.Overflow):
                write_number(1e39, CODES[name], address)


class Arrays(unittest.TestCase):
    @unittest.skipIf(numpy is None, "numpy is not there")
    def test_operations_of_floats(self):
        x = numpy.arange(-6, 6).reshape(3, 4)
        for dtype in ("int8", "int16", "int32", "int64"):
            y = x.astype(dtype)
            self.assertEqual(fanin.norm2(y).dtype, numpy.float64)
            self.assertEqual(fanin.dot(y, y), (x * x).sum())
            self.assertEqual(fanin.dot(y.T, y.T, axis=0).tolist(), (x * x).sum(1).tolist())
            self.assertEqual(fanin.norm2(y[:, ::2], axis=1).tolist(), numpy.sqrt((x * x)[:, ::2].sum(1)).tolist())
            self.assertEqual(fanin.log_sum_exp(y), fanin.log_sum_exp(x.astype(float)))
        self.assertEqual(fanin.norm2(x > 0), math.sqrt(5))
        self.assertEqual(fanin.dot(numpy.array([LARGE, -2 ** 53]), numpy.array([1, 1])), 1.0)


class AsFloats(unittest.TestCase):
    """Integers become floats where floats are asked for, if none of them is rounded."""

    def test_index_add(self):
        for out, x in ((array("d", [0.5, 1]), [1, 2, 4]), (array("f", [0.5, 1]), array("b", [1, 2, 4])),
                       (array("f", [0.5, 1]), array("i", [1, 2, 4]))):
            self.assertEqual(fanin.index_add(out, [0, 1, 0], x).tolist(), [5.5, 3.0])
        for letter, x in (("d", [LARGE]), ("f", [2 ** 24 + 1])):
            with self.assertRaises(fanin.Overflow):
                fanin.index_add(array(letter, [0]), [0], x)

    def test_large_integers_that_floats_hold(self):
        for letter, dtype, held, lost in (("q", float, [2 ** 54, -2 ** 63, 3], 2 ** 54 + 1),
                                          ("Q", float, [2 ** 64 - 2 ** 11, 1], 2 ** 64 - 2 ** 10),
                                          ("i", "f32", [2 ** 25 + 4, -2 ** 31], 2 ** 25 + 2)):
            x = array(letter, held)
            self.assertEqual(fanin.segment_max(x, [0, len(x)], dtype=dtype).tolist(), [max(held)])
            if dtype is float:
                self.assertEqual(fanin.sum(x, dtype=dtype), float(sum(held)))
                self.assertEqual(fanin.sum(memoryview(array(letter, held * 2))[::2], 0, dtype=dtype),
                                 float(sum((held * 2)[::2])))
            x.append(lost)
            with self.assertRaises(fanin.Overflow):
                fanin.segment_max(x, [0, len(x)], dtype=dtype)
        self.assertEqual(fanin.index_add(array("d", [1]), [0], [2 ** 60])[0], 2.0 ** 60)

    def test_types_of_results(self):
        x = array("i", [1, 2, 4, -1])
        for dtype in (float, "f64", "float64"):
            self.assertEqual(repr(fanin.sum(x, dtype=dtype)), "6.0")
            self.assertEqual(repr(fanin.max(x, 0, dtype=dtype)), "4.0")
            self.assertEqual(repr(fanin.segment_sum(x, [0, 3, 4], dtype=dtype)), "array('d', [7.0, -1.0])")
            self.assertEqual(repr(fanin.report("sum", x, dtype=dtype).value), "6.0")
        self.assertEqual(repr(fanin.segment_sum(x, [0, 3, 4], dtype="f32")), "array('f', [7.0, -1.0])")
        with self.assertRaises(fanin.Overflow):
            fanin.sum(array("q", [LARGE]), dtype=float)

    @unittest.skipIf(numpy is None, "numpy is not there")
    def test_numpy(self):
        x = numpy.arange(6).reshape(2, 3)
        for dtype in ("int8", "uint16", "int64", "bool"):
            found = fanin.sum(x.astype(dtype), 0, dtype=float)
            self.assertEqual(found.dtype, "float64")
            numpy.testing.assert_array_equal(found, x.astype(dtype).sum(0, dtype=float))
        self.assertEqual(fanin.sum(x > 2, dtype=int).dtype, "int64")
        large = numpy.array([[2 ** 54, LARGE], [2 ** 60, 5]])
        self.assertEqual(fanin.sum(large[:, 0], dtype=float), 2.0 ** 60 + 2 ** 54)
        self.assertEqual(fanin.sum(large[1:], 1, dtype=float).tolist(), [2.0 ** 60])  # 5 is less than half a unit
        with self.assertRaises(fanin.Overflow):
            fanin.sum(large, dtype=float)
        out = numpy.zeros(2)
        self.assertEqual(fanin.index_add(out, [0, 1, 1], numpy.array([True, True, False])).tolist(), [1, 1])


class States(unittest.TestCase):
    NUMBERS = ([LARGE, -2 ** 53], [LARGE, 0.5, -2 ** 53], [2 ** 200 + 1, -2 ** 200, 3.0], [-2 ** 63 - 1, 2 ** 64, True],
               [10 ** 308 + 1, -10 ** 308, 0.5], [-LARGE])

    def test_lists(self):
        for numbers in self.NUMBERS:
            exact = sum(map(Fraction, numbers))
            state = fanin.State(numbers)
            self.assertEqual((state.value(), state.count, state.dtype), (float(exact), len(numbers), "f64"))
            self.assertEqual(state.mean(), float(exact / len(numbers)))
            one_by_one = fanin.State()
            for number in reversed(numbers):
                one_by_one.add([number])
            self.assertEqual(one_by_one.save(), state.save())

    def test_squares(self):
        for numbers in self.NUMBERS[:4]:
            state = fanin.State(numbers, operation="sum_of_squares")
            self.assertEqual(state.value(), float(sum(Fraction(number) ** 2 for number in numbers)))
            self.assertEqual(state.count, len(numbers))

    def test_arrays(self):
        x = array("q", [LARGE, -2 ** 53, 7])
        self.assertEqual(fanin.State(x).save(), fanin.State(x.tolist()).save())
        self.assertEqual(fanin.State(x).mean(), 8 / 3)
        self.assertEqual(fanin.State().add(x, where=b"\1\1\0").save(), fanin.State([1, 0]).save())
        self.assertEqual(fanin.State(iter([LARGE, -2 ** 53])).value(), 1.0)
        self.assertEqual(fanin.State(bytes([3, 4]), operation="sum_of_squares").norm2(), 5.0)
        self.assertEqual(fanin.State(array("q")).save(), fanin.State([]).save())
        with self.assertRaises(fanin.Overflow):
            fanin.State(array("q", [2 ** 62] * 2))

    def test_refused(self):
        state = fanin.State([1.5])
        with self.assertRaises(fanin.Overflow):
            state.add([2.0, 2 ** 1024])
        self.assertEqual(state.save(), fanin.State([1.5]).save())
        for x in ([LARGE], array("q", [1])):
            with self.assertRaises(fanin.InvalidArgument):
                fanin.State(dtype="f32").add(x)

    @unittest.skipIf(numpy is None, "numpy is not installed")
    def test_numpy(self):
        x = numpy.array([[LARGE, 5], [-2 ** 53, -5]])
        self.assertEqual((fanin.State(x).value(), fanin.State(x.T).count, fanin.fsum(x[:, 0])), (1.0, 4, 1.0))
        self.assertEqual(fanin.State(list(x[:, 0])).value(), 1.0)
        with self.assertRaises(fanin.Overflow):
            fanin.sum([numpy.int64(LARGE), 0.5])
        with self.assertRaises(fanin.Overflow):
            fanin.segment_max(numpy.ones(1, "float16"), [0, 0, 1], empty=2049)
        low, high = fanin.segment_minmax(numpy.ones(1, "float16"), [0, 0, 1], empty=(7, 8))
        self.assertEqual((low.tolist(), high.tolist()), ([7.0, 1.0], [8.0, 1.0]))
