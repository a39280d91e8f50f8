# SPDX-License-Identifier: Apache-2.0
"""Makes the tables of docs/ladder.md from the results of `fanin ladder --json` and scripts/profile-ladder."""

import json
import os
import re

from profile_ladder import METRICS
from tables import machine, power_of_two

LADDERS = [(kind, power) for kind in ("f32", "i32") for power in (24, 28)]
ROUNDED = {"loads", "bank conflicts", "shared turns", "instructions"}  # counts, which are large


def row_of(*cells):
    return "| " + " | ".join(cells) + " |"


def table(heading, rows):
    return [row_of(*heading), "|" + "---|" * len(heading), *(row_of(*row) for row in rows)]


class results:
    """The ladders and the counters of one machine."""

    def __init__(self, folder):
        self.where = machine(folder, "{name}, driver {driver_version}", "ladder").strip()
        self.ladders = []
        for kind, power in LADDERS:
            with open(f"{folder}/ladder-{kind}-{power}.json") as file:
                found = json.load(file)
            rows = {row["stage"]: row for row in found["rows"] if row["seconds"] is not None}
            self.ladders.append((f"{power_of_two(1 << power)} {kind}", rows))
        self.device = found["device"].removeprefix("NVIDIA ").split()[0]
        self.stages = [row for row in found["rows"] if row["number"] is not None]
        self.counters = {}
        if os.path.exists(f"{folder}/profile-ladder.json"):
            with open(f"{folder}/profile-ladder.json") as file:
                profile = json.load(file)
            self.profiled = f"{power_of_two(profile['count'])} {profile['element_type']}"
            # A file keeps the names that counters had when it was written.
            today = {metric: name for name, metric in METRICS.items()}
            names = {name: today[metric] for name, metric in profile["metrics"].items()}
            self.counters = {row["stage"]: {names[name]: value for name, value in row["counters"].items()}
                             for row in profile["rows"]}


def figures(row, first):
    gain = "" if row["gain"] is None else f"{row['gain']:.2f}"
    return [f"{row['seconds'] * 1e6:.1f}", f"{row['gigabytes_per_second']:.0f}", f"{row['share_of_ceiling']:.1%}", gain,
            f"{first['seconds'] / row['seconds']:.2f}"]


def times(machines, stage, heading):
    rows = [[one.device, of, *figures(rows[stage["stage"]], rows[one.stages[0]["stage"]])]
            for one in machines for of, rows in one.ladders if stage["stage"] in rows]
    return table(["device", "input", "us", "GB/s", "of the ceiling", *heading], rows)


def number(name, value):
    if name in ROUNDED and value >= 1e6:
        return f"{value / 1e6:.1f} million"
    return f"{value:.0f}" if name in ROUNDED else f"{value:.1f}"


def counters(machines, stage, names):
    before, here = stage["builds_on"], stage["stage"]
    rows = [[name, f"{one.device}, {one.profiled}", *([number(name, one.counters[before][name])] if before else []),
             number(name, one.counters[here][name])]
            for name in names for one in machines if here in one.counters]
    return table(["counter", "measured with", *([before] if before else []), here], rows) if rows else []


def named_counters(page, stage):
    """The counters that the text of the stage names before its figures."""
    text = re.search(rf"^## \d\d {stage}\n(.*?)<!-- gain", page, re.M | re.S).group(1)
    return [name for name in METRICS if f"`{name}`" in text]


def blocks(folders, page):
    """Yields each marker with the text that belongs there."""
    machines = [results(folder) for folder in folders]
    stages = machines[0].stages
    first = stages[0]["stage"]
    rows = []
    for stage in stages:
        cells = [f"{stage['number']:02}", stage["stage"], stage["builds_on"] or ""]
        for one in machines:
            of, found = next(ladder for ladder in one.ladders if stage["stage"] in ladder[1] and "2^28" in ladder[0])
            cells += [of, *figures(found[stage["stage"]], found[first])]
        rows.append(cells)
    heading = ["", "kernel", "builds on"]
    for one in machines:
        heading += [f"{one.device}: input", "us", "GB/s", "of the ceiling", "gain", "gain since 01"]
    origin = "; ".join(one.where.removesuffix(".") for one in machines)
    yield "ladder", f"{origin}. A gain is a ratio of times.\n\n" + "\n".join(table(heading, rows)) + "\n"
    for stage in stages:
        gain = f"gain over {stage['builds_on']}" if stage["builds_on"] else "gain"
        found = counters(machines, stage, named_counters(page, stage["stage"]))
        lines = [f"**Measured.** {origin}.", "", *times(machines, stage, [gain, "gain since 01"]), *([""] if found else []),
                 *found]
        yield f"gain {stage['stage']}", "\n".join(lines) + "\n"
