#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes tables from those results of scripts/bench-cpu and scripts/bench-gpu that are in the folder.

tables.py bench/results/MACHINE                prints the tables, where a bold figure meets its target
tables.py bench/results/MACHINE DOCUMENT...    also writes them, and compare.txt, between their markers in the documents
tables.py bench/results/MACHINE --check DOCUMENT...    fails if the documents say something else
"""

import glob
import json
import os
import re
import statistics
import sys


def text_of(path):
    with open(path) as file:
        return file.read()


def results_of(paths):
    """The rows of results in Google Benchmark's JSON."""
    for path in paths:
        with open(path) as file:
            yield from json.load(file)["benchmarks"]


def load(path):
    """{group: {type: {count: {contestant: median seconds}}}}, where the group is "sum" or a family of data."""
    samples = {}
    for run in results_of([path]):
        if run.get("run_type") != "iteration":
            continue
        group, kind, backend, variant, count = run["name"].split("/")[:5]
        key = (group, kind, int(count), f"{backend}/{variant}")
        samples.setdefault(key, []).append(run["real_time"] * 1e-9)
    table = {}
    for (group, kind, count, who), times in samples.items():
        table.setdefault(group, {}).setdefault(kind, {}).setdefault(count, {})[who] = statistics.median(times)
    return table


def ratio(row, ours, theirs):
    """The time of `theirs` divided by the time of `ours`; None if one of them was not measured."""
    return row[theirs] / row[ours] if ours in row and theirs in row else None


COLUMNS = [  # (title, contestant, contestant to compare with, target)
    ("serial / Eigen", "serial/simd", "peer/eigen", 1.0),
    ("serial / std::reduce(unseq)", "serial/simd", "peer/std-reduce-unseq", 1.0),
    ("serial / one-thread ceiling", "serial/simd", "ceiling/one-thread", 0.95),
    ("tbb / all-thread ceiling", "tbb/simd", "ceiling/all-threads", 0.95),
    ("openmp / all-thread ceiling", "openmp/simd", "ceiling/all-threads", 0.95),
    ("tbb / serial", "tbb/simd", "serial/simd", 1.0),
    ("openmp / serial", "openmp/simd", "serial/simd", 1.0),
    ("tbb compensated / fast", "tbb/compensated", "tbb/simd", 0.9),
    ("openmp compensated / fast", "openmp/compensated", "openmp/simd", 0.9),
    ("serial exact / fast", "serial/exact", "serial/simd", None),
    ("tbb exact / fast", "tbb/exact", "tbb/simd", None),
]
FROM_MEMORY_ONLY = {"tbb / all-thread ceiling", "openmp / all-thread ceiling", "tbb compensated / fast",
                    "openmp compensated / fast"}


def power_of_two(count):
    return f"2^{count.bit_length() - 1}"


class cell:
    """A cell of a table: empty if nothing was measured, bold if the value meets the target."""

    def __init__(self, value, form, target=None):
        self.value = value
        self.text = "" if value is None else format(value, form)
        self.meets = value is not None and target is not None and value >= target
        self.misses = value is not None and target is not None and value < target

    def __str__(self):
        return f"**{self.text}**" if self.meets else self.text


def lines_of(title, columns, rows, names=1):
    """The table, and a sentence for each column that says where its figures miss their target. The first `names`
    columns name a row."""
    misses = {}
    for row in rows:
        for column, one in enumerate(row):
            if isinstance(one, cell) and one.misses:
                misses.setdefault(column, []).append(" ".join(map(str, row[:names])) + f" ({one.value:.3f})")
    words = [f"{columns[column]} at {', '.join(where)}" for column, where in sorted(misses.items())]
    return [title, "", "| " + " | ".join(columns) + " |", "|" + "---|" * len(columns),
            *("| " + " | ".join(map(str, row)) + " |" for row in rows), "",
            *([f"Below the target: {'; '.join(words)}.", ""] if words else [])]


