# SPDX-License-Identifier: Apache-2.0
"""Arrow arrays of pyarrow and polars, and DLPack capsules, in host memory."""

import unittest
from array import array

import fanin
from fanin._arrow import Array, _pointer
from support import numpy

try:
    import pyarrow
except ImportError:
    pyarrow = None
try:
    import polars
except ImportError:
    polars = None


def uncounted(x):
    """An Arrow array whose number of nulls is not known."""
    schema, found = x.__arrow_c_array__()
    Array.from_address(_pointer(found, b"arrow_array")).null_count = -1

    class Exporter:
        def __arrow_c_array__(self):
            return schema, found
    return Exporter()


@unittest.skipIf(pyarrow is None, "pyarrow is not installed")
class Arrow(unittest.TestCase):
    def test_arrays(self):
        for name in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64"):
            x = pyarrow.array([1, 2, 4], getattr(pyarrow, name)())
            self.assertEqual((fanin.sum(x), fanin.max(x.slice(0, 2)), fanin.mean(x.slice(1))), (7, 2, 3.0))
            self.assertEqual(fanin.sum(pyarrow.chunked_array([x])), 7)
            self.assertEqual(fanin.sum(pyarrow.chunked_array([], x.type)), 0)

    def test_memory(self):
        x = pyarrow.array([1.0, 2.0])
        before = pyarrow.total_allocated_bytes()
        for _ in range(100):
            fanin.sum(x)
            fanin.sum(pyarrow.chunked_array([pyarrow.array([1.0] * 1000)]))
        self.assertEqual(pyarrow.total_allocated_bytes(), before)

    def test_nulls(self):
        for name in ("int8", "uint64", "float32", "float64", "bool"):
            column = pyarrow.array([1, None, 0, 1, 1, None, 0, 1, 1, None]).cast(name)
            for first in range(10):
                x = column.slice(first)
                present = [number for number in x.to_pylist() if number is not None]
                for name in ("sum", "count_nonzero", "any", "max") if present else ("sum", "any"):
                    self.assertEqual(getattr(fanin, name)(x, nan="skip"), getattr(fanin, name)(present), (name, first))
                self.assertEqual(fanin.sum(x, nan="skip", where=[True] * len(x)), sum(present))
                self.assertEqual(fanin.State().add(x, nan="skip").count, len(present))
                with self.assertRaisesRegex(ValueError, "nan=\"skip\""):
                    fanin.sum(x)

    def test_nulls_that_nobody_has_counted(self):
        data, keeps = pyarrow.py_buffer(array("d", [1.0, 2.0, 4.0])), [pyarrow.py_buffer(b) for b in (b"\7", b"\5")]
        whole, holes = (pyarrow.Array.from_buffers(pyarrow.float64(), 3, [bits, data], -1) for bits in keeps)
        for x, expected in ((whole, 7.0), (holes, 5.0)):
            self.assertEqual(fanin.sum(uncounted(x), nan="skip"), expected)
        self.assertEqual(fanin.sum(uncounted(whole)), 7.0)
        with self.assertRaisesRegex(ValueError, "missing"):
            fanin.sum(uncounted(holes))

    def test_bool(self):
        x = pyarrow.array([True, False, True] * 7)
        for first in range(20):
            truths = x.slice(first).to_pylist()
            self.assertEqual(fanin.sum(x.slice(first)), sum(truths))
            self.assertIs(fanin.any(x.slice(first)), any(truths))
            self.assertIs(fanin.min(x.slice(first)), min(truths))
            self.assertEqual(fanin.segment_max(x.slice(first), [0, 1]).to_pylist(), truths[:1])
        self.assertEqual(fanin.sum([1.0] * 21, where=x), 14)
        self.assertEqual(fanin.group_sum([1.0] * 21, x, 2).tolist(), [7.0, 14.0])

    def test_chunks(self):
        parts = [[1, None, 4], [], [8, 16], [None]]
        for name in ("int8", "float64", "bool"):
            x = pyarrow.chunked_array(parts, pyarrow.int64()).cast(name)
            self.assertEqual(fanin.sum(x, nan="skip"), 4 if name == "bool" else 29)
            self.assertEqual(fanin.argmax(x, nan="skip"), 0 if name == "bool" else 4)
            self.assertEqual(fanin.sum(x.slice(3, 2)), 2 if name == "bool" else 24)
            self.assertEqual(fanin.sum(x.slice(2, 2)), 2 if name == "bool" else 12)

    def test_results(self):
        """Many results are in an array of pyarrow, with the type that they have."""
        for name, of_sum in (("int8", "int64"), ("uint16", "uint64"), ("float16", "float"), ("float32", "float"),
                             ("float64", "double")):
            x = pyarrow.array([1, 2, 4], getattr(pyarrow, name)())
            found = fanin.segment_sum(x, [0, 1, 3])
            self.assertEqual((str(found.type), found.to_pylist()), (of_sum, [1, 6]))
            found = fanin.segment_max(x, [0, 1, 3])
            self.assertEqual((found.type, found.to_pylist()), (x.type, [1, 4]))
        self.assertEqual(fanin.segment_any(x, [0, 1, 3]).to_pylist(), [True, True])

    def test_refused(self):
        x = pyarrow.array([1.0, 2.0])
        coded = pyarrow.array([10.5, 20.5, 10.5]).dictionary_encode()
        for given, words in ((pyarrow.array(["1"]), "x.cast('float64')"), (coded, "x.cast('float64')"),
                             (pyarrow.chunked_array([coded]), "x.cast('float64')"),
                             (pyarrow.array([1], pyarrow.timestamp("s")), "x.cast('int64')"),
                             (pyarrow.table({"name": x}), "x['name']"), (pyarrow.array([[1.0], [2.0]]), "x.flatten()"),
                             (pyarrow.chunked_array([], pyarrow.string()), "x.cast('float64')")):
            with self.assertRaises(fanin.Unsupported) as caught:
                fanin.sum(given)
            self.assertIn(words, str(caught.exception))
            self.assertGreaterEqual(fanin.sum(eval(words, {"x": given})), 0)  # the advice works
        self.assertEqual((fanin.fsum(x), fanin.fsum(pyarrow.array([2 ** 53, 1, 1]))), (3.0, 2.0 ** 53 + 2))
        with self.assertRaisesRegex(ValueError, r"x.drop_null\(\)"):
            fanin.fsum(pyarrow.array([1.0, None]))


