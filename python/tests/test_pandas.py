# SPDX-License-Identifier: Apache-2.0
"""Columns and frames of pandas, with missing values, with pyarrow and without it."""

import math
import unittest

import fanin
from support import exact_sum, numpy, wide_numbers

try:
    import pandas
except ImportError:
    pandas = None
try:
    import pyarrow
except ImportError:
    pyarrow = None

NULLABLE = ("Int8", "UInt8", "Int64", "UInt64", "Float32", "Float64", "boolean")
NUMBERS = [1, None, 0, 1, 1, 0, 1, 0, 0]
FLOATS = [math.nan if number is None else number for number in NUMBERS]
OF_ARROW = ("int8[pyarrow]", "uint64[pyarrow]", "float[pyarrow]", "double[pyarrow]", "bool[pyarrow]")


@unittest.skipIf(pandas is None, "pandas is not installed")
class Columns(unittest.TestCase):
    def test_missing(self):
        """NaN and NA make NaN or an error, and are skipped on request."""
        x = pandas.Series([1.0, math.nan, 4.0])
        self.assertTrue(math.isnan(fanin.sum(x)))
        for choice in ({"nan": "skip"}, {"skipna": True}):
            self.assertEqual(fanin.sum(x, **choice), 5.0)
            self.assertEqual(fanin.report("sum", x, **choice).absent, 1)
            self.assertEqual(fanin.dot(x, x, **choice), 17.0)
            self.assertEqual(fanin.describe(x, **choice)[:5], (2, 1, 1.0, 4.0, 5.0))
        self.assertTrue(math.isnan(fanin.sum(x, nan="skip", skipna=False)))
        for dtype in NULLABLE + (OF_ARROW if pyarrow else ()):
            x = pandas.Series(NUMBERS, dtype=dtype)
            for given in (x, x.array, pandas.concat([x[:2], x[2:]]), pandas.concat([x[:0], x, x[:0]])):
                for name in ("sum", "max", "mean", "count_nonzero", "argmin", "any", "norm2"):
                    found = getattr(fanin, name)(given, skipna=True)
                    self.assertEqual(found, getattr(fanin, name)(FLOATS, nan="skip"), (name, dtype))
                    self.assertIsInstance(found, numpy.generic)
                self.assertEqual(fanin.describe(given, nan="skip")[:5], (8, 1, 0, 1, 4))
                self.assertEqual(fanin.State().add(given, skipna=True).mean(), 0.5)
                self.assertEqual(fanin.index_add(numpy.ones(2), [0, 0, 1] * 3, given, skipna=True).tolist(), [5, 1])
                self.assertEqual(fanin.sum(given, where=[False, True, True] * 3, skipna=True), 1)
                self.assertEqual(fanin.describe(given, where=[True, False, True] * 3, nan="skip").nan, 0)
                for call in (fanin.sum, fanin.describe, fanin.State, fanin.argmax,
                             lambda x: fanin.index_add(numpy.ones(1), [0] * 9, x)):
                    with self.assertRaisesRegex(ValueError, 'missing .* nan="skip"'):
                        call(given)
            self.assertEqual(fanin.sum(x[x.notna()]), 4)
            self.assertEqual(fanin.sum(pandas.Series([], dtype=dtype)), 0)
        self.assertEqual(fanin.sum(pandas.Series([2 ** 62 + 1, None], dtype="Int64"), skipna=True), 2 ** 62 + 1)

    def test_two_columns(self):
        x, y = (pandas.Series(numbers, dtype="Int64") for numbers in ([1, None, 3, 5], [2, 7, None, 11]))
        self.assertEqual(fanin.dot(x, y, nan="skip"), 57)
        self.assertEqual(fanin.group_dot(x, y, ["a", "b", "b", "a"], skipna=True).to_dict(), {"a": 57, "b": 0})

    def test_where_they_are(self):
        numbers = wide_numbers(300, 3)
        frame = pandas.DataFrame(numpy.array(numbers).reshape(100, 3), columns=list("abc"))
        for x in (frame["b"], frame["b"][::-1], pandas.Index(frame["b"]), frame["b"].sample(frac=1, random_state=1)):
            self.assertEqual(fanin.sum(x), exact_sum(numbers[1::3]))
            self.assertEqual(fanin.State(x).value(), exact_sum(numbers[1::3]))
            self.assertEqual(fanin.describe(x).sum, exact_sum(numbers[1::3]))
        self.assertEqual(fanin.segment_sum(frame["b"], [0, 100]).tolist(), [exact_sum(numbers[1::3])])
        halves = pandas.Series([1.0, 2.0, 4.0, 8.0], dtype="Float64")[::2]
        self.assertEqual((fanin.State(halves).value(), fanin.segment_sum(halves, [0, 2]).tolist()), (5.0, [5.0]))
        self.assertEqual((fanin.sum(pandas.RangeIndex(5)), fanin.sum(frame["b"] > math.inf)), (10, 0))
        self.assertEqual(fanin.sum(frame["a"], where=frame["a"] > 0), fanin.sum(frame["a"][frame["a"] > 0]))

    def test_refused(self):
        dates = pandas.Series(pandas.to_datetime(["2020-01-01", None]))
        whole = "x.dropna().astype('int64')"
        for x, words in ((dates, whole), (dates.dt.tz_localize("UTC"), whole), (dates - dates, whole),
                         (pandas.Index(dates), whole), (pandas.Series(["1"]), "pandas.to_numeric(x)"),
                         (pandas.Series([1, None], dtype=object), "pandas.to_numeric(x)"),
                         (pandas.Series([1, 2], dtype="category"), "x.astype('float64')"),
                         (pandas.Series(pandas.period_range("2020", periods=2, freq="D")), whole),
                         (pandas.Series(pandas.arrays.SparseArray([1.0])), "numpy.asarray(x)"),
                         (pandas.arrays.SparseArray([1.0]), "numpy.asarray(x)")):
            with self.assertRaises(TypeError) as caught:
                fanin.sum(x)
            self.assertIn(words, str(caught.exception))
            self.assertTrue(math.isfinite(fanin.sum(eval(words, {"x": x, "pandas": pandas, "numpy": numpy}), nan="skip")))
        for x in (pandas.IntervalIndex.from_breaks([0, 1]), pandas.Series(["p", "1"]),
                  pandas.Series([1, "p"], dtype=object), pandas.Series(["p"], dtype="string"),
                  pandas.Series(["p", "q"], dtype="category")):
            with self.assertRaisesRegex(TypeError, r"it has no numbers: .* frame.select_dtypes\('number'\)"):
                fanin.sum(x)
        groups = pandas.DataFrame({"a": [1.0], "b": ["p"]}).groupby("b")
        for x in (groups, groups.a, dates.rolling(2)):
            with self.assertRaisesRegex(TypeError, r"is neither an array.*: call x.agg\(fanin.sum\)"):
                fanin.mean(x)
        with self.assertRaisesRegex(TypeError, r"a Timestamp is not read: call x.to_numpy\(\)"):
            fanin.sum(dates[0])
        with self.assertRaisesRegex(ValueError, r"x.dropna\(\)"):
            fanin.fsum(pandas.Series([1, None], dtype="Float64"))
        for call in (fanin.State, lambda x: fanin.dot(x, x), lambda x: fanin.report("sum", x)):
            with self.assertRaisesRegex(TypeError, r"x\['name'\]"):
                call(pandas.DataFrame({"a": [1.0]}))


