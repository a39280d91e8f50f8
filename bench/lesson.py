#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes measured figures between the markers of a page of docs/: the gains of the ladder's stages into ladder.md,
the results of the experiments into lab.md.

lesson.py PAGE bench/results/MACHINE  brings the page up to date
lesson.py PAGE                        fails if its figures are not those of the results that it names
"""

import json
import os
import re
import sys
import textwrap

import lab_tables
from tables import machine, power_of_two, replace_between

LADDERS = [(kind, power) for kind in ("f32", "i32") for power in (24, 28)]


def sentence(kind, count, row):
    """A sentence with the figures of a row; None if the stage does not support the type or has no time."""
    if row is None or row["seconds"] is None:
        return None
    text = (f"{power_of_two(count)} {kind}: {row['seconds'] * 1e6:.1f} us, "
            f"{row['share_of_ceiling']:.1%} of the ceiling")
    if row["gain"] is not None:
        text += f", {row['gain']:.2f} times as fast as {row['builds_on']}"
    return text


def gains(folder):
    """Yields each marker with the text that belongs there, in the ladder's order."""
    ladders = []
    for kind, power in LADDERS:
        with open(f"{folder}/ladder-{kind}-{power}.json") as file:
            ladders.append((kind, 1 << power, {row["stage"]: row for row in json.load(file)["rows"]}))
    where = machine(folder, "{name}, driver {driver_version}").strip()
    names = {name: None for _, _, rows in ladders for name, row in rows.items() if row["number"] is not None}
    for name in names:
        sentences = [sentence(kind, count, rows.get(name)) for kind, count, rows in ladders]
        figures = "; ".join(text for text in sentences if text)
        yield f"gain {name}", textwrap.fill(f"**Measured.** {figures}. {where}", 118, break_on_hyphens=False) + "\n"


PAGES = {"ladder.md": gains, "lab.md": lab_tables.blocks}


def main():
    path = sys.argv[1]
    with open(path) as file:
        before = page = file.read()
    folder = sys.argv[2].rstrip("/") if len(sys.argv) > 2 else re.search(r"bench/results/[\w-]+", page).group()
    for marker, text in PAGES[os.path.basename(path)](folder):
        page = replace_between(page, marker, text)
    if len(sys.argv) > 2:
        with open(path, "w") as file:
            file.write(page)
    elif page != before:
        sys.exit(f"lesson.py: {path} does not say what {folder} says")


if __name__ == "__main__":
    main()
