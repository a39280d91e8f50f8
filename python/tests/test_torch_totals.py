# SPDX-License-Identifier: Apache-2.0
"""One result of many tensors: any split has the same bits, those of exact arithmetic; also over two processes."""

import itertools
import math
import os
import tempfile
import unittest
import unittest.mock
from fractions import Fraction

from support import wide_numbers

try:
    import torch
    import torch.distributed
    from torch.distributed.tensor import Replicate, Shard, distribute_tensor, init_device_mesh

    import fanin.torch
    from fanin.torch import _totals
except ImportError:
    torch = None

DEVICES = ["cpu"] + (["cuda"] if torch is not None and torch.cuda.is_available() else [])
NARROW = () if torch is None else (torch.bfloat16, torch.float16, torch.float8_e5m2)


def setUpModule():
    if torch is None:
        raise unittest.SkipTest("torch is not installed")


def all_numbers(dtype=None):
    return torch.tensor(wide_numbers(3000, 5, 30), dtype=dtype or torch.float64)


def root(square, dtype):
    """The correctly rounded root of a fraction, for f32 and f64."""
    digits = 24 if dtype == torch.float32 else 53
    scale = 2 * (digits + 8) - math.frexp(float(square))[1] // 2
    whole = math.isqrt(math.floor(square * Fraction(4) ** scale))
    sticky = Fraction(whole) ** 2 != square * Fraction(4) ** scale
    nearest = Fraction(2 * whole + sticky, 2 ** (scale + 1))  # On the same side of every tie as the root.
    return rounded(nearest, dtype)


def rounded(fraction, dtype):
    """A fraction rounded once. numpy is not needed: the two neighbours of f32 are compared."""
    if dtype == torch.float64:
        return torch.tensor(float(fraction), dtype=dtype)
    near = torch.tensor(float(fraction), dtype=dtype)
    neighbours = [torch.nextafter(near, torch.tensor(-math.inf)), near, torch.nextafter(near, torch.tensor(math.inf))]
    return min(neighbours, key=lambda x: (abs(Fraction(x.item()) - fraction), x.view(torch.int32).item() & 1))


def splits(x):
    return ([x], list(x.split(7)), [x[:1], x[1:1], x[1:100].reshape(9, 11).t(), x[100:]], list(x.flip(0).split(1000)))


class Totals(unittest.TestCase):
    def test_splits(self):
        for device in DEVICES:
            for dtype in (torch.float32, torch.float64):
                x = all_numbers(dtype)
                exact = list(map(Fraction, x.tolist()))
                expected = {1: rounded(sum(map(abs, exact)), dtype), 2: root(sum(v * v for v in exact), dtype),
                            math.inf: x.abs().max(), "sum": rounded(sum(exact), dtype),
                            "max": x.max(), "mean": rounded(sum(exact) / len(x), dtype)}
                for tensors, small in itertools.product(splits(x.to(device)), (1, _totals.SMALL)):
                    with unittest.mock.patch.object(_totals, "SMALL", small):  # With 1, none are copied into one.
                        for order in (1, 2, math.inf):
                            self.assertEqual(fanin.torch.total_norm(tensors, order), expected[order])
                        self.assertEqual(fanin.torch.total_sum(tensors), expected["sum"])
                        self.assertEqual(fanin.torch.total_mean(tensors), expected["mean"])
                        self.assertEqual(fanin.torch.total_max(tensors), expected["max"])

    def test_types_together(self):
        """f32 and narrower floats are added to those of f64 without rounding, and the result is f64."""
        x = all_numbers()
        parts = [x[:500].clamp(-200, 200).to(NARROW[0]), x[500:700].clamp(-200, 200).to(NARROW[1]),
                 x[700:800].clamp(-200, 200).to(NARROW[2]), x[800:2000].float(), x[2000:]]
        exact = [Fraction(v) for part in parts for v in part.double().tolist()]
        for device in DEVICES:
            moved = [part.to(device) for part in parts]
            self.assertEqual(fanin.torch.total_norm(moved), root(sum(v * v for v in exact), torch.float64))
            self.assertEqual(fanin.torch.total_sum(moved), rounded(sum(exact), torch.float64))
            self.assertEqual(fanin.torch.total_norm(moved, dtype=torch.float32),
                             root(sum(v * v for v in exact), torch.float32))
            self.assertEqual(fanin.torch.total_norm(moved[:3]).dtype, torch.float32)

    def test_special_values(self):
        for device in DEVICES:
            ones = torch.ones(5, device=device)
            for value, norm in ((math.nan, math.nan), (math.inf, math.inf), (-math.inf, math.inf), (1, 1)):
                tensors = [ones * 0, torch.tensor([float(value)], device=device)]
                for order in (1, 2, math.inf):
                    found = fanin.torch.total_norm(tensors, order)
                    self.assertTrue(found == norm or found.isnan() and math.isnan(norm), (value, order))
                self.assertEqual(fanin.torch.any_nonfinite(tensors), not math.isfinite(value))
        self.assertEqual(fanin.torch.total_norm([]), 0)
        self.assertFalse(fanin.torch.any_nonfinite([]))

    def test_largest(self):
        """Also of numbers below 0, of zeros, and of NaN with a sign."""
        for device in DEVICES:
            for numbers in ([-3.0, -2.0], [-0.0, 0.0, -1.0], [-math.inf, -1.0], [math.inf, 1.0], [-math.inf]):
                for dtype in (torch.bfloat16, torch.float32, torch.float64):
                    tensors = [torch.tensor([x], dtype=dtype, device=device) for x in numbers]
                    found = fanin.torch.total_max(tensors)
                    self.assertEqual(repr(found.item()), repr(max(numbers)) if max(numbers) else "0.0")
                    self.assertEqual(found.dtype, torch.promote_types(dtype, torch.float32))
            for nan in (math.nan, -torch.tensor(math.nan)):
                self.assertTrue(fanin.torch.total_max([torch.ones(3, device=device),
                                                       torch.tensor([float(nan)], device=device)]).isnan())
        self.assertEqual(fanin.torch.total_max([]), -math.inf)

    def test_refused(self):
        x = torch.ones(3)
        for call, words in ((lambda: fanin.torch.total_norm([x], 3), "norm_type is 1, 2 or inf"),
                            (lambda: fanin.torch.total_norm([x.long()]), "of floats")):
            with self.assertRaisesRegex((ValueError, TypeError), words):
                call()