def cpu_sums(table):
    lines = []
    for kind, by_count in sorted(table.items()):
        largest = max(by_count)
        rows = []
        for count, row in sorted(by_count.items()):
            size = int(kind[1:]) // 8  # as in f32
            cells = [power_of_two(count), f"{count * size / row['serial/simd'] * 1e-9:.0f}"]
            for title, ours, theirs, target in COLUMNS:
                applies = title not in FROM_MEMORY_ONLY or count == largest
                cells.append(cell(ratio(row, ours, theirs), ".2f", target if applies else None))
            rows.append(cells)
        lines += lines_of(f"Sum of {kind}, times as fast (medians; **bold** meets its target):",
                          ["n", "GB/s serial", *(title for title, *_ in COLUMNS)], rows)
    return "\n".join(lines)


class gpu_runs:
    """The rows of gpu-sums.json by group, type, count and contestant."""

    def __init__(self, path):
        self.runs = list(results_of([path]))
        self.us = {(r["group"], r["type"], r["count"], r["misaligned"], r["backend"], r["method"]): r["real_time"]
                   for r in self.runs}

    def counts(self, group, kind):
        return sorted({r["count"] for r in self.runs if r["group"] == group and r["type"] == kind})

    def time(self, group, kind, count, backend, method="fast", misaligned=False):
        return self.us.get((group, kind, count, misaligned, backend, method))


def times_as_fast(ours, theirs):
    return theirs / ours if ours and theirs else None


def share_target(count):
    return 0.985 if count >= 1 << 28 else None


def cub_target(count):
    if 1 << 13 <= count <= 1 << 19:
        return 1.5
    if count < 1 << 10:
        return None
    return 1.01 if count >= 1 << 26 else 1.0


def gpu_sum_lines(runs, kind):
    rows = []
    for count in runs.counts("sum", kind):
        row = [power_of_two(count), cell(runs.time("sum", kind, count, "thrust"), ".1f")]
        for misaligned in (False, True):
            cub = runs.time("sum", kind, count, "cub", misaligned=misaligned)
            cuda = runs.time("sum", kind, count, "cuda", misaligned=misaligned)
            read = runs.time("sum", kind, count, "ceiling", "read", misaligned)
            row += [cell(cub, ".2f"), cell(cuda, ".2f"), cell(times_as_fast(cuda, cub), ".3f", cub_target(count)),
                    cell(times_as_fast(cuda, read), ".3f", share_target(count))]
        rows.append(row)
    return lines_of(f"Sum of {kind}, microseconds a call:",
                    ["n", "Thrust, to the host"] + ["CUB", "cuda", "cuda / CUB", "cuda / ceiling"]
                    + ["misaligned: CUB", "misaligned: cuda", "misaligned: cuda / CUB", "misaligned: cuda / ceiling"], rows)


FAMILIES = {  # family of data: (name in the table, `data` of exact_target())
    "constant": ("constant", "near"), "uniform": ("uniform", "near"), "normal": ("normal", "near"),
    "lognormal:10": ("log-normal, 10 binades", "near"), "lognormal:100": ("log-normal, 100 binades", "any"),
    "wide": ("all exponents", "any"), "condition:1e30": ("cancelling, condition 1e30", "any"),
}


def exact_target(count, data):
    """The target as a share of the speed of CUB's plain sum. Data within 40 binades are "near"."""
    if data == "any":
        return 0.5
    if count >= 1 << 26:
        return 1.0
    return 0.95 if 1 << 16 <= count <= 1 << 24 else None


