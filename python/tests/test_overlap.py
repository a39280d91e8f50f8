# SPDX-License-Identifier: Apache-2.0
"""Results in memory that the call reads, too. They are the same as with a copy of the inputs."""

import unittest
from array import array

import fanin
from support import numpy


class OfBuffers(unittest.TestCase):
    def test_index_add(self):
        for first in range(4):
            memory = array("d", [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0])
            x, out = memoryview(memory)[2:6], memoryview(memory)[first:first + 3]
            expected = fanin.index_add(array("d", out), [2, 0, 0, 2], array("d", x)).tolist()
            self.assertIs(fanin.index_add(out, [2, 0, 0, 2], x), out)
            self.assertEqual(out.tolist(), expected)

    def test_index_add_of_keys_and_mask(self):
        memory = array("q", [0, 2, 1, 0])
        keys = memoryview(memory)
        self.assertEqual(fanin.index_add(keys[:3], keys, array("q", [1, 2, 4, 8])).tolist(), [9, 6, 3])
        memory = bytearray(b"\1\0\1\0")
        fanin.index_add(memory, [1, 0, 2, 2], bytes([5, 9, 7, 9]), operation="max", where=memory)
        self.assertEqual(list(memory), [1, 5, 7, 0])

    def test_an_error_adds_nothing(self):
        memory = array("q", [2 ** 62, 1, 2 ** 62])
        with self.assertRaises(fanin.Overflow):
            fanin.index_add(memory, [0, 1, 0], memory)
        self.assertEqual(memory.tolist(), [2 ** 62, 1, 2 ** 62])


@unittest.skipIf(numpy is None, "numpy is not installed")
class OfNumpy(unittest.TestCase):
    def check(self, call, memory, read, out_of):
        """`read` gives views of the memory, and `out_of` gives the view for the results."""
        expected = call(*[view.copy() for view in read(memory)])
        out = out_of(memory)
        self.assertIs(call(*read(memory), out=out), out)
        numpy.testing.assert_array_equal(out, expected)

    def test_rows(self):
        views = (lambda m: m[:64].reshape(8, 8), lambda m: m[:64].reshape(8, 8).T, lambda m: m[63::-1].reshape(8, 8),
                 lambda m: m[3:67].reshape(8, 8)[::-1], lambda m: m.reshape(-1, 8)[:8, ::-1])
        for first in range(0, 65, 3):
            for view in views:
                for axis in (0, 1):
                    for name, dtype in (("mean", "f8"), ("max", "f8"), ("argmax", "i8"), ("count_nonzero", "i8")):
                        self.check(lambda x, out=None: getattr(fanin, name)(x, axis, out=out), numpy.arange(72.0) % 31,
                                   lambda m: (view(m),), lambda m: m.view(dtype)[first:first + 8])

    def test_the_only_result(self):
        self.check(lambda x, out=None: fanin.sum(x, out=out), numpy.arange(9.0), lambda m: (m,),
                   lambda m: m[4:5].reshape(()))

    def test_pairs(self):
        for first in range(120):
            self.check(lambda x, y, out=None: fanin.dot(x, y, 1, out=out), numpy.arange(128.0),
                       lambda m: (m[:64].reshape(8, 8), m[64:].reshape(8, 8)), lambda m: m[first:first + 8])

    def test_masks(self):
        x = numpy.arange(256.0).reshape(16, 16)
        self.check(lambda where, out=None: fanin.sum(x, 1, where=where, out=out), numpy.eye(16, dtype=bool).reshape(-1),
                   lambda m: (m.reshape(16, 16),), lambda m: m.view("f8")[8:24])

    def test_segments_and_groups(self):
        x = numpy.arange(12) + 5
        for first in range(3):
            self.check(lambda offsets, out=None: fanin.segment_sum(x, offsets, out=out), numpy.arange(12),
                       lambda m: (m[:10],), lambda m: m[first:first + 9])
            self.check(lambda keys, out=None: fanin.group_sum(x, keys, 9, out=out), numpy.arange(12) % 9,
                       lambda m: (m,), lambda m: m[first:first + 9])
            self.check(lambda x, out=None: fanin.segment_sum(x, [0, 3, 5, 12], out=out), numpy.arange(12),
                       lambda m: (m,), lambda m: m[first:first + 3])
