# SPDX-License-Identifier: Apache-2.0
"""The package without any other library: lists, array and memoryview."""

import copy
import math
import pickle
import sys
import threading
import unittest
from array import array
from fractions import Fraction
from unittest import mock

import fanin
from support import bits, exact_sum, wide_numbers

NO_EXACT = ("product", "log_sum_exp")
PAIRS = ("dot", "vdot")


class Sums(unittest.TestCase):
    def test_lists(self):
        self.assertEqual(fanin.sum([1e16, 1.0, -1e16]), 1.0)
        self.assertIs(type(fanin.sum([1, 2, 3])), int)
        self.assertEqual(fanin.sum((0.5 for _ in range(4))), 2.0)
        self.assertEqual(fanin.sum([2 ** 63, 1]), 2 ** 63 + 1)
        self.assertEqual(fanin.sum([1 + 2j, 3]), 4 + 2j)
        self.assertEqual(bits(fanin.sum([])), bits(0.0))
        self.assertEqual(bits(fanin.sum([-0.0, -0.0])), bits(-0.0))
        self.assertEqual(fanin.mean([True, False]), 0.5)

    def test_exact(self):
        for seed, count in enumerate((1, 2, 15, 100, 4097)):
            numbers = wide_numbers(count, seed)
            expected = bits(exact_sum(numbers))
            for x in (numbers, array("d", numbers), memoryview(array("d", numbers)), array("d", numbers[::-1])):
                self.assertEqual(bits(fanin.sum(x)), expected)
            self.assertEqual(bits(fanin.fsum(numbers)), bits(math.fsum(numbers)))
            self.assertEqual(bits(fanin.sum(memoryview(array("d", numbers))[::2])), bits(exact_sum(numbers[::2])))
            squares = sum(Fraction(x) ** 2 for x in numbers)
            self.assertEqual(fanin.sum_of_squares(numbers), float(squares))
            self.assertEqual(fanin.mean(numbers), float(sum(map(Fraction, numbers)) / count))

    def test_formats(self):
        for letter in "bBhHiIlLqQfd":
            x = array(letter, [1, 2, 3])
            self.assertEqual(fanin.sum(x), 6, letter)
            self.assertEqual(fanin.min(x), 1, letter)
            self.assertEqual(fanin.argmax(x), 2, letter)
        self.assertEqual(fanin.sum(b"\x01\x02"), 3)
        self.assertEqual(fanin.sum(bytearray(b"\x01\x02")), 3)

    def test_rows(self):
        x = memoryview(array("i", range(6))).cast("b").cast("i", (2, 3))
        self.assertEqual(fanin.sum(x, 0).tolist(), [3, 5, 7])
        self.assertEqual(fanin.sum(x, -1, keepdims=True), [[3], [12]])
        self.assertEqual(fanin.argmin(x, 1).tolist(), [0, 0])
        self.assertEqual(fanin.any(x, 1), [True, True])
        cube = memoryview(array("d", range(24))).cast("b").cast("d", (2, 3, 4))
        self.assertEqual(fanin.max(cube, 0)[2], [20, 21, 22, 23])
        self.assertEqual([repr(fanin.sum(cube, axis))[:6] for axis in (0, (0, 1))], ["[[12.0", "array("])
        self.assertEqual(fanin.segment_sum([1j, 2, 3], [0, 2, 3]), [2 + 1j, 3])
        self.assertEqual([part.tolist() for part in fanin.minmax(x, 0)], [[0, 1, 2], [3, 4, 5]])

    def test_choices(self):
        x = array("d", [1.0, math.nan, 4.0])
        self.assertTrue(math.isnan(fanin.sum(x)))
        self.assertEqual(fanin.sum(x, nan="skip"), 5.0)
        self.assertEqual(fanin.sum(x, where=memoryview(b"\1\0\1").cast("?")), 5.0)
        for backend in ("serial", "auto", "serial,tbb"):
            for method in ("fast", "compensated", "exact"):
                self.assertEqual(fanin.sum([1.5, 2.5], method=method, backend=backend, threads=1), 4.0)
        for dtype in ("f64", "f8", "float64", float):
            self.assertEqual(fanin.sum(array("f", [0.5, 2]), dtype=dtype), 2.5)


