# SPDX-License-Identifier: Apache-2.0
"""numpy's names in the package: aliases, medians, and advice where a name is not here."""

import math
import statistics
import subprocess
import sys
import unittest
from array import array
from unittest import mock

import fanin
from support import numpy, wide_numbers

NAN = math.nan


class Aliases(unittest.TestCase):
    def test_values(self):
        x = array("d", [2.0, 9.0, 4.0])
        for name, of in (("prod", "product"), ("amin", "min"), ("amax", "max"), ("std", "standard_deviation"),
                         ("var", "variance"), ("average", "mean")):
            self.assertEqual(getattr(fanin, name)(x), getattr(fanin, of)(x), name)
            self.assertEqual(getattr(fanin, name)(x, 0), getattr(fanin, of)(x), name)
        self.assertEqual(fanin.std(x, ddof=1), fanin.sample_standard_deviation(x))
        self.assertEqual(fanin.var(x, 0, ddof=1, method="fast"), fanin.sample_variance(x, method="fast"))
        holes = array("d", [2.0, NAN, 9.0, 4.0])
        for name in ("sum", "prod", "min", "max", "mean", "std", "var"):
            self.assertTrue(math.isnan(getattr(fanin, name)(holes)))
            self.assertEqual(getattr(fanin, "nan" + name)(holes), getattr(fanin, name)(x), name)
        self.assertEqual((fanin.nanargmin(holes), fanin.nanargmax(holes)), (0, 2))
        self.assertEqual(fanin.nanvar(holes, ddof=1), fanin.sample_variance(x))

    def test_refused(self):
        with self.assertRaisesRegex(ValueError, "ddof=2"):
            fanin.var([1.0, 2.0, 3.0], ddof=2)
        with self.assertRaisesRegex(TypeError, r"fanin.dot\(x, weights\)"):
            fanin.average([1.0, 2.0], weights=[1.0, 2.0])
        for name, words in (("quantile", "numpy.quantile"), ("cumsum", "numpy.cumsum"), ("norm", "fanin.norm2"),
                            ("stdev", "fanin.std"), ("avg", r"call fanin.mean\(x\)$"), ("inner", "fanin.dot"),
                            ("group_std", "there is fanin.group_standard_deviation, or for ddof=1 "
                                          "fanin.group_sample_standard_deviation$"),
                            ("segment_nansum", "there is fanin.segment_sum, with nan='skip'$"),
                            ("group_nothing", "has no attribute 'group_nothing'$"),
                            ("idxmax", r"call x.index\[fanin.argmax\(x\)\]$"),
                            ("nothing", "has no attribute 'nothing'$")):
            with self.assertRaisesRegex(AttributeError, words):
                getattr(fanin, name)

    def test_arguments_of_other_libraries(self):
        x = [1.0, 2.0]
        for call, words in ((lambda: fanin.sum(x, dim=0), r"sum\(\) got .*'dim': write axis= with numbers"),
                            (lambda: fanin.dot(x, x, keepdim=True), r"dot\(\) got .*'keepdim': write keepdims="),
                            (lambda: fanin.nansum(x, numeric_only=True), r"'numeric_only': .*\.select_dtypes\("),
                            (lambda: fanin.std(x, correction=1), "'correction': .* ddof=1"),
                            (lambda: fanin.variance(x, ddof=1), "'ddof': fanin.std and fanin.var"),
                            (lambda: fanin.median(x, ignore_nulls=True), r"median\(\) got .*: nan='skip'"),
                            (lambda: fanin.describe(x, include="all"), r"describe\(\) got .*every column of numbers$"),
                            (lambda: fanin.segment_sum(x, [0, 2], mask=x), r"segment_sum\(\) got .*: write where="),
                            (lambda: fanin.group_dot(x, x, [0, 2], how="fast"), r"group_dot\(\) got .*method="),
                            (lambda: fanin.max(x, nothing=1), r"^max\(\) got an .* argument 'nothing'$"),
                            (lambda: fanin.sum(x, 0.5), "axis is a number, a tuple of numbers or None, and not 0.5$")):
            with self.assertRaisesRegex(TypeError, words):
                call()

    def test_what_is_no_array(self):
        for x, words in ((3, "an int is neither an array.*: hand over a list"),
                         ({"a": 1.0}, r"a dict.*: hand over x.values\(\)$"),
                         ("12", "a str is neither an array nor an iterable of numbers$")):
            with self.assertRaisesRegex(TypeError, words):
                fanin.max(x)

    def test_modules_need_no_import_of_their_own(self):
        if numpy is not None:
            code = "import fanin; print(fanin.numpy.sum([0.5, 1.5]))"
            run = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True)
            self.assertEqual(run.stdout.decode().strip(), "2.0")

    def test_framework_that_is_missing(self):
        """Without PyTorch or JAX the package is imported, and the import of its part is Python's own error."""
        for name in ("torch", "jax"):
            code = "import sys; sys.modules[%r] = None; import fanin; print(fanin.sum([1.0])); import fanin.%s" % (
                name, name)
            run = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.assertEqual((run.returncode, run.stdout.decode().strip()), (1, "1.0"))
            self.assertEqual(run.stderr.decode().strip().splitlines()[-1],
                             "ModuleNotFoundError: import of %s halted; None in sys.modules" % name)

    def test_reports(self):
        """If a name has no report of its own, the error says what to call."""
        x = [1.0, NAN, 4.0]
        for name, words in (("std", "'standard_deviation', or for ddof=1 'sample_standard_deviation'$"),
                            ("nanvar", "'variance', or for ddof=1 'sample_variance', with nan='skip'$"),
                            ("amax", "'max'$"), ("nanprod", "'product', with nan='skip'$"), ("average", "'mean'$")):
            with self.assertRaisesRegex(ValueError, "there is no operation '%s': report %s" % (name, words)):
                fanin.report(name, x)
        with self.assertRaisesRegex(ValueError, "'std': report 'standard_deviation'"):
            fanin.report(fanin.std, x)
        for name in ("median", "nanmedian"):
            for given in (name, getattr(fanin, name)):
                with self.assertRaisesRegex(ValueError, r"call fanin.%s\(x\), which has no report" % name):
                    fanin.report(given, x)
        self.assertEqual(fanin.report(fanin.prod, [2, 3]).value, 6)
        for given in ("dot", fanin.vdot):
            with self.assertRaisesRegex(ValueError, r"takes y, a second array: call fanin.report\('v?dot', x, y\)"):
                fanin.report(given, x)

    def test_listed(self):
        for name in ("std", "nansum", "median", "average"):
            self.assertIn(name, dir(fanin))
            self.assertEqual(getattr(fanin, name).__name__, name)


