#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times batches of floats by fanin and by NumPy on this machine, in turn, and prints a line for each.

batches.py FANIN_CPU_BATCHES [--count N] [--rounds N] [--only LAYOUT]

The best of all rounds counts, since other work on the machine only adds time. NumPy has one thread; fanin has one, and
then as many as the machine has cores. `ceiling` is a loop that only reads, with as many threads.
"""

import argparse
import os
import subprocess
import time

import numpy


class Program:
    """The process that times fanin."""

    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def seconds(self, *case):
        print(*case, file=self.process.stdin, flush=True)
        return float(self.process.stdout.readline())


def fastest_of_two(call):
    times = []
    for _ in range(2):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def numpy_call(x, random, layout, operation, results):
    """The same work by NumPy, or None if there is no call for it."""
    n = x.size // results
    if layout in ("rows", "columns"):
        array, axis = (x.reshape(results, n), 1) if layout == "rows" else (x.reshape(n, results), 0)
        return lambda: getattr(array, operation)(axis=axis)
    if layout == "segments":
        offsets = numpy.sort(random.integers(0, x.size, results))
        offsets[0] = 0
        return lambda: numpy.add.reduceat(x, offsets)
    keys = random.integers(0, results, x.size, dtype=numpy.int32)
    return lambda: numpy.bincount(keys, weights=x, minlength=results)


def cases(count):
    for layout in ("rows", "columns"):
        for operation, method in (("sum", "fast"), ("max", "fast"), ("sum", "exact")):
            for n in (16, 256, 4096, 65536, 1 << 20, 1 << 24):
                if layout == "columns":
                    yield layout, operation, method, n
                else:
                    yield layout, operation, method, count // n
    for method in ("fast", "exact"):
        for n in (16, 64, 256, 4096, 1 << 20):
            yield "segments", "sum", method, count // n
        for results in (16, 1 << 10, 1 << 16, 1 << 22):
            yield "groups", "sum", method, results


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--count", type=int, default=1 << 26)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", help="a layout")
    arguments = parser.parse_args()
    program = Program(arguments.program)
    random = numpy.random.default_rng(1)
    x = random.random(arguments.count, dtype=numpy.float32)
    cores = len(os.sched_getaffinity(0))
    ceiling = [min(program.seconds("rows", "read", "fast", 1, x.size, threads) for _ in range(arguments.rounds))
               for threads in (1, cores)]

    def rate(seconds):
        return f"{x.nbytes / seconds / 1e9:7.1f}"

    print(f"# sums and maxima of {x.size} floats, GB/s of elements; NumPy {numpy.__version__}, {cores} cores")
    print(f"# {'layout':9} {'what':4} {'method':6} {'results x mean length':>22} {'numpy':>7} {'fanin':>7} "
          f"{'cores':>7}   all cores to numpy, to the ceiling")
    print(f"# {'read ceiling':>52} {rate(ceiling[0])} {rate(ceiling[1])}")
    for layout, operation, method, results in cases(x.size):
        if arguments.only not in (None, layout):
            continue
        call = numpy_call(x, random, layout, operation, results) if method == "fast" else None
        best = [float("inf")] * 3
        for _ in range(arguments.rounds):
            times = [fastest_of_two(call) if call else float("inf")]
            times += [program.seconds(layout, operation, method, results, x.size, threads) for threads in (1, cores)]
            best = [min(pair) for pair in zip(best, times)]
        shape = f"{results} x {x.size // results}"
        to_numpy = f"{best[0] / best[2]:6.2f}" if call else "     -"
        by_numpy = rate(best[0]) if call else "      -"
        print(f"  {layout:9} {operation:4} {method:6} {shape:>22} {by_numpy} {rate(best[1])} {rate(best[2])}   "
              f"{to_numpy} {ceiling[1] / best[2]:6.2f}", flush=True)


main()
