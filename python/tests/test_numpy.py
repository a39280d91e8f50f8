# SPDX-License-Identifier: Apache-2.0
"""numpy arrays, and where the package does what numpy does and where not: docs/python.md says the same."""

import itertools
import math
import unittest
import warnings

import fanin
from support import exact_sum, numpy, wide_numbers

if numpy is not None:
    REALS = [numpy.dtype(name) for name in ("float16", "float32", "float64", "int8", "uint8", "int16", "uint16",
                                            "int32", "uint32", "int64", "uint64", "bool")]
    COMPLEX = [numpy.dtype(name) for name in ("complex64", "complex128")]
    # fanin's operation, numpy's function, and whether it is there for complex numbers.
    SAME = [("sum", numpy.sum, True), ("min", numpy.min, False), ("max", numpy.max, False), ("any", numpy.any, False),
            ("all", numpy.all, False), ("mean", numpy.mean, True), ("variance", numpy.var, False),
            ("standard_deviation", numpy.std, False), ("count_nonzero", numpy.count_nonzero, False)]
    AXES = [None, 0, 1, 2, -1, (0, 1), (0, 2), (1, 2), (0, 1, 2), (2, 0)]


def integers(dtype, shape, seed):
    """Small whole numbers, whose sums are exact in numpy too."""
    return numpy.random.default_rng(seed).integers(0, 9, shape).astype(dtype)


