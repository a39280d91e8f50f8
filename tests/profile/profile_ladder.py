#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench/profile_ladder.py on a report written by hand in the form of the tool's (sample.csv): no GPU is needed."""

import copy
import pathlib
import re
import sys
import unittest

here = pathlib.Path(__file__).parent
root = here.parent.parent
sys.path.insert(0, str(root / "bench"))
import profile_ladder as ladder  # noqa: E402

SAMPLE = (here / "sample.csv").read_text()
LISTING = "\n".join(f"{name.split('.')[0]:<60} Counter  inst  # of things" for name in ladder.METRICS.values())


class ProfileLadder(unittest.TestCase):
    def test_first_run_of_the_stages_own_kernel(self):
        counted = ladder.counters_of(SAMPLE)
        self.assertEqual(list(counted), list(ladder.METRICS))
        self.assertEqual(counted["working threads"], 10.5)
        self.assertEqual(counted["loads"], 1048576)
        self.assertEqual(counted["DRAM %"], 8.7)

    def test_reports_that_say_nothing_are_errors(self):
        lines = SAMPLE.splitlines(keepends=True)
        helpers = [line for line in lines if "shared_modulo" not in line]
        without_dram = [line for line in lines if "dram__" not in line]
        for report, words in (("==ERROR== ERR_NVGPUCTRPERM", "no table"), ("".join(helpers), "no kernel"),
                              ("".join(without_dram), "not counted DRAM %")):
            with self.assertRaisesRegex(ValueError, words):
                ladder.counters_of(report)

    def test_names_that_the_tool_does_not_know(self):
        self.assertEqual(ladder.unknown_metrics(LISTING), [])
        one_less = LISTING.replace("dram__throughput ", "dram__thruput ")
        self.assertEqual(ladder.unknown_metrics(one_less), [ladder.METRICS["DRAM %"]])

    def test_stories(self):
        modulo = ladder.counters_of(SAMPLE)
        strided = copy.copy(modulo)
        strided["bank conflicts"], strided["working threads"] = 5e6, 32.0
        counted = {"shared-mask": modulo, "shared-strided": strided}
        self.assertIsNone(ladder.verdict("shared-mask", counted))
        self.assertEqual(ladder.sentence("shared-mask", counted), "67% of each warp idles")
        self.assertIs(ladder.verdict("shared-strided", counted), True)
        self.assertEqual(ladder.sentence("shared-strided", counted),
                         "warps are full; bank conflicts 0 -> 5e+06 after shared-mask")
        strided["bank conflicts"] = 0
        self.assertIs(ladder.verdict("shared-strided", counted), False)
        self.assertIn("but the story says that it rises", ladder.sentence("shared-strided", counted))
        self.assertEqual(len(ladder.table(counted).splitlines()), 3)

    def test_stories_are_about_stages_and_counters_that_there_are(self):
        stages = re.findall(r"^## \d\d (\S+)$", (root / "docs/ladder.md").read_text(), re.M)
        for stage, (what, way, other) in ladder.STORIES.items():
            self.assertIn(stage, stages)
            self.assertIn(other, stages)
            self.assertLess(stages.index(other), stages.index(stage))
            self.assertIn(what, ladder.METRICS)
            self.assertIn(way, ("rises", "falls"))

    def test_the_lesson_names_these_counters_and_no_others(self):
        page = (root / "docs/ladder.md").read_text()
        self.assertEqual(set(re.findall(r"`(\w+__[\w.]+)`", page)), set(ladder.METRICS.values()))


if __name__ == "__main__":
    unittest.main()