def exact_by_family(runs):
    counts = runs.counts("normal", "f32")
    rows = []
    for family, (title, data) in FAMILIES.items():
        row = [title]
        for kind in ("f32", "f64"):
            for count in counts:
                share = times_as_fast(runs.time(family, kind, count, "cuda", "exact"),
                                      runs.time(family, kind, count, "cub"))
                row.append(cell(share, ".2f", exact_target(count, data)))
            row.append(cell(times_as_fast(runs.time(family, kind, counts[-1], "cuda", "exact squares"),
                                          runs.time(family, kind, counts[-1], "cub")), ".2f"))
        rows.append(row)
    columns = [f"{kind} {title}" for kind in ("f32", "f64")
               for title in [*map(power_of_two, counts), f"squares, {power_of_two(counts[-1])}"]]
    return "\n".join(lines_of("Speed of `cuda`'s exact sum over that of CUB's plain sum of the same data (**bold** meets its "
                              "target: 0.95, 1 from 2^26 on; 0.5 of data over more than 40 binades):",
                              ["data"] + columns, rows))


CPU_SHARES = {  # from memory: the target as a share of the speed of reading alone
    "sum, fast": 0.97, "max, fast": 0.97, "dot, fast": 0.97, "sum, exact": 0.95,
    "norm2, exact": 0.8, "variance, exact": 0.8, "dot, exact": 0.8,
}


def share_table(title, shares, lines, target=lambda line, column: None):
    """The table of {(line, column): share of the ceiling}. A column is a tuple that ends with a count."""
    columns = sorted({column for _, column in shares}, key=lambda column: (column[0] != "serial", column))
    rows = [[line] + [cell(shares.get((line, column)), ".2f", target(line, column)) for column in columns] for line in lines]
    return "\n".join(lines_of(title, ["operation"] + [" ".join([*names, power_of_two(count)]) for *names, count in columns],
                              rows))


def cpu_operations(paths):
    """The shares of the read ceiling that operations have on the CPU, from the results of fanin bench."""
    shares = {(f"{row['operation']}, {row['method']}", (row["backend"], row["type"], row["count"])): row["share_of_ceiling"]
              for row in results_of(paths)}
    return share_table("Share of the speed of reading alone by as many threads (**bold** meets its target):", shares,
                       CPU_SHARES, lambda line, column: CPU_SHARES[line] if column[-1] >= 1 << 24 else None)


def exact_operations(path):
    """The table of calls that wait for their value, from the results of fanin bench, and their commit."""
    with open(path) as file:
        found = json.load(file)
    shares = {(row["operation"], (row["type"], row["count"])): row["share_of_ceiling"] for row in found["benchmarks"]}
    return share_table("Exact results of uniform data until the host has them, share of the speed of reading alone:",
                       shares, dict.fromkeys(operation for operation, _ in shares)), found["context"]["commit"]


CPU_EXACT = [  # (title, count or None for the largest, contestant, contestant to compare with, target)
    ("serial, 2^8: / compensated", 1 << 8, "serial/exact", "serial/compensated", 1 / 3),
    ("2^8: / fast", 1 << 8, "serial/exact", "serial/simd", None),
    ("2^12: / fast", 1 << 12, "serial/exact", "serial/simd", 1 / 3.2),
    ("2^16: / fast", 1 << 16, "serial/exact", "serial/simd", 1 / 3.2),
    ("{}: / fast", None, "serial/exact", "serial/simd", None),
    ("openmp, {}: / fast", None, "openmp/exact", "openmp/simd", 0.9),
    ("tbb, {}: / fast", None, "tbb/exact", "tbb/simd", 0.9),
]


def cpu_exact_by_family(table):
    lines = []
    for kind in ("f32", "f64"):
        rows = []
        largest = max(table["uniform"][kind])
        for family, (title, data) in FAMILIES.items():
            row = [title]
            for _, count, ours, theirs, target in CPU_EXACT:
                if target is not None and data == "any":
                    target = 1 / 3 if count in (1 << 8, None) else None  # Short inputs, and inputs from memory.
                row.append(cell(ratio(table[family][kind][count or largest], ours, theirs), ".2f", target))
            rows.append(row)
        lines += lines_of(f"Speed of the exact sum of {kind} over other sums of the same data (**bold** meets its target):",
                          ["data"] + [title.format(power_of_two(largest)) for title, *_ in CPU_EXACT], rows)
    return "\n".join(lines)


