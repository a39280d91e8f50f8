#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Looks at the lesson's page in headless Chromium, and steps through it with the keys and the buttons.

lesson.py FANIN [FOLDER]   FOLDER keeps the page and the pictures

Without its script all pictures stand there, no two texts overlap and nothing is wider than the page, at a desktop's and
at a phone's width. With it one picture of one stage is shown, the next one comes by a key or a button, the picture and
the buttons are on the screen, the line of the kernel that does the step is marked, and on a wide screen it is seen
beside the picture. Code that does not fit goes on further right than it begins, and nothing has to be moved sideways. A
click on a word shows what the word means, and on paper all pictures stand there again.
"""

import html
import os
import re
import subprocess
import sys

from render import WIDTHS, blank_pictures, checked_browser, faults

PAPER = 718  # A4 without its margins.

# The actions of a reader, and the words of the page's status line after each action.
STEPS = (
    ("", "Overview"),
    ("press('ArrowLeft')", "Overview"),
    ("press('ArrowRight')", "CUDA in a minute"),
    ("next.click()", "01 global-neighbored, step 1 of 8"),
    ("press('ArrowRight')", "01 global-neighbored, step 2 of 8"),
    ("back.click()", "01 global-neighbored, step 1 of 8"),
    ("press('ArrowRight', {ctrlKey: true})", "01 global-neighbored, step 1 of 8"),
    ("for (let i = 0; i < 8; ++i) press('ArrowRight')", "02 global-neighbored-less, step 1 of 8"),
    ("press('ArrowLeft')", "01 global-neighbored, step 8 of 8"),
    ("location.hash = '#word-warp'; dispatchEvent(new Event('hashchange'))", "Words"),
    ("location.hash = '#bulk-copy'; dispatchEvent(new Event('hashchange'))", "23 bulk-copy, step 1 of 12"),
    ("for (let i = 0; i < 99; ++i) press('ArrowRight')", "Words"),
    ("press('ArrowLeft')", "23 bulk-copy, step 12 of 12"),
)

# Width and height of screens. A picture and the buttons are seen at once, except on a wide screen that is low. On a wide
# screen the line of a step is seen too, and the whole kernel if the screen is not low.
SCREENS = ((1366, 850), (1366, 600), (390, 844))

FRAME = """<!DOCTYPE html><meta charset="utf-8"><body style="margin:0"><iframe style="border:0;width:{width}px;height:{height}px"
srcdoc="{page}"></iframe><pre id="found"></pre></body>"""

# Changes to the page, each with which the walk finds a fault.
PLANTED = (
    ("max-height:calc(100vh - 17rem)", "height:100vh"),
    (".stepping .stage h2,.stepping .story", ".stepping .stage h2"),
    ("outline-offset:-1px", ""),
    (".controls span{white-space:nowrap}", ""),
    ("wide.matches && document", "false && document"),
    ("--hang:calc((var(--indent,0) + 4)*1ch)", "--hang:4ch"),
    ("table{font-size:.7rem}", ""),
)

# Goes through all steps, and writes what is not on the screen to the frame around the page.
WALK = """<script>
const off = [];
const beginsOfLines = line => {
  const text = line.firstChild, range = document.createRange();
  if (!text) return [];
  range.setStart(text, text.data.search(/\\S/));
  range.setEnd(text, text.length);
  return [...range.getClientRects()].map(at => at.left);
};
for (let left = 999; left > 0; --left) {
  const steps = stepsOf(pages[page]);
  if (steps.length) {
    const marked = [...document.querySelectorAll("section.now pre .current")];
    const low = wide.matches && innerHeight < 800;
    const picture = low ? [] : [...steps[step].querySelectorAll("figcaption, svg")];
    const kernel = wide.matches && !low ? [document.querySelector("section.now .kernel")] : [];
    const line = wide.matches && step > 0 ? marked : [];
    for (const part of [controls, ...picture, ...kernel, ...line]) {
      const at = part.getBoundingClientRect();
      if (at.top < -1 || at.bottom > innerHeight + 1 || at.right > innerWidth + 1 || at.height < 1) {
        off.push(`${status.textContent}: ${part.className.baseVal ?? (part.className || part.tagName)}, ${at.top} to ${at.bottom}`);
      }
    }
    if (marked.length !== (steps[step].dataset.line === undefined ? 0 : 1)) {
      off.push(`${status.textContent}: ${marked.length} marked lines`);
    }
    for (const {outlineWidth, outlineOffset} of marked.map(one => getComputedStyle(one))) {
      if (parseFloat(outlineWidth) + parseFloat(outlineOffset) > 1) off.push("the frame covers the line before");
    }
    if (count.getClientRects().length !== 1) off.push(`${status.textContent}: the number of the step is on two lines`);
  }
  if (step === 0) {
    for (const one of document.querySelectorAll("section.now pre, section.now .scroll")) {
      if (one.scrollWidth > one.clientWidth + 1) off.push(`${status.textContent}: ${one.scrollWidth} pixels of ${one.className || "code"}`);
    }
    for (const line of document.querySelectorAll("section.now pre > *")) {
      const [first, ...others] = beginsOfLines(line);
      if (others.some(begin => begin < first + 10)) off.push(`${status.textContent}: the line goes on where it begins: ${line.textContent}`);
    }
  }
  if (next.disabled) break;
  move(1);
}
location.hash = "#shared-strided";
dispatchEvent(new Event("hashchange"));
const word = document.querySelector("section.now a.word[href='#word-bank']");
word.click();
if (!box.classList.contains("open") || !box.textContent.startsWith("bank. Shared memory has")) off.push("no box for a word");
parent.document.getElementById("found").textContent = JSON.stringify(off);
</script></body>"""

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
    """What the page shows after each of the STEPS."""
    look = "seen.push([status.textContent, shown('section').length, shown('.steps>figure').length, shown('svg.step').length]);"
    actions = "\n".join(f"{action};{look}" for action, _ in STEPS)
    return chromium.found(page.replace("</body>", PROBE % actions))


def faults_of_stepping(chromium, page):
    for (action, wanted), (status, sections, figures, drawings) in zip(STEPS, stepped(chromium, page)):
        pictures = 1 if ", step " in wanted else 0
        if (status, sections, figures, drawings) != (wanted, 1, pictures, pictures):
            yield f"after {action or 'loading'}: '{status}', {sections} stages, {figures} pictures"


def faults_of_place(chromium, page):
    """What is not on the screen that should be, for each step."""
    page = page.replace("<head>", "<head><script>history.replaceState = () => {}</script>").replace("</body>", WALK)
    for width, height in SCREENS:
        frame = FRAME.format(width=width, height=height, page=html.escape(page))
        for one in chromium.found(frame, "--hide-scrollbars", f"--window-size={max(width, 500)},{height}"):
            yield f"{width} x {height}: {one}"


def main():
    with checked_browser(*sys.argv[2:3]) as chromium:
        path = os.path.join(chromium.folder, "lesson.html")
        subprocess.run([sys.argv[1], "lesson", path, "--force"], check=True)
        with open(path, encoding="utf-8") as file:
            page = file.read()
        problems = list(faults_of_stepping(chromium, page)) + list(faults_of_place(chromium, page))
        for right, wrong in PLANTED:
            assert right in page and list(faults_of_place(chromium, page.replace(right, wrong))), f"no fault was found: {wrong}"
        assert list(faults_of_stepping(chromium, page.replace("step = wanted", "step = 0"))), "no fault was found"
        drawings = page.count("<svg ") - page.count('<div class="narrow">')  # Of two sizes of a chart one is shown.
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