class Catalogue(unittest.TestCase):
    def test_every_operation(self):
        x = array("d", [1.0, 2.0, 4.0])
        self.assertGreater(len(fanin.operations()), 20)
        for name, story in fanin.operations().items():
            operation = getattr(fanin, name)
            inputs = (x, x) if name in PAIRS else (x,)
            result = operation(*inputs)
            self.assertEqual(result, operation(*inputs, axis=0), name)
            self.assertEqual(fanin.report(operation, *inputs).value, result)
            self.assertEqual(operation.__name__, name)
            self.assertIn(story, operation.__doc__)
            self.assertIn(">>> fanin.%s(" % name, operation.__doc__)

    def test_indices(self):
        """The documents of argmin and argmax say what comes back, and from where an index counts."""
        for name in ("argmin", "argmax"):
            self.assertTrue(fanin.operations()[name].startswith("Index of the first "))
            for kind, place in (("", ""), ("segment_", "beginning of the segment"),
                                ("group_", "beginning of the whole array")):
                document = getattr(fanin, kind + name).__doc__
                self.assertIn(place, document)
                self.assertNotIn("and the element", document + fanin.operations()[name])
        self.assertNotIn("The index", fanin.segment_max.__doc__ + fanin.group_max.__doc__)
        x = array("d", [1.0, 2.0, 9.0, 4.0])
        self.assertEqual(fanin.segment_argmax(x, [0, 1, 4]).tolist(), [0, 1])
        self.assertEqual(fanin.group_argmax(x, [0, 1, 1, 1], 2).tolist(), [0, 2])

    def test_exact_is_default(self):
        for name in fanin.operations():
            inputs = ([1.0],) * (2 if name in PAIRS else 1)
            if name.startswith("sample_"):
                inputs = ([1.0, 2.0],)
            if name in NO_EXACT:
                with self.assertRaises(fanin.Unsupported):
                    getattr(fanin, name)(*inputs, method="exact")
            else:
                self.assertEqual(fanin.report(name, *inputs).method, "exact")

    def test_error_bound(self):
        x = array("d", [1.0, 2.0 ** -60, -3.0])
        self.assertEqual(fanin.report("sum", x)[-2:], (2.0 ** -52, ""))
        plain = fanin.report("sum", x, method="fast")
        self.assertEqual(plain.error_bound, float("inf"))
        self.assertIn("the option `bound`", plain.unproven)
        known = fanin.report("sum", x, method="fast", bound=True)
        self.assertTrue(2.0 ** -60 < known.error_bound < 1e-14)
        self.assertEqual(known.unproven, "")
        with self.assertRaises(fanin.Unsupported):
            fanin.report("sum", memoryview(x).cast("B").cast("d", (3, 1)), axis=1, bound=True)

    def test_dir(self):
        for name in ("sum", "State", "segment_max", "group_dot", "fsum", "describe"):
            self.assertIn(name, dir(fanin))
            self.assertTrue(callable(getattr(fanin, name)))
        with self.assertRaises(AttributeError):
            fanin.segment_nothing

    def test_backends(self):
        self.assertIsNone(fanin.backends()["serial"])


