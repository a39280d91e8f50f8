# SPDX-License-Identifier: Apache-2.0
"""The program of README.md's section on models, the example of fanin.torch, and the examples that need torch."""

import doctest
import importlib.util
import inspect
import os
import pathlib
import re
import unittest

try:
    import torch

    import fanin.torch
except ImportError:
    torch = None

from test_examples import Examples  # noqa: F401, which runs the examples

README = os.environ.get("FANIN_README")
STUBS = pathlib.Path(__file__).resolve().parent.parent / "stubs.py"


def setUpModule():
    if torch is None:
        raise unittest.SkipTest("torch is not installed")


class Documents(unittest.TestCase):
    def test_docstring(self):
        test = doctest.DocTestParser().get_doctest(fanin.torch.__doc__, {"fanin": fanin, "torch": torch}, "fanin.torch",
                                                   None, 0)
        self.assertEqual(doctest.DocTestRunner().run(test).failed, 0)
        self.assertGreater(len(test.examples), 1)

    @unittest.skipIf(README is None, "FANIN_README is not set")
    def test_readme(self):
        code = re.search("```python\n(import torch\n.*?)```", pathlib.Path(README).read_text(encoding="utf-8"), re.S)
        known = {}
        exec(code.group(1), known)
        self.assertEqual(known["x"].grad.shape, (8, 1000))
        self.assertIn("aten::native_layer_norm", fanin.torch.report().replaced)
        self.assertLessEqual(fanin.torch.vector_norm(known["x"].grad), 1 + 2 ** -20)

    def test_functions_have_signatures(self):
        """The signatures that help() shows are those of the operators, and each function has a sentence."""
        for name in fanin.torch.__all__:
            function = getattr(fanin.torch, name)
            self.assertTrue(function.__doc__, name)
        self.assertIn("dim=None, keepdim=False, *, dtype=None, method='exact'", str(inspect.signature(fanin.torch.sum)))

    @unittest.skipUnless(STUBS.exists(), "stubs.py is not here")
    def test_stubs(self):
        """The types of the package are those that stubs.py writes."""
        spec = importlib.util.spec_from_file_location("stubs", STUBS)
        stubs = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(stubs)
        written = pathlib.Path(fanin.torch.__file__).with_suffix(".pyi").read_text()
        self.assertEqual(written, stubs.stubs_of_torch())
        compile(written, "__init__.pyi", "exec", dont_inherit=True)
        self.assertEqual({name for name in fanin.torch.__all__ if " %s(" % name not in written}, set())


if __name__ == "__main__":
    unittest.main()