@unittest.skipIf(numpy is None, "numpy is not installed")
class AsNumpy(unittest.TestCase):
    def assert_same(self, found, expected, what, bits=True):
        self.assertEqual(numpy.shape(found), numpy.shape(expected), what)
        self.assertEqual(type(found), type(expected), what)
        if isinstance(found, numpy.ndarray) or isinstance(found, numpy.generic):
            self.assertEqual(found.dtype, expected.dtype, what)
        numpy.testing.assert_array_equal(found, expected, str(what))

    def arrays(self, dtype):
        x = integers(dtype, (4, 6, 5), 1)
        yield x
        yield x.T
        yield x[::-1, ::2, 1:]
        yield numpy.asfortranarray(x)
        yield numpy.broadcast_to(x[:1], (3, 6, 5))

    def test_shapes_and_types(self):
        for (name, function, of_complex), dtype in itertools.product(SAME, REALS + COMPLEX):
            if dtype.kind == "c" and not of_complex:
                continue
            for x, axis in itertools.product(self.arrays(dtype), AXES):
                found = getattr(fanin, name)(x, axis)
                if name in ("mean", "variance", "standard_deviation"):  # numpy's round on the way
                    wide = x.astype("complex128" if dtype.kind == "c" else "float64")
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        self.assertEqual(found.dtype, function(x, axis).dtype)
                    scale = numpy.max(abs(wide)) ** 2 + 1
                    self.assertLessEqual(numpy.max(abs(found - function(wide, axis))),
                                         scale * (2.0 ** -10 if dtype == "float16" else 2.0 ** -22))
                    continue
                expected = function(x, axis)
                if isinstance(expected, int):
                    expected = numpy.int64(expected)  # count_nonzero gives an int without an axis
                self.assert_same(found, expected, (name, dtype, axis))

    def test_indices(self):
        for dtype, axis in itertools.product(REALS, (None, 0, 1, 2)):
            for x in self.arrays(dtype):
                self.assert_same(fanin.argmin(x, axis), numpy.argmin(x, axis), ("argmin", dtype, axis))
                self.assert_same(fanin.argmax(x, axis), numpy.argmax(x, axis), ("argmax", dtype, axis))

    def test_several_operations(self):
        names = ["sum", "mean", "min", "argmax", "minmax", "any", "count_nonzero", "standard_deviation"]
        for dtype in REALS + COMPLEX:
            used = ["sum", fanin.mean] if dtype in COMPLEX else names
            for x in self.arrays(dtype):
                for axis, keepdims, skip in itertools.product(AXES, (False, True), (False, True)):
                    choices = {"keepdims": keepdims, "skipna": skip}
                    found = fanin.reduce_each(used, x, axis, **choices)
                    self.assertEqual(type(found), tuple)
                    for name, one in zip(used, found):
                        alone = (getattr(fanin, name) if isinstance(name, str) else name)(x, axis, **choices)
                        what = dtype, axis, name
                        for part, expected in zip(one, alone) if name == "minmax" else [(one, alone)]:
                            self.assert_same(part, expected, what)
        x = numpy.arange(24.0).reshape(4, 6)
        found = fanin.reduce_each(["sum", "min"], x, 0, where=x % 4 > 0, dtype="f64", threads=2, backend="openmp,serial")
        numpy.testing.assert_array_equal(found[0], fanin.sum(x, 0, where=x % 4 > 0))
        self.assertEqual(fanin.reduce_each(["sum", "log_sum_exp"], numpy.array([0, 0]))[1], math.log(2))

    def test_several_operations_of_nothing(self):
        none = numpy.zeros((0, 3))
        self.assertEqual([found.tolist() for found in fanin.reduce_each(["sum", "mean"], none, 0)][0], [0, 0, 0])
        for x, where in (none, None), (numpy.ones(5), False):
            with self.assertRaises(fanin.InvalidArgument):
                fanin.reduce_each(["sum", "min"], x, where=where)

    def test_exact_rows(self):
        x = numpy.array(wide_numbers(24 * 50, 5)).reshape(24, 50)
        expected = [exact_sum(row) for row in x.tolist()]
        self.assertEqual(fanin.sum(x, 1).tolist(), expected)
        self.assertEqual(fanin.sum(numpy.asfortranarray(x), 1).tolist(), expected)
        self.assertEqual(fanin.sum(x[:, ::-1], 1).tolist(), expected)
        self.assertEqual(fanin.sum(x[::2], 1).tolist(), expected[::2])
        self.assertEqual(fanin.sum(x.T), exact_sum(itertools.chain(*x.tolist())))

    def test_keepdims_and_out(self):
        x = integers("float32", (3, 4, 5), 2)
        for axis in AXES:
            found = fanin.sum(x, axis, keepdims=True)
            self.assertEqual(numpy.shape(found), numpy.sum(x, axis, keepdims=True).shape)
        out = numpy.zeros((3, 5), "float32")
        self.assertIs(fanin.sum(x, 1, out=out), out)
        numpy.testing.assert_array_equal(out, x.sum(1))
        indices = numpy.zeros((3, 5), "int64")
        self.assertIs(fanin.argmax(x, 1, out=indices), indices)
        numpy.testing.assert_array_equal(indices, x.argmax(1))
        counts = numpy.zeros((3, 5), "int64")
        self.assertIs(fanin.sum(x > 3, 1, out=counts), counts)
        numpy.testing.assert_array_equal(counts, (x > 3).sum(1))
        with self.assertRaises(TypeError):
            fanin.argmax(x, 1, out=numpy.zeros((3, 5), "float32"))
        with self.assertRaises(ValueError):
            fanin.argmax(x, 1, out=numpy.zeros((2, 3, 5), "int64"))
        with self.assertRaises(TypeError):
            fanin.minmax(x, 1, out=indices)
        for wrong in (numpy.zeros((5, 3), "float32"), numpy.zeros((3, 5)), numpy.zeros((6, 5), "float32")[::2], [1.0]):
            with self.assertRaises((TypeError, ValueError)):
                fanin.sum(x, 1, out=wrong)
        read_only = numpy.zeros((3, 5), "float32")
        read_only.flags.writeable = False
        with self.assertRaises(ValueError):
            fanin.sum(x, 1, out=read_only)

    def test_where_and_nan(self):
        x = integers("float64", (3, 4), 3)
        mask = x > 3
        for axis in (None, 0, 1):
            numpy.testing.assert_array_equal(fanin.sum(x, axis, where=mask), numpy.sum(x, axis, where=mask))
        x[mask] = numpy.nan
        for axis in (None, 0, 1):
            numpy.testing.assert_array_equal(fanin.sum(x, axis, nan="skip"), numpy.nansum(x, axis))
            numpy.testing.assert_array_equal(fanin.max(x, axis), numpy.max(x, axis))

    def test_where_is_broadcast(self):
        x = integers("float64", (2, 3, 4), 3)
        masks = [True, False, numpy.bool_(True), numpy.array(True), [True, False, True, False], x > 3, x[0] > 3,
                 x[:, :1] > 3, x[:1, :, :1] > 3, (x > 3).T.copy().T, (x > 3)[::-1, :, ::-1], numpy.zeros((0,), bool)]
        for mask, axis in itertools.product(masks, (None, 0, (1, 2))):
            for given in (mask, memoryview(mask) if isinstance(mask, numpy.ndarray) else mask):
                try:
                    expected = numpy.sum(x, axis, where=mask)
                except ValueError:
                    with self.assertRaisesRegex(fanin.InvalidArgument, r"shape \(0,\), which cannot be broadcast"):
                        fanin.sum(x, axis, where=given)
                    continue
                numpy.testing.assert_array_equal(fanin.sum(x, axis, where=given), expected)
        self.assertEqual(fanin.sum(memoryview(x), where=x[0] > 3), numpy.sum(x, where=x[0] > 3))
        for mask in ([1, 0, 1, 0], "True", x):
            with self.assertRaises(fanin.Unsupported):
                fanin.sum(x, where=mask)

    def test_empty(self):
        for shape, axis in (((0,), None), ((0, 3), 0), ((3, 0), 1), ((0, 3), 1)):
            x = numpy.zeros(shape)
            for name in ("sum", "any", "all"):
                self.assert_same(getattr(fanin, name)(x, axis), getattr(numpy, name)(x, axis), (name, shape, axis))
        for function in (fanin.min, fanin.argmax):
            with self.assertRaises(ValueError):
                function(numpy.zeros(0))

    def test_zero_dimensions(self):
        for x in (numpy.array(3.0), numpy.float64(3), numpy.int8(3)):
            self.assert_same(fanin.max(x), numpy.max(x), x)

    def test_alignment(self):
        for name in ("float64", "complex128", "int16"):
            x = numpy.zeros(33 * 16, "uint8")[1:-15].view(name)
            for given in (x, x[::2], memoryview(x)):
                for axis in (None, None, 0):  # the short call, too
                    with self.assertRaises(TypeError) as caught:
                        fanin.sum(given, axis)
                    self.assertIn("x.copy()", str(caught.exception))
            self.assertEqual(fanin.sum(x.copy()), 0)

    def test_states(self):
        x = numpy.array(wide_numbers(900, 9))
        parts = [fanin.State(part) for part in numpy.split(x, 9)]
        lanes = sum(part.lanes() for part in parts)
        self.assertEqual((lanes.dtype, len(lanes)), (numpy.int64, 75))
        self.assertEqual(fanin.State.from_lanes(lanes).save(), fanin.State(x).save())
        self.assertEqual(fanin.State(numpy.asfortranarray(x.reshape(30, 30))).save(), fanin.State(x).save())

    def test_masks_of_turned_arrays(self):
        x, mask = numpy.arange(6.0).reshape(2, 3), numpy.array([[True] * 3, [False] * 3])
        turned = numpy.asfortranarray(x)
        self.assertEqual(fanin.State(turned).value(), 15.0)
        self.assertEqual(fanin.State().add(x, where=mask).value(), 3.0)
        self.assertEqual(fanin.describe(x, where=mask).sum, 3.0)
        with self.assertRaises(fanin.Unsupported):
            fanin.State().add(turned, where=mask)
        with self.assertRaises(fanin.Unsupported):
            fanin.describe(turned, where=mask)

    def test_masked_arrays(self):
        x = numpy.ma.array([1.0, 2.0], mask=[False, True])
        for call in (fanin.sum, fanin.State, fanin.describe):
            with self.assertRaises(fanin.Unsupported) as caught:
                call(x)
            self.assertIn("getmaskarray(x)", str(caught.exception))
        self.assertEqual(fanin.sum(x.data, where=~numpy.ma.getmaskarray(x)), 1.0)

    def test_values_for_nothing(self):
        halves = fanin.segment_mean(numpy.ones(2, numpy.float16), [0, 0, 2], empty=7.0)
        self.assertEqual((halves.dtype, halves.tolist()), (numpy.float16, [7.0, 1.0]))
        for dtype, value in (("int8", 1000), ("uint8", -1), ("float32", 1e300)):
            with self.assertRaises(fanin.Overflow):
                fanin.segment_max(numpy.ones(2, dtype), [0, 0, 2], empty=value)
        self.assertEqual(fanin.segment_max(numpy.ones(2, numpy.float32), [0, 0, 2], empty=math.inf).tolist(),
                         [math.inf, 1.0])

    def test_numbers_are_not_written_as_bool(self):
        with self.assertRaises(fanin.Unsupported):
            fanin.max(numpy.array([[5, 7]], numpy.int8), axis=1, out=numpy.zeros(1, bool))
        self.assertEqual(fanin.max(numpy.array([[True]]), axis=1, out=numpy.zeros(1, bool)).tolist(), [True])

    def test_fsum_of_arrays(self):
        for x in (numpy.full(3000, 1.001, numpy.float16), numpy.array([2 ** 62] * 8), numpy.array([1.5, 2], object),
                  numpy.array([1.5, 2.0], ">f8")):
            self.assertEqual(fanin.fsum(x), math.fsum(x))

    def test_batches(self):
        x, keys = integers("float32", (1000,), 4), integers("int32", (1000,), 5)
        expected = numpy.bincount(keys, x, 9)
        numpy.testing.assert_array_equal(fanin.group_sum(x, keys, 9), expected)
        out = numpy.zeros(9, "float32")
        numpy.testing.assert_array_equal(fanin.index_add(out, keys, x), expected)
        numpy.testing.assert_array_equal(fanin.segment_sum(x, numpy.array([0, 10, 500])),
                                         [x[:10].sum(), x[10:500].sum()])

    def test_counts_of_bool_are_added_to(self):
        flags, keys = numpy.ones(3, bool), numpy.array([0, 0, 1])
        counts = fanin.group_sum(flags, keys, 2)
        self.assertEqual(counts.dtype, numpy.int64)
        self.assertEqual(fanin.index_add(counts, keys, flags).tolist(), [4, 2])
        self.assertEqual(fanin.index_add(numpy.zeros(2, "uint64"), keys, flags).tolist(), [2, 1])