class Errors(unittest.TestCase):
    def check(self, kind, words, call, *arguments, **choices):
        with self.assertRaises(kind) as caught:
            call(*arguments, **choices)
        self.assertIsInstance(caught.exception, fanin.Error)
        self.assertIn(words, str(caught.exception))

    def test_kinds(self):
        check = self.check
        check(ValueError, "min", fanin.min, [])
        check(OverflowError, "does not fit", fanin.sum, array("q", [2 ** 62, 2 ** 62]))
        check(TypeError, "variance", fanin.variance, [1j, 2])
        check(ValueError, "no method 'quick'", fanin.sum, [1.0], method="quick")
        check(ValueError, "nobody", fanin.sum, [1.0], backend="nobody")
        check(RuntimeError, "cub", fanin.sum, [1.0], backend="cub")
        check(ValueError, "no axis 1", fanin.sum, [1.0], axis=1)
        check(ValueError, "twice", fanin.sum, [1.0], axis=(0, -1))
        check(TypeError, "not 'rows'", fanin.sum, [1.0], axis="rows")
        check(TypeError, "element type 'f31'", fanin.sum, [1.0], dtype="f31")
        check(TypeError, "gives i64", fanin.sum, [1], dtype="i8")  # i8 has 8 bits
        check(TypeError, "a list with a list in it", fanin.sum, [[1.0]])
        check(TypeError, "float(text)", fanin.sum, ["1", "2"])
        for backend in (["tbb", "serial"], ("serial",), None):
            for x in ([1.0], array("d", [1.0])):
                check(TypeError, "'tbb,serial'", fanin.sum, x, backend=backend)
            check(TypeError, "'tbb,serial'", fanin.describe, [1.0], backend=backend)
        check(TypeError, "an iterable of numbers", fanin.sum, "12")
        check(TypeError, "an iterable of numbers", fanin.sum, 12)
        check(TypeError, "format 'c'", fanin.sum, memoryview(b"a").cast("c"))
        check(ValueError, "where has the shape", fanin.sum, [1.0, 2.0], where=b"\1\1\1")
        check(ValueError, "shapes", fanin.dot, [1.0], [1.0, 2.0])
        check(TypeError, "the types f64 and f32", fanin.dot, [1.0], array("f", [1]))
        check(ValueError, "offset", fanin.segment_sum, array("d", [1]), [0, 2])
        check(ValueError, "there are no offsets", fanin.segment_sum, array("d", [1]), [])
        check(ValueError, "key", fanin.group_sum, array("d", [1]), [3], 2)

    def test_unknown_values_by_their_type(self):
        """No message shows where in memory a value lies."""
        class Thing:
            pass
        x, thing = [1.0, 2.0], Thing()
        for call in (lambda: fanin.sum([thing]), lambda: fanin.fsum([thing]), lambda: fanin.State([thing]),
                     lambda: fanin.sum(x, method=thing), lambda: fanin.sum(x, nan=thing),
                     lambda: fanin.sum(x, dtype=thing), lambda: fanin.median(x, nan=thing),
                     lambda: fanin.describe(x, nan=thing), lambda: fanin.var(x, ddof=thing),
                     lambda: fanin.report(thing, x), lambda: fanin.report("sum", x, method=thing),
                     lambda: fanin.State(operation=thing), lambda: fanin.segment_max(x, [0, 0, 2], empty=thing),
                     lambda: fanin.index_add(array("d", x), [0, 1], x, operation=thing)):
            self.check((ValueError, TypeError), "a value of type Thing", call)
        self.check(ValueError, "a value of type function", fanin.sum, x, method=fanin.sum)
        self.check(ValueError, "a value of type list", fanin.sum, x, nan=[thing])

    def test_operations_by_their_functions(self):
        out = array("d", [2.0])
        self.assertEqual(fanin.index_add(out, [0, 0], [3.0, 5.0], operation=fanin.product)[0], 30.0)
        self.assertEqual(fanin.index_add(out, [0], [31.0], operation=fanin.max)[0], 31.0)
        self.assertEqual(fanin.State([3.0], operation=fanin.sum_of_squares).value(), 9.0)
        self.assertEqual(fanin.report(fanin.mean, [3.0]).value, 3.0)

    def test_after_an_error(self):
        for _ in range(3):
            with self.assertRaises(ValueError):
                fanin.min(array("d"))
            self.assertEqual(fanin.min(array("d", [2.0])), 2.0)


class Fsum(unittest.TestCase):
    def test_as_math(self):
        for values in ([], [-0.0], [0.1] * 10, [1, 2.5, True], [Fraction(1, 4)] * 3, [math.inf, 1.0],
                       [math.nan, math.inf], wide_numbers(1000, 7, 300)):
            self.assertEqual(bits(fanin.fsum(iter(values))), bits(math.fsum(values)))
        for values, kind in (([math.inf, -math.inf], ValueError), ([math.nan, math.inf, -math.inf], ValueError),
                             ([1e308, 1e308], OverflowError), ([10 ** 400], OverflowError), (["1"], TypeError),
                             (1, TypeError)):
            with self.assertRaises(kind):
                math.fsum(values)
            with self.assertRaises(kind):
                fanin.fsum(values)

    def test_only_the_result_overflows(self):
        self.assertEqual(fanin.fsum([1e308, 1e308, -1e308]), 1e308)

    def test_of_cpython(self):
        """CPython's own tests of math.fsum, where the interpreter has them."""
        try:
            from test.test_math import MathTests
        except ImportError:
            self.skipTest("this Python has no test.test_math")
        result = unittest.TestResult()
        with mock.patch("math.fsum", fanin.fsum):
            MathTests("testFsum").run(result)
        self.assertEqual(result.testsRun, 1)
        self.assertEqual(result.errors + result.failures, [])


