#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of fanin.torch from the wheel with the PyTorch of an interpreter.

usage: run_torch.py INTERPRETER DIST_FOLDER WORK_FOLDER

If the interpreter has no PyTorch, FANIN_TEST_PYPI=1 installs that of PyPI (3 GB) into an environment of its own.
Without PyTorch the tests are skipped (status 77).
"""

import os
import pathlib
import shutil
import subprocess
import sys
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77


def has_torch(python):
    return subprocess.run([python, "-c", "import torch"], stderr=subprocess.DEVNULL).returncode == 0


def with_torch(interpreter, folder):
    """An interpreter with PyTorch; None where there is none."""
    if has_torch(interpreter) or os.environ.get("FANIN_TEST_PYPI") != "1":
        return interpreter if has_torch(interpreter) else None
    python = folder / "bin" / "python"
    commands = ([interpreter, "-m", "venv", folder],
                [python, "-m", "pip", "install", "--quiet", "torch", "numpy", "expecttest"])
    return python if not any(subprocess.run(command).returncode for command in commands) and has_torch(python) else None


def main(interpreter, dist, work):
    wheel, = pathlib.Path(dist).glob("fanin-*.whl")
    work = pathlib.Path(work).resolve()
    shutil.rmtree(work, ignore_errors=True)
    python = with_torch(interpreter, work / "venv")
    if python is None:
        print("fanin: skipped: %s has no PyTorch, which FANIN_TEST_PYPI=1 would install" % interpreter)
        return SKIPPED
    zipfile.ZipFile(wheel).extractall(work / "wheel")
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith("PYTHON") and name not in ("FANIN_LIBRARY", "FANIN_BACKEND")}
    environment.update(PYTHONPATH=str(work / "wheel"), FANIN_README=str(HERE.parent / "README.md"))
    return subprocess.run([python, "-B", "-m", "unittest", "discover", "-s", HERE, "-t", HERE, "-p", "test_torch_*.py"],
                          cwd=work, env=environment).returncode


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
