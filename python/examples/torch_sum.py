# SPDX-License-Identifier: Apache-2.0
# needs: torch
"""An exact sum over the ranks of torch.distributed by one all-reduce of integers (gloo; with NCCL it is the same)."""

import os
import tempfile

import torch
import torch.distributed
import torch.multiprocessing

import fanin

RANKS = 3


def all_numbers():
    return torch.randn(100000, dtype=torch.float64, generator=torch.Generator().manual_seed(1)) * 1e10


def of_rank(rank, meeting):
    torch.distributed.init_process_group("gloo", init_method="file://" + meeting, rank=rank, world_size=RANKS)
    lanes = fanin.State(all_numbers().chunk(RANKS)[rank]).lanes()  # on the device of the numbers
    torch.distributed.all_reduce(lanes)
    assert fanin.State.from_lanes(lanes).value() == fanin.sum(all_numbers()).item()
    torch.distributed.destroy_process_group()


def main():
    with tempfile.TemporaryDirectory() as folder:
        torch.multiprocessing.spawn(of_rank, (os.path.join(folder, "meeting"),), RANKS)
    print("%d ranks: %r" % (RANKS, fanin.sum(all_numbers()).item()))


if __name__ == "__main__":
    main()
