#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs the wheel into a fresh virtual environment of an interpreter, and runs the tests there.

usage: run.py INTERPRETER DIST_FOLDER WORK_FOLDER

numpy and pandas are those of the system, where the interpreter is the system's. With FANIN_TEST_PYPI=1 they are those
of PyPI, and polars, pyarrow and xarray are installed too, if PyPI has them for the interpreter. Without a way to make
the environment or to install into it, the tests are skipped (status 77).
"""

import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77


def run(*command, **others):
    return subprocess.run([str(part) for part in command], **others).returncode


def skip(why):
    print("fanin: skipped: " + why)
    sys.exit(SKIPPED)


def main(interpreter, dist, work):
    wheels = list(pathlib.Path(dist).glob("fanin-*.whl"))
    if len(wheels) != 1:
        sys.exit("there are %d wheels in %s" % (len(wheels), dist))
    work = pathlib.Path(work)
    shutil.rmtree(work, ignore_errors=True)
    with_numpy = run(interpreter, "-c", "import numpy", stderr=subprocess.DEVNULL) == 0
    from_pypi = os.environ.get("FANIN_TEST_PYPI") == "1" and not with_numpy
    options = ["--system-site-packages"] if with_numpy else []
    if run(interpreter, "-m", "venv", *options, *([] if from_pypi else ["--without-pip"]), work):
        skip("no virtual environment of %s could be made" % interpreter)
    python = work / "bin" / "python"
    install = [python if from_pypi else interpreter, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
               "--no-warn-script-location", "--root-user-action=ignore"]
    if from_pypi:
        if run(*install, "numpy"):
            skip("numpy could not be installed from PyPI")
        for package in ("pandas", "polars", "pyarrow", "xarray", "ml_dtypes"):
            if run(*install, "--only-binary=:all:", package):
                print("fanin: %s could not be installed from PyPI, and its tests are skipped" % package)
        target = []
    else:  # pip of the interpreter takes a tenth of the time that one of the environment's own takes to be made
        if run(interpreter, "-m", "pip", "--version", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
            skip("%s has no pip" % interpreter)
        site = subprocess.run([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], check=True,
                              capture_output=True, text=True).stdout.strip()
        target = ["--target", site]
    if run(*install, "--no-index", "--no-deps", *target, wheels[0]):
        sys.exit("the wheel could not be installed")
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith("PYTHON") and name not in ("FANIN_LIBRARY", "FANIN_BACKEND")}
    environment["FANIN_README"] = str(HERE.parent / "README.md")
    sys.exit(run(python, "-B", "-W", "error", "-m", "unittest", "discover", "-s", HERE, "-t", HERE, "-p", "test_*.py",
                 cwd=work, env=environment))


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
