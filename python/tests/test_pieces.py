# SPDX-License-Identifier: Apache-2.0
"""Long arrays in pieces, between which Python handles signals."""

import contextlib
import ctypes
import itertools
import math
import mmap
import os
import signal
import threading
import unittest
from array import array
from unittest import mock

import fanin
from fanin import _pieces, _reduce, _state
from fanin._catalogue import OPERATIONS
from fanin._inputs import view_of
from fanin._presence import BITS, Presence
from support import wide_numbers
from test_python import NO_EXACT, PAIRS


class Pieces(unittest.TestCase):
    """Long arrays are read in pieces, between which Python handles signals."""

    @contextlib.contextmanager
    def short_pieces(self):
        with mock.patch.object(_reduce, "LONG", 1), mock.patch.object(_pieces, "LONG", 3000), \
                mock.patch.object(_pieces, "PIECE", 2048), mock.patch.object(_pieces, "SIDE_BY_SIDE", 64), \
                mock.patch.object(_state, "LONG", 1):
            yield

    def test_bits(self):
        x = array("d", wide_numbers(5000, 11, 5))
        mask = memoryview(bytes(i % 3 for i in range(5000))).cast("?")
        y = array("d", wide_numbers(5000, 12, 5))

        def results():
            for name in fanin.operations():
                for method in ("fast", "compensated", "exact"):
                    for where in (None, mask):
                        try:
                            found = fanin.report(name, x, y if name in PAIRS else None, method=method, where=where)
                        except fanin.Unsupported:
                            continue
                        yield name, method, found.value, found.absent
        whole, state = list(results()), fanin.State(x).save()
        self.assertGreater(len(whole), 80)
        with self.short_pieces():
            self.assertEqual(list(results()), whole)
            self.assertEqual(fanin.State(x).save(), state)

    def test_missing_elements(self):
        """Bits that say which elements are there are counted from the first element of the input."""
        x = array("d", wide_numbers(5000, 14, 5))
        bits = bytes(i * i % 251 for i in range(700))
        for pieces in (contextlib.nullcontext(), self.short_pieces()):
            view = view_of(x)
            memory = ctypes.create_string_buffer(bits)
            view.presence = Presence(ctypes.addressof(memory), 5000, BITS, 3)
            with pieces:
                found = _reduce.reduce_views(OPERATIONS["sum"], [view], nan="skip")
            self.assertEqual(found, math.fsum(number for i, number in enumerate(x)
                                              if bits[(i + 3) // 8] >> (i + 3) % 8 & 1))

    def test_batches(self):
        """Rows, columns and segments in pieces, some of one result alone, have the bits of one call."""
        numbers = array("d", wide_numbers(12000, 13, 5))
        mask = memoryview(bytes(i % 7 for i in range(12000)))
        shapes = [((12000,), 0), ((2, 6000), 1), ((6000, 2), 0), ((20, 30, 20), 0), ((20, 30, 20), 1),
                  ((20, 30, 20), (0, 2)), ((1, 3, 4000), -1), ((4, 3, 1000), 2), ((3, 4000, 1), (1, 2))]
        offsets = [0, 10, 10, 700, 5000, 5300, 5300, 11000, 11100]

        def raw(found):
            return [raw(part) for part in found] if isinstance(found, tuple) else \
                found.tobytes() if isinstance(found, memoryview) else repr(found)

        def results():
            for name, method, where in itertools.product(fanin.operations(), ("fast", "exact"), (None, mask)):
                if name in NO_EXACT and method == "exact":
                    continue
                for shape, axis in shapes:
                    x = memoryview(numbers).cast("B").cast("d", shape)
                    found = getattr(fanin, name)(*(x, x)[:1 + (name in PAIRS)], axis=axis, method=method,
                                                 where=where and where.cast("?", shape))
                    yield name, method, shape, axis, where is None, raw(found)
                found = getattr(fanin, "segment_" + name)(*(numbers, numbers)[:1 + (name in PAIRS)], offsets,
                                                          method=method, where=where and where.cast("?"),
                                                          empty=(7, 7) if name == "minmax" else 7)
                yield name, method, where is None, raw(found)
        whole, calls = list(results()), []
        with self.short_pieces(), mock.patch.object(_pieces, "part_of", self.counted(calls)):
            self.assertEqual(list(results()), whole)
        self.assertGreater(len(calls), 2 * len(whole))

    def test_errors_of_batches(self):
        """An error names the result by its number in the whole call."""
        x = memoryview(array("q", [0] * 4000 + [2 ** 62] * 4)).cast("B").cast("q", (1001, 4))
        with self.short_pieces(), self.assertRaisesRegex(OverflowError, "^result 1000: "):
            fanin.sum(x, 1)
        with self.short_pieces(), self.assertRaisesRegex(OverflowError, "^segment 1000: "):
            fanin.segment_sum(array("q", x.tobytes()), range(0, 4005, 4))

    @staticmethod
    def counted(calls):
        part_of = _pieces.part_of

        def counting(call, offset, count, before):
            calls.append(count)
            return part_of(call, offset, count, before)
        return counting

    def test_interrupt(self):
        """A signal that comes during the second of 64 pieces or more ends the call after a few."""
        zeros = mmap.mmap(-1, 16 << 30, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)  # read only, and so never in memory
        with memoryview(zeros) as memory:
            x, rows, long_rows = (memory.cast("d", shape) for shape in ([1 << 31], [1 << 20, 1 << 11], [8, 1 << 28]))
            for call in (lambda: fanin.sum(x, threads=1), lambda: fanin.sum(rows, 1, threads=1),
                         lambda: fanin.max(long_rows, 1, threads=1),
                         lambda: fanin.segment_sum(x, range(0, (1 << 31) + 1, 1 << 20), threads=1)):
                timer, statuses = threading.Timer(0.001, os.kill, (os.getpid(), signal.SIGINT)), []

                def check(status):
                    statuses.append(status)
                    if len(statuses) == 2:
                        timer.start()
                with mock.patch.object(_pieces.c, "check", check), self.assertRaises(KeyboardInterrupt):
                    call()
                self.assertLess(len(statuses), 30)
                timer.join()
            for view in (x, rows, long_rows):
                view.release()


if __name__ == "__main__":
    unittest.main()