@unittest.skipIf(pandas is None, "pandas is not installed")
class Frames(unittest.TestCase):
    def setUp(self):
        self.frame = pandas.DataFrame({"a": [1.0, 2.0, 3.0], "b": [4, 5, 7], "c": [True, False, True]},
                                      index=["x", "y", "z"])

    def check(self, found, values, index, dtype):
        self.assertIsInstance(found, pandas.Series)
        self.assertEqual((found.tolist(), list(found.index), str(found.dtype)), (values, list(index), dtype))

    def test_columns(self):
        for axis in (None, 0, "index", "rows"):
            self.check(fanin.sum(self.frame[["a"]], axis), [6.0], "a", "float64")
            self.check(fanin.sum(self.frame[["b", "c"]], axis), [16, 2], "bc", "int64")
            self.check(fanin.sum(self.frame, axis), [6.0, 16, 2], "abc", "object")  # no integer becomes a float
        least, largest = fanin.minmax(self.frame[["b"]])
        self.check(least, [4], "b", "int64")
        self.check(largest, [7], "b", "int64")
        self.check(fanin.sum(self.frame[[]]), [], "", "object")
        twice = pandas.concat([self.frame[["a"]], self.frame[["a"]]], axis=1)
        self.check(fanin.max(twice), [3.0, 3.0], "aa", "float64")
        self.check(self.frame[["a", "b"]].apply(fanin.sum), [6.0, 16.0], "ab", "float64")
        self.check(self.frame[["a", "b"]].agg(fanin.sum), [6.0, 16.0], "ab", "float64")

    def test_rows(self):
        for axis in (1, "columns"):
            self.check(fanin.sum(self.frame, axis), [6.0, 7.0, 11.0], "xyz", "float64")
            self.check(fanin.sum(self.frame[["b", "c"]], axis), [5, 5, 8], "xyz", "int64")
            self.check(fanin.all(self.frame[["c"]], axis), [True, False, True], "xyz", "bool")
        self.check(fanin.minmax(self.frame, 1)[1], [4.0, 5.0, 7.0], "xyz", "float64")
        self.check(fanin.sum(self.frame[[]], 1), [0.0, 0.0, 0.0], "xyz", "float64")
        holes = pandas.DataFrame({"a": pandas.array([1, None], "Int64"), "b": [math.nan, 2.5]})
        self.check(fanin.sum(holes, 1, skipna=True), [1.0, 2.5], [0, 1], "float64")
        with self.assertRaisesRegex(ValueError, "missing"):
            fanin.sum(holes, 1)
        with self.assertRaisesRegex(fanin.Overflow, "column 'b'"):
            fanin.sum(pandas.DataFrame({"a": [0.5], "b": [2 ** 53 + 1]}), 1)

    def test_refused(self):
        text = self.frame.assign(d=["p", "q", "r"])
        for axis in (0, 1):
            with self.assertRaisesRegex(TypeError, "column 'd': .*select_dtypes"):
                fanin.sum(text, axis)
        self.assertEqual(fanin.sum(text.select_dtypes("number")).tolist(), [6.0, 16])
        with self.assertRaisesRegex(ValueError, "0 or 1, not 2"):
            fanin.sum(self.frame, 2)
        with self.assertRaisesRegex(TypeError, r"x.to_numpy\(\)"):
            fanin.sum(self.frame, keepdims=True)

    def test_describe(self):
        frame = self.frame.assign(b=[2 ** 60, 2 ** 60 + 1, 0], d=["p", "q", "r"], e=pandas.to_datetime(["2020"] * 3))
        found = fanin.describe(frame)
        self.assertEqual((list(found.columns), list(found.index)), (["a", "b", "c"], list(fanin.Description._fields)))
        for name in found:
            self.assertEqual(tuple(found[name]), fanin.describe(frame[name]))
        self.assertEqual(found.loc["sum", "b"], 2 ** 61 + 1)
        self.assertEqual(fanin.describe(pandas.DataFrame({"a": [1.0, math.nan]}), skipna=True).loc["nan", "a"], 1)

    def test_columns_without_a_value(self):
        """Such a column has NaN, as a row has, and the results of the other columns stay."""
        frame = pandas.DataFrame({"a": [1.0, math.nan, 4.0], "b": [math.nan] * 3,
                                  "c": pandas.array([None] * 3, "Int64"), "d": [2, 4, 9]})
        for name in ("mean", "max", "min", "norm2", "median", "std", "var"):
            found = getattr(fanin, name)(frame, skipna=True)
            expected = [getattr(fanin, name)(frame[column], skipna=True) for column in "ad"]
            self.assertEqual((found[["a", "d"]].tolist(), list(found.index)), (expected, list("abcd")), name)
            rows = getattr(fanin, name)(numpy.full((2, 3), math.nan), 1, nan="skip")
            numpy.testing.assert_array_equal(found[["b", "c"]].tolist(), rows)
        numpy.testing.assert_array_equal(fanin.minmax(frame, skipna=True)[1].tolist(), [4, math.nan, math.nan, 9])
        self.assertEqual(str(fanin.max(frame[["a", "b"]].astype("float32"), skipna=True).dtype), "float32")
        self.assertTrue(fanin.mean(pandas.DataFrame({"a": [], "b": []})).isna().all())
        described = fanin.describe(frame, skipna=True)
        for name in "bc":
            numpy.testing.assert_array_equal(described[name].tolist(), [0, 3, *[math.nan] * 2, 0.0, *[math.nan] * 2])
        self.assertEqual(tuple(described["d"]), fanin.describe(frame["d"]))
        with self.assertRaisesRegex(ValueError, "column 'b': argmax of no elements"):  # rows have no such index either
            fanin.argmax(frame, skipna=True)
        with self.assertRaisesRegex(ValueError, "column 'c': elements are missing"):
            fanin.mean(frame)
        with self.assertRaisesRegex(ValueError, "column 'a': threads"):
            fanin.describe(frame, skipna=True, threads=-1)

    def test_in_calls_of_pandas(self):
        numbers = wide_numbers(90, 4)
        frame = pandas.DataFrame({"shop": ["north", "south", "east"] * 30, "sales": numbers, "tax": numbers[::-1]})
        expected = {shop: exact_sum(numbers[i::3]) for i, shop in enumerate(("north", "south", "east"))}
        by = frame.groupby("shop")
        self.assertEqual(by["sales"].agg(fanin.sum).to_dict(), expected)
        self.assertEqual(by.agg(fanin.sum)["sales"].to_dict(), expected)
        self.assertEqual(by["sales"].apply(fanin.sum).to_dict(), expected)
        self.assertEqual(by["sales"].agg([fanin.sum, fanin.max])["sum"].to_dict(), expected)
        self.assertEqual(set(by["sales"].transform(fanin.sum)), set(expected.values()))
        self.assertEqual(frame.pivot_table("sales", "shop", aggfunc=fanin.sum)["sales"].to_dict(), expected)
        self.assertEqual(frame["sales"].agg(fanin.sum), exact_sum(numbers))
        self.assertEqual(frame["sales"].rolling(90).apply(fanin.sum).iloc[-1], exact_sum(numbers))
        holes = pandas.DataFrame({"shop": ["p", "p", "q"], "sales": pandas.array([1, None, 3], "Int64")})
        self.assertEqual(holes.groupby("shop")["sales"].agg(fanin.sum, skipna=True).to_dict(), {"p": 1, "q": 3})


