#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How often `fanin regress`, hyperfine and Google Benchmark's compare.py are right about a planted slowdown.

regress_table.py RESULT                     prints the table of docs/regress.md
regress_table.py RESULT --check DOCUMENT    fails if the document does not have this table
regress_table.py RESULT FANIN [--rounds 1] [--compare "python3 /usr/share/benchmark/compare.py"]
                                            measures, and adds the runs to RESULT; each round takes about a minute

One comparison runs at a time. 20 rounds have 200 comparisons by fanin of a program with itself. hyperfine and the
library of Google Benchmark have to be installed, and numpy and scipy for compare.py."""
import argparse
import json
import os
import pathlib
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

LOOP = """
#include <stdint.h>
#include <stdlib.h>
static uint64_t spin(long left) {
  uint64_t x = left;
  for (; left > 0; --left) x = x * 6364136223846793005u + (x >> 33);
  return x;
}
"""
PROGRAM = LOOP + "int main(int argc, char** argv) { return spin(atol(argv[argc - 1])) == 0; }"
BENCHMARK = LOOP + """
#include <benchmark/benchmark.h>
static void loop(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(spin(COUNT));
}
BENCHMARK(loop);
BENCHMARK_MAIN();
"""
MILLISECONDS = 10  # of CPU time in one run of the program
AT_MOST = 3  # seconds for a comparison by fanin; the others are given about as many
# Planted percent, threshold of fanin in percent, comparisons in a round by fanin and by the others. Half of a small change
# is the threshold, because a change within the threshold is SAME.
ROUND = [(0, 3, 5, 2), (0, 0.5, 5, 0), (1, 0.5, 1, 1), (2, 1, 1, 1), (5, 3, 1, 1), (10, 3, 1, 1)]


def compiled(folder, name, source, *options):
    path = pathlib.Path(folder, name)
    subprocess.run([os.environ.get("CXX", "c++"), "-O1", "-x", "c++", "-", "-o", path, *options],
                   input=source, text=True, check=True)
    return path


def cpu_seconds():
    used = os.times()
    return used.children_user + used.children_system


def iterations(program):
    """The iterations that take MILLISECONDS of CPU time."""
    count, before = 100_000_000, cpu_seconds()
    subprocess.run([program, str(count)], check=True)
    return int(count * MILLISECONDS / 1000 / (cpu_seconds() - before))


class contestants:
    """Each comparison says 1 if B was called slower, -1 if faster, and 0 if neither."""

    def __init__(self, folder, fanin, compare):
        self.folder, self.fanin_path, self.compare = folder, fanin, shlex.split(compare)
        self.program = compiled(folder, "spin", PROGRAM)
        self.count = iterations(self.program)
        counts = {percent: self.more(percent) for percent, *_ in ROUND}
        self.benchmarks = {percent: compiled(folder, f"loop-{percent}", BENCHMARK, f"-DCOUNT={count}", "-lbenchmark",
                                             "-lpthread") for percent, count in counts.items()}

    def more(self, percent):
        return int(self.count * (1 + percent / 100))

    def commands(self, percent):
        return [f"{self.program} {count}" for count in (self.count, self.more(percent))]

    def fanin(self, percent, threshold):
        run = subprocess.run([self.fanin_path, "regress", "--command", *self.commands(percent), "--json", "--threshold",
                              str(threshold), "--at-most", f"{AT_MOST}s"], capture_output=True, text=True)
        return {"SLOWER": 1, "FASTER": -1}.get(json.loads(run.stdout)["cases"][0]["verdict"], 0)

    def hyperfine(self, percent, _):
        """hyperfine prints the ratio of the means and an error. A reader calls a change that exceeds the error."""
        path = pathlib.Path(self.folder, "hyperfine.json")
        subprocess.run(["hyperfine", "-N", "--runs", "50", "--export-json", path, *self.commands(percent)],
                       capture_output=True, check=True)
        a, b = json.loads(path.read_text())["results"]
        ratio = b["mean"] / a["mean"]
        error = ratio * ((a["stddev"] / a["mean"]) ** 2 + (b["stddev"] / b["mean"]) ** 2) ** 0.5
        return (ratio - 1 > error) - (1 - ratio > error)

    def compare_py(self, percent, _):
        """compare.py prints the p-value of a U test, and takes 0.05 for significant."""
        path = pathlib.Path(self.folder, "compare.json")
        subprocess.run([*self.compare, "-d", path, "benchmarks", self.benchmarks[0], self.benchmarks[percent],
                        "--benchmark_repetitions=10", "--benchmark_min_time=0.05"], capture_output=True, check=True)
        found = next(one for one in json.loads(path.read_text()) if one["utest"])
        if found["utest"]["time_pvalue"] >= 0.05:
            return 0
        change = statistics.median(one["time"] for one in found["measurements"])
        return 1 if change > 0 else -1


def measured_round(tools):
    for percent, threshold, by_fanin, by_others in ROUND:
        for name, number in (("fanin", by_fanin), ("hyperfine", by_others), ("compare_py", by_others)):
            for _ in range(number):
                load, cpu, begin = os.getloadavg()[0], cpu_seconds(), time.monotonic()
                called = getattr(tools, name)(percent, threshold)
                yield {"tool": name, "planted": percent, "threshold": threshold if name == "fanin" else None,
                       "called": called, "seconds": round(time.monotonic() - begin, 2),
                       "cpu_seconds": round(cpu_seconds() - cpu, 2), "load": round(load, 1)}


def table(runs):
    lines = ["| planted | tool | comparisons | called slower | called faster | median seconds |", "|---:|---|---:|---:|---:|---:|"]
    groups = {}
    for run in runs:
        groups.setdefault((run["planted"], run["tool"], run["threshold"]), []).append(run)
    order = ["fanin", "hyperfine", "compare_py"]
    for (planted, tool, threshold), group in sorted(groups.items(), key=lambda one: (one[0][0], order.index(one[0][1]))):
        name = f"fanin, threshold {threshold} %" if tool == "fanin" else tool.replace("_", ".")
        called = [run["called"] for run in group]
        seconds = statistics.median(run["seconds"] for run in group)
        lines.append(f"| {planted} % | {name} | {len(group)} | {called.count(1)} | {called.count(-1)} | {seconds:.1f} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("result", type=pathlib.Path)
    parser.add_argument("fanin", nargs="?")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--compare", default="python3 /usr/share/benchmark/compare.py")
    parser.add_argument("--check", type=pathlib.Path)
    asked = parser.parse_args()
    runs = json.loads(asked.result.read_text()) if asked.result.exists() else []
    if asked.fanin:
        with tempfile.TemporaryDirectory() as folder:
            tools = contestants(folder, asked.fanin, asked.compare)
            for _ in range(asked.rounds):
                runs += measured_round(tools)
                asked.result.write_text("[\n" + ",\n".join(json.dumps(run) for run in runs) + "\n]\n")
    if not asked.check:
        print(table(runs))
    elif table(runs) not in asked.check.read_text():
        sys.exit(f"regress_table.py: {asked.check} does not say what {asked.result} says")


if __name__ == "__main__":
    main()
