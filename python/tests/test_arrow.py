# SPDX-License-Identifier: Apache-2.0
"""Arrow arrays and DLPack capsules in host memory, of what is installed."""

import unittest

import fanin
from support import numpy

try:
    import pyarrow
except ImportError:
    pyarrow = None


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

    def test_refused(self):
        x = pyarrow.array([1.0, 2.0])
        coded = pyarrow.array([10.5, 20.5, 10.5]).dictionary_encode()
        for given, words in ((pyarrow.array([1, None]), "x.drop_nulls()"), (pyarrow.array(["a"]), "x.cast"),
                             (coded, "dictionary_decode"), (pyarrow.chunked_array([coded]), "dictionary_decode"),
                             (pyarrow.array([True]), "x.cast"), (pyarrow.table({"a": x}), "x['name']"),
                             (pyarrow.chunked_array([], pyarrow.string()), "x.cast"),
                             (pyarrow.chunked_array([x, x]), "x.combine_chunks()")):
            with self.assertRaises(fanin.Unsupported) as caught:
                fanin.sum(given)
            self.assertIn(words, str(caught.exception))


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
