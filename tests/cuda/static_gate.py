#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what the compiler made of every kernel of the ladder and the lab, for sm_90; no GPU is needed.

No kernel spills registers. The stages that promise loads of 16 bytes, bulk copies or redux instructions have them, and
no other stage has bulk copies or redux. The kernels of the lab keep or lose their branches as `fanin lab divergence` says.
The kernels of exact sums compute with integers only, for the devices whose double arithmetic is slow.

usage: static_gate.py NVCC
"""
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = [path for pattern in ("backends/cuda/stages/ladder_*.cu", "measure/lab/*.cu")
           for path in sorted(ROOT.glob(pattern))]
FLAGS = ["-std=c++20", "-arch=sm_90", "--expt-relaxed-constexpr", "-fmad=false", "-O3", "-I", ROOT / "include",
         "-I", ROOT]

EXACT_SUMS = ROOT / "tests/cuda/exact_sums.cu"
DOUBLE_ARITHMETIC = re.compile(r"^\s*(?:@\S+ )?((?!ld|st|mov|selp)\w+(?:\.\w+)*\.f64\b.*);", re.MULTILINE)

LOAD_16 = re.compile(r"\bld\.global(?:\.\w+)*?\.(?:v4\.\w32|v2\.\w64)\b")
BULK = re.compile(r"\bcp\.async\.bulk\.shared")
REDUX = re.compile(r"\bredux\.sync")
BRANCH = re.compile(r"\bbra\b")
KEEPS_BRANCH = {f"{sides} {side}": sides == "chains"  # what `fanin lab divergence` says of its kernels
                for sides in ("constants", "chains") for side in ("by_thread", "by_warp")}
USAGE = re.compile(r"Compiling entry function '(\w+)'.*?(\d+) bytes stack frame, (\d+) bytes spill stores, "
                   r"(\d+) bytes spill loads", re.DOTALL)


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{command[0]} failed:\n{done.stderr}")
    return done.stdout + done.stderr


def readable(mangled):
    """{mangled: 'bulk_copy plain_sum<float>', or 'fill' of a kernel that is no template}"""
    names = run("c++filt", *mangled).splitlines()
    short = {}
    for symbol, name in zip(mangled, names):
        name = re.sub(r"fanin::(?:\w+::|\(anonymous namespace\)::)*", "", name).replace(", plain_term", "")
        kernel = re.match(r"(?:void )?(\w+)_kernel(?:<(.*)>)?\(", name)
        arguments = (kernel.group(2) or "").replace(" >", ">")
        short[symbol] = f"{kernel.group(1)} {arguments}".strip()
    return short


def kernels_of(nvcc, source):
    """{kernel: (16-byte loads, bulk copies, redux)} of one translation unit, and what is wrong in it."""
    with tempfile.TemporaryDirectory() as folder:
        ptx = pathlib.Path(folder) / "kernels.ptx"
        run(nvcc, *FLAGS, "-ptx", ROOT / source, "-o", ptx)
        usage = run(nvcc.with_name("ptxas"), "-arch=sm_90", "-v", ptx, "-o", ptx.with_suffix(".cubin"))
        text = ptx.read_text()
    body = {part.split("(", 1)[0].strip(): part for part in text.split(".entry ")[1:]}
    rows, faults = {}, []
    names = readable(list(body))
    for symbol, _, stores, loads in USAGE.findall(usage):
        name = names[symbol]
        if stores != "0" or loads != "0":
            faults.append(f"{name}: {stores} bytes of spill stores, {loads} of spill loads")
        ptx = body[symbol]
        if name in KEEPS_BRANCH and KEEPS_BRANCH[name] != bool(BRANCH.search(ptx)):
            faults.append(f"{name}: its branch {'is gone' if KEEPS_BRANCH[name] else 'is still there'}")
        rows[name] = (len(LOAD_16.findall(ptx)), len(BULK.findall(ptx)), len(REDUX.findall(ptx)))
    if set(rows) != set(names.values()):
        faults.append(f"{source}: the assembler did not report every kernel")
    return rows, faults


def double_arithmetic(nvcc):
    with tempfile.TemporaryDirectory() as folder:
        ptx = pathlib.Path(folder) / "exact_sums.ptx"
        run(nvcc, *FLAGS, "-ptx", EXACT_SUMS, "-o", ptx)
        text = ptx.read_text()
    if len(text.split(".entry ")) != 17:
        yield f"{EXACT_SUMS.name}: 16 kernels were expected"
    yield from (f"{EXACT_SUMS.name}: {instruction}" for instruction in DOUBLE_ARITHMETIC.findall(text))


def claims(rows):
    """Which promises the stages break."""
    for name, (loads, bulk, redux) in rows.items():
        stage = name.split(" ")[0]
        if stage in ("vectorized", "single_pass", "warp_redux") and loads < 4:
            yield f"{name}: {loads} loads of 16 bytes, four are claimed"
        if (stage == "bulk_copy") != (bulk > 0):
            yield f"{name}: {bulk} bulk copies"
        if (stage == "warp_redux") != (redux > 0):
            yield f"{name}: {redux} redux instructions"


def main(nvcc):
    nvcc = pathlib.Path(nvcc).resolve()
    found, faults = {}, []
    for source in SOURCES:
        rows, wrong = kernels_of(nvcc, source)
        found.update(rows)
        faults += wrong
    faults += claims(found)
    faults += double_arithmetic(nvcc)
    for fault in faults:
        print(fault, file=sys.stderr)
    print(f"{len(found)} kernels, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
