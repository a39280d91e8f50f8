#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times calls beside those of other packages in the same process.

Without an option: calls beside numpy, as the best of several repetitions. --torch: on a GPU beside torch and CuPy.
--groups: sums of groups beside numpy.bincount. --engines: sums of groups beside polars and DuckDB, and means and variances
without NaN beside bottleneck and numbagg.
"""

import importlib
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


def medians(calls, rounds=7):
    """The median of the milliseconds of each call. The calls take turns."""
    times = [[timeit.timeit(call, number=1) for call in calls] for _ in range(rounds)]
    return [1e3 * sorted(of_call)[rounds // 2] for of_call in zip(*times)]


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
            print("%8d %8d %9.1f %8.1f %8.1f" % (groups, threads, *medians(calls)), flush=True)


def engine_group_sum(engine, x, keys):
    """A call of polars or DuckDB that sums x by its keys."""
    if engine.__name__ == "polars":
        frame = engine.DataFrame({"key": keys, "x": x})
        return lambda: frame.group_by("key").agg(engine.col("x").sum())
    table = engine.connect()
    table.execute("create table t (key bigint, x double)")
    batch = {"key": keys, "x": x}
    table.execute("insert into t select key, x from batch")
    return lambda: table.execute("select key, sum(x) from t group by key").fetchnumpy()


def engine_rows():
    """For each row of the table: its name, the package, and what makes the calls of the package and of fanin."""
    import numpy
    generator = numpy.random.default_rng(1)
    x = generator.random(1 << 22)
    for groups in (1000, 1000000):
        keys = generator.integers(0, groups, x.size)
        for engine in ("polars", "duckdb"):
            yield ("sums of %d groups" % groups, engine, lambda package: engine_group_sum(package, x, keys),
                   lambda how: lambda: fanin.group_sum(x, keys, groups, method=how))
    x = generator.random((4096, 4096))
    x[generator.random(x.shape) < 0.001] = numpy.nan
    for name, own, divisor in (("nanmean", fanin.mean, {}), ("nanvar", fanin.variance, {"ddof": 0})):
        for axis in (0, 1):
            for engine in ("bottleneck", "numbagg"):
                yield ("%s along axis %d" % (name, axis), engine,
                       lambda package: lambda: getattr(package, name)(x, axis=axis, **divisor),
                       lambda how: lambda: own(x, axis=axis, nan="skip", method=how))


def of_engines():
    """2^22 doubles by uniform int64 keys, and 4096 x 4096 doubles of which one in 1000 is NaN. fanin's keys are known to
    be below the number of groups. The packages find the groups. Each library uses the threads that it chooses. The
    times of a package that is missing are left out."""
    print("%-24s %-19s %8s %8s %8s  milliseconds, medians of 7" % ("", "package", "package", "fast", "exact"))
    for name, engine, of_package, of_fanin in engine_rows():
        try:
            package = importlib.import_module(engine)
        except ImportError:
            print("%-24s %-19s is not installed" % (name, engine), flush=True)
            continue
        calls = [of_package(package), of_fanin("fast"), of_fanin("exact")]
        calls[0]()  # numbagg compiles in its first call.
        print("%-24s %-19s %8.1f %8.1f %8.1f" % (name, engine + " " + package.__version__, *medians(calls)), flush=True)


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
    elif "--engines" in sys.argv[1:]:
        of_engines()
    else:
        of_host()
