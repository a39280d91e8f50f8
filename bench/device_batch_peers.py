#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what PyTorch and CuPy do with the rows, segments and groups of fanin_device_batches and fanin_device_groups.

Prints a line for each: GB/s of the elements read, or 10^9 elements a second for groups. Random elements, longer than
the device's cache; medians of seven rounds between events. Usage: bench/device_batch_peers.py [ELEMENTS]
"""
import statistics
import sys

import cupy
import torch

COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 1 << 28
DEVICE = torch.device("cuda")


def median_seconds(call, times=10):
    for _ in range(3):
        call()
    rounds = []
    for _ in range(7):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize()
        begin.record()
        for _ in range(times):
            call()
        end.record()
        torch.cuda.synchronize()
        rounds.append(begin.elapsed_time(end) * 1e-3 / times)
    return statistics.median(rounds)


def line(kind, work, shape, rate, unit):
    print(f"{kind:<6} {work:<34} {shape:<28} {rate:8.1f} {unit}", flush=True)


def rows(kind, count):
    x = torch.randn(count, device=DEVICE).to(getattr(torch, kind))
    read = x.numel() * x.element_size() * 1e-9
    for columns in (16, 32, 256, 4096, 65536, 1 << 20, count // 16):
        if columns > count:
            continue
        matrix = x.view(-1, columns)
        shape = f"{matrix.shape[0]} x {columns}"
        for axis in (1, 0):
            line(kind, f"torch.sum, axis {axis}", shape, read / median_seconds(lambda: matrix.sum(axis)), "GB/s")
            line(kind, f"torch.argmax, axis {axis}", shape, read / median_seconds(lambda: matrix.argmax(axis)), "GB/s")
        if kind == "bfloat16":
            continue
        same = cupy.from_dlpack(matrix)
        with cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream):
            line(kind, "cupy.sum, axis 1", shape, read / median_seconds(lambda: same.sum(axis=1)), "GB/s")


def segments(count):
    x = torch.randn(count, device=DEVICE)
    for mean in (16, 64, 256, 4096, 1 << 20):
        lengths = torch.randint(0, 2 * mean + 1, (max(2, count // mean),), device=DEVICE)
        offsets = torch.cat([torch.zeros(1, dtype=torch.long, device=DEVICE), lengths.cumsum(0).clamp(max=count)])
        offsets[-1] = count
        call = lambda: torch.segment_reduce(x, "sum", offsets=offsets)
        line("float32", "torch.segment_reduce", f"mean {mean}", 4e-9 * count / median_seconds(call, 3), "GB/s")


def groups(count):
    x = torch.randn(count, device=DEVICE)
    for number in (1 << 4, 1 << 10, 1 << 16, 1 << 22):
        keys = torch.randint(0, number, (count,), device=DEVICE)
        sums = torch.zeros(number, device=DEVICE)
        call = lambda: sums.index_add_(0, keys, x)
        line("float32", "torch.index_add_", f"{number} groups", 1e-9 * count / median_seconds(call, 3), "G/s")


if __name__ == "__main__":
    print(f"# {torch.cuda.get_device_name()}, PyTorch {torch.__version__}, CuPy {cupy.__version__}, {COUNT} elements")
    rows("float32", COUNT)
    rows("float64", COUNT // 2)
    rows("bfloat16", COUNT)
    segments(COUNT)
    groups(COUNT)