class States(unittest.TestCase):
    def test_merging(self):
        numbers = wide_numbers(3000, 3)
        whole = fanin.State(numbers)
        parts = [fanin.State(array("d", numbers[i::7])) for i in range(7)]
        self.assertEqual(sum(parts).save(), whole.save())
        self.assertEqual(whole.value(), exact_sum(numbers))
        self.assertEqual((whole.count, whole.dtype, whole.operation), (3000, "f64", "sum"))
        self.assertEqual(whole.mean(), float(sum(map(Fraction, numbers)) / 3000))
        self.assertEqual(parts[0].count, 429)  # + has changed none of them

    def test_travelling(self):
        for kind in ("sum", "sum_of_squares"):
            for letter in "fd":
                state = fanin.State(array(letter, [1.5, 2.5]), operation=kind)
                for copied in (fanin.State.load(state.save()), pickle.loads(pickle.dumps(state)), copy.copy(state),
                               copy.deepcopy(state)):
                    self.assertEqual((copied.save(), copied.operation, copied.dtype),
                                     (state.save(), kind, state.dtype))
                self.assertEqual(copied.add(array(letter, [1])).count, 3)
        self.assertEqual(fanin.State([3.0, 4.0], operation="sum_of_squares").norm2(), 5.0)
        empty = pickle.loads(pickle.dumps(fanin.State()))
        self.assertEqual((empty.count, empty.value(), len(empty.save()), len(empty.lanes())), (0, 0.0, 292, 75))
        self.assertIsNone(empty.dtype)  # so that numbers of any type are added
        self.assertEqual(empty.add(array("f", [1])).dtype, "f32")

    def test_lanes(self):
        """Lanes that are added one by one, as a transport does it, also where numpy is not installed."""
        numbers = wide_numbers(300, 5)
        parts = [fanin.State(numbers[i::3]).lanes() for i in range(3)]
        with mock.patch.dict(sys.modules, numpy=None):
            bare = fanin.State(numbers[::3]).lanes()
        self.assertEqual((type(bare), bare.tolist()), (array, parts[0].tolist()))
        total = fanin.State.from_lanes([sum(lane) for lane in zip(*parts)])
        self.assertEqual(total.save(), fanin.State(numbers).save())
        with self.assertRaises(fanin.InvalidArgument):
            fanin.State.from_lanes(bare.tolist() * 2)

    def test_adding(self):
        state = fanin.State(dtype="f32").add(array("f", [1.0, math.nan]), nan="skip")
        self.assertEqual((state.value(), state.count), (1.0, 1))
        self.assertEqual(fanin.State().merge(state).dtype, "f32")
        with self.assertRaises(fanin.InvalidArgument):
            state.merge(fanin.State([1.0]))
        with self.assertRaises(fanin.InvalidArgument):
            fanin.State.load(b"FNX")
        self.assertEqual(fanin.State([1.0, 2.0 ** -30]).value("f32"), 1.0)


