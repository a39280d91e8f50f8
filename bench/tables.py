#!/usr/bin/env python3
"""Tables of ratios from the results of scripts/bench-cpu.

tables.py bench/results/MACHINE            prints the tables and how the targets stand
tables.py bench/results/MACHINE README.md  also puts them and compare.txt between their markers there
"""

import json
import re
import statistics
import sys


def load(path):
    """{type: {count: {who: median seconds}}}"""
    with open(path) as file:
        runs = json.load(file)["benchmarks"]
    samples = {}
    for run in runs:
        if run.get("run_type") != "iteration":
            continue
        _, kind, group, who, count = run["name"].split("/")[:5]
        key = (kind, int(count), f"{group}/{who}")
        samples.setdefault(key, []).append(run["real_time"] * 1e-9)
    table = {}
    for (kind, count, who), times in samples.items():
        table.setdefault(kind, {}).setdefault(count, {})[who] = statistics.median(times)
    return table


def ratio(row, ours, theirs):
    """How many times as fast as `theirs`; None where one of them was not measured."""
    return row[theirs] / row[ours] if ours in row and theirs in row else None


COLUMNS = [  # title, ours, theirs, target
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


def markdown(table):
    lines = []
    for kind, by_count in sorted(table.items()):
        largest = max(by_count)
        lines.append(f"Sum of {kind}, times as fast (medians; **bold** misses its target):\n")
        lines.append("| n | GB/s serial | " + " | ".join(title for title, *_ in COLUMNS) + " |")
        lines.append("|" + "---|" * (len(COLUMNS) + 2))
        for count, row in sorted(by_count.items()):
            size = 4 if kind == "f32" else 8
            cells = [f"2^{count.bit_length() - 1}", f"{count * size / row['serial/simd'] * 1e-9:.0f}"]
            for title, ours, theirs, target in COLUMNS:
                r = ratio(row, ours, theirs)
                applies = target is not None and (title not in FROM_MEMORY_ONLY or count == largest)
                text = "" if r is None else f"{r:.2f}"
                cells.append(f"**{text}**" if r is not None and applies and r < target else text)
            lines.append("| " + " | ".join(cells) + " |")
        lines.append("")
    return "\n".join(lines)


def replace_between(text, marker, new):
    pattern = rf"(<!-- {marker} -->\n).*?(<!-- /{marker} -->)"
    changed, found = re.subn(pattern, lambda m: m.group(1) + new + m.group(2), text, flags=re.S)
    if found != 1:
        sys.exit(f"tables.py: the markers <!-- {marker} --> are not there once")
    return changed


def machine(folder):
    """What a reader needs to place the figures: processor, compiler, commit."""
    with open(f"{folder}/machine.txt") as file:
        facts = dict(line.rstrip("\n").split(":", 1) for line in file)
    facts = {name: " ".join(value.split()) for name, value in facts.items()}
    return (f"{facts['Model name']}, {facts['CPU(s)']} cores, {facts['compiler']}, commit {facts['commit']} "
            f"({folder}).\n\n")


def main():
    folder = sys.argv[1].rstrip("/")
    tables = markdown(load(f"{folder}/cpu-sums.json"))
    print(tables)
    if len(sys.argv) > 2:
        with open(sys.argv[2]) as file:
            readme = file.read()
        with open(f"{folder}/compare.txt") as file:
            readme = replace_between(readme, "compare", "```\n" + file.read() + "```\n")
        readme = replace_between(readme, "cpu-sums", machine(folder) + tables + "\n")
        with open(sys.argv[2], "w") as file:
            file.write(readme)


if __name__ == "__main__":
    main()
