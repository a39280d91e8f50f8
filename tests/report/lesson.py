#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Looks at the lesson's page in headless Chromium, and steps through it with the keys and the buttons.

lesson.py FANIN [FOLDER]   FOLDER keeps the page and the pictures

Without its script all pictures stand there, no two texts overlap and nothing is wider than the page, at a desktop's and
at a phone's width. With it one picture of one stage is shown, the next one comes by a key or a button, and on paper all
of them stand there again.
"""

import os
import re
import subprocess
import sys

from render import WIDTHS, blank_pictures, checked_browser, faults

PAPER = 718  # A4 without its margins.

# The actions of a reader, and the words of the page's status line after each action.
STEPS = (
    ("", "global-neighbored, step 1 of 8"),
    ("press('ArrowLeft')", "global-neighbored, step 1 of 8"),
    ("press('ArrowRight')", "global-neighbored, step 2 of 8"),
    ("next.click()", "global-neighbored, step 3 of 8"),
    ("back.click()", "global-neighbored, step 2 of 8"),
    ("press('ArrowRight', {ctrlKey: true})", "global-neighbored, step 2 of 8"),
    ("for (let i = 0; i < 7; ++i) press('ArrowRight')", "global-neighbored-less, step 1 of 8"),
    ("press('ArrowLeft')", "global-neighbored, step 8 of 8"),
    ("location.hash = '#cooperative-groups'; dispatchEvent(new Event('hashchange'))", "cooperative-groups, no picture"),
    ("next.click()", "grid-sync, no picture"),
    ("for (let i = 0; i < 99; ++i) press('ArrowRight')", "bulk-copy, no picture"),
    ("press('ArrowLeft')", "single-pass, step 7 of 7"),
)

PROBE = """<pre id="found"></pre><script>
const press = (key, more) => dispatchEvent(new KeyboardEvent("keydown", {key, ...more}));
const shown = all => [...document.querySelectorAll(all)].filter(one => one.checkVisibility({visibilityProperty: true}));
const seen = [];
%s
document.getElementById("found").textContent = JSON.stringify(seen);
</script></body>"""


def without_script(page):
    return re.sub(r"<script>.*?</script>", "", page, flags=re.S)


def on_paper(page):
    return page.replace("@media screen", "@media speech").replace("@media print", "@media all")


def with_one_picture(page):
    """The hidden pictures lie behind the one that is shown; they are taken out of the way of measuring."""
    return page.replace("</head>", "<style>figure:not(.now){display:none}</style></head>")


def stepped(chromium, page):
    """The words that the page shows after each of the STEPS."""
    look = "seen.push([status.textContent, shown('section').length, shown('figure').length, shown('svg.step').length]);"
    actions = "\n".join(f"{action};{look}" for action, _ in STEPS)
    return chromium.found(page.replace("</body>", PROBE % actions))


def faults_of_stepping(chromium, page):
    for (action, wanted), (status, sections, figures, drawings) in zip(STEPS, stepped(chromium, page)):
        pictures = 0 if "no picture" in wanted else 1
        if (status, sections, figures, drawings) != (wanted, 1, pictures, pictures):
            yield f"after {action or 'loading'}: '{status}', {sections} stages, {figures} pictures"


def main():
    with checked_browser(*sys.argv[2:3]) as chromium:
        path = os.path.join(chromium.folder, "lesson.html")
        subprocess.run([sys.argv[1], "lesson", path, "--force"], check=True)
        with open(path, encoding="utf-8") as file:
            page = file.read()
        problems = list(faults_of_stepping(chromium, page))
        assert list(faults_of_stepping(chromium, page.replace("step = wanted", "step = 0"))), "no fault was found"
        drawings = page.count("<svg ")
        looks = [("on paper", on_paper(page), PAPER, drawings)]
        for width in WIDTHS:
            looks += [("alone", without_script(page), width, drawings), ("stepping", with_one_picture(page), width, 1)]
        for name, shown, width, number in looks:
            measured = chromium.measure(shown, width)
            problems += [f"{name}, {width} pixels: {one}" for one in faults(measured, width)]
            if len(measured["drawings"]) != number:
                problems.append(f"{name}, {width} pixels: {len(measured['drawings'])} pictures, not {number}")
        problems += blank_pictures(chromium, page, "lesson")
        sys.exit("\n".join(problems[:20]) or 0)


if __name__ == "__main__":
    main()
