# SPDX-License-Identifier: Apache-2.0
"""Short calls by the module _calls have the results, and the types of results, of the calls by ctypes."""

import os
import subprocess
import sys
import sysconfig
import unittest
from array import array

import fanin
from fanin import _direct_calls
from support import numpy

OPERATIONS = ("sum", "mean", "min", "argmax", "minmax", "any", "count_nonzero", "product", "norm2", "log_sum_exp")


def inputs():
    """Arrays of every format, with subnormal numbers, and without elements."""
    values = [3, 1, 2]
    made = [array(letter, values) for letter in "bBhHiIlLqQfd"] + [array("f", [1e-45, -1e-45]), array("d"), b"\x01\x02"]
    if numpy is not None:
        types = "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 float32 float64 complex64".split()
        made += [numpy.array(values).astype(name) for name in types]
        made += [numpy.array([1e-45], "float32"), numpy.array([[1.5, 2.5], [3.5, 0.5]]), numpy.array(2.5)]
        unaligned = numpy.frombuffer(bytes(33), "uint8")[1:].view("float64")
        made += [unaligned, numpy.arange(6.0)[::2], numpy.arange(4.0)[::-1]]
    return [memoryview(x) if isinstance(x, bytes) else x for x in made]


def shown_results():
    """A line for each call: the type and the digits of the result, or the error."""
    lines = []
    for name in OPERATIONS:
        for x in inputs():
            for choices in ({}, {"dtype": "f64"}, {"method": "fast"}, {"nan": "skip"}, {"threads": 2}):
                try:
                    result = getattr(fanin, name)(x, **choices)
                    lines.append("%s %r" % (type(result).__name__, result))
                except (TypeError, ValueError, OverflowError) as error:
                    lines.append("%s %s" % (type(error).__name__, error))
    return lines


class DirectCalls(unittest.TestCase):
    def test_module_is_there(self):
        """CPython has the module from 3.11 on, unless it has no GIL."""
        expected = sys.version_info >= (3, 11) and not sysconfig.get_config_var("Py_GIL_DISABLED")
        self.assertEqual(_direct_calls.reduce_buffer is not None, expected)

    def test_results_without_the_module(self):
        program = "import sys; sys.modules['fanin._calls'] = None; from fanin import _direct_calls as d; " \
                  "assert d.reduce_buffer is None; from test_direct_calls import shown_results; " \
                  "print('\\n'.join(shown_results()))"
        folders = os.pathsep.join(filter(None, [os.path.dirname(__file__), os.environ.get("PYTHONPATH")]))
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": folders})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(shown_results(), done.stdout.splitlines())

    def test_errors(self):
        if _direct_calls.reduce_buffer is None:
            self.skipTest("this interpreter has no module for short calls")
        with self.assertRaises(TypeError):
            _direct_calls.reduce_buffer({})
        for x in (array("d", [1.0]), array("i", [2])):
            with self.assertRaisesRegex(ValueError, "backend"):
                fanin.sum(x, backend="none")
        with self.assertRaises(OverflowError):
            fanin.product(array("q", [2 ** 62, 4]))


if __name__ == "__main__":
    unittest.main()
