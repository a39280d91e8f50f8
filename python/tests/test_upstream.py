# SPDX-License-Identifier: Apache-2.0
"""numpy's own tests, with its reductions computed by fanin.numpy, and where they fail and why."""

import contextlib
import io
import pathlib
import re
import tempfile
import unittest

from support import numpy

try:
    import pytest
    import hypothesis  # noqa: F401: numpy's tests need it
    hook = pytest.hookimpl(hookwrapper=True)
except ImportError:
    pytest, hook = None, staticmethod

FILES = ("core/tests/test_multiarray.py", "core/tests/test_numeric.py", "core/tests/test_ufunc.py",
         "core/tests/test_umath.py", "lib/tests/test_nanfunctions.py")
VERSION = "1.24."  # Debian 12's, for which the lists are
DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "docs" / "python.md"

# The tests that fail, by the reason, which is a line of the table in docs/python.md.
DIFFERENCES = {
    "mean, variance, median of no elements": (
        "TestNanFunctions_MeanVarStd::test_allnans", "TestNanFunctions_MeanVarStd::test_empty",
        "TestNonarrayArgs::test_mean", "TestNonarrayArgs::test_std", "TestNonarrayArgs::test_var",
        "TestStats::test_empty", "TestStats::test_mean_where", "TestStats::test_std_where",
        "TestStats::test_var_where"),
    "extrema of NaN alone, which are skipped": (
        "TestNanFunctions_ArgminArgmax::test_allnans", "TestNanFunctions_MinMax::test_allnans"),
    "variance, standard deviation of a sample": (
        "TestNanFunctions_MeanVarStd::test_ddof_too_big", "TestNanFunctions_NumberTypes::test_nanfunc_ddof",
        "TestStats::test_ddof", "TestStats::test_ddof_too_big", "TestStdVar::test_ddof2"),
    "subclasses of ndarray": (
        "TestKeepdims::test_raise", "TestNanFunctions_ArgminArgmax::test_subclass",
        "TestNanFunctions_MeanVarStd::test_subclass", "TestNanFunctions_MinMax::test_subclass",
        "TestNanFunctions_SumProd::test_subclass", "TestUfunc::test_scalar_reduction"),
    "bool whose byte is neither 0 nor 1": ("TestBool::test_sum",),
    "results of floats that overflow": ("TestUfunc::test_sum",),
    "`dtype=`": ("TestNanFunctions_MeanVarStd::test_dtype_error", "TestNanFunctions_MeanVarStd::test_out_dtype_error"),
}
# Calls in these tests that the package refuses and numpy computes.
REFUSED = {
    "numbers of the other byte order, longdouble, objects": r"a numpy array of dtype \S+ is not read",
    "masked arrays": "a masked array is not read",
    "arrays whose elements are not aligned": r"a ndarray that is not aligned|the array has strides that are not multi",
    "complex numbers": r"there is no (any|arg...|count_nonzero|max|min|standard_deviation|variance) of c(64|128)$",
}


class Recorder:
    """The outcomes of the tests that call the package, by name without parameters: True if a test passed."""

    def __init__(self, computed):
        self.computed, self.passed, self.failures, self.why = computed, 0, set(), {}

    @hook
    def pytest_runtest_call(self, item):
        self.computed.clear()
        outcome = yield
        error = outcome.excinfo and outcome.excinfo[1]
        if not self.computed or isinstance(error, (pytest.skip.Exception, pytest.xfail.Exception)):
            return
        if error is None:
            self.passed += 1
        else:
            name = re.sub(r"^.*?::|\[.*", "", item.nodeid)
            self.failures.add(name)
            self.why[name] = repr(error)


@unittest.skipIf(numpy is None or pytest is None, "numpy, pytest or hypothesis is not installed")
class OfNumpy(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not numpy.__version__.startswith(VERSION):
            raise unittest.SkipTest("the differences are listed for the tests of numpy " + VERSION)
        import as_numpy
        cls.refused, cls.found = as_numpy.refused, Recorder(as_numpy.computed)
        tests = pathlib.Path(numpy.__file__).parent
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            for name in FILES:
                copied = as_numpy.copy_of((tests / name).read_text(encoding="utf-8"))
                (pathlib.Path(folder) / pathlib.Path(name).name).write_text(copied, encoding="utf-8")
            # The tests that are left out take gigabytes.
            pytest.main(["-q", "-W", "always", "-k", "not huge", "--tb=no", "-p", "no:cacheprovider",
                         "-c", "/dev/null", "--rootdir", folder, folder], plugins=[cls.found])

    def test_differences(self):
        self.maxDiff = None
        listed = sorted(name for names in DIFFERENCES.values() for name in names)
        self.assertEqual(sorted(self.found.failures), listed, self.found.why)
        self.assertGreater(self.found.passed, 900)

    def test_refusals(self):
        for words in REFUSED.values():
            self.assertTrue(any(re.match(words, said) for said in self.refused), words)
        for said in self.refused:
            self.assertTrue(any(re.match(words, said) for words in REFUSED.values()), said)

    @unittest.skipUnless(DOCUMENT.exists(), "docs/python.md is not here")
    def test_documented(self):
        document = DOCUMENT.read_text(encoding="utf-8")
        for reason in [*DIFFERENCES, *REFUSED]:
            self.assertIn("\n| %s | " % reason, document)


if __name__ == "__main__":
    unittest.main()
