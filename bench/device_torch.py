#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times reductions of the Python package beside PyTorch, eager and compiled, on a GPU, in one process.

Prints a table in Markdown: microseconds of one call until its end, and of a call among ten that are enqueued one after
another. Each is the median of 15 turns. The quotients divide the better of PyTorch's two times by fanin's.
Usage: bench/device_torch.py [WORDS]   only the rows whose name contains WORDS
"""
import statistics
import sys
import time

import fanin
import torch

F32, F64, BF16 = torch.float32, torch.float64, torch.bfloat16


def microseconds(call, calls):
    """The time of a call among so many, until the last one has ended, after calls that compile and allocate."""
    call()
    call()
    times = []
    for _ in range(15):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(calls):
            call()
        torch.cuda.synchronize()
        times.append((time.perf_counter() - begin) / calls)
    return statistics.median(times) * 1e6


def compare(name, theirs, **ours):
    """Prints a row for each method of ours, whose name is the key, beside a function of PyTorch."""
    words = sys.argv[1] if len(sys.argv) > 1 else ""
    if words not in name:
        return
    torch._dynamo.reset()
    compiled = torch.compile(theirs, dynamic=False)
    peers = [[microseconds(call, calls) for calls in (1, 10)] for call in (theirs, compiled)]
    best = [min(times) for times in zip(*peers)]
    for method, call in ours.items():
        mine = [microseconds(call, calls) for calls in (1, 10)]
        cells = [f"{t:.1f}" for pair in (mine, *peers) for t in pair]
        print(f"| {name}, {method} | " + " | ".join(cells) + " | "
              + " | ".join(f"{b / m:.2f}" for b, m in zip(best, mine)) + " |", flush=True)


def both(name, ours, theirs):
    compare(name, theirs, exact=lambda: ours("exact"), fast=lambda: ours("fast"))


def random(shape, dtype):
    return torch.randn(shape, device="cuda").to(dtype)


def arrays():
    for dtype, count in ((BF16, 1 << 28), (F32, 1 << 28)):
        name, x, y = f"2^28 {str(dtype)[6:]}", random(count, dtype), random(count, dtype)
        both(f"sum of {name}", lambda how: fanin.sum(x, method=how), lambda: x.sum())
        both(f"variance of {name}", lambda how: fanin.variance(x, method=how), lambda: x.var(correction=0))
        both(f"norm of {name}", lambda how: fanin.norm2(x, method=how), lambda: torch.linalg.vector_norm(x))
        both(f"dot product of {name}", lambda how: fanin.dot(x, y, method=how), lambda: torch.dot(x, y))
        compare(f"log_sum_exp of {name}", lambda: x.logsumexp(0), fast=lambda: fanin.log_sum_exp(x))
    for power in (16, 18, 20):
        x, y = random(1 << power, F64), random(1 << power, F64)
        both(f"dot product of 2^{power} f64", lambda how: fanin.dot(x, y, method=how), lambda: torch.dot(x, y))
        both(f"variance of 2^{power} f64", lambda how: fanin.variance(x, method=how), lambda: x.var(correction=0))


def rows():
    for shape, dtype in (((4096, 128256), BF16), ((8192, 4096), BF16), ((4096, 32768), F32)):
        x = random(shape, dtype)
        name = f"{shape[0]} rows of {shape[1]} {str(dtype)[6:]}"
        compare(f"log_sum_exp of {name}", lambda: x.logsumexp(1), fast=lambda: fanin.log_sum_exp(x, axis=1))
        both(f"squares of {name}", lambda how: fanin.sum_of_squares(x, axis=1, method=how),
             lambda: x.float().square().sum(1))
        both(f"variance of {name}", lambda how: fanin.variance(x, axis=1, method=how),
             lambda: x.float().var(1, correction=0))
    for shape in ((1 << 20, 256), (1 << 16, 4096), (64, 1 << 22)):
        x = random(shape, BF16)
        for axis in (1, 0):
            both(f"sums of {shape[0]} x {shape[1]} bfloat16, axis {axis}",
                 lambda how: fanin.sum(x, axis=axis, method=how), lambda: x.sum(axis))


def small():
    for dtype in (F32, BF16):
        for count in (1024, 1 << 20):
            x = random(count, dtype)
            both(f"sum of {count} {str(dtype)[6:]}", lambda how: fanin.sum(x, method=how), lambda: x.sum())
    x = random((32, 32), F32)
    both("sums of 32 x 32 float32, axis 1", lambda how: fanin.sum(x, axis=1, method=how), lambda: x.sum(1))


def main():
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}\n")
    print("| reduction | " + " | ".join(f"{who}, one call | ten" for who in ("fanin", "eager", "compiled", "quotient")) + " |")
    print("|---" * 9 + "|")
    small()
    rows()
    arrays()


if __name__ == "__main__":
    main()
