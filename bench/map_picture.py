#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the map of speed of a device before and after: operations by layouts, for f32 and bf16. A cell is the median
share of the runs of bench/speed_map.py, with the method `exact` where the operation has it.

map_picture.py DEVICE BEFORE AFTER PICTURE            draws the results BEFORE-*.json and AFTER-*.json
map_picture.py DEVICE BEFORE AFTER --check PICTURE    fails if the picture is not that of the results
"""
import collections
import glob
import json
import statistics
import sys

TYPES, TIMES = ["f32", "bf16"], ["before", "after"]
LAYOUTS = ["array", "rows 4096", "rows 256", "columns 65536", "columns 256", "segments 64", "groups 1024"]
# The least share of each class in percent, its name, and the colours of its cells and their text: viridis, which
# colour-blind readers can read, and which is in the order of brightness in grey too.
CLASSES = [(0, "below 10", "#440154", "#fff"), (10, "10 to 25", "#414487", "#fff"), (25, "25 to 50", "#2a788e", "#fff"),
           (50, "50 to 75", "#22a884", "#000"), (75, "75 to 90", "#7ad151", "#000"),
           (90, "90 and more", "#fde725", "#000")]
LEFT, TOP, WIDTH, HEIGHT, ROW = 132, 186, 22.6, 18, 19
# The themes are those of cli/report/style.cpp.
STYLE = """:root{color-scheme:light dark;--paper:#fff;--ink:#1b1f24;--muted:#59636e}
@media screen and (prefers-color-scheme:dark){:root{--paper:#14181d;--ink:#e8ebee;--muted:#a3adb8}}
.chart{font:13px system-ui,sans-serif}.chart text{fill:var(--ink)}
.chart .muted{fill:var(--muted)}.chart .strong,.chart .title{font-weight:600}.chart .layout{font-size:12px}
.chart .cell{font-size:11px}.chart .strong,.chart .cell{text-anchor:middle}.chart .operation{text-anchor:end}
""" + "".join(f".chart .f{i}{{fill:{fill}}}.chart .t{i}{{fill:{text}}}\n" for i, (_, _, fill, text) in
              enumerate(CLASSES)) + "svg{background:var(--paper)}"


def percents_of(files):
    """The median percent of the files for each operation, type and layout that is drawn."""
    shares = collections.defaultdict(list)
    for name in files:
        with open(name) as file:
            for operation, dtype, layout, method, speed, share, _ in json.load(file)["rows"]:
                if dtype in TYPES and speed is not None:
                    shares[operation, dtype, layout, method].append(share)
    chosen = {}
    for (*cell, method), runs in shares.items():
        if method == "exact" or (*cell, "exact") not in shares:
            chosen[tuple(cell)] = 100 * statistics.median(runs)
    return chosen


def text(x, y, words, style):
    return f'<text x="{x:.1f}" y="{y}" class="{style}">{words}</text>'


def box(x, y, width, percent, words):
    """A coloured box with words, whose class is that of the percentage as it is printed."""
    kind = max(i for i, (least, *_) in enumerate(CLASSES) if percent >= least)
    return [f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{HEIGHT}" class="f{kind}"/>',
            text(x + width / 2, y + 13, words, f"cell t{kind}")]


def panel(cells, operations, left, words):
    lines = [text(left + WIDTH * len(LAYOUTS) / 2, 76, words, "strong")]
    for column, layout in enumerate(LAYOUTS):
        x = left + column * WIDTH
        lines.append(f'<text transform="translate({x + 15:.1f} {TOP - 5}) rotate(-90)" class="layout">{layout}</text>')
        for row, operation in enumerate(operations):
            if (operation, layout) in cells:
                percent = cells[operation, layout]
                shown = round(percent) if percent >= 1 else round(percent, 1)
                lines += box(x, TOP + row * ROW, WIDTH - 1, shown, str(shown))
    return lines


def picture(device, before, after):
    maps = {time: percents_of(glob.glob(f"{files}-[0-9]*.json")) for time, files in zip(TIMES, (before, after))}
    operations = list(dict.fromkeys(cell[0] for cell in maps["after"]))
    body, medians, described, left = [], {}, [], LEFT
    for dtype in TYPES:
        for time in TIMES:
            cells = {(cell[0], cell[2]): percent for cell, percent in maps[time].items() if cell[1] == dtype}
            medians[dtype, time] = round(statistics.median(cells.values()))
            slowest = min(cells, key=cells.get)
            described.append(f"{dtype} {time}: median {medians[dtype, time]} %, "
                             f"{sum(percent < 50 for percent in cells.values())} of {len(cells)} cells below 50 %, "
                             f"least {cells[slowest]:.1f} % ({slowest[0]}, {slowest[1]}).")
            body += panel(cells, operations, left, f"{dtype}, {time}")
            left += WIDTH * len(LAYOUTS) + (8 if time == "before" else 18)
    title = f"Speed of {len(operations)} operations on an {device}: the median went " + ", ".join(
        f"from {medians[dtype, 'before']} to {medians[dtype, 'after']} % for {dtype}" for dtype in TYPES)
    legend = [text(0, 47, "% of a fast f32 sum's speed:", "muted")]
    for place, (least, name, *_) in enumerate(CLASSES):
        legend += box(LEFT + 66 + place * 100, 34, 96, least, name)
    names = [text(LEFT - 8, TOP + row * ROW + 13, name, "operation") for row, name in enumerate(operations)]
    height = TOP + ROW * len(operations) + 26
    head = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-13 -13 826 {height}" role="img" class="chart" '
            'aria-labelledby="speed-map-title speed-map-desc">',
            f'<title id="speed-map-title">{title}</title>',
            '<desc id="speed-map-desc">Colours and percentages: a row for each operation, a column for each layout. '
            + " ".join(described) + "</desc>",
            f"<style>{STYLE}</style>", text(0, 20, title, "title")]
    return "\n".join(head + legend + names + body + ["</svg>"]) + "\n"


def main():
    *results, path = (argument for argument in sys.argv[1:] if argument != "--check")
    drawn = picture(*results)
    if "--check" not in sys.argv:
        with open(path, "w") as file:
            file.write(drawn)
        return
    with open(path) as file:
        if file.read() != drawn:
            sys.exit(f"map_picture.py: {path} is not the picture of " + " ".join(results))


if __name__ == "__main__":
    main()