class Clipping(unittest.TestCase):
    def parameters(self, parts):
        made = [torch.nn.Parameter(torch.zeros(len(part))) for part in parts]
        for parameter, part in zip(made, parts):
            parameter.grad = part.clone()
        return made

    def test_clip(self):
        x = all_numbers(torch.float32)
        found = set()
        for parts in (x.split(3000), x.split(11)):
            parameters = self.parameters(parts)
            norm = fanin.torch.clip_grad_norm_(parameters, 2.0)
            self.assertEqual(norm, fanin.torch.total_norm([x]))
            clipped = torch.cat([p.grad for p in parameters])
            self.assertTrue(torch.equal(clipped, x * (2.0 / (norm + 1e-6))))
            found.add(tuple(clipped.tolist()))
        self.assertEqual(len(found), 1)

    def test_small_norm_and_none(self):
        parameters = self.parameters([torch.tensor([3.0, 4.0])]) + [torch.nn.Parameter(torch.ones(2))]
        self.assertEqual(fanin.torch.clip_grad_norm_(parameters, 10), 5)
        self.assertEqual(parameters[0].grad.tolist(), [3.0, 4.0])
        self.assertEqual(fanin.torch.clip_grad_norm_(parameters[0], 10, math.inf), 4)
        self.assertEqual(fanin.torch.clip_grad_norm_([], 1), 0)

    def test_not_finite(self):
        parameters = self.parameters([torch.tensor([math.nan, 1.0])])
        with self.assertRaisesRegex(ValueError, "nothing was clipped"):
            fanin.torch.clip_grad_norm_(parameters, 1, error_if_nonfinite=True)
        self.assertEqual(parameters[0].grad[1], 1)


RANKS = 2


def of_rank(rank, meeting, device):
    """The same bits on every rank for parts of any size, of which one is empty, and for shards of a DTensor."""
    if device == "cuda":
        torch.cuda.set_device(rank)
    torch.distributed.init_process_group("nccl" if device == "cuda" else "gloo", init_method="file://" + meeting,
                                         rank=rank, world_size=RANKS)
    world = torch.distributed.group.WORLD
    x = all_numbers(torch.float32).to(device)
    for begin in (0, 7, 2000, 3000):
        mine = list((x[:begin] if rank else x[begin:]).split(100))
        for order in (1, 2, math.inf):
            assert fanin.torch.total_norm(mine, order, group=world) == fanin.torch.total_norm([x], order)
        assert fanin.torch.total_sum(mine, group=[world]) == fanin.torch.sum(x)
        assert fanin.torch.total_mean(mine, group=world) == fanin.torch.mean(x)
        assert fanin.torch.total_max([-abs(part) for part in mine], group=world) == -abs(x).min()
    assert fanin.torch.any_nonfinite([torch.tensor([math.nan if rank else 1.0], device=device)], group=world)

    mesh = init_device_mesh(device, (RANKS,))
    sharded = [distribute_tensor(part, mesh, [Shard(0)]) for part in x.split(1001)]
    sharded.append(distribute_tensor(x[:10], mesh, [Replicate()]))
    both = [x, x[:10]]
    assert fanin.torch.total_norm(sharded) == fanin.torch.total_norm(both)
    assert fanin.torch.total_sum(sharded) == fanin.torch.total_sum(both)
    assert fanin.torch.total_max(sharded) == x.max()
    parameters = [torch.nn.Parameter(part) for part in sharded]
    for parameter, part in zip(parameters, sharded):
        parameter.grad = part
    norm = fanin.torch.clip_grad_norm_(parameters, 1.0)
    assert torch.equal(parameters[0].grad.full_tensor(),
                       all_numbers(torch.float32).to(device)[:1001] * (1.0 / (norm + 1e-6)))
    torch.distributed.destroy_process_group()


class Ranks(unittest.TestCase):
    def test_ranks(self):
        with tempfile.TemporaryDirectory() as folder:
            torch.multiprocessing.spawn(of_rank, (os.path.join(folder, "meeting"), "cpu"), RANKS)

    @unittest.skipUnless(torch is not None and torch.cuda.device_count() >= RANKS, "there are not enough GPUs")
    def test_ranks_with_nccl(self):
        with tempfile.TemporaryDirectory() as folder:
            torch.multiprocessing.spawn(of_rank, (os.path.join(folder, "meeting"), "cuda"), RANKS)


if __name__ == "__main__":
    unittest.main()