@unittest.skipIf(pandas is None, "pandas is not installed")
class Keys(unittest.TestCase):
    def test_of_any_kind(self):
        x = pandas.Series([1.0, 2.0, 4.0, 8.0], name="sales")
        days = ["2020-01-02", "2020-01-01", "2020-01-02", "2020-01-01"]
        for keys in (pandas.Series(["b", "a", "b", "a"]), pandas.Series(["b", "a", "b", "a"], dtype="category"),
                     pandas.Series([7, -3, 7, -3], dtype="int8"), pandas.Series(pandas.to_datetime(days)),
                     pandas.Index([True, False, True, False]), ["b", "a", "b", "a"], numpy.array(["b", "a", "b", "a"])):
            found = fanin.group_sum(x, keys)
            expected = x.groupby(numpy.asarray(keys)).sum()
            self.assertIsInstance(found, pandas.Series)
            self.assertEqual((found.tolist(), list(found.index)), ([10.0, 5.0], list(expected.index)))
            self.assertEqual(found.name, "sales")
            self.assertEqual([part.tolist() for part in fanin.group_minmax(x, keys)], [[2.0, 1.0], [8.0, 4.0]])
        shops = pandas.Series(list("baba"), name="shop")
        self.assertEqual(fanin.group_sum(x, shops).index.name, "shop")
        for numbers in ([1, 2, 4, 8], pyarrow and pyarrow.array([1, 2, 4, 8])):
            if numbers is not None:
                self.assertEqual(fanin.group_sum(numbers, shops).to_dict(), {"b": 5, "a": 10})
        coded = pandas.Series(["small", "large"] * 2, dtype=pandas.CategoricalDtype(["small", "large"], ordered=True))
        self.assertEqual(list(fanin.group_sum(x, coded).index), ["small", "large"])
        self.assertEqual(fanin.group_sum(x, coded.cat.codes, 2).tolist(), [5.0, 10.0])

    def test_of_several_columns(self):
        keys = pandas.DataFrame({"a": [2, 1, 2], "b": ["q", "p", "q"]})
        found = fanin.group_sum([1.0, 2.0, 4.0], keys)
        self.assertEqual((found.to_dict(), list(found.index.names)), ({(1, "p"): 2.0, (2, "q"): 5.0}, ["a", "b"]))
        keys.loc[0, "b"] = None
        with self.assertRaisesRegex(ValueError, "key 0 is missing"):
            fanin.group_sum([1.0, 2.0, 4.0], keys)
        found = fanin.group_sum([1.0, 2.0, 4.0], keys, drop_others=True)
        self.assertEqual(found.to_dict(), {(1, "p"): 2.0, (2, "q"): 4.0})

    def test_missing(self):
        x, keys = pandas.Series([1.0, 2.0, 4.0]), pandas.Series(["a", None, "b"])
        with self.assertRaisesRegex(ValueError, "key 1 is missing: .*drop_others=True"):
            fanin.group_sum(x, keys)
        self.assertEqual(fanin.group_sum(x, keys, drop_others=True).to_dict(), {"a": 1.0, "b": 4.0})
        with self.assertRaisesRegex(TypeError, "leave out the number of groups"):
            fanin.group_sum(x, keys, 2)
        with self.assertRaisesRegex(TypeError, "without missing ones"):
            fanin.group_sum(x, pandas.array([0, None, 1], "Int64"), 2)


if __name__ == "__main__":
    unittest.main()
