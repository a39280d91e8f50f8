# SPDX-License-Identifier: Apache-2.0
"""Makes the tables of docs/lab.md from the results of `fanin lab EXPERIMENT --json`."""

import json
import os

from tables import cell, lines_of, machine


def table(columns, rows, title):
    """The lines of a table. A column of `columns` is a key, a heading, and the format of its numbers or None."""
    cells = [[cell(row[key], form) if form else str(row[key]) for key, _, form in columns] for row in rows]
    return lines_of(title, [heading for _, heading, _ in columns], cells)


def divergence(found):
    columns = [("sides", "sides", None), ("by_thread_us", "by thread: us", ".1f"), ("by_warp_us", "by warp: us", ".1f"),
               ("ratio", "by thread / by warp", ".2f"), ("says", "what it says", None)]
    rows = [row | {"by_thread_us": row["by_thread_seconds"] * 1e6, "by_warp_us": row["by_warp_seconds"] * 1e6}
            for row in found["rows"]]
    return table(columns, rows, "Median times, and the median of the rounds' ratios:")


def occupancy(found):
    columns = [("stage", "stage", None), ("element_type", "sum of", None), ("registers", "registers", "d"),
               ("static_shared_bytes", "static shared", "d"), ("dynamic_shared_bytes", "dynamic shared", "d"),
               ("local_bytes", "local", "d"), ("block_size", "block", "d"), ("suggested_block_size", "suggested", "d"),
               ("active_blocks", "blocks", "d"), ("active_warps", "warps", "d"), ("occupancy", "occupancy", ".0%"),
               ("bytes_of_warp", "bytes of a warp", "d"), ("warps_needed", "warps needed", ".1f")]
    title = (f"The memory answers after {found['memory_latency_in_nanoseconds']:.0f} ns and delivers "
             f"{found['measured_read_gigabytes_per_second']:.0f} GB/s, so that "
             f"{found['bytes_under_way_in_each_multiprocessor']:.0f} bytes have to be under way in each "
             "multiprocessor.")
    stages = {}
    for row in found["rows"]:
        stages.setdefault(row["says"], []).append(row["stage"])
    says = [f"- {', '.join(names)}: {sentence}." for sentence, names in stages.items()]
    return [*table(columns, found["rows"], title), *says, ""]


def shapes(found):
    """A table by the threads per block and the threads along a row of the matrix."""
    yardstick, *rows = found["rows"]
    by_shape = {(row["x"] * row["y"], row["x"]): row for row in rows}
    threads = sorted({of for of, _ in by_shape})
    widths = sorted({x for _, x in by_shape}, reverse=True)
    lines = []
    for key, title in (("sum_gigabytes_per_second",
                        f"a + b, GB/s; as vectors: {yardstick['sum_gigabytes_per_second']:.0f}."),
                       ("total_gigabytes_per_second", "Total of a, GB/s:")):
        cells = [[str(x)] + [cell(by_shape.get((of, x), {key: None})[key], ".0f") for of in threads] for x in widths]
        lines += lines_of(title, ["threads of a row"] + [f"{of} in a block" for of in threads], cells)
    return lines


def latency(found):
    lines = []
    for instruction, what in (("fma", "Multiply-adds"), ("load", "Loads")):
        rows = [row for row in found["rows"] if row["instruction"] == instruction]
        title = f"{what}, {rows[0]['unit']}; one waits {found[instruction + '_latency_in_cycles']:.1f} cycles:"
        chains = [(key, key.replace("_", " "), ".0f") for key in rows[0] if key.startswith("with_")]
        lines += table([("warps_per_multiprocessor", "warps", "d"), *chains], rows, title)
        lines += [rows[0]["says"] + ".", ""]
    return lines


EXPERIMENTS = {"divergence": divergence, "occupancy": occupancy, "shapes": shapes, "latency": latency}


def blocks(folder):
    """Yields each marker with the text that belongs there, for the results in the folder."""
    for name, lines_from in EXPERIMENTS.items():
        path = f"{folder}/lab-{name}.json"
        if not os.path.exists(path):
            continue
        with open(path) as file:
            found = json.load(file)
        where = machine(folder, "{name}, driver {driver_version}", commit=found["commit"])
        yield f"lab {name}", where + "\n".join(lines_from(found)) + "\n"
