#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How often `fanin regress` is right: a program against itself, and against a copy with planted extra work.

Usage: bench/regress_table.py FANIN [--runs 20] [--same 200] [--load 2] [--at-most 60s] [--milliseconds 20]

Prints the table of docs/regress.md. --load N runs N busy loops beside the comparison, for a loaded machine."""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

SOURCE = """
#include <stdint.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  uint64_t x = argc;
  for (long left = atol(argv[1]); left > 0; --left) x = x * 6364136223846793005u + (x >> 33);
  return x == 0;
}
"""


def compiled(folder):
    program = pathlib.Path(folder, "spin")
    source = program.with_suffix(".c")
    source.write_text(SOURCE)
    subprocess.run([os.environ.get("CC", "cc"), "-O1", source, "-o", program], check=True)
    return program


def iterations(program, milliseconds):
    """The iterations that take so long on an idle core, by CPU time."""
    count, before = 100_000_000, os.times()
    subprocess.run([program, str(count)], check=True)
    after = os.times()
    return int(count * milliseconds / 1000 / (after.children_user - before.children_user))


def compare(fanin, program, count, percent, threshold, at_most):
    """The verdict, the measure that decided, and the seconds of one run."""
    begin = time.monotonic()
    more = int(count * (1 + percent / 100))
    run = subprocess.run([fanin, "regress", "--command", f"{program} {count}", f"{program} {more}", "--json",
                          "--threshold", str(threshold), "--at-most", at_most], capture_output=True, text=True)
    case = json.loads(run.stdout)["cases"][0]
    return case["verdict"], case["decided_by"], time.monotonic() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fanin")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--same", type=int, default=200)
    parser.add_argument("--load", type=int, default=0)
    parser.add_argument("--at-most", default="60s")
    parser.add_argument("--milliseconds", type=float, default=20)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program = compiled(folder)
        count = iterations(program, asked.milliseconds)
        load = [subprocess.Popen([program, str(10 ** 15)]) for _ in range(asked.load)]
        try:
            print("| planted | threshold | runs | SLOWER | FASTER | SAME | UNDECIDED | CPU time decided | median seconds |")
            print("|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
            # Half of a small change is the threshold, because a change within the threshold is SAME.
            for percent, threshold in [(0, 3), (1, 0.5), (2, 1), (5, 3), (10, 3)]:
                runs = asked.runs if percent else asked.same
                found = [compare(asked.fanin, program, count, percent, threshold, asked.at_most) for _ in range(runs)]
                verdicts = [verdict for verdict, _, _ in found]
                shares = " | ".join(str(verdicts.count(one)) for one in ("SLOWER", "FASTER", "SAME", "UNDECIDED"))
                by_cpu = sum(measure == "CPU time" for _, measure, _ in found)
                seconds = statistics.median(taken for _, _, taken in found)
                print(f"| {percent} % | {threshold} % | {runs} | {shares} | {by_cpu} | {seconds:.1f} |", flush=True)
        finally:
            for one in load:
                one.kill()


if __name__ == "__main__":
    main()
