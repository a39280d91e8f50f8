#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts events in each stage of the ladder with Nsight Compute, and compares the counts with what each stage claims.

profile_ladder.py FANIN RESULT      runs ncu over FANIN's stages, writes RESULT (JSON) and prints a table
"""

import csv
import io
import json
import subprocess
import sys

COUNT = 1 << 24

METRICS = {  # name in the table: name in Nsight Compute
    "working threads": "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio",
    "sectors per load": "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",
    "loads": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "bank conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
    "shared turns": "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "barrier stalls": "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio",
    "instructions": "smsp__inst_executed.sum",
    "active warps %": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "DRAM %": "dram__throughput.avg.pct_of_peak_sustained_elapsed",
}

STORIES = {  # stage: (counter, change of the counter that the stage's source file claims, stage to compare with)
    "global-neighbored-less": ("working threads", "rises", "global-neighbored"),
    "global-interleaved": ("sectors per load", "falls", "global-neighbored-less"),
    "global-unroll-2": ("DRAM %", "rises", "global-interleaved"),
    "global-unroll-4": ("DRAM %", "rises", "global-unroll-2"),
    "global-unroll-8": ("DRAM %", "rises", "global-unroll-4"),
    "global-unroll-8-warp": ("barrier stalls", "falls", "global-unroll-8"),
    "shared-modulo": ("loads", "falls", "global-neighbored"),
    "shared-mask": ("instructions", "falls", "shared-modulo"),
    "shared-strided": ("bank conflicts", "rises", "shared-mask"),
    "shared-sequential": ("bank conflicts", "falls", "shared-strided"),
    "add-on-load": ("DRAM %", "rises", "shared-dynamic"),
    "unroll-last-warp": ("barrier stalls", "falls", "add-on-load"),
    "unroll-complete": ("instructions", "falls", "unroll-last-warp"),
    "sync-warp": ("barrier stalls", "falls", "unroll-last-warp"),
    "warp-shuffle": ("shared turns", "falls", "sync-warp"),
    "cooperative-groups": ("instructions", "rises", "warp-shuffle"),
    "grid-sync": ("DRAM %", "rises", "cooperative-groups"),
    "grid-stride": ("DRAM %", "rises", "warp-shuffle"),
    "vectorized": ("loads", "falls", "grid-stride"),
    "bulk-copy": ("loads", "falls", "single-pass"),
}


def unknown_metrics(listing):
    """The METRICS that `ncu --query-metrics` does not list. ncu lists only the part before the first dot."""
    known = {line.split()[0] for line in listing.splitlines() if "__" in line}
    return [name for name in METRICS.values() if name.split(".")[0] not in known]


def counters_of(report):
    """The counters of the stage's own kernel by their names in the table, from the output of `ncu --csv`."""
    begin = report.find('"ID"')
    if begin < 0:
        raise ValueError("ncu has printed no table")
    called = {metric: name for name, metric in METRICS.items()}
    kernels = {}
    for row in csv.DictReader(io.StringIO(report[begin:])):
        if any(helper in row["Kernel Name"] for helper in ("finish_kernel", "copy_states_kernel")):
            continue
        if row["Metric Name"] in called:
            number = float(row["Metric Value"].replace(",", ""))
            kernels.setdefault(int(row["ID"]), {})[called[row["Metric Name"]]] = number
    if not kernels:
        raise ValueError("ncu has seen no kernel of the stage")
    first = kernels[min(kernels)]
    missing = [name for name in METRICS if name not in first]
    if missing:
        raise ValueError("ncu has not counted " + ", ".join(missing))
    return first


def verdict(stage, counted):
    """Whether the claim of the stage holds; None if there is no claim or the other stage was not counted."""
    if stage not in STORIES or STORIES[stage][2] not in counted:
        return None
    what, way, other = STORIES[stage]
    before, after = counted[other][what], counted[stage][what]
    return after > before if way == "rises" else after < before


def sentence(stage, counted):
    idle = 1 - counted[stage]["working threads"] / 32
    text = f"{idle:.0%} of each warp idles" if idle >= 0.01 else "warps are full"
    agrees = verdict(stage, counted)
    if agrees is None:
        return text
    what, way, other = STORIES[stage]
    change = f"{what} {counted[other][what]:.4g} -> {counted[stage][what]:.4g} after {other}"
    return f"{text}; {change}" + ("" if agrees else f", but the story says that it {way}")


def table(counted):
    rows = [["stage", *METRICS, "what it says"]]
    for stage, counters in counted.items():
        rows.append([stage, *(f"{counters[name]:.4g}" for name in METRICS), sentence(stage, counted)])
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [cell.ljust(width) if i in (0, len(row) - 1) else cell.rjust(width)
                 for i, (cell, width) in enumerate(zip(row, widths))]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"profile_ladder.py: {' '.join(command)}: {done.stdout[-500:]}{done.stderr[-500:]}")
    return done.stdout


def profile(fanin, stage):
    """Profiles the stage's NVTX range, which contains its first runs, whose values are checked."""
    return counters_of(run(["ncu", "--csv", "--print-units", "base", "--clock-control", "none",
                            "--nvtx", "--nvtx-include", stage + "/", "--metrics", ",".join(METRICS.values()),
                            fanin, "ladder", "--stage", stage, "--count", str(COUNT)]))


def main():
    fanin, result = sys.argv[1:]
    if unknown := unknown_metrics(run(["ncu", "--query-metrics"])):
        sys.exit("profile_ladder.py: this ncu does not know " + ", ".join(unknown))
    ladder = json.loads(run([fanin, "ladder", "--json", "--count", str(COUNT)]))
    stages = [row["stage"] for row in ladder["rows"] if row["number"] is not None]
    counted = {}
    for stage in stages:
        print(stage, file=sys.stderr)
        counted[stage] = profile(fanin, stage)
    rows = [{"stage": stage, "counters": counters, "says": sentence(stage, counted), "agrees": verdict(stage, counted)}
            for stage, counters in counted.items()]
    with open(result, "w") as file:
        json.dump({"device": ladder["device"], "element_type": ladder["element_type"], "count": COUNT,
                   "metrics": METRICS, "rows": rows}, file, indent=2)
        file.write("\n")
    print(table(counted))
    sys.exit(any(row["agrees"] is False for row in rows))


if __name__ == "__main__":
    main()
