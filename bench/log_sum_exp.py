#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks and measures log_sum_exp of the Python package beside torch.logsumexp, eager and compiled, on a GPU.

Values are compared with doubles. Then each line has the microseconds of a call until its end, medians of 40 calls, and
the speed as a share of that of a fast sum of the same shape and of one f32 array of as many bytes.
FANIN_LIBRARY names another build of the library. Usage: bench/log_sum_exp.py [--no-check]
"""
import statistics
import sys
import time

import fanin
import torch

INFINITY = float("inf")
F32, BF16, F16, F64 = torch.float32, torch.bfloat16, torch.float16, torch.float64
SHAPES = [(F32, (1 << 28,), 0), (BF16, (1 << 28,), 0), (F16, (1 << 28,), 0), (BF16, (4096, 128256), 1),
          (BF16, (8192, 4096), 1), (F32, (4096, 32768), 1), (BF16, (1 << 16, 4096), 1), (F16, (1 << 16, 4096), 1),
          (BF16, (1 << 17, 2048), 1), (BF16, (1 << 18, 1024), 1), (F32, (1 << 18, 1024), 1),
          (BF16, (1 << 20, 256), 1), (F32, (1 << 20, 256), 1), (BF16, (256, 1 << 20), 0), (F32, (256, 1 << 20), 0),
          (BF16, (1 << 16, 4096), 0), (F32, (1 << 16, 4096), 0), (F64, (1 << 15, 4096), 1), (F64, (1 << 19, 256), 1)]


def microseconds(call):
    times = []
    for _ in range(43):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        call()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - begin)
    return statistics.median(times[3:]) * 1e6


def error(found, x, axis):
    """The largest error in units of 2^-24 max(1, |result|); results that are not finite have to agree."""
    exact = torch.logsumexp(x.double(), axis)
    finite = exact.isfinite()
    assert torch.equal(found.double()[~finite].nan_to_num(1, 2, 3), exact[~finite].nan_to_num(1, 2, 3))
    off = (found.double() - exact).abs()[finite] / exact[finite].abs().clamp(min=1)
    return off.max().item() * 2**24 if off.numel() else 0.


def check():
    torch.manual_seed(1)
    worst = 0.
    for dtype in (F32, BF16, F16):
        for rows, length in ((1000, 1), (1000, 7), (3000, 256), (777, 1000), (500, 1024), (300, 4096), (40, 128256)):
            for scale, offset in ((1, 0), (30, 0), (400, 0), (0.01, -5), (3, 650), (3, -700), (1e4, 0)):
                x = (torch.randn(rows, length, device="cuda") * scale + offset).to(dtype)
                if scale == 3:
                    x[torch.rand(x.shape, device="cuda") < 0.5] = -INFINITY
                x[0] = -INFINITY
                x[1, length // 2] = float("nan")
                x[2, length - 1] = INFINITY
                x[3] = -INFINITY
                x[3, length // 3] = 1.25
                found = fanin.log_sum_exp(x, axis=1)
                assert found[3] == 1.25
                worst = max(worst, error(found, x, 1))
                assert worst <= 4, (dtype, rows, length, scale, offset, worst)
                for i in range(0, rows, rows // 3):  # a batch of one row, and a row that is not aligned
                    same = fanin.log_sum_exp(x[i:i + 1], axis=1)
                    shifted = torch.cat([x.new_zeros(1), x[i]])[1:]
                    other = fanin.log_sum_exp(shifted[None], axis=1)
                    assert same.isnan() and other.isnan() and found[i].isnan() or same == found[i] == other, (i, length)
                columns = fanin.log_sum_exp(x.t().contiguous(), axis=0)
                assert torch.equal(columns.nan_to_num(1), found.nan_to_num(1)), (dtype, rows, length)
                whole = fanin.log_sum_exp(x[4:].flatten())
                worst = max(worst, error(torch.tensor([float(whole)], device="cuda"), x[4:].reshape(1, -1), 1))
    print(f"errors are at most {worst:.2f} * 2^-24 max(1, |result|)")


def main():
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, {fanin.__file__}")
    if "--no-check" not in sys.argv:
        check()
    print(f"{'':32} {'fanin':>9} {'eager':>9} {'compiled':>9} {'fast sum':>9} {'of sum':>7} {'of f32 array':>12}")
    for dtype, shape, axis in SHAPES:
        torch._dynamo.reset()
        compiled = torch.compile(torch.logsumexp, dynamic=False)
        x = torch.randn(shape, device="cuda").to(dtype)
        flat = x.flatten().view(F32)
        ours, total, reading, eager, inductor = map(microseconds, (
            lambda: fanin.log_sum_exp(x, axis=axis), lambda: fanin.sum(x, axis=axis, method="fast"),
            lambda: fanin.sum(flat, method="fast"), lambda: torch.logsumexp(x, axis), lambda: compiled(x, axis)))
        name = f"{str(dtype)[6:]} {' x '.join(map(str, shape))}" + (f", axis {axis}" if len(shape) > 1 else "")
        print(f"{name:32} {ours:9.1f} {eager:9.1f} {inductor:9.1f} {total:9.1f} {total / ours:7.2f} "
              f"{reading / ours:12.2f}", flush=True)
        del x, flat


if __name__ == "__main__":
    main()