def method_lines(runs):
    rows = []
    for kind in ("f32", "f64"):
        for count in runs.counts("sum", kind):
            cub = runs.time("sum", kind, count, "cub")
            times = [runs.time("sum", kind, count, "cuda", method) for method in ("compensated", "exact")]
            if None in times:
                continue
            rows.append([kind, power_of_two(count), cell(cub, ".2f")] + [cell(t, ".2f") for t in times]
                        + [cell(times_as_fast(times[0], cub), ".3f"),
                           cell(times_as_fast(times[1], cub), ".3f", exact_target(count, "near"))])
    return lines_of("Sums that lose less, microseconds a call:",
                    ["type", "n", "CUB's plain sum", "cuda compensated", "cuda exact", "compensated / CUB",
                     "exact / CUB"], rows, names=2)


def latency_lines(runs):
    """The latency table. Below 2^20 elements `cuda` launches one kernel, where CUB may launch two."""
    def time(count, backend):
        return runs.time("latency", "f32", count, backend)

    launch = time(1 << 14, "cub") - time(1 << 10, "cub")
    rows = []
    for count in runs.counts("latency", "f32"):
        saved = time(count, "cub") - time(count, "cuda")
        target = launch if 1 << 13 <= count < 1 << 20 else None
        rows.append([power_of_two(count), cell(time(count, "thrust"), ".1f"), cell(time(count, "cub"), ".1f"),
                     cell(time(count, "cuda"), ".1f"), cell(saved, ".1f", target)])
    return lines_of(f"Sum of f32 until the host has it, microseconds (one launch more costs CUB {launch:.1f}):",
                    ["n", "Thrust", "CUB", "cuda", "saved"], rows)


def host_lines(runs):
    rows = []
    for count in runs.counts("pinned", "f32"):
        copy = runs.time("pinned", "f32", count, "ceiling", "copy")
        row = [power_of_two(4 * count), f"{4 * count / copy * 1e-3:.1f}"]
        for group in ("pinned", "pageable"):
            us = runs.time(group, "f32", count, "cuda")
            row += [f"{4 * count / us * 1e-3:.1f}", cell(copy / us, ".3f", 0.9)]
        rows.append(row)
    return lines_of("Sum of f32 in host memory, GB/s, and its share of the pinned copy alone:",
                    ["bytes", "pinned copy", "cuda, pinned memory", "share", "cuda, pageable memory", "pageable share"], rows)


def gpu_markdown(runs):
    lines = []
    for kind in ("f32", "f64", "i32"):
        lines += gpu_sum_lines(runs, kind)
    return "\n".join(lines + method_lines(runs) + latency_lines(runs) + host_lines(runs))


def no_slower(stage):
    """Whether the stage should be at least as fast as the stage before, as in shared memory all but the first."""
    return stage["number"] is not None and 7 <= stage["number"] <= 13


def ladder_lines(folder, kind):
    ladders = []
    for power in (24, 28):
        with open(f"{folder}/ladder-{kind}-{power}.json") as file:
            ladders.append(json.load(file))
    rows = []
    for stages in zip(*(ladder["rows"] for ladder in ladders), strict=True):
        first = stages[0]
        row = [cell(first["number"], "d"), first["stage"], first["builds_on"] or ""]
        for stage in stages:
            us = stage["seconds"] * 1e6 if stage["seconds"] else None
            row += [cell(us, ".1f"), cell(stage["share_of_ceiling"], ".3f"),
                    cell(stage["gain"], ".2f", 1.0 if no_slower(stage) else None)]
        row += [cell(first["registers"], "d"), cell(first["shared_bytes"], "d"), cell(first["occupancy"], ".0%")]
        rows.append(row)
    columns = ["", "stage", "builds on"]
    for ladder in ladders:
        n = power_of_two(ladder["count"])
        columns += [f"{n}: us", f"{n}: of ceiling", f"{n}: gain"]
    return lines_of(f"Sum of {kind}:", columns + ["registers", "shared bytes", "occupancy"], rows, names=2)


