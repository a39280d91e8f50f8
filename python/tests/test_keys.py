# SPDX-License-Identifier: Apache-2.0
"""Keys of groups that are no numbers from 0 on: the package finds the different keys, and returns them too."""

import math
import unittest
from array import array

import fanin
from support import exact_sum, numpy, wide_numbers


class Keys(unittest.TestCase):
    def test_lists(self):
        x = [1.0, 2.0, 4.0, 8.0]
        for keys, names in ((["b", "a", "b", "c"], ["a", "b", "c"]), ([7, -3, 7, 9], [-3, 7, 9]),
                            ("babc", ["a", "b", "c"]), (array("b", [5, -5, 5, 100]), [-5, 5, 100]),
                            ([(1, "b"), (0, "a"), (1, "b"), (2, "a")], [(0, "a"), (1, "b"), (2, "a")]),
                            (iter([2.5, 0.5, 2.5, math.inf]), [0.5, 2.5, math.inf])):
            found, sums = fanin.group_sum(x, keys)
            self.assertEqual((found, sums.tolist()), (names, [2.0, 5.0, 8.0]))
        names, least, largest = fanin.group_minmax(x, ["b", "a", "b", "c"])
        self.assertEqual((names, least.tolist(), largest.tolist()), (["a", "b", "c"], [2, 1, 8], [2, 4, 8]))
        self.assertEqual(fanin.group_dot([1, 2], [3, 4], ["b", "b"])[1].tolist(), [11.0])
        self.assertEqual(fanin.group_sum([], [])[0], [])

    def test_many(self):
        numbers = wide_numbers(3000, 8)
        keys = [str(i * i % 17) for i in range(3000)]
        names, sums = fanin.group_sum(numbers, keys)
        self.assertEqual(names, sorted(set(keys)))
        for name, found in zip(names, sums):
            self.assertEqual(found, exact_sum([x for x, key in zip(numbers, keys) if key == name]))

    def test_missing(self):
        for keys in (["a", None, "b"], [1.0, math.nan, 2.0]):
            with self.assertRaisesRegex(ValueError, "key 1 is missing: .*drop_others=True"):
                fanin.group_sum([1.0, 2.0, 4.0], keys)
            self.assertEqual(fanin.group_sum([1.0, 2.0, 4.0], keys, drop_others=True)[1].tolist(), [1.0, 4.0])

    def test_short_integers(self):
        for letter in "bBhHiIqQ":
            keys = array(letter, [1, 0, 1])
            for given in (keys, memoryview(array(letter, [1, 9, 0, 9, 1]))[::2]):
                self.assertEqual(fanin.group_sum([1.0, 2.0, 4.0], given, 2).tolist(), [2.0, 5.0])
                self.assertEqual(fanin.index_add(array("d", [0, 0]), given, [1.0, 2.0, 4.0]).tolist(), [2.0, 5.0])
            self.assertEqual(fanin.segment_sum([1.0, 2.0], array(letter, [0, 1, 2])).tolist(), [1.0, 2.0])
        self.assertEqual(fanin.group_sum([1.0, 2.0], memoryview(b"\1\0").cast("?"), 2).tolist(), [2.0, 1.0])

    def test_limits_of_short_integers(self):
        """Keys at the end of their type, negative ones, and more groups than a type has numbers."""
        for letter, last in zip("bBhH", (127, 255, 32767, 65535)):
            keys, expected = array(letter, [last, 0, last]), {0: 2.0, last: 5.0}
            for groups in (last + 1, last + 50):
                sums = fanin.group_sum([1.0, 2.0, 4.0], keys, groups).tolist()
                self.assertEqual({group: found for group, found in enumerate(sums) if found}, expected)
            with self.assertRaisesRegex(ValueError, "key 0 is %d, and the last group is %d" % (last, last - 1)):
                fanin.group_sum([1.0, 2.0, 4.0], keys, last)
        for letter in "bh":
            keys = array(letter, [1, -1, 1])
            self.assertEqual(sum(fanin.group_sum([1.0, 2.0, 4.0], keys, 70000, drop_others=True)), 5.0)
            with self.assertRaisesRegex(ValueError, "key 1 is -1, and the last group is 299"):
                fanin.group_sum([1.0, 2.0, 4.0], keys, 300)

    def test_other_keys_with_a_number_of_groups(self):
        for keys in (["a", "b"], [0.0, 1.0], "ab", [None, 1]):
            with self.assertRaisesRegex(TypeError, "leave out the number of groups"):
                fanin.group_sum([1.0, 2.0], keys, 2)

    def test_keys_without_an_order(self):
        with self.assertRaisesRegex(fanin.Unsupported, "cannot be sorted"):
            fanin.group_sum([1.0, 2.0], ["a", 1])

    def test_list_of_columns(self):
        """Several columns of keys are no list of keys."""
        keys = [array("b", [1, 2]), array("b", [3, 3])]
        for given in (keys, [["a", "b"], ["c", "c"]]):
            with self.assertRaisesRegex(fanin.Unsupported, r"is not a list of keys: .* list\(zip\(\*keys\)\)"):
                fanin.group_sum([1.0, 2.0], given)
        self.assertEqual(fanin.group_sum([1.0, 2.0], list(zip(*keys)))[0], [(1, 3), (2, 3)])

    def test_errors_name_the_key(self):
        with self.assertRaisesRegex(OverflowError, "^group 'b': "):
            fanin.group_sum(array("q", [1, 2 ** 62, 2 ** 62]), ["a", "b", "b"])
        with self.assertRaisesRegex(ValueError, "^group 'a': "):
            fanin.group_min(array("q", [1, 2]), ["a", "b"], where=[False, True])

    @unittest.skipIf(numpy is None, "numpy is not installed")
    def test_numpy(self):
        x = numpy.array([1.0, 2.0, 4.0, 8.0])
        days = numpy.array(["2020-01-02", "2020-01-01", "2020-01-02", "NaT"], "M8[D]")
        for keys in (numpy.array(list("babc")), numpy.array([2, -1, 2, 9], "int8"), numpy.array([2.5, 1, 2.5, 7])):
            names, sums = fanin.group_sum(x, keys)
            self.assertEqual((names.tolist(), sums.tolist()), (numpy.unique(keys).tolist(), [2.0, 5.0, 8.0]))
            self.assertIsInstance(sums, numpy.ndarray)
        with self.assertRaisesRegex(ValueError, "key 3 is missing"):
            fanin.group_sum(x, days)
        names, sums = fanin.group_sum(x, days, drop_others=True)
        self.assertEqual((names.tolist(), sums.tolist()), (sorted(days[:2].tolist()), [2.0, 5.0]))
        with self.assertRaisesRegex(TypeError, "one axis"):
            fanin.group_sum(x, days.reshape(2, 2))


if __name__ == "__main__":
    unittest.main()
