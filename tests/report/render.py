#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Looks at a report of real results in headless Chromium, at a desktop's and at a phone's width, light and dark.

render.py FANIN RESULTS [FOLDER]   RESULTS: bench/results; FOLDER keeps the page and the pictures

No picture is blank, no two texts overlap, none is cut off, nothing is wider than the page, and every drawing is
well-formed XML. The page of bench/results/h200 is at most 12 screens high, and has all that is folded when printed.
Before that, pages with each of these faults are shown to be found out.
"""

import contextlib
import glob
import html
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
import zlib

WIDTHS = (1280, 390)
SCREEN = (1280, 800)
MOST_SCREENS = 12

# Chromium's own windows are at least 500 pixels wide; a frame may be narrower, and media queries see its width.
FRAME = """<!DOCTYPE html><meta charset="utf-8"><body style="margin:0"><iframe id="page" style="border:0;width:{width}px;height:{height}px"
srcdoc="{page}"></iframe><pre id="found"></pre><script>
addEventListener("load", () => {{
  const inside = document.getElementById("page").contentDocument;
  const box = (element, words) => {{
    const content = inside.createRange();  // What overflows its element counts too.
    content.selectNodeContents(element);
    const at = (element.closest("svg") ? element : content).getBoundingClientRect();
    return {{words, left: at.left, right: at.right, top: at.top, bottom: at.bottom}};
  }};
  const shown = element => element.checkVisibility() && element.textContent.trim() !== "" && !element.closest("a a, li a");
  const texts = [...inside.querySelectorAll("h1,h2,h3,p,li *,nav a,.table>summary,th,td,svg text")].filter(shown);
  const drawings = [...inside.querySelectorAll("svg")].filter(one => one.checkVisibility());
  document.getElementById("found").textContent = JSON.stringify({{
    texts: texts.map(one => box(one, one.textContent)),
    drawings: drawings.map(one => ({{...box(one, ""), texts: [...one.querySelectorAll("text")].map(
      text => box(text, text.textContent))}})),
    width: inside.documentElement.scrollWidth, height: inside.documentElement.scrollHeight}});
}});</script></body>"""


class browser:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder

    def run(self, page, *options):
        """The output of Chromium with these options for the page."""
        path = os.path.join(self.folder, "page.html")
        with open(path, "w", encoding="utf-8") as file:
            file.write(page)
        command = [self.program, "--headless", "--no-sandbox", "--disable-gpu",
                   f"--user-data-dir={self.folder}/profile", *options, "file://" + path]
        return subprocess.run(command, check=True, capture_output=True, timeout=300).stdout.decode()

    def found(self, page, *options):
        """The JSON that the page's script writes into its element `found`."""
        dom = self.run(page, "--dump-dom", *options)
        return json.loads(html.unescape(re.search(r'<pre id="found">(.*?)</pre>', dom, re.S).group(1)))

    @staticmethod
    def framed(page, width, height):
        """The page in a frame of this size, and the options for it."""
        frame = FRAME.format(width=width, height=height, page=html.escape(page))
        return frame, "--hide-scrollbars", f"--window-size={max(width, 500)},{height}"

    def measure(self, page, width, height=2000):
        return self.found(*self.framed(page, width, height))

    def pages_printed(self, page):
        """The number of sheets that the page takes in print."""
        path = os.path.join(self.folder, "printed.pdf")
        self.run(page, f"--print-to-pdf={path}")
        with open(path, "rb") as file:
            return max(int(count) for count in re.findall(rb"/Count (\d+)", file.read()))

    def picture(self, page, width, name, dark):
        path = os.path.join(self.folder, name)
        scheme = 0 if dark else 1
        self.run(*self.framed(page, width, 2400), f"--blink-settings=preferredColorScheme={scheme}", f"--screenshot={path}")
        with open(path, "rb") as file:
            return file.read()


def is_blank(png):
    """A picture of one colour has hardly two kinds of lines; PNG's filters leave equal lines equal."""
    data, at = b"", 8
    while at < len(png):
        size = int.from_bytes(png[at:at + 4], "big")
        if png[at + 4:at + 8] == b"IDAT":
            data += png[at + 8:at + 8 + size]
        at += size + 12
    height = int.from_bytes(png[20:24], "big")
    lines = zlib.decompress(data)
    length = len(lines) // height
    return len({lines[i * length:(i + 1) * length] for i in range(height)}) < 20


def opened(page):
    return re.sub(r'<details class="(\w+)">', r'<details class="\1" open="">', page)


def faults_of_folding(chromium, page):
    """The faults in the height of a page and in its print."""
    screens = chromium.measure(page, *SCREEN)["height"] / SCREEN[1]
    if screens > MOST_SCREENS:
        yield f"the page is {screens:.1f} screens high"
    sheets, of_opened = (chromium.pages_printed(one) for one in (page, opened(page)))
    if sheets != of_opened:
        yield f"{sheets} sheets are printed, and {of_opened} if nothing is folded"


def overlap(a, b):
    """By more than the pixel that rounding may take."""
    return (min(a["right"], b["right"]) - max(a["left"], b["left"]) > 1
            and min(a["bottom"], b["bottom"]) - max(a["top"], b["top"]) > 1)


