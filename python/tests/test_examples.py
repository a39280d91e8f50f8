# SPDX-License-Identifier: Apache-2.0
"""Each file of examples/ whose libraries and commands are installed runs and checks itself."""

import importlib.util
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

EXAMPLES = sorted((pathlib.Path(__file__).resolve().parent.parent / "examples").glob("*.py"))


class Examples(unittest.TestCase):
    def test_all(self):
        for example in EXAMPLES:
            needs = re.search("^# needs: (.*)$", example.read_text(encoding="utf-8"), re.M).group(1).split()
            missing = [name for name in needs if importlib.util.find_spec(name) is None and shutil.which(name) is None]
            with self.subTest(example.name):
                if missing:
                    self.skipTest("%s needs %s" % (example.name, ", ".join(missing)))
                command = [sys.executable, "-B", str(example)]
                if "mpi4py" in needs and shutil.which("mpirun"):
                    command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "3"] + command
                done = subprocess.run(command, capture_output=True, text=True, timeout=100)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
