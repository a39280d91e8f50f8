# SPDX-License-Identifier: Apache-2.0
"""Files that the wheel has: libraries that bare systems lack, and the command. How the wheel is written."""

import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zipfile

import fanin


class Loading(unittest.TestCase):
    CODE = """
import sys
import fanin
fanin.sum([1.0])
print(fanin.__file__)
print([name for name in ("numpy", "torch", "cupy", "pyarrow") if name in sys.modules])
print(" ".join({line.split()[-1] for line in open("/proc/self/maps") if ".so" in line}))
"""

    @unittest.skipIf("FANIN_LIBRARY" in os.environ, "this is not the wheel")
    def test_libraries(self):
        """The wheel brings along what a bare system lacks, and imports no other package."""
        done = subprocess.run([sys.executable, "-c", self.CODE], check=True, capture_output=True, text=True)
        lines = done.stdout.splitlines()
        folder = os.path.dirname(lines[0])
        self.assertEqual(lines[1], "[]")
        for name in ("libfanin.so", "libhwy.so", "libtbb.so", "libgomp.so"):
            paths = [path for path in lines[2].split() if os.path.basename(path).startswith(name)]
            self.assertEqual([os.path.dirname(path) for path in paths], [folder], name)


@unittest.skipIf("FANIN_LIBRARY" in os.environ, "this is not the wheel")
class Command(unittest.TestCase):
    def run_command(self, *arguments, **given):
        return subprocess.run([sys.executable, "-m", "fanin", *arguments], capture_output=True, text=True,
                              env={"PATH": ""}, **given)

    def test_command(self):
        """The wheel's command runs with nothing in PATH, and keeps standard input and the exit status."""
        self.assertEqual(self.run_command("sum", input="1e16\n1\n-1e16\n").stdout, "1\n")
        self.assertEqual(self.run_command("--version").stdout.split()[-1], fanin.__version__)
        self.assertEqual(self.run_command("sum", "no such file").returncode, 1)

    def test_libraries(self):
        """The command finds all libraries beside it, also the libraries that its libraries need."""
        folder = os.path.dirname(fanin.__file__)
        done = subprocess.run([os.path.join(folder, "fanin")], capture_output=True, text=True, check=True,
                              env={"LD_TRACE_LOADED_OBJECTS": "1"})  # lists them as ldd does
        found = dict(line.split()[::2][:2] for line in done.stdout.splitlines() if "=>" in line)
        bundled = [name for name in os.listdir(folder) if ".so" in name and not name.startswith(("libfanin", "_"))]
        self.assertGreater(len(bundled), 3)
        for name in bundled:
            self.assertEqual(found[name], os.path.join(folder, name))


class Packing(unittest.TestCase):
    def test_interruption(self):
        """A wheel that is interrupted while it is written takes no name of a wheel, and keeps the wheel before it."""
        place = pathlib.Path(__file__).resolve().parent.parent / "pack.py"
        spec = importlib.util.spec_from_file_location("pack", place)
        pack = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(pack)

        class Interrupted(dict):
            def items(self):
                yield "new.py", b"new"
                raise KeyboardInterrupt

        with tempfile.TemporaryDirectory() as folder:
            wheel = pathlib.Path(folder) / "fanin-1-any.whl"
            with self.assertRaises(KeyboardInterrupt):
                pack.write_archive(wheel, Interrupted())
            self.assertEqual(list(wheel.parent.glob("*.whl")), [])
            pack.write_archive(wheel, {"old.py": b"old"})
            with self.assertRaises(KeyboardInterrupt):
                pack.write_archive(wheel, Interrupted())
            self.assertEqual(zipfile.ZipFile(wheel).namelist(), ["old.py"])
            pack.write_archive(wheel, {"new.py": b"new"})
            self.assertEqual(zipfile.ZipFile(wheel).read("new.py"), b"new")
            self.assertEqual(os.listdir(folder), [wheel.name])


if __name__ == "__main__":
    unittest.main()
