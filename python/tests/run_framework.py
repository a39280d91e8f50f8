#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of fanin.torch or fanin.jax from the wheel with the PyTorch or the JAX of an interpreter.

usage: run_framework.py torch|jax INTERPRETER DIST_FOLDER WORK_FOLDER

If the interpreter has no such package, FANIN_TEST_PYPI=1 installs that of PyPI (PyTorch: 3 GB) into an environment of
its own. Without the package, or if the wheel has no library for JAX, the tests are skipped (status 77).
"""

import os
import pathlib
import shutil
import subprocess
import sys
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77


PACKAGES = {"torch": ("torch", "numpy", "expecttest", "transformers"), "jax": ("jax", "numpy")}


def imports(python, module, **others):
    return subprocess.run([python, "-c", "import " + module], stderr=subprocess.DEVNULL, **others).returncode == 0


def with_framework(framework, interpreter, folder):
    """An interpreter with the package; None where there is none."""
    if imports(interpreter, framework):
        return interpreter
    python = folder / "bin" / "python"
    commands = ([interpreter, "-m", "venv", folder],
                [python, "-m", "pip", "install", "--quiet", *PACKAGES[framework]])
    wanted = os.environ.get("FANIN_TEST_PYPI") == "1"
    return python if wanted and not any(subprocess.run(command).returncode for command in commands) \
        and imports(python, framework) else None


def main(framework, interpreter, dist, work):
    wheel, = pathlib.Path(dist).glob("fanin-*.whl")
    work = pathlib.Path(work).resolve()
    shutil.rmtree(work, ignore_errors=True)
    python = with_framework(framework, interpreter, work / "venv")
    if python is None:
        print("fanin: skipped: %s has no %s, which FANIN_TEST_PYPI=1 would install" % (interpreter, framework))
        return SKIPPED
    zipfile.ZipFile(wheel).extractall(work / "wheel")
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith("PYTHON") and name not in ("FANIN_LIBRARY", "FANIN_BACKEND")}
    environment.update(PYTHONPATH=str(work / "wheel"), FANIN_README=str(HERE.parent / "README.md"))
    if framework == "jax" and not imports(python, "fanin.jax", env=environment, cwd=work):
        print("fanin: skipped: the wheel was built without JAX: configure with FANIN_JAX_PYTHON")
        return SKIPPED
    return subprocess.run([python, "-B", "-m", "unittest", "discover", "-s", HERE, "-t", HERE, "-p",
                           "test_%s*.py" % framework], cwd=work, env=environment).returncode


if __name__ == "__main__":
    if len(sys.argv) != 5 or sys.argv[1] not in PACKAGES:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