@unittest.skipIf(numpy is None, "numpy is not installed")
class NotAsNumpy(unittest.TestCase):
    """The list of docs/python.md: each of these is where the package and numpy differ."""

    def test_sums_are_rounded_once(self):
        x = numpy.full(1 << 16, 0.1, "float32")
        self.assertNotEqual(numpy.add.reduce(x[::-1].reshape(-1, 1), axis=0)[0], fanin.sum(x))
        self.assertEqual(fanin.sum(x), numpy.float32(exact_sum(x[:1].tolist()) * (1 << 16)))

    def test_integers_never_wrap(self):
        x = numpy.array([2 ** 63 - 1, 1])
        self.assertLess(numpy.sum(x), 0)
        with self.assertRaises(OverflowError):
            fanin.sum(x)

    def test_overflow_on_the_way(self):
        big = numpy.finfo("float64").max
        with numpy.errstate(over="ignore"):
            self.assertTrue(numpy.isinf(numpy.sum(numpy.array([big, big, -big]))))
        self.assertEqual(fanin.sum(numpy.array([big, big, -big])), big)

    def test_negative_zeros(self):
        x = numpy.array([-0.0, -0.0])
        self.assertEqual(math.copysign(1, fanin.sum(x)), -1.0)
        self.assertEqual(math.copysign(1, fanin.min(numpy.array([0.0, -0.0]))), -1.0)
        self.assertEqual(fanin.argmin(numpy.array([0.0, -0.0])), 1)
        self.assertEqual(numpy.argmin(numpy.array([0.0, -0.0])), 0)

    def test_mean_of_nothing(self):
        with self.assertRaises(ValueError):
            fanin.mean(numpy.zeros(0))

    def test_nan_of_one_bit_pattern(self):
        x = numpy.array([0xfff8000000000123], "uint64").view("float64")
        self.assertEqual(fanin.sum(x).view("uint64"), 0x7ff8000000000000)

    def test_type_of_integers(self):
        with self.assertRaises(TypeError):
            fanin.sum(numpy.arange(3.0), dtype="int64")

    def test_dot_of_all_axes(self):
        x = numpy.ones((2, 2))
        self.assertEqual((fanin.dot(x, x), numpy.dot(x, x).shape), (4.0, (2, 2)))

    def test_dates(self):
        """The advice gives the integers of dates, and leaves out NaT."""
        for dtype in ("M8[D]", "m8[D]"):
            whole = numpy.array([3, 4], dtype)
            for x, words in ((whole, "x.astype('int64')"),
                             (numpy.append(whole, numpy.array("NaT", dtype)), "x[~numpy.isnat(x)].astype('int64')")):
                with self.assertRaises(TypeError) as caught:
                    fanin.sum(x)
                self.assertTrue(str(caught.exception).endswith(" as integers, " + words), caught.exception)
                self.assertEqual(fanin.sum(eval(words, {"x": x, "numpy": numpy})), 7)

    def test_refused(self):
        for x, words in ((numpy.arange(3.0).astype(">f8"), "x.astype('float64')"), (numpy.array(["a"]), "x.astype"),
                         (numpy.zeros(3, "f8,i4")["f0"], "x.copy()"), (numpy.array([1, None]), "x.astype")):
            with self.assertRaises(TypeError) as caught:
                fanin.sum(x)
            self.assertIn(words, str(caught.exception))


if __name__ == "__main__":
    unittest.main()
