# SPDX-License-Identifier: Apache-2.0
"""python -m fanin: the command, where it lies beside the library or in PATH."""

import os
import shutil
import sys


def main():
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fanin")
    command = beside if os.access(beside, os.X_OK) and os.path.isfile(beside) else shutil.which("fanin")
    if command is None:
        sys.exit("fanin: the command is not part of this package, and not in PATH: scripts/package of the repository "
                 "makes one for Debian")
    os.execv(command, ["fanin"] + sys.argv[1:])


if __name__ == "__main__":
    main()
