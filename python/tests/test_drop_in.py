# SPDX-License-Identifier: Apache-2.0
"""fanin.numpy beside numpy: names, arguments, shapes, types, and values where numpy does not round."""

import inspect
import itertools
import unittest
import warnings

from support import exact_sum, numpy, wide_numbers

if numpy is not None:
    import fanin.numpy

REDUCTIONS = ("sum", "prod", "min", "max", "amin", "amax", "mean", "var", "std", "any", "all", "argmin", "argmax",
              "count_nonzero", "median", "nansum", "nanprod", "nanmin", "nanmax", "nanargmin", "nanargmax", "nanmean",
              "nanvar", "nanstd", "nanmedian")
WITH_WHERE = ("sum", "prod", "mean", "var", "std", "any", "all", "nansum", "nanprod", "nanmean", "nanvar", "nanstd")
WITH_INITIAL = ("sum", "prod", "min", "max", "nansum", "nanprod", "nanmin", "nanmax")
WITH_DTYPE = ("sum", "prod", "mean", "nansum", "nanprod", "nanmean")
ROUNDED = ("mean", "var", "std")  # numpy rounds these on the way


@unittest.skipIf(numpy is None, "numpy is not installed")
class DropIn(unittest.TestCase):
    def arrays(self, dtype):
        x = numpy.random.default_rng(1).integers(0, 4, (2, 3, 4)).astype(dtype)
        yield from (x, x.T, x[::-1, :, ::2], x[0], x[0, 0], x[0, 0, 0], x[:, :0])

    def axes(self, ndim):
        yield from (None, *range(ndim))
        if ndim:
            yield from (-1, ndim)  # the last one does not exist
        if ndim > 1:
            yield from ((), (1, 0), (-1, 0), tuple(range(ndim)))

    def check(self, name, x, *arguments, **choices):
        """Checks that both have the same result, or that both fail."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                expected = getattr(numpy, name)(x, *arguments, **choices)
            except (ValueError, TypeError):
                with self.assertRaises((ValueError, TypeError)):
                    getattr(fanin.numpy, name)(x, *arguments, **choices)
                return
        what = name, x.dtype, x.shape, x.strides, arguments, choices
        try:
            found = getattr(fanin.numpy, name)(x, *arguments, **choices)
        except ValueError:
            self.assertTrue(numpy.isnan(expected).any(), what)  # numpy warns that there are no elements
            return
        self.assertEqual(numpy.shape(found), numpy.shape(expected), what)
        if not isinstance(expected, int):  # count_nonzero
            self.assertEqual(found.dtype, expected.dtype, what)
            if x.ndim:
                self.assertEqual(type(found), type(expected), what)
        if name.replace("nan", "") not in ROUNDED:
            numpy.testing.assert_array_equal(found, expected, str(what))
            return
        # The elements are 24 integers below 4, so that squares of deviations are at most 16. numpy rounds the mean, 24
        # squares, 23 additions and a division: an error of at most 49 * 16 half units. A variance that is not 0 is at
        # least 23 / 24^2 > 0.04, so that the square root makes at most 1 / (2 * 0.2) of an error.
        bound = 49 * 16 / 2 / (2 * 0.2) * numpy.finfo(expected.dtype).eps
        numpy.testing.assert_allclose(found, expected, rtol=0, atol=bound, err_msg=str(what))

    def test_signatures(self):
        for name in REDUCTIONS + ("average",):
            ours, theirs = (inspect.signature(getattr(module, name)).parameters for module in (fanin.numpy, numpy))
            shared = [key for key in theirs if key in ours]
            of_numpy_2 = () if "correction" in theirs else ("mean", "correction")
            self.assertEqual([key for key in ours if key not in of_numpy_2], shared, name)  # in numpy's order
            for key in shared:
                self.assertEqual(ours[key].kind, theirs[key].kind, (name, key))
            self.assertLessEqual(set(theirs), set(ours), name)

    def test_shapes_and_types(self):
        for dtype in ("float32", "int16", "uint64", "bool", "float16"):
            for x, name in itertools.product(self.arrays(dtype), REDUCTIONS):
                for axis in self.axes(x.ndim):
                    if isinstance(axis, tuple) and ("arg" in name or "median" in name and x.size == 0):
                        continue  # numpy has no such indices, and does not take all tuples of axes here
                    self.check(name, x, axis, keepdims=True)
                    self.check(name, x, axis)

    def test_where(self):
        for dtype, name in itertools.product(("float32", "float64", "int16", "bool"), WITH_WHERE):
            for x in self.arrays(dtype):
                if x.ndim == 0:
                    continue
                for mask, axis in itertools.product((x > 1, x[..., :1] > 1, True), (None, -1)):
                    self.check(name, x, axis, where=mask)

    def test_initial(self):
        for dtype, name in itertools.product(("float32", "float64", "int16", "bool"), WITH_INITIAL):
            for x in self.arrays(dtype):
                for axis in self.axes(x.ndim):
                    self.check(name, x, axis, initial=1)
                    self.check(name, x, axis, initial=1, keepdims=True)
                    if x.ndim:
                        self.check(name, x, axis, initial=1, where=x > 1)
        numbers = numpy.array(wide_numbers(60, 3)).reshape(6, 10)
        self.assertEqual(fanin.numpy.sum(numbers, 1, initial=0.1).tolist(),
                         [exact_sum([*row, 0.1]) for row in numbers.tolist()])

    def test_dtype(self):
        for dtype, name, wanted in itertools.product(("float32", "int16", "bool", "uint64"), WITH_DTYPE,
                                                     ("float32", "float64", "int64", float, "complex128")):
            for x in self.arrays(dtype):
                if numpy.dtype(wanted).kind not in "iu" or "mean" not in name:
                    self.check(name, x, None, wanted)
                    self.check(name, x, 0 if x.ndim else None, dtype=wanted)
        self.check("sum", numpy.array([100, 27], "int8"), dtype="int8")
        with self.assertRaises(OverflowError):
            fanin.numpy.sum(numpy.array([100, 28], "int8"), dtype="int8")

    def test_skipped_nan_beside_a_type_of_integers(self):
        x = numpy.array([[1.0, numpy.nan, 2.0], [numpy.nan, 3.0, numpy.nan]])
        for dtype, given in (("int64", x), ("uint8", x.astype("float16")), ("int32", x.astype("float32"))):
            for axis in (None, 0, 1):
                self.check("nansum", given, axis, dtype=dtype)
                self.check("nanprod", given, axis, dtype=dtype, keepdims=True)
            self.check("nansum", given, 1, dtype=dtype, initial=7)
            self.check("nansum", given, 1, dtype=dtype, where=given != 2)
            self.assertEqual(fanin.numpy.nanmean(given, dtype=dtype), 2)
        self.assertEqual(fanin.numpy.nansum(x, dtype=bool, where=x == 3), True)
        with self.assertRaises(OverflowError):
            fanin.numpy.nanmean(x, 0, dtype="int64", where=x != 2)  # a mean of nothing is NaN

    def test_elements_that_a_type_of_integers_does_not_hold(self):
        for dtype, below, least, most, above in (
                ("int32", -2.0 ** 31 - 1, -2.0 ** 31 - 0.5, 2.0 ** 31 - 0.5, 2.0 ** 31),
                ("int64", -2.0 ** 63 - 2048, -2.0 ** 63, 2.0 ** 63 - 1024, 2.0 ** 63),
                ("uint64", -1.0, -0.5, 2.0 ** 64 - 2048, 2.0 ** 64)):
            for held in (least, most):
                self.check("sum", numpy.array([held, 0.0]), dtype=dtype)
                self.check("sum", numpy.array([0.0]), dtype=dtype, initial=held)
            for lost in (below, above, numpy.inf, numpy.nan):
                for name in ("sum", "prod", "mean"):
                    with self.assertRaisesRegex(OverflowError, "an element does not fit into " + dtype):
                        getattr(fanin.numpy, name)(numpy.array([1.5, lost]), dtype=dtype)
                if dtype != "int32":  # sums of int32 have 64 bits, and so has the initial value
                    with self.assertRaises(OverflowError):
                        fanin.numpy.sum(numpy.array([1]), dtype=dtype, initial=lost)
                found = fanin.numpy.sum(numpy.array([1.5, lost]), dtype=dtype, where=[True, False])
                self.assertEqual((found, found.dtype), (1, dtype))
        for x, dtype in (([-1], "uint64"), ([2 ** 63], "int64"), ([300], "uint8")):
            with self.assertRaises(OverflowError):
                fanin.numpy.sum(numpy.array(x), dtype=dtype)

    def test_out(self):
        x = numpy.arange(12.0).reshape(3, 4)
        for name in ("sum", "max", "mean", "std", "any", "argmax", "nansum", "median"):
            for of in (*(numpy.empty(4, dtype) for dtype in ("float64", "int64", "complex128")), numpy.empty((3, 4))):
                if of.ndim == 2 or of.dtype == "int64" and name in ("sum", "max", "mean", "std", "nansum", "median"):
                    with self.assertRaises((TypeError, ValueError)):
                        getattr(fanin.numpy, name)(x, 0, out=of)
                    continue
                expected = getattr(fanin, name)(x, 0)
                found = getattr(fanin.numpy, name)(x, 0, out=of)
                self.assertIs(found, of)
                numpy.testing.assert_array_equal(found, expected)
        with self.assertRaisesRegex(ValueError, "out has the shape"):
            fanin.numpy.sum(x, 0, out=numpy.empty((3, 4)))

    def test_refused(self):
        x = numpy.ones(3)
        for call, kind, words in ((lambda: fanin.numpy.var(x, ddof=2), ValueError, "ddof=2"),
                                  (lambda: fanin.numpy.average(x, weights=x), TypeError, "fanin.dot"),
                                  (lambda: fanin.numpy.average(x, returned=True), TypeError, "returned"),
                                  (lambda: fanin.numpy.cumsum, AttributeError, "call numpy.cumsum"),
                                  (lambda: fanin.numpy.dot, AttributeError, "call fanin.dot.* or numpy.dot"),
                                  (lambda: fanin.numpy.ptp, AttributeError, "call fanin.minmax"),
                                  (lambda: fanin.numpy.linalg, AttributeError, "call fanin.norm2"),
                                  (lambda: fanin.numpy.nothing, AttributeError, "has no nothing$"),
                                  (lambda: fanin.numpy.var(x, mean=1.0), TypeError, "mean= is not offered"),
                                  (lambda: fanin.numpy.std(x, ddof=1, correction=1), ValueError, "give one of them"),
                                  (lambda: fanin.numpy.nanstd(x, correction=2), ValueError, "ddof=2"),
                                  (lambda: fanin.numpy.sum(numpy.ma.array([1.0])), TypeError, "masked"),
                                  (lambda: fanin.numpy.sum(numpy.array([1, None])), TypeError, "object|dtype"),
                                  (lambda: fanin.numpy.sum(x, 1), IndexError, "axis 1 is out of bounds")):
            with self.assertRaisesRegex(kind, words):
                call()

    def test_an_axis_of_a_number(self):
        for axis in (0, -1, (0,)):
            self.assertEqual((fanin.numpy.sum(3.0, axis), fanin.numpy.max(numpy.int8(3), axis)), (3.0, 3))

    def test_corrections(self):
        x = numpy.arange(6.0).reshape(2, 3)
        for name in ("std", "var", "nanstd", "nanvar"):
            of = getattr(fanin.numpy, name)
            for correction in (0, 1):
                numpy.testing.assert_array_equal(of(x, 1, correction=correction), of(x, 1, ddof=correction))

    def test_average(self):
        x = numpy.arange(6.0).reshape(2, 3)
        for axis in (None, 0, 1):
            numpy.testing.assert_array_equal(fanin.numpy.average(x, axis), numpy.average(x, axis))


if __name__ == "__main__":
    unittest.main()