class Medians(unittest.TestCase):
    CASES = ([1.0], [3.0, 1.0], [1, 2, 10], [2 ** 62, 2 ** 62 + 3], [1.7e308, 1.6e308], [5e-324, 0.0],
             wide_numbers(100, 2), wide_numbers(101, 3), [math.inf, 1.0, -math.inf], [True, False, True, True])

    def check_lists(self):
        for x in self.CASES:
            expected = fanin.mean(sorted(x)[(len(x) - 1) // 2:len(x) // 2 + 1])
            self.assertEqual((fanin.median(x), fanin.median(tuple(x), 0), fanin.median(iter(x))), (expected,) * 3)
            self.assertIs(type(fanin.median(x)), float)
            if max(map(abs, x)) < 2 ** 53:
                self.assertEqual(fanin.median(x), statistics.median(x))
            self.assertEqual(fanin.median([NAN, *map(float, x), NAN], nan="skip"), fanin.median(list(map(float, x))))
            self.assertTrue(math.isnan(fanin.median([*map(float, x), NAN])))
        for x, words in (([], "median of an empty array"), ([NAN], "median of no elements: all are left out")):
            for name in ("mean", "median"):
                with self.assertRaisesRegex(ValueError, words.replace("median", name) + "$"):
                    getattr(fanin, name)(x, skipna=True)
        for choice in ({"nan": "drop"}, {"axis": 1}):
            with self.assertRaises(ValueError):
                fanin.median([1.0], **choice)
        with self.assertRaises(TypeError):
            fanin.median([1j])

    def test_lists(self):
        self.check_lists()

    def test_without_numpy(self):
        with mock.patch.dict(sys.modules, numpy=None), mock.patch("fanin._libraries._numpy", []):
            self.check_lists()
            with self.assertRaisesRegex(TypeError, "needs numpy"):
                fanin.median(memoryview(array("d", range(4))).cast("B").cast("d", (2, 2)))

    @unittest.skipIf(numpy is None, "numpy is not installed")
    def test_arrays(self):
        whole = numpy.random.default_rng(1).integers(-50, 50, (4, 6, 5))
        for dtype in ("int8", "int64", "uint16", "float16", "float32", "float64", "bool"):
            for x in (whole.astype(dtype), whole.astype(dtype).T, whole.astype(dtype)[::-1, ::2]):
                for axis in (None, 0, 1, -1, (0, 1), (0, 2), (0, 1, 2)):
                    for keepdims in (False, True):
                        found = fanin.median(x, axis, keepdims=keepdims)
                        expected = numpy.median(x, axis, keepdims=keepdims)
                        numpy.testing.assert_array_equal(found, expected)
                        self.assertEqual((type(found), found.dtype), (type(expected), expected.dtype))
        for dtype in ("int8", "float16", "float32", "float64"):
            x = numpy.ones((2, 0, 3), dtype)
            for axis in (1, (0, 1), -1, 0):
                for keepdims in (False, True):
                    found, expected = (of(x, axis, keepdims=keepdims) for of in (fanin.median, fanin.mean))
                    numpy.testing.assert_array_equal(found, expected)
                    self.assertEqual((found.shape, found.dtype), (expected.shape, expected.dtype))
            with self.assertRaisesRegex(ValueError, "median of an empty array"):
                fanin.median(x)
        holes = numpy.where(whole > 20, NAN, whole)
        holes[0, 0] = NAN
        for axis in (None, 0, 1, (1, 2)):
            numpy.testing.assert_array_equal(fanin.median(holes, axis), numpy.median(holes, axis))
            numpy.testing.assert_array_equal(fanin.nanmedian(holes, axis), numpy.nanmedian(holes, axis))
        numpy.testing.assert_array_equal(fanin.nanmedian(holes[:1], -1)[0, 0], NAN)


if __name__ == "__main__":
    unittest.main()
