#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times calls beside numpy, torch and CuPy in the same process, as the best of several repetitions."""

import subprocess
import sys
import time
import timeit

import fanin


def seconds(call, repetitions=7, least=0.02):
    """The best time of one call."""
    number = 1
    while timeit.timeit(call, number=number) < least:
        number *= 2
    return min(timeit.repeat(call, number=number, repeat=repetitions)) / number


def show(name, value, unit):
    print("%-44s %10.3g %s" % (name, value, unit), flush=True)


def import_time():
    code = "import time; t = time.perf_counter(); import fanin; print(time.perf_counter() - t)"
    return min(float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout)
               for _ in range(7))


def of_host():
    import numpy
    x = numpy.arange(8.0)
    show("import", 1e3 * import_time(), "ms")
    show("fanin.sum of 8 doubles", 1e6 * seconds(lambda: fanin.sum(x)), "us")
    show("numpy.sum of 8 doubles", 1e6 * seconds(lambda: numpy.sum(x)), "us")
    x = numpy.random.default_rng(1).random(1 << 26)
    show("numpy.sum of 2^26 doubles", 1e3 * seconds(lambda: numpy.sum(x)), "ms")
    for threads in (1, 2, 4, 0):
        best = seconds(lambda: fanin.sum(x, threads=threads))
        show("fanin.sum of 2^26 doubles, threads=%d" % threads, 1e3 * best, "ms")


def of_groups():
    """Sums of 2^24 doubles by int64 keys beside numpy.bincount. The calls take turns."""
    import numpy
    generator = numpy.random.default_rng(1)
    x = generator.random(1 << 24)
    print("numpy", numpy.__version__, "milliseconds, medians of 7")
    print("%8s %8s %9s %8s %8s" % ("groups", "threads", "bincount", "fast", "exact"))
    for groups in (10, 1000, 1 << 16, 1 << 20):
        keys = generator.integers(0, groups, x.size)
        for threads in (1, 2):
            calls = [lambda: numpy.bincount(keys, x, groups)]
            calls += [lambda how=how: fanin.group_sum(x, keys, groups, method=how, threads=threads)
                      for how in ("fast", "exact")]
            times = [[timeit.timeit(call, number=1) for call in calls] for _ in range(7)]
            medians = [1e3 * sorted(of_call)[3] for of_call in zip(*times)]
            print("%8d %8d %9.1f %8.1f %8.1f" % (groups, threads, *medians), flush=True)


def of_torch():
    import torch
    x = torch.ones(1024, device="cuda")

    def enqueued(call, count=200):
        """The time until calls return, where the device is not waited for."""
        best = float("inf")
        for _ in range(50):
            torch.cuda.synchronize()
            begin = time.perf_counter()
            for _ in range(count):
                call()
            best = min(best, (time.perf_counter() - begin) / count)
        torch.cuda.synchronize()
        return best

    def on_device(call, count=20):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        best = float("inf")
        for _ in range(7):
            begin.record()
            for _ in range(count):
                call()
            end.record()
            torch.cuda.synchronize()
            best = min(best, begin.elapsed_time(end) / count)
        return best
    print(torch.cuda.get_device_name(), "torch", torch.__version__)
    for name, call in (("fanin.sum", lambda: fanin.sum(x)), ("torch.sum", lambda: torch.sum(x)),
                       ("fanin.sum, fast", lambda: fanin.sum(x, method="fast"))):
        show(name + " of 1024 f32 on the device, enqueued", 1e6 * enqueued(call), "us")
    x = torch.rand(1 << 28, device="cuda")
    for name, call in (("fanin.sum", lambda: fanin.sum(x)), ("torch.sum", lambda: torch.sum(x)),
                       ("fanin.sum, fast", lambda: fanin.sum(x, method="fast"))):
        milliseconds = on_device(call)
        show(name + " of 2^28 f32 on the device", milliseconds, "ms")
        show("", x.numel() * 4 / milliseconds / 1e6, "GB/s")
    try:
        import cupy
    except ImportError:
        return
    y = cupy.ones(1024, "float32")
    for name, call in (("fanin.sum", lambda: fanin.sum(y)), ("CuPy's sum", lambda: y.sum())):
        show(name + " of 1024 f32 of CuPy, enqueued", 1e6 * enqueued(call), "us")


if __name__ == "__main__":
    if "--torch" in sys.argv[1:]:
        of_torch()
    elif "--groups" in sys.argv[1:]:
        of_groups()
    else:
        of_host()