@unittest.skipIf(polars is None, "polars is not installed")
class Polars(unittest.TestCase):
    def test_columns(self):
        for dtype in (polars.Int8, polars.UInt64, polars.Float32, polars.Float64, polars.Boolean):
            x = polars.Series([1, None, 0, 1], dtype=polars.Int64).cast(dtype)
            chunked = polars.concat([x[:2], x[:0], x[2:]], rechunk=False)
            for given in (x, chunked):
                self.assertEqual((fanin.sum(given, nan="skip"), fanin.argmin(given, nan="skip")), (2, 2))
                with self.assertRaisesRegex(ValueError, "nan=\"skip\""):
                    fanin.sum(given)
                self.assertEqual(fanin.sum(given.drop_nulls()), 2)
            self.assertEqual((fanin.sum(x[2:]), fanin.sum(x[:0])), (1, 0))  # x[2:] does not know that no null is in it
            found = fanin.segment_max(x[2:], [0, 1, 2])
            self.assertEqual((type(found), found.dtype, found.to_list()), (polars.Series, dtype, [0, 1]))
        self.assertEqual(fanin.segment_argmax(x[2:], [0, 2]).to_list(), [1])
        names, sums = fanin.group_sum(polars.Series([1.0, 2.0, 4.0]), polars.Series(["b", "a", "b"]))
        self.assertEqual((names, sums.to_list()), (["a", "b"], [2.0, 5.0]))

    def test_frames(self):
        frame = polars.DataFrame({"a": [1.0, 2.0], "b": [3, 4], "c": [True, True]})
        frame = frame.with_columns(polars.col("a").cast(polars.Float32))
        found = fanin.sum(frame)
        self.assertEqual(found.rows(), [(3.0, 7, 2)])
        self.assertEqual(found.dtypes[:2], [polars.Float32, polars.Int64])
        self.assertEqual(fanin.minmax(frame[["b"]])[1].rows(), [(4,)])
        if numpy is not None:
            holes = frame.with_columns(d=polars.lit(None, polars.Float32), e=polars.lit(float("nan")))
            for name, values in (("max", "(2.0, 4, True, nan, nan)"), ("mean", "(1.5, 3.5, 1.0, nan, nan)")):
                found = getattr(fanin, name)(holes, skipna=True)
                self.assertEqual((str(found.row(0)), found.dtypes[3:]), (values, [polars.Float32, polars.Float64]))
            with self.assertRaisesRegex(ValueError, "column 'd': elements are missing"):
                fanin.max(holes)
        with self.assertRaisesRegex(TypeError, "column 'd': a Series of text is not read: leave the column out"):
            fanin.sum(frame.with_columns(d=polars.lit("text")))
        for x, words in ((frame.lazy(), r"call x.collect\(\)$"), (polars.col("a"), r"such as frame\['name'\]$"),
                         (frame.group_by("a"), r"such as frame\['name'\]$")):
            with self.assertRaisesRegex(TypeError, words):
                fanin.sum(x)
        for call in (lambda: fanin.sum(frame, 1), lambda: fanin.describe(frame)):
            with self.assertRaises(TypeError):
                call()

    def test_refused(self):
        for x, words in ((polars.Series(["1"]), "x.cast(polars.Float64)"), (polars.Series([[1.0]]), "x.explode()"),
                         (polars.Series([1]).cast(polars.Date), "x.to_physical()")):
            with self.assertRaises(TypeError) as caught:
                fanin.sum(x)
            self.assertIn(words, str(caught.exception))
            self.assertEqual(fanin.sum(eval(words, {"x": x, "polars": polars})), 1)


class Capsules:
    """An object that has nothing but DLPack."""

    def __init__(self, x):
        self.x = x

    def __dlpack__(self, **arguments):
        return self.x.__dlpack__(**arguments)

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()


@unittest.skipUnless(hasattr(getattr(numpy, "ndarray", None), "__dlpack__"), "numpy has no DLPack")
class DLPack(unittest.TestCase):
    def test_arrays(self):
        for name in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32",
                     "float64", "complex64", "complex128"):
            x = numpy.arange(12).astype(name).reshape(3, 4)
            self.assertEqual(fanin.sum(Capsules(x)), 66)
            self.assertEqual(list(fanin.sum(Capsules(x[::-1, ::2]), 1)), [18, 10, 2])


if __name__ == "__main__":
    unittest.main()
