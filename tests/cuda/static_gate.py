#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the compiler made of every kernel of the ladder and the lab, against the table checked in; no GPU needed.

The kernels of exact sums compute with integers only, for the devices whose double arithmetic is slow.

For each kernel and accumulator: registers for sm_90, 16-byte loads from global memory, bulk copies, redux
instructions. Spilled registers are never accepted. Another version of the toolkit may choose other registers; then
only the instructions are compared.

usage: static_gate.py [--update] [--nvcc NVCC]
"""
import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = pathlib.Path(__file__).with_suffix(".json")
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
                   r"(\d+) bytes spill loads.*?Used (\d+) registers", re.DOTALL)


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
    """Rows of one translation unit, and what is wrong in it."""
    with tempfile.TemporaryDirectory() as folder:
        ptx = pathlib.Path(folder) / "kernels.ptx"
        run(nvcc, *FLAGS, "-ptx", ROOT / source, "-o", ptx)
        usage = run(nvcc.with_name("ptxas"), "-arch=sm_90", "-v", ptx, "-o", ptx.with_suffix(".cubin"))
        text = ptx.read_text()
    body = {part.split("(", 1)[0].strip(): part for part in text.split(".entry ")[1:]}
    rows, faults = {}, []
    names = readable(list(body))
    for symbol, _, stores, loads, registers in USAGE.findall(usage):
        name = names[symbol]
        if stores != "0" or loads != "0":
            faults.append(f"{name}: {stores} bytes of spill stores, {loads} of spill loads")
        ptx = body[symbol]
        if name in KEEPS_BRANCH and KEEPS_BRANCH[name] != bool(BRANCH.search(ptx)):
            faults.append(f"{name}: its branch {'is gone' if KEEPS_BRANCH[name] else 'is still there'}")
        rows[name] = [int(registers), len(LOAD_16.findall(ptx)), len(BULK.findall(ptx)), len(REDUX.findall(ptx))]
    if set(rows) != set(names.values()):
        faults.append(f"{source}: the assembler did not report every kernel")
    return rows, faults


def double_arithmetic(nvcc):
    with tempfile.TemporaryDirectory() as folder:
        ptx = pathlib.Path(folder) / "exact_sums.ptx"
        run(nvcc, *FLAGS, "-ptx", EXACT_SUMS, "-o", ptx)
        text = ptx.read_text()
    if len(text.split(".entry ")) != 11:
        yield f"{EXACT_SUMS.name}: ten kernels were expected"
    yield from (f"{EXACT_SUMS.name}: {instruction}" for instruction in DOUBLE_ARITHMETIC.findall(text))


def claims(rows):
    """What stages promise whatever the table says."""
    for name, (_, loads, bulk, redux) in rows.items():
        stage = name.split(" ")[0]
        if stage in ("vectorized", "single_pass", "warp_redux") and loads < 4:
            yield f"{name}: {loads} loads of 16 bytes, four are claimed"
        if (stage == "bulk_copy") != (bulk > 0):
            yield f"{name}: {bulk} bulk copies"
        if (stage == "warp_redux") != (redux > 0):
            yield f"{name}: {redux} redux instructions"


def differences(table, found):
    same_toolkit = table["toolkit"] == found["toolkit"]
    for name in sorted(set(table["kernels"]) | set(found["kernels"])):
        old, new = table["kernels"].get(name), found["kernels"].get(name)
        if old is None or new is None:
            yield f"{name}: {'not in the table' if old is None else 'no longer there'}"
        elif old[1:] != new[1:] or (same_toolkit and old != new):
            yield f"{name}: {old} became {new} (registers, 16-byte loads, bulk copies, redux)"


def write(found):
    rows = ",\n".join(f"    {json.dumps(name)}: {json.dumps(row)}" for name, row in sorted(found["kernels"].items()))
    columns = json.dumps(["registers", "16-byte loads", "bulk copies", "redux"])
    TABLE.write_text(f'{{\n  "toolkit": "{found["toolkit"]}",\n  "architecture": "sm_90",\n  "columns": {columns},\n'
                     f'  "kernels": {{\n{rows}\n  }}\n}}\n')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true", help="write what was found to the table")
    parser.add_argument("--nvcc", default="nvcc")
    arguments = parser.parse_args()

    nvcc = pathlib.Path(shutil.which(arguments.nvcc) or sys.exit(f"{arguments.nvcc} is no program")).resolve()
    version = re.search(r"release (\d+\.\d+)", run(nvcc, "--version")).group(1)
    found = {"toolkit": version, "kernels": {}}
    faults = []
    for source in SOURCES:
        rows, wrong = kernels_of(nvcc, source)
        found["kernels"].update(rows)
        faults += wrong
    faults += claims(found["kernels"])
    faults += double_arithmetic(nvcc)
    if arguments.update:
        write(found)
    else:
        faults += differences(json.loads(TABLE.read_text()), found)
    for fault in faults:
        print(fault, file=sys.stderr)
    print(f"{len(found['kernels'])} kernels, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
