# SPDX-License-Identifier: Apache-2.0
"""Measures PyTorch's sums over ranks, a process for each device: the peers of fanin_nccl_sums, in the same lines.

python3 bench/nccl_peers.py [LOG2_OF_LONG_ARRAY]
"""
import json
import os
import statistics
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

ROUNDS = 9


def measure(call, calls, to_host=False):
    """The median and the least, over rounds, of the microseconds of a call on the slowest rank."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    slowest = []
    for round_number in range(-1, ROUNDS):
        torch.cuda.synchronize()
        dist.barrier()
        torch.cuda.synchronize()
        start = time.perf_counter()
        begin.record()
        for _ in range(calls):
            value = call()
            if to_host:
                value.item()
        end.record()
        torch.cuda.synchronize()
        seconds = time.perf_counter() - start if to_host else begin.elapsed_time(end) * 1e-3
        all_seconds = torch.tensor([seconds], device="cuda", dtype=torch.float64)
        dist.all_reduce(all_seconds, dist.ReduceOp.MAX)
        if round_number >= 0:
            slowest.append(all_seconds.item() / calls * 1e6)
    return statistics.median(slowest), min(slowest)


def rank_main(rank, ranks, log2_of_long):
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=ranks, device_id=torch.device("cuda", rank))

    def show(row, size, timing, contestant, times):
        if rank == 0:
            print(json.dumps({"row": row, "size": size, "ranks": ranks, "timing": timing, "contestant": contestant,
                              "us": round(times[0], 2), "least_us": round(times[1], 2)}), flush=True)

    def sum_over_ranks(x):
        total = torch.sum(x)
        dist.all_reduce(total)
        return total

    for log2 in (20, log2_of_long):
        x = torch.rand(1 << log2, device="cuda") - 0.5
        calls = 10 if log2 > 24 else 200
        show("sum of f32", x.numel(), "enqueued", "torch.sum and all_reduce", measure(lambda: sum_over_ranks(x), calls))
        show("sum of f32", x.numel(), "to the host", "torch.sum and all_reduce",
             measure(lambda: sum_over_ranks(x), calls, to_host=True))
        del x
    for name, dtype in (("f32", torch.float32), ("bf16", torch.bfloat16)):
        x = torch.zeros((1 << 28) // dtype.itemsize, device="cuda", dtype=dtype)
        show(f"vectors of {name}", 1 << 28, "enqueued", "torch all_reduce of zeros",
             measure(lambda: dist.all_reduce(x), 20))
    dist.destroy_process_group()


if __name__ == "__main__":
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29517")
    count = torch.cuda.device_count()
    mp.spawn(rank_main, args=(count, int(sys.argv[1]) if len(sys.argv) > 1 else 30), nprocs=count)
