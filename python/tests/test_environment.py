# SPDX-License-Identifier: Apache-2.0
"""Results have the same bits where the caller's floating-point environment flushes subnormals."""

import contextlib
import ctypes
import platform
import struct
import unittest
from array import array

import fanin
from support import bits, numpy

LEAST = 2.0 ** -149  # the least f32; its own type holds it as a subnormal
FLUSHED = 0x8040  # DAZ and FTZ in MXCSR, the last of the eight words of glibc's fenv_t


@contextlib.contextmanager
def flushed_subnormals():
    library = ctypes.CDLL(None)
    before = (ctypes.c_uint32 * 8)()
    library.fegetenv(before)
    changed = (ctypes.c_uint32 * 8)(*before)
    changed[7] |= FLUSHED
    library.fesetenv(changed)
    try:
        yield
    finally:
        library.fesetenv(before)


def subnormals(count):
    """The least f32, twice it and so on, in memory that a processor's conversion did not write."""
    return memoryview(struct.pack("%dI" % count, *range(1, count + 1))).cast("f")


def f32_bits(memory):
    return memoryview(memory).cast("B").cast("I").tolist()


@unittest.skipUnless(platform.machine() == "x86_64" and hasattr(ctypes.CDLL(None), "gnu_get_libc_version"),
                     "the environment is set as glibc keeps it on x86-64")
class FlushedSubnormals(unittest.TestCase):
    def check(self, function, *expected):
        """The results of the function have the bits of the expected floats of 64 bits."""
        with flushed_subnormals():
            found = function()
        found = found if isinstance(found, tuple) else (found,)
        self.assertEqual([bits(float(x)) for x in found], [bits(x) for x in expected])

    def test_environment(self):
        x = subnormals(1)
        with flushed_subnormals():
            found = x[0]  # by the processor's conversion
        self.assertEqual((found, x[0]), (0.0, LEAST))

    def test_numbers(self):
        x = subnormals(3)
        self.check(lambda: fanin.sum(x), 6 * LEAST)
        self.check(lambda: fanin.max(x), 3 * LEAST)
        self.check(lambda: fanin.min(x, where=memoryview(b"\0\1\1").cast("?")), 2 * LEAST)
        self.check(lambda: fanin.minmax(x), LEAST, 3 * LEAST)
        self.check(lambda: fanin.report("mean", x).value, 2 * LEAST)
        self.check(lambda: fanin.sum(memoryview(struct.pack("2I", 0x80000001, 0x80000002)).cast("f")), -3 * LEAST)
        self.check(lambda: tuple(fanin.describe(x))[2:6], LEAST, 3 * LEAST, 6 * LEAST, 2 * LEAST)

    def test_many(self):
        x = subnormals(4).cast("B").cast("f", (2, 2))
        with flushed_subnormals():
            sums, extremes = fanin.sum(x, 1), fanin.minmax(x, 0)
            segments = fanin.segment_sum(subnormals(4), [0, 1, 4])
        self.assertEqual([f32_bits(found) for found in (sums, *extremes, segments)], [[3, 7], [1, 2], [3, 4], [1, 9]])

    def test_states(self):
        state = fanin.State(subnormals(3))
        self.check(state.value, 6 * LEAST)
        self.check(state.mean, 2 * LEAST)
        tiny = fanin.State([5e-324])
        self.check(tiny.value, 5e-324)

    def test_fsum(self):
        self.check(lambda: fanin.fsum([5e-324, 5e-324]), 1e-323)
        self.check(lambda: fanin.fsum(array("d", [-5e-324])), -5e-324)
        self.check(lambda: fanin.fsum([-0.0]), 0.0)

    def test_empty(self):
        x, offsets = subnormals(1), [0, 0, 1]
        with flushed_subnormals():
            found = fanin.segment_max(x, offsets, empty=3 * LEAST)
        self.assertEqual(f32_bits(found), [3, 1])

    @unittest.skipIf(numpy is None, "numpy is not there")
    def test_numpy(self):
        x = numpy.arange(1, 4, dtype="uint32").view("float32")
        with flushed_subnormals():
            found = [fanin.sum(x), fanin.mean(x, axis=0), fanin.describe(x).sum, fanin.sum(list(x)),
                     fanin.State(x).value()]
        self.assertEqual([x.dtype for x in found[:2]], [numpy.dtype("float32")] * 2)
        self.assertEqual([bits(float(x)) for x in found], [bits(n * LEAST) for n in (6, 2, 6, 6, 6)])
        with flushed_subnormals():
            found = fanin.segment_min(x, numpy.array([0, 0, 3]), empty=x[2])
        self.assertEqual(found.view("uint32").tolist(), [3, 1])

    @unittest.skipIf(numpy is None, "numpy is not there")
    def test_complex(self):
        x = numpy.arange(1, 5, dtype="uint32").view("complex64")
        with flushed_subnormals():
            found, total = fanin.sum(x), fanin.sum(list(x))
        self.assertEqual(found.tobytes(), struct.pack("2I", 4, 6))
        self.assertEqual((bits(total.real), bits(total.imag)), (bits(4 * LEAST), bits(6 * LEAST)))
