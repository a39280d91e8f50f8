#!/usr/bin/env python3
"""Tables of ratios from a result file of fanin_bench (Google Benchmark's JSON).

tables.py RESULT.json            prints the tables and how the targets stand
tables.py RESULT.json README.md  also replaces what stands between the markers <!-- cpu-sums --> and <!-- /cpu-sums -->
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


def main():
    table = load(sys.argv[1])
    text = markdown(table)
    print(text)
    if len(sys.argv) > 2:
        with open(sys.argv[2]) as file:
            readme = file.read()
        pattern = r"(<!-- cpu-sums -->\n).*?(<!-- /cpu-sums -->)"
        changed, found = re.subn(pattern, lambda m: m.group(1) + text + "\n" + m.group(2), readme, flags=re.S)
        if found != 1:
            sys.exit("tables.py: the markers are not there once")
        with open(sys.argv[2], "w") as file:
            file.write(changed)


if __name__ == "__main__":
    main()
