# SPDX-License-Identifier: Apache-2.0
"""The examples of README.md again, with arrays of torch and CuPy on a GPU in place of numpy's: the same numbers."""

import doctest
import os
import pathlib
import re
import unittest

import fanin
from support import numpy
from test_devices import HAS_CUPY_GPU, HAS_TORCH_GPU, cupy, torch

README = os.environ.get("FANIN_README")


class Moved:
    """numpy, but for its arrays, which are moved to where `move` takes them."""

    def __init__(self, move):
        self.move = move

    def __getattr__(self, name):
        found = getattr(numpy, name)
        if name not in ("array", "arange", "zeros"):
            return found

        def make(*arguments, **choices):
            made = found(*arguments, **choices)
            return self.move(made) if made.dtype.isnative else made
        return make


class SameNumbers(doctest.OutputChecker):
    """Numbers and truth values are compared, and not how a library prints its arrays around them."""

    def check_output(self, want, got, flags):
        return self.numbers(want) == self.numbers(got)

    @staticmethod
    def numbers(text):
        text = re.sub(r"(device|dtype)=[^,)]*", "", text)
        words = re.findall(r"True|False|[-+]?\b\d+\.?\d*(?:e[-+]?\d+)?", text)
        return [word if word.isalpha() else float(word) for word in words]


@unittest.skipIf(numpy is None or README is None, "numpy is not installed, or FANIN_README not set")
class OfReadme(unittest.TestCase):
    def check(self, move):
        text = pathlib.Path(README).read_text(encoding="utf-8").replace("import numpy as np", "pass")
        test = doctest.DocTestParser().get_doctest(text, {"fanin": fanin, "np": Moved(move)}, "README.md", README, 0)
        self.assertGreater(len(test.examples), 15)
        runner, output = doctest.DocTestRunner(SameNumbers(), verbose=False), []
        runner.run(test, out=output.append)
        self.assertEqual(runner.failures, 0, "".join(output))

    @unittest.skipIf(torch is None, "torch is not installed")
    def test_torch_on_host(self):
        self.check(torch.from_numpy)

    @unittest.skipUnless(HAS_TORCH_GPU, "torch has no GPU")
    def test_torch(self):
        self.check(lambda x: torch.from_numpy(x).cuda())

    @unittest.skipUnless(HAS_CUPY_GPU, "CuPy is not installed, or has no GPU")
    def test_cupy(self):
        self.check(cupy.asarray)


if __name__ == "__main__":
    unittest.main()
