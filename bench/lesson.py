#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes measured figures between the markers of a page of docs/: the times and counters of the ladder's stages into
ladder.md, the results of the experiments into lab.md.

lesson.py PAGE bench/results/MACHINE...  brings the page up to date; lab.md has the figures of one machine
lesson.py PAGE                           fails if its figures are not those of the results that it names
"""

import os
import re
import sys

import lab_tables
import ladder_tables
from tables import replace_between

PAGES = {"ladder.md": ladder_tables.blocks, "lab.md": lambda folders, _: lab_tables.blocks(folders[0])}


def main():
    path = sys.argv[1]
    with open(path) as file:
        before = page = file.read()
    named = [folder.rstrip("/") for folder in sys.argv[2:]]
    folders = named or list(dict.fromkeys(re.findall(r"bench/results/[\w-]+", page)))
    for marker, text in PAGES[os.path.basename(path)](folders, page):
        page = replace_between(page, marker, text)
    if named:
        with open(path, "w") as file:
            file.write(page)
    elif page != before:
        sys.exit(f"lesson.py: {path} does not say what {' and '.join(folders)} say")


if __name__ == "__main__":
    main()
