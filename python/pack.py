#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packs the package, the shared library and the command into a wheel.

usage: pack.py LIBRARY COMMAND DIST_FOLDER

The wheel has the module for short calls and the library of fanin.jax, too, if they are beside the library of the
package. It has the libraries that a bare system lacks (Highway, oneTBB, libgomp; fmt and what reads archives) where the
library and the command look for them first. Its tag names the glibc that all of them need. Prints the path of the wheel.
"""

import base64
import hashlib
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
BUNDLED = re.compile(r"lib(hwy|tbb|gomp|fmt|zip|z|zstd|bz2|crypto)\.so")

METADATA = """Metadata-Version: 2.1
Name: fanin
Version: {version}
Summary: Sums and other reductions that are correctly rounded, on CPUs and GPUs
License: Apache-2.0
Requires-Python: >=3.9
Provides-Extra: numpy
Requires-Dist: numpy; extra == "numpy"
Description-Content-Type: text/markdown

"""
WHEEL = """Wheel-Version: 1.0
Generator: fanin
Root-Is-Purelib: false
Tag: {tag}
"""


def version():
    header = (HERE.parent / "include/fanin/version.hpp").read_text()
    return re.search(r"define FANIN_VERSION \"?([0-9.]+)", header).group(1)


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def needed_libraries(programs):
    """The paths of the libraries that go along, by the names under which they are needed."""
    lines = re.findall(r"^\s*(\S+) => (/\S+)", output_of("ldd", *map(str, programs)), re.M)
    return {name: pathlib.Path(path).resolve() for name, path in lines if BUNDLED.match(name)}


def needed_glibc(libraries):
    """The newest version of glibc whose symbols the libraries use, as (major, minor)."""
    used = (re.findall(r"GLIBC_(\d+)\.(\d+)", output_of("readelf", "-V", str(path))) for path in libraries)
    return max((int(major), int(minor)) for versions in used for major, minor in versions)


def stripped(path, folder):
    target = folder / path.name
    subprocess.run(["strip", "--strip-unneeded", "-o", target, path], check=True)
    return target.read_bytes()


def programs_of(library, command):
    """The library and the command; and the module for short calls and the library of fanin.jax, if they were built."""
    others = map(library.with_name, ("_calls.abi3.so", "libfanin_jax.so"))
    return [library, command, *(other for other in others if other.exists())]


def files_of(programs):
    """What the wheel contains: bytes by path."""
    files = {path.relative_to(HERE).as_posix(): path.read_bytes() for path in sorted((HERE / "fanin").rglob("*"))
             if path.suffix in (".py", ".pyi", ".typed")}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        files.update(("fanin/" + path.name, stripped(path, folder)) for path in programs)
        for name, path in needed_libraries(programs).items():
            files["fanin/" + name] = stripped(path, folder)
    return files


def record_line(path, content):
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return "%s,sha256=%s,%d\n" % (path, digest, len(content))


def write_archive(path, files):
    """The archive takes its name when it is whole, so that an interruption leaves no part of a wheel."""
    unfinished = path.with_name(path.name + ".unfinished")
    with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name)  # its date is in 1980, so that the same content gives the same wheel
            entry.external_attr = (0o100755 if ".so" in name or name == "fanin/fanin" else 0o100644) << 16
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED)
    unfinished.replace(path)


def write_wheel(library, command, dist):
    programs = programs_of(library, command)
    major, minor = needed_glibc([*programs, *needed_libraries(programs).values()])
    tag = "py3-none-manylinux_%d_%d_x86_64" % (major, minor)
    info = "fanin-%s.dist-info/" % version()
    files = files_of(programs)
    files[info + "METADATA"] = (METADATA.format(version=version()) + (HERE / "README.md").read_text()).encode()
    files[info + "WHEEL"] = WHEEL.format(tag=tag).encode()
    files[info + "LICENSE"] = (HERE.parent / "LICENSE").read_bytes()
    record = "".join(record_line(path, content) for path, content in files.items())
    files[info + "RECORD"] = (record + info + "RECORD,,\n").encode()
    dist.mkdir(parents=True, exist_ok=True)
    wheel = dist / ("fanin-%s-%s.whl" % (version(), tag))
    write_archive(wheel, files)
    for old in dist.glob("fanin-*.whl"):
        if old != wheel:
            old.unlink()
    return wheel


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    print(write_wheel(*map(pathlib.Path, sys.argv[1:])))