class Batches(unittest.TestCase):
    x = array("d", [1, 2, 3, 4])

    def test_segments(self):
        self.assertEqual(fanin.segment_sum(self.x, [0, 1, 1, 4]).tolist(), [1.0, 0.0, 9.0])
        self.assertEqual(fanin.segment_argmax(self.x, array("i", [0, 1, 4])).tolist(), [0, 2])
        self.assertEqual(fanin.segment_max(array("i", [1, 2]), [0, 0, 2], empty=-5).tolist(), [-5, 2])
        for name, nothing in (("sum", 0.0), ("product", 1.0), ("norm2", 0.0), ("mean", 5.0), ("argmax", 5)):
            found = getattr(fanin, "segment_" + name)(self.x, [0, 0, 1], empty=5)
            self.assertEqual(found[0], nothing)  # `empty` is for operations that have no value of nothing
        self.assertEqual(fanin.segment_sum(self.x, [0]).tolist(), [])
        self.assertEqual(fanin.segment_dot(self.x, self.x, [0, 2, 4]).tolist(), [5.0, 25.0])

    def test_groups(self):
        self.assertEqual(fanin.group_sum(self.x, [0, 2, 0, 2], 3).tolist(), [4.0, 0.0, 6.0])
        self.assertEqual(fanin.group_sum(self.x, [0, 2, 0, 2], 1, drop_others=True).tolist(), [4.0])
        self.assertEqual(fanin.group_sum([], [], 2).tolist(), [0.0, 0.0])
        self.assertTrue(math.isnan(fanin.group_min(self.x, [0, 0, 0, 0], 2)[1]))

    def test_index_add_of_what_is_copied(self):
        for out in ([0.0, 0.0], (0.0, 0.0)):
            with self.assertRaises(fanin.Unsupported):
                fanin.index_add(out, [0, 1], [1.0, 2.0])
        with self.assertRaises(fanin.InvalidArgument):
            fanin.index_add(array("d", [0.0]), [0], [1.0], operation="median")

    def test_threads_are_a_number_from_0_on(self):
        for threads in (-1, 2 ** 32):
            with self.assertRaises(fanin.InvalidArgument):
                fanin.sum(array("d", [1.0]), threads=threads)

    def test_merged_states_give_lanes_where_their_numbers_were(self):
        part = fanin.State([1.0])
        part._lanes_as = (lambda lanes, device: (device, len(lanes))), "there"
        for state in (part.copy(), part + fanin.State([2.0]), fanin.State([2.0]) + part):
            self.assertEqual(state.lanes()[0], "there")

    def test_threads_that_fill_one_state(self):
        for _ in range(300):
            state, together = fanin.State(), threading.Barrier(2)

            def work():
                together.wait()
                state.merge(fanin.State([1.0]))
            both = [threading.Thread(target=work) for _ in range(2)]
            for one in both:
                one.start()
            for one in both:
                one.join()
            self.assertEqual(state.value(), 2.0)

    def test_number_of_groups(self):
        self.assertEqual(fanin.group_sum(self.x, [0, 0, 1, 1], 2).tolist(), fanin.segment_sum(self.x, [0, 2, 4]).tolist())
        with self.assertRaises(TypeError):
            fanin.group_sum(self.x, [0, 0, 1, 1], "2")
        with self.assertRaisesRegex(ValueError, "cannot be negative"):
            fanin.group_sum(self.x, [0, 0, 1, 1], -1)

    def test_index_add(self):
        out = array("d", [1.0, 1.0])
        self.assertIs(fanin.index_add(out, [1, 1, 0, 0], self.x), out)
        self.assertEqual(out.tolist(), [8.0, 4.0])
        self.assertEqual(fanin.index_add(out, [1, 1, 0, 0], self.x, operation="max").tolist(), [8.0, 4.0])
        with self.assertRaises(ValueError):
            fanin.index_add(memoryview(bytes(8)).cast("d"), [0, 0, 0, 0], self.x)


class Describing(unittest.TestCase):
    def test_members(self):
        x = array("d", [2.0, math.nan, 9.0, 4.0])
        found = fanin.describe(x, nan="skip")
        self.assertEqual(found[:6], (3, 1, 2.0, 9.0, 15.0, 5.0))
        self.assertEqual(found.standard_deviation, fanin.standard_deviation(x, nan="skip"))
        self.assertEqual(fanin.describe(array("b", [-128, 127])).min, -128)

    def test_report(self):
        found = fanin.report("sum", array("f", [1.0, 2.0]), method="fast", backend="cub,serial")
        self.assertEqual((found.value, found.backend, found.method), (3.0, "serial", "fast"))
        self.assertEqual(found.reproducibility, "same_for_fixed_order")
        self.assertIn("cub: ", found.fallback)
        self.assertEqual(fanin.report("mean", [1.0]).bound.of_result, 2.0 ** -53)


class Threads(unittest.TestCase):
    def test_at_once(self):
        numbers = [array("d", wide_numbers(2000, seed)) for seed in range(4)]
        expected = [exact_sum(x) for x in numbers]
        wrong = []

        def work(i):
            for _ in range(200):
                if fanin.sum(numbers[i]) != expected[i]:
                    wrong.append(i)
        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_releases_buffers(self):
        x = array("d", [1.0])
        fanin.sum(x), fanin.sum(x, 0), fanin.State(x)
        x.append(2.0)  # a BufferError if a buffer is held
        before = sys.getrefcount(x)
        for _ in range(100):
            fanin.sum(x)
            fanin.mean(x, axis=0)
        self.assertEqual(sys.getrefcount(x), before)


if __name__ == "__main__":
    unittest.main()
