# SPDX-License-Identifier: Apache-2.0
"""python -m fanin: the command, which the wheel has beside the library; of a source tree the one in PATH."""

import os
import shutil
import sys


def main():
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fanin")
    command = beside if os.access(beside, os.X_OK) and os.path.isfile(beside) else shutil.which("fanin")
    if command is None:
        sys.exit("fanin: the command is neither beside the package, as in a wheel, nor in PATH")
    os.execv(command, ["fanin"] + sys.argv[1:])


if __name__ == "__main__":
    main()