def replace_between(text, marker, new):
    pattern = rf"(<!-- {marker} -->\n).*?(<!-- /{marker} -->)"
    changed, found = re.subn(pattern, lambda m: m.group(1) + new + m.group(2), text, flags=re.S)
    if found != 1:
        sys.exit(f"tables.py: the markers <!-- {marker} --> are not there once")
    return changed


def machine(folder, form, result="", commit=None):
    """The machine and the commit of the figures: `commit`, or what machine.txt names for that result or for all."""
    with open(f"{folder}/machine.txt") as file:
        facts = dict(line.rstrip("\n").split(":", 1) for line in file)
    facts = {name: " ".join(value.split()) for name, value in facts.items()}
    return form.format(**facts) + f", commit {commit or facts.get('commit of ' + result, facts['commit'])} ({folder}).\n\n"


def blocks(folder):
    """Yields each marker with the text that belongs there."""
    if os.path.exists(f"{folder}/cpu-sums.json"):
        yield "compare", "```\n" + text_of(f"{folder}/compare.txt") + "```\n"
        where = machine(folder, "{Model name}, {CPU(s)} cores, {compiler}")
        groups = load(f"{folder}/cpu-sums.json")
        yield "cpu-sums", where + cpu_sums(groups["sum"]) + "\n"
        if "normal" in groups:  # Older results have only uniform data.
            yield "cpu-exact", where + cpu_exact_by_family(groups) + "\n"
        if operations := sorted(glob.glob(f"{folder}/cpu-operations*.json")):
            yield "cpu-operations", where + cpu_operations(operations) + "\n"
    if os.path.exists(f"{folder}/gpu-sums.json"):
        where = machine(folder, "{name}, driver {driver_version}, {nvcc}")
        yield "compare-exact", where + "```\n" + text_of(f"{folder}/compare-exact.txt") + "```\n"
        runs = gpu_runs(f"{folder}/gpu-sums.json")
        where_sums = machine(folder, "{name}, driver {driver_version}, {nvcc}", "gpu-sums.json")
        yield "gpu-sums", where_sums + gpu_markdown(runs) + "\n"
        operations, commit = exact_operations(f"{folder}/exact-operations.json")
        where_operations = machine(folder, "{name}, driver {driver_version}, {nvcc}", commit=commit)
        yield "gpu-exact", where_sums + exact_by_family(runs) + "\n" + where_operations + operations + "\n"
        if os.path.exists(f"{folder}/torch.txt"):
            yield "torch", machine(folder, "{name}", "torch.txt") + text_of(f"{folder}/torch.txt")
        if os.path.exists(f"{folder}/ladder-f32-24.json"):
            yield "gpu-ladder", machine(folder, "{name}, driver {driver_version}, {nvcc}", "ladder") + "\n".join(ladder_lines(folder, "f32") + ladder_lines(folder, "i32")) + "\n"


def main():
    check = "--check" in sys.argv
    folder, *paths = [word.rstrip("/") for word in sys.argv[1:] if word != "--check"]
    documents = {path: text_of(path) for path in paths}
    for marker, text in blocks(folder):
        if not check:
            print(text)
        holders = [path for path in paths if f"<!-- {marker} -->" in documents[path]]
        if paths and len(holders) != 1:
            sys.exit(f"tables.py: the marker <!-- {marker} --> is in {len(holders)} of the documents")
        for path in holders:
            changed = replace_between(documents[path], marker, text)
            if check and changed != documents[path]:
                sys.exit(f"tables.py: {path} does not say what {folder} says ({marker})")
            documents[path] = changed
    if not check:
        for path, text in documents.items():
            with open(path, "w") as file:
                file.write(text)


if __name__ == "__main__":
    main()