def faults(measured, width):
    texts = sorted(measured["texts"], key=lambda text: text["top"])
    for i, above in enumerate(texts):
        for text in itertools.takewhile(lambda text: text["top"] < above["bottom"], itertools.islice(texts, i + 1, None)):
            if overlap(above, text):
                yield f"'{above['words']}' and '{text['words']}' overlap"
    for drawing in measured["drawings"]:
        for text in drawing["texts"]:
            inside = (text["left"] >= drawing["left"] - 1 and text["right"] <= drawing["right"] + 1
                      and text["top"] >= drawing["top"] - 1 and text["bottom"] <= drawing["bottom"] + 1)
            if not inside:
                yield f"'{text['words']}' leaves its drawing"
    if measured["width"] > width:
        yield f"the page is {measured['width']} pixels wide"
    if not measured["drawings"]:
        yield "there is no drawing"


def check_the_checks(chromium):
    def drawing(inside):
        return f'<!DOCTYPE html><body><svg viewBox="0 0 300 100" width="300">{inside}</svg></body>'

    def found(page):
        return " ".join(faults(chromium.measure(page, 390), 390))

    words = '<text x="10" y="50">words</text>'
    assert found(drawing(words + '<text x="90" y="50">apart</text>')) == ""
    assert "'words' and 'over' overlap" in found(drawing(words + '<text x="20" y="55">over</text>'))
    spilling = '<ul><li style="display:flex"><b style="width:9px;white-space:nowrap">much too wide</b><i>text</i></li></ul>'
    assert "'much too wide' and 'text' overlap" in found(spilling)
    assert "leaves its drawing" in found(drawing('<text x="280" y="50">words</text>'))
    assert "pixels wide" in found(drawing(words) + '<div style="width:600px">wide</div>')
    assert "no drawing" in found("<!DOCTYPE html><p>words")
    high = f'<!DOCTYPE html><details class="one"><summary>fold</summary><p style="height:{12 * SCREEN[1]}px">all</p></details>'
    assert "printed, and" in " ".join(faults_of_folding(chromium, high))
    assert "screens high" in " ".join(faults_of_folding(chromium, opened(high)))
    assert is_blank(chromium.picture("<!DOCTYPE html>", 390, "blank.png", dark=False))


def report(fanin, folder, name, *arguments):
    path = os.path.join(folder, name)
    subprocess.run([fanin, "report", path, "--force", *arguments], check=True)
    with open(path, encoding="utf-8") as file:
        return file.read()


def result(fanin, folder, name, *arguments):
    """A file with what a command prints."""
    path = os.path.join(folder, name)
    with open(path, "wb") as file:
        subprocess.run([fanin, *arguments, "--json"], check=True, stdout=file)
    return path


@contextlib.contextmanager
def checked_browser(folder=None):
    """A browser whose files are in `folder`, or without one in a temporary folder, once the checks have found faults."""
    program = shutil.which("chromium")
    if program is None:
        print("fanin: skipped: chromium was not found")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as scratch:
        chromium = browser(program, folder or scratch)
        check_the_checks(chromium)
        yield chromium


def blank_pictures(chromium, page, name):
    """Takes the page's pictures at both widths, light and dark, and names those that are blank."""
    for width in WIDTHS:
        for dark in (False, True):
            file = f"{name}-{width}-{'dark' if dark else 'light'}.png"
            if is_blank(chromium.picture(page, width, file, dark)):
                yield f"{file} is blank"


def main():
    with checked_browser(*sys.argv[3:4]) as chromium:
        fanin, results, folder = *sys.argv[1:3], chromium.folder
        subprocess.run([fanin, "generate", "constant", "--count", "1000000", "--type", "f32", "--force", "--output",
                        os.path.join(folder, "values.npy")], check=True, capture_output=True)
        files = sorted(glob.glob(f"{results}/*/*-sums.json") + glob.glob(f"{results}/*/ladder-*.json")) + \
            [result(fanin, folder, f"{count}.json", "accuracy", "uniform", "--count", count) for count in ("100", "10000")] + \
            [result(fanin, folder, "accuracy.json", "accuracy", "normal", "condition:1e2", "condition:1e10")] + \
            [result(fanin, folder, "compare.json", "compare", os.path.join(folder, "values.npy"))]
        page = report(fanin, folder, "report.html", *files)
        alone = report(fanin, folder, "ladder.svg", "--format", "svg", "--chart", "ladder-sum-f32-268435456", *files)
        for drawing in [alone, *re.findall(r"<svg.*?</svg>", page, re.S)]:
            xml.etree.ElementTree.fromstring(drawing)
        problems = [f"by itself: {one}" for one in faults(chromium.measure(alone, WIDTHS[0]), WIDTHS[0])]
        h200 = report(fanin, folder, "h200.html", *sorted(glob.glob(f"{results}/h200/*.json")))
        problems += [f"h200: {one}" for one in faults_of_folding(chromium, h200)]
        for width in WIDTHS:
            for one in (page, h200):
                problems += [f"{width} pixels: {fault}" for fault in faults(chromium.measure(opened(one), width), width)]
        problems += blank_pictures(chromium, page, "report")
        sys.exit("\n".join(problems[:20]) or 0)


if __name__ == "__main__":
    main()
