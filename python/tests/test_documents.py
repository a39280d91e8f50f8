# SPDX-License-Identifier: Apache-2.0
"""Every example of the docstrings and of README.md."""

import doctest
import importlib
import importlib.util
import os
import pathlib
import pkgutil
import re
import unittest
from array import array

import fanin
from support import numpy

try:
    import pandas
except ImportError:
    pandas = None

README = os.environ.get("FANIN_README")
STUBS = pathlib.Path(__file__).resolve().parent.parent / "stubs.py"
WITHOUT_DOCTESTS = ("__main__", "_torch", "_torch_calls")  # which run a command, and need torch


class AnyNaN:
    def __eq__(self, other):
        return other != other


class Examples(unittest.TestCase):
    def run_all(self, parser_result):
        runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
        output = []
        runner.run(parser_result, out=output.append)
        self.assertEqual(runner.failures, 0, "".join(output))
        return runner.tries

    def run_text(self, name, text, **names):
        known = dict(names, fanin=fanin, array=array)
        return self.run_all(doctest.DocTestParser().get_doctest(text, known, name, name, 0))

    def test_functions(self):
        tries = 0
        for name in sorted(set(dir(fanin))):
            found = getattr(fanin, name)
            if callable(found) and found.__doc__:
                tries += self.run_text(name, found.__doc__, **{name: found})
        self.assertGreater(tries, 25)

    def test_modules(self):
        for module in pkgutil.iter_modules(fanin.__path__):
            if module.name.startswith("_") and module.name not in WITHOUT_DOCTESTS:
                loaded = importlib.import_module("fanin." + module.name)
                for test in doctest.DocTestFinder().find(loaded):
                    if test.name == loaded.__name__ or "." + module.name + "." in test.name:
                        test.globs.update(array=array, fanin=fanin)
                        self.run_all(test)
        self.run_text("fanin", fanin.__doc__)

    @unittest.skipIf(numpy is None or README is None, "numpy is not installed, or FANIN_README not set")
    def test_readme(self):
        text = pathlib.Path(README).read_text(encoding="utf-8")
        self.assertGreater(self.run_text("README.md", text), 15)

    @unittest.skipIf(pandas is None or README is None, "pandas is not installed, or FANIN_README not set")
    def test_readme_of_pandas(self):
        """Each line of README.md's program has the result that its comment names."""
        code = re.search("```python\n(import pandas\n.*?)```", pathlib.Path(README).read_text(encoding="utf-8"), re.S)
        known, lines = {"fanin": fanin}, code.group(1).splitlines()
        exec("\n".join(lines[:2]), known)
        found = [eval(line, known) for line in lines[2:]]
        self.assertEqual(found[0], 0.1 + 0.2)
        self.assertEqual([sums.to_dict() for sums in found[1:3]], [{"north": 0.1, "south": 0.2},
                                                                   {"north": AnyNaN(), "south": 0.2}])
        self.assertEqual(list(found[3].columns), ["sales"])

    @unittest.skipUnless(STUBS.exists(), "stubs.py is not here")
    def test_stubs(self):
        """The types of the package are those that stubs.py writes."""
        spec = importlib.util.spec_from_file_location("stubs", STUBS)
        stubs = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(stubs)
        package = pathlib.Path(fanin.__file__).parent
        self.assertEqual((package / "__init__.pyi").read_text(), stubs.stubs())
        compile(stubs.stubs(), "__init__.pyi", "exec", dont_inherit=True)
        self.assertTrue((package / "py.typed").exists())


if __name__ == "__main__":
    unittest.main()
