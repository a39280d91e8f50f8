# SPDX-License-Identifier: Apache-2.0
"""Calls of every operator of fanin.torch, for the tests that all of them have to pass."""

import functools
import math

import torch

import fanin.torch

KEYS = torch.tensor([2, 0, 2, 1, 2])
PLACES = torch.tensor([[2, 0, 1], [0, 0, 3], [2, 1, 1], [1, 3, 2], [2, 2, 2]])


def numbers(*shape, dtype=torch.float64, seed=1):
    """Different numbers, none of which is near 0 or near another one: derivatives exist at all of them."""
    count = math.prod(shape)
    order = torch.randperm(count, generator=torch.Generator().manual_seed(seed))
    return ((order.to(dtype) + 0.5) / count * 3 - 1.4).reshape(shape).to(dtype)


def samples():
    """For each operator its calls, as (tensors that may have a gradient, other arguments, arguments by name)."""
    x, y, wide = numbers(3, 4, 5), numbers(3, 4, 5, seed=2), numbers(2, 3, 4)
    base, source = numbers(4, 3), numbers(5, 3, seed=3)
    along = {}
    for name in ("sum", "mean", "amin", "amax", "any", "all"):
        along[name] = [((x,), (1,), {}), ((x,), ([0, -1], True), {}), ((x,), (), {}), ((x[0, 0, 0],), (0,), {})]
    along["prod"] = [((x,), (1,), {}), ((x,), (-1, True), {}), ((x,), (), {}), ((x[0, 0, 0],), (0,), {})]
    along["count_nonzero"] = [((x,), (1,), {}), ((x,), ([0, 2],), {}), ((x,), (), {})]
    along["logsumexp"] = [((x,), (1,), {}), ((x,), ([0, -1], True), {}), ((x[0, 0, 0],), (0,), {})]
    for name in ("argmin", "argmax"):
        along[name] = [((x,), (1,), {}), ((x,), (-1, True), {}), ((x,), (), {}), ((x,), (None, True), {})]
    for name in ("var", "std", "var_mean", "std_mean"):
        along[name] = [((x,), (1,), {}), ((x,), ([0, 2],), {"correction": 0, "keepdim": True}), ((x,), (), {}),
                       ((x,), (1,), {"correction": 1.5})]
    along["vector_norm"] = [((x,), (order, *others), {}) for order in (1, 2, math.inf)
                            for others in ((), (1,), ([0, 2], True))]
    along["dot"] = [((x[0, 0], y[0, 0]), (), {})]
    along["vecdot"] = [((x, y), (), {}), ((x, y), (), {"dim": 0})]
    along["segment_reduce"] = [
        ((x,), (reduce,), dict(others, axis=axis)) for reduce in ("sum", "mean", "prod", "max", "min")
        for axis, others in ((0, {"lengths": torch.tensor([1, 2])}), (0, {"offsets": torch.tensor([0, 1, 3])}),
                             (1, {"lengths": torch.tensor([[1, 3], [2, 2], [3, 1]])}))]
    along["segment_reduce"] += [((x,), (reduce,), {"lengths": torch.tensor([2, 0, 1]), "initial": 2})
                                for reduce in ("sum", "prod", "max", "min")]
    along["index_add"] = [((base, source), (0, KEYS), {}), ((base, source), (0, KEYS), {"alpha": 2}),
                          ((base[:, 0], source[:, 0]), (0, KEYS), {}),
                          ((numbers(9, 3), source), (0, 3 * KEYS + 1), {}),
                          ((wide, numbers(2, 3, 5)), (-1, KEYS), {})]
    along["scatter_add"] = [((base, source), (0, PLACES), {}),
                            ((base.t(), source.t()), (1, PLACES.t()), {})]
    along["scatter_reduce"] = [((base, source), (0, PLACES, reduce), {"include_self": included})
                               for reduce in ("sum", "prod", "mean", "amax", "amin") for included in (True, False)]
    return along


def arranged(name, tensors, others):
    """The arguments in the order of the operator."""
    if name in ("index_add", "scatter_add", "scatter_reduce"):
        return (tensors[0], *others[:2], tensors[1], *others[2:])
    return (*tensors, *others)


def stacked(function):
    """The function, whose two results, where it has two, are one tensor."""
    @functools.wraps(function)
    def stack(*args, **kwargs):
        found = function(*args, **kwargs)
        return torch.stack(found) if isinstance(found, tuple) else found
    return stack


def of_fanin(name):
    return stacked(getattr(fanin.torch, name))


def of_pytorch(name):
    """The function of PyTorch that has the same name and arguments."""
    return stacked(getattr(torch.linalg if name in ("vector_norm", "vecdot") else torch, name))
