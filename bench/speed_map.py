#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The map of speed: every operation, element type, layout and method of the Python package, as a share of the speed of a
fast f32 sum of one array of as many bytes, until the end of the call.

  speed_map.py measure gpu 256 OUT.json      256 MiB in device memory. Needs PyTorch.
  speed_map.py measure cpu 64 OUT.json       64 MiB in host memory. Needs NumPy, and for bf16 ml_dtypes.
  speed_map.py compare BEFORE.json... --after AFTER.json...
      Prints each cell's best GB/s of the files before and of the files after. Measure several of both, in turn.
      A cell's noise is the larger of the differences between the fastest and the slowest run before, and after. A
      change that is smaller than the noise decides nothing.
"""
import argparse
import collections
import json
import math
import statistics
import time

OPERATIONS = """sum mean sum_of_squares norm2 variance standard_deviation sum_of_magnitudes product min max minmax argmax
max_magnitude count_nonzero any all log_sum_exp dot""".split()
COMPARISONS = "min max minmax argmax max_magnitude count_nonzero any all".split()
ONLY_FAST = ["product", "log_sum_exp"]  # of floats
SHAPES = {"rows 256": (256, 1), "rows 4096": (4096, 1), "columns 256": (256, 0), "columns 65536": (65536, 0)}


NAMES = {"f32": "float32", "f64": "float64", "bf16": "bfloat16", "f16": "float16", "i32": "int32", "i64": "int64",
         "i8": "int8", "bool": "bool"}
FLOATS = "f32 f64 bf16 f16".split()


class Host:
    """Arrays of NumPy in host memory. There is no bf16 without an ml_dtypes that this NumPy can load."""
    def __init__(self):
        import numpy
        self.numpy, self.libraries, names = numpy, [numpy], dict(NAMES)
        try:
            import ml_dtypes  # By its import, numpy.dtype knows "bfloat16".
            self.libraries.append(ml_dtypes)
        except (ImportError, AttributeError):
            del names["bf16"]
        self.types = {name: numpy.dtype(of_numpy) for name, of_numpy in names.items()}

    def random(self, name, count):
        generator = self.numpy.random.default_rng(1)
        some = min(count, 1 << 22)
        if name == "bool":
            x = generator.random(some) < .5
        else:
            x = generator.standard_normal(some) if name in FLOATS else generator.integers(-100, 100, some)
        return self.numpy.resize(x.astype(self.types[name]), count)

    def offsets(self, count):
        return self.numpy.arange(0, count + 1, 64)

    def keys(self, count):
        return self.numpy.random.default_rng(2).integers(0, 1024, count)

    def wait(self):
        """Nothing: a call ends with its result."""


class Device:
    """Tensors of PyTorch in device memory."""
    def __init__(self):
        import torch
        self.torch, self.libraries, self.wait = torch, [torch], torch.cuda.synchronize
        self.types = {name: getattr(torch, of_torch) for name, of_torch in NAMES.items()}

    def random(self, name, count):
        torch, dtype = self.torch, self.types[name]
        generator = torch.Generator().manual_seed(1)
        some = min(count, 1 << 22)
        if name == "bool":
            x = torch.rand(some, generator=generator) < .5
        elif name in FLOATS:
            x = torch.randn(some, generator=generator).to(dtype)
        else:
            x = torch.randint(-100, 100, (some,), generator=generator).to(dtype)
        return x.repeat(-(-count // some))[:count].cuda()

    def offsets(self, count):
        return self.torch.arange(0, count + 1, 64).cuda()

    def keys(self, count):
        return self.torch.randint(0, 1024, (count,), generator=self.torch.Generator().manual_seed(2)).cuda()


class Machine:
    def __init__(self, place, mebibytes):
        import fanin
        self.fanin, self.memory, self.bytes = fanin, Device() if place == "gpu" else Host(), mebibytes << 20

    def seconds(self, call, budget=0.12):
        """The median and the least of up to 48 calls, each timed to its end."""
        def timed():
            begin = time.perf_counter()
            call()
            self.memory.wait()
            return time.perf_counter() - begin
        timed()
        begin, times = time.perf_counter(), []
        while len(times) < 3 or (time.perf_counter() - begin < budget and len(times) < 48):
            times.append(timed())
        return statistics.median(times), min(times)

    def cells_of(self, name):
        """Yields operation, layout, method, bytes read, and the call, for all cells of an element type."""
        memory, fanin = self.memory, self.fanin
        count = self.bytes // memory.types[name].itemsize
        flat, half, other = (memory.random(name, n) for n in (count, count // 2, count // 2))
        quarter = flat[:count // 4]
        offsets, keys = memory.offsets(count), memory.keys(count // 4)
        for operation in OPERATIONS:
            has_methods = name in FLOATS and operation not in COMPARISONS
            for method in (["exact", "fast"] if has_methods else ["exact"]):
                if has_methods and operation in ONLY_FAST and method == "exact":
                    continue
                how = {"method": method} if has_methods else {}
                if operation == "dot":
                    if has_methods:
                        yield operation, "array", method, self.bytes, lambda: fanin.dot(half, other, **how)
                    continue
                reduce = getattr(fanin, operation)
                yield operation, "array", method, self.bytes, lambda: reduce(flat, **how)
                for layout, (columns, axis) in SHAPES.items():
                    table = flat.reshape(count // columns, columns)
                    yield operation, layout, method, self.bytes, lambda: reduce(table, axis=axis, **how)
                segments, groups = (getattr(fanin, f"{layout}_{operation}") for layout in ("segment", "group"))
                yield operation, "segments 64", method, self.bytes, lambda: segments(flat, offsets, **how)
                yield (operation, "groups 1024", method, (self.bytes // 4 + count // 4 * 8),
                       lambda: groups(quarter, keys, 1024, **how))


def measure(place, mebibytes, out):
    machine = Machine(place, mebibytes)
    reference = machine.memory.random("f32", machine.bytes // 4)
    reading = machine.bytes / machine.seconds(lambda: machine.fanin.sum(reference, method="fast"), .3)[0] / 1e9
    del reference
    rows = []
    for name in machine.memory.types:
        for operation, layout, method, size, call in machine.cells_of(name):
            try:
                speed, most = (size / seconds / 1e9 for seconds in machine.seconds(call))
            except (TypeError, ValueError, OverflowError, RuntimeError) as refused:
                rows.append([operation, name, layout, method, None, str(refused).partition("\n")[0][:70], None])
                continue
            rows.append([operation, name, layout, method, round(speed, 1), round(speed / reading, 4), round(most, 1)])
    with open(out, "w") as file:
        libraries = {library.__name__: library.__version__ for library in machine.memory.libraries}
        head = {"place": place, "mebibytes": mebibytes, "libraries": libraries, "reading_gb_per_s": round(reading, 1)}
        file.write(json.dumps(head)[:-1] + ', "rows": [\n' + ",\n".join(map(json.dumps, rows)) + "\n]}\n")
    shares = [row[5] for row in rows if row[4] is not None]
    print(f"{place}, {mebibytes} MiB: a fast f32 sum reads {reading:.0f} GB/s; {len(shares)} cells, median share "
          f"{statistics.median(shares):.2f}; below 0.5, 0.25, 0.1: "
          + ", ".join(str(sum(share < limit for share in shares)) for limit in (.5, .25, .1)))


def speeds_of(files):
    """The speeds of each cell: one of each file, of the fastest call, or in older files of the median."""
    speeds = collections.defaultdict(list)
    for name in files:
        with open(name) as file:
            for row in json.load(file)["rows"]:
                if row[4] is not None:
                    speeds[tuple(row[:4])].append(row[4] if len(row) == 6 else row[6])
    return speeds


def compare(before, after):
    before, after = speeds_of(before), speeds_of(after)
    noise = {cell: max(1 - min(s[cell]) / max(s[cell]) for s in (before, after)) for cell in before if cell in after}
    ratio = {cell: max(after[cell]) / max(before[cell]) for cell in noise}
    print(f"{len(ratio)} cells; geometric mean of after / before "
          f"{math.exp(statistics.mean(map(math.log, ratio.values()))):.3f}")
    slower = {cell for cell in ratio if ratio[cell] < 0.97}
    print(f"slower by more than 3 %: {len(slower)}, by more than 3 % and their noise: "
          f"{sum(1 - ratio[cell] > noise[cell] for cell in slower)}; faster by more than 3 % and their noise: "
          f"{sum(ratio[cell] > 1.03 and ratio[cell] - 1 > noise[cell] for cell in ratio)}")
    ordered = sorted(ratio, key=ratio.get)
    for cell in ordered[:40] + ordered[-10:]:
        print(f"{ratio[cell]:6.2f}  noise {noise[cell]:.2f}  {max(before[cell]):7.0f} -> {max(after[cell]):7.0f} GB/s  "
              + " ".join(cell))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, dest="command")
    of_measure = commands.add_parser("measure")
    of_measure.add_argument("place", choices=["cpu", "gpu"])
    of_measure.add_argument("mebibytes", type=int)
    of_measure.add_argument("out")
    of_compare = commands.add_parser("compare")
    of_compare.add_argument("before", nargs="+")
    of_compare.add_argument("--after", nargs="+", required=True)
    arguments = vars(parser.parse_args())
    {"measure": measure, "compare": compare}[arguments.pop("command")](**arguments)


if __name__ == "__main__":
    main()
