# SPDX-License-Identifier: Apache-2.0
# needs: torch numpy
"""The norm by which gradients are clipped: one value, however the gradients are cut into tensors and ranks."""

import os
import tempfile

import torch
import torch.distributed
import torch.multiprocessing

import fanin.torch

RANKS = 2


def gradients():
    return torch.randn(100000, generator=torch.Generator().manual_seed(1))


def parameters_of(parts):
    made = [torch.nn.Parameter(torch.zeros_like(part)) for part in parts]
    for parameter, part in zip(made, parts):
        parameter.grad = part.clone()
    return made


def of_rank(rank, meeting):
    torch.distributed.init_process_group("gloo", init_method="file://" + meeting, rank=rank, world_size=RANKS)
    mine = gradients()[:12345] if rank else gradients()[12345:]  # stages of different sizes
    norm = fanin.torch.clip_grad_norm_(parameters_of(mine.split(700)), 1.0, group=torch.distributed.group.WORLD)
    assert norm == fanin.torch.total_norm([gradients()])
    torch.distributed.destroy_process_group()


def main():
    found = {size: fanin.torch.clip_grad_norm_(parameters_of(gradients().split(size)), 1.0).item()
             for size in (100000, 4096, 7)}
    theirs = {size: torch.nn.utils.clip_grad_norm_(parameters_of(gradients().split(size)), 1.0).item()
              for size in found}
    assert len(set(found.values())) == 1
    with tempfile.TemporaryDirectory() as folder:
        torch.multiprocessing.spawn(of_rank, (os.path.join(folder, "meeting"),), RANKS)
    print("norm %r for every split; PyTorch's: %s" % (found[7], ", ".join(map(repr, theirs.values()))))


if __name__ == "__main__":
    main()
