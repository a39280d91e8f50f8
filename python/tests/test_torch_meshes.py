# SPDX-License-Identifier: Apache-2.0
"""DTensors over meshes of 2 to 4 processes: results and gradients have the bits of one process."""

import datetime
import math
import os
import tempfile
import unittest

from support import wide_numbers

try:
    import torch
    import torch.distributed
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard
    from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor
    from torch.distributed.tensor.debug import CommDebugMode
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
    from torch.distributed.tensor.placement_types import _StridedShard

    import fanin.torch
except ImportError:
    torch = None


def setUpModule():
    if torch is None or not torch.distributed.is_gloo_available():
        raise unittest.SkipTest("torch is not installed, or has no gloo")


def keys(x):
    """The integers 1 and 1, on the mesh of x if it is a DTensor."""
    found = torch.tensor([1, 1])
    return distribute_tensor(found, x.device_mesh, [Replicate()]) if isinstance(x, DTensor) else found


def calls():
    """Calls by the placement that their results have, where the first axis of (7, 12) is sharded, and the last one."""
    f, whole, rows = fanin.torch, (Replicate(), Replicate()), (Shard(0), Shard(0))
    return [(f.sum, whole), (f.mean, whole), (f.vector_norm, whole), (lambda x: f.vector_norm(x, 1), whole),
            (lambda x: f.vector_norm(x, math.inf, keepdim=True), whole), (lambda x: f.sum(x, (0, 1), True), whole),
            (lambda x: f.sum(x, dtype=torch.float64), whole), (lambda x: f.sum(x, method="fast"), whole),
            (lambda x: f.sum(x.clamp(-9, 9), dtype=torch.int64), whole),
            (f.var, whole), (lambda x: f.sum(x, 0), rows), (lambda x: f.mean(x, 1), rows),
            (lambda x: f.std(x, 1), rows),
            (lambda x: f.vector_norm(x, 2, 1, True), rows), (lambda x: f.amax(x, 0, True), (Shard(1), Shard(1))),
            (lambda x: f.argmin(x, 1), rows), (lambda x: f.count_nonzero(x, 0), rows),
            (lambda x: f.logsumexp(x, 1), rows),
            (lambda x: f.vecdot(x, x), rows), (lambda x: torch.ops.fanin.sum(x, [1]), rows),
            (lambda x: f.index_add(x, 0, keys(x), x[:2]), whole),
            (lambda x: f.scatter_add(x, 0, keys(x).unsqueeze(1).expand(2, 12), x[:2]), whole),
            (lambda x: f.scatter_reduce(x, 0, keys(x).unsqueeze(1).expand(2, 12), x[:2], "mean"), whole)]


def of_rank(rank, ranks, meeting):
    torch.distributed.init_process_group("gloo", init_method="file://" + meeting, rank=rank, world_size=ranks)
    mesh = init_device_mesh("cpu", (ranks,))
    numbers = torch.tensor(wide_numbers(84, 5, 30)).reshape(7, 12)
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        x = numbers.clamp(-1e30, 1e30).to(dtype)
        for axis in (0, 1):
            there = distribute_tensor(x, mesh, [Shard(axis)])
            for number, (call, placed) in enumerate(calls()):
                found, expected = call(there), call(x)
                assert found.placements == (placed[axis],), (number, axis, found.placements)
                assert found.dtype == expected.dtype, (number, axis)
                assert torch.equal(found.full_tensor(), expected), (number, axis, dtype)
        assert torch.equal(fanin.torch.sum(distribute_tensor(x, mesh, [Replicate()]), 1).full_tensor(),
                           fanin.torch.sum(x, 1))
        for call, _ in calls()[:7]:  # of lanes: nothing but sums of integers, or a maximum, is sent
            with CommDebugMode() as sent:
                call(there)
            assert {str(operator).partition(".")[2] for operator in sent.get_comm_counts()} == {"allreduce_"}
        few = x[:, :ranks - 1]
        assert torch.equal(fanin.torch.sum(distribute_tensor(few, mesh, [Shard(0)]), 0).full_tensor(),
                           fanin.torch.sum(few, 0))
        for number, (call, _) in enumerate(calls()):
            for axis in (0, 1):
                leaf, there = x.clone().requires_grad_(), distribute_tensor(x, mesh, [Shard(axis)]).requires_grad_()
                result = call(leaf)
                if result.requires_grad:  # Indices and counts have no gradient.
                    expected, = torch.autograd.grad((result * result).sum(), leaf)
                    found = call(there)
                    found, = torch.autograd.grad((found * found).sum(), there)
                    assert found.placements == (Shard(axis),)
                    found = found.full_tensor()
                    assert torch.equal(found.nan_to_num(7), expected.nan_to_num(7)), (number, axis, dtype)
    torch.distributed.destroy_process_group()


def of_rank_of_four(rank, meeting):
    """fully_shard() splits once more what tensor parallelism has split: some of its placements are no Shard."""
    torch.distributed.init_process_group("gloo", init_method="file://" + meeting, rank=rank, world_size=4,
                                         timeout=datetime.timedelta(minutes=5))
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("data", "tensor"))
    x = torch.tensor(wide_numbers(96, 5, 30), dtype=torch.float32).reshape(8, 12)
    mine = x.chunk(2)[mesh.get_local_rank("tensor")].chunk(2)[mesh.get_local_rank("data")].contiguous()
    there = DTensor.from_local(mine, mesh, [_StridedShard(0, split_factor=2), Shard(0)], run_check=False,
                               shape=x.shape, stride=x.stride())
    for total in (fanin.torch.total_sum, fanin.torch.total_mean, fanin.torch.total_norm, fanin.torch.total_max):
        assert total([there]) == total([x]), total
    for call in (fanin.torch.sum, fanin.torch.mean, fanin.torch.vector_norm):
        with CommDebugMode() as sent:
            found = call(there)
        assert {str(operator).partition(".")[2] for operator in sent.get_comm_counts()} == {"allreduce_"}
        assert found.placements == (Replicate(), Replicate()) and found.to_local() == call(x), call

    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 8))
    parallelize_module(model, mesh["tensor"], {"0": ColwiseParallel(), "2": RowwiseParallel()})
    fully_shard(model, mesh=mesh["data"])
    model(x[:4, :8].clamp(-10, 10)).sum().backward()
    grads = [parameter.grad.full_tensor().clone() for parameter in model.parameters()]
    norm = fanin.torch.clip_grad_norm_(model.parameters(), 1.0)
    assert norm == fanin.torch.total_norm(grads) and norm > 1
    for parameter, grad in zip(model.parameters(), grads):
        assert torch.equal(parameter.grad.full_tensor(), grad * (1.0 / (norm + 1e-6)))
    torch.distributed.destroy_process_group()


class Meshes(unittest.TestCase):
    def test_meshes(self):
        for ranks in (2, 3):
            with tempfile.TemporaryDirectory() as folder:
                torch.multiprocessing.spawn(of_rank, (ranks, os.path.join(folder, "meeting")), ranks)

    def test_shards_of_shards(self):
        with tempfile.TemporaryDirectory() as folder:
            torch.multiprocessing.spawn(of_rank_of_four, (os.path.join(folder, "meeting"),), 4)


if __name__ == "__main__":
    unittest.main()
