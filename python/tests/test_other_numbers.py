# SPDX-License-Identifier: Apache-2.0
"""Lists with numbers that are no floats of 64 bits: Fraction, Decimal and numpy's scalars."""

import math
import unittest
from decimal import Decimal
from fractions import Fraction

import fanin
from support import bits, numpy


class OtherNumbers(unittest.TestCase):
    """Numbers of other types are taken if a float of 64 bits is equal to them, and refused otherwise."""

    def test_taken(self):
        for numbers in ([Fraction(1, 2), Decimal("0.25"), 1], [Decimal("-0.75"), 2.5], [Decimal("inf"), 1.0]):
            self.assertEqual(fanin.sum(numbers), sum(map(float, numbers)))
            self.assertEqual(fanin.fsum(numbers), sum(map(float, numbers)))
            self.assertEqual(fanin.State(numbers).value(), sum(map(float, numbers)))
        self.assertTrue(math.isnan(fanin.sum([Decimal("nan")])))
        self.assertEqual(bits(fanin.sum([Decimal("-0")])), bits(-0.0))
        self.assertEqual(fanin.sum([1j, Fraction(1, 2)]), 0.5 + 1j)

    def test_refused(self):
        for number in (Fraction(1, 3), Decimal("0.1"), Fraction(10 ** 400), Decimal("1e-999999999"), Decimal("snan")):
            for call in (fanin.sum, fanin.max, fanin.describe, fanin.fsum, fanin.State):
                with self.assertRaisesRegex(TypeError, r"^element 2 of the list is .*: round it with float\(x\)"):
                    call([2.0, 1, number])
        with self.assertRaisesRegex(TypeError, "^element 1 of the list"):
            fanin.sum([1j, Fraction(1, 3)])
        with self.assertRaisesRegex(TypeError, "^element 1 of the list"):
            fanin.State([2 ** 53 + 1, Decimal("0.1")])

    def test_no_numbers(self):
        for x, words in (([1.0, None], "None, which is not a number: leave it out with "),
                         ([0.5, [1.0]], "a list with a list"),
                         ([1, object()], "^element 1 of the list is .*, which is not a number$"),
                         (5, "^an int is neither an array"),
                         ([bytearray(1)], "a list with a bytearray in it"), (5.0, "^a float is neither an array")):
            with self.assertRaisesRegex(TypeError, words):
                fanin.sum(x)

    @unittest.skipIf(numpy is None, "numpy is not there")
    def test_arrays_without_axes(self):
        for dtype in ("float16", "float32", "float64", "int8", "uint64", "complex64"):
            x = [numpy.array(number, dtype) for number in (1, 2, 4)]
            self.assertEqual((fanin.sum(x), fanin.sum(tuple(x)), fanin.sum(iter(x))), (7, 7, 7))
            if dtype != "complex64":
                self.assertEqual((fanin.fsum(x), fanin.State(x).value(), fanin.max(x)), (7.0, 7.0, 4))
                self.assertEqual(fanin.dot(x, x), 21)
        self.assertEqual(fanin.sum([numpy.array(0.5), 1, numpy.float32(2)]), 3.5)
        with self.assertRaisesRegex(TypeError, "a list with a ndarray in it"):
            fanin.sum([numpy.zeros(2), numpy.zeros(2)])

    @unittest.skipIf(numpy is None, "numpy is not there")
    def test_numpy(self):
        self.assertEqual(fanin.sum([numpy.longdouble(0.5), numpy.float32(0.25), numpy.float16(2)]), 2.75)
        third = numpy.longdouble(1) / 3
        if third != float(third):
            with self.assertRaisesRegex(TypeError, "^element 1 of the list"):
                fanin.sum([1.0, third])
        self.assertEqual(fanin.sum([numpy.complex64(1 + 2j), 1.0]), 2 + 2j)


if __name__ == "__main__":
    unittest.main()
