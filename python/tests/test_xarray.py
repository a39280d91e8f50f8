# SPDX-License-Identifier: Apache-2.0
"""Arrays of xarray, which call the package, or are refused with what to call."""

import unittest

import fanin
from support import numpy

try:
    import xarray
except ImportError:
    xarray = None


@unittest.skipIf(xarray is None, "xarray is not installed")
class Xarray(unittest.TestCase):
    def setUp(self):
        self.x = xarray.DataArray(numpy.arange(6.0).reshape(2, 3), dims=("day", "place"))

    def test_reduce(self):
        for dims, expected in (("day", [3.0, 5.0, 7.0]), ("place", [3.0, 12.0]), (["day", "place"], 15.0),
                               (None, 15.0)):
            self.assertEqual(self.x.reduce(fanin.sum, dims).values.tolist(), expected)
        self.assertEqual(self.x.to_dataset(name="a").reduce(fanin.max, "day")["a"].values.tolist(), [3.0, 4.0, 5.0])

    def test_refused(self):
        for x, words in ((self.x, "x.values"), (self.x.to_dataset(name="name"), "x['name'].values")):
            with self.assertRaisesRegex(TypeError, r"x.reduce\(fanin.sum, 'dimension'\)") as caught:
                fanin.sum(x)
            self.assertIn("hand over %s," % words, str(caught.exception))
            self.assertEqual(fanin.sum(eval(words, {"x": x})), 15.0)


if __name__ == "__main__":
    unittest.main()
