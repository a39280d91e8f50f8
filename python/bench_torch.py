#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times the functions of fanin.torch on a GPU beside PyTorch's, in turns in one process: the medians of 5 rounds.

usage: bench_torch.py [WORD...]    with words only the rows whose name has one of them
"""

import statistics
import sys
import time

import torch
from torch import nn

import fanin.torch

ROUNDS = 5


def on_device(call, calls):
    """Microseconds of one call, on the device."""
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(calls):
        call()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1000 / calls


def in_graph(call, calls):
    """Microseconds of one call on the device, in a CUDA graph: the host takes no time."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(calls):
            call()
    return on_device(graph.replay, 1) / calls


def until_return(call, calls):
    """Microseconds until a call returns."""
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - begin) * 1e6 / calls


def compare(name, ours, theirs, timer=on_device, calls=5):
    if sys.argv[1:] and not any(word in name for word in sys.argv[1:]):
        return
    sides = (ours(), theirs())
    for call in sides:
        for _ in range(3):
            call()
    times = [[], []]
    for _ in range(ROUNDS):
        for side, call in zip(times, sides):
            side.append(timer(call, calls))
    mine, other = map(statistics.median, times)
    name = name.replace("torch.float32", "f32").replace("torch.bfloat16", "bf16")
    print("| %s | %.1f | %.1f | %.2f |" % (name, mine, other, mine / other), flush=True)


def short(dtype):
    x = torch.randn(1024, device="cuda").to(dtype)
    for name, y in (("", x), (", with a gradient", x.clone().requires_grad_())):
        compare("sum of 1024 %s until it returns%s" % (dtype, name), lambda: lambda: fanin.torch.sum(y),
                lambda: lambda: torch.sum(y), until_return, 2000)
    rows = x.reshape(16, 64)
    compare("sums of 16 rows of 64 %s until it returns" % dtype, lambda: lambda: fanin.torch.sum(rows, 1),
            lambda: lambda: torch.sum(rows, 1), until_return, 2000)


def with_backward(function, x):
    def call():
        result = function(x)
        torch.autograd.grad(result, x, torch.ones_like(result))
    return call


def rows(shape, dtype):
    x = torch.randn(shape, device="cuda").to(dtype).requires_grad_()
    pairs = {"logsumexp": (lambda x: fanin.torch.logsumexp(x, 1), lambda x: torch.logsumexp(x, 1)),
             "var": (lambda x: fanin.torch.var(x, 1), lambda x: torch.var(x, 1)),
             "norm": (lambda x: fanin.torch.vector_norm(x, 2, 1), lambda x: torch.linalg.vector_norm(x, 2, 1))}
    for name, (mine, other) in pairs.items():
        for timer, where in (on_device, ""), (in_graph, ", in a CUDA graph"):
            compare("%s of %d x %d %s, forward and backward, both compiled%s" % (name, *shape, dtype, where),
                    lambda: with_backward(torch.compile(mine), x), lambda: with_backward(torch.compile(other), x), timer)


def added(groups):
    x, keys = torch.randn(1 << 27, device="cuda"), torch.randint(0, groups, (1 << 27,), device="cuda")
    out = torch.zeros(groups, device="cuda")
    compare("index_add of 2^27 f32 into %d" % groups, lambda: lambda: fanin.torch.index_add(out, 0, keys, x),
            lambda: lambda: out.index_add_(0, keys, x), calls=2)


def added_rows(groups, dtype):
    x, keys = torch.randn(1 << 18, 1024, device="cuda").to(dtype), torch.randint(0, groups, (1 << 18,), device="cuda")
    out = torch.zeros(groups, 1024, device="cuda", dtype=dtype)
    compare("index_add of 2^18 rows of 1024 %s into %d" % (dtype, groups),
            lambda: lambda: fanin.torch.index_add(out, 0, keys, x), lambda: lambda: out.index_add_(0, keys, x), calls=2)


def norms():
    tensors = [torch.randn(round(2 ** (10 + 14 * i / 499)), device="cuda") for i in range(500)]
    for timer, until in (on_device, "on the device"), (until_return, "until it returns"):
        compare("total_norm of 500 tensors of 2^10 to 2^24 f32, %s" % until,
                lambda: lambda: fanin.torch.total_norm(tensors),
                lambda: lambda: torch.nn.utils.get_total_norm(tensors, foreach=True), timer)


class Block(nn.Module):
    """A block like Llama's, of 4096 tokens of 4096 numbers."""

    def __init__(self, width=4096, heads=32):
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList(nn.RMSNorm(width) for _ in range(2))
        self.qkv, self.out = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
        self.up, self.down = nn.Linear(width, 22016, bias=False), nn.Linear(11008, width, bias=False)

    def forward(self, x):
        parts = self.qkv(self.norms[0](x)).chunk(3, -1)
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in parts)
        x = x + self.out(nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))
        gate, up = self.up(self.norms[1](x)).chunk(2, -1)
        return x + self.down(nn.functional.silu(gate) * up)


def block():
    model = Block().to("cuda", torch.bfloat16)
    x = torch.randn(1, 4096, 4096, device="cuda", dtype=torch.bfloat16, requires_grad=True)

    def plain():
        model(x).sum().backward()

    def exact():
        with fanin.torch.exact():
            plain()
    compare("a block of 4096 x 4096 bf16, forward and backward, fused attention", lambda: exact, lambda: plain)
    from torch.nn.attention import SDPBackend, sdpa_kernel

    def of_math(call):
        def run():
            with sdpa_kernel(SDPBackend.MATH):
                call()
        return run
    compare("the same, attention of products and softmax", lambda: of_math(exact), lambda: of_math(plain))


if __name__ == "__main__":
    print("%s, torch %s\n\n| call | fanin.torch, us | PyTorch, us | ratio |\n|---|---|---|---|"
          % (torch.cuda.get_device_name(), torch.__version__))
    for dtype in (torch.float32, torch.bfloat16):
        short(dtype)
    norms()
    for groups in (1 << 10, 1 << 16, 1 << 22):
        added(groups)
    for dtype in (torch.float32, torch.bfloat16):
        for groups in (1 << 12, 1 << 16):
            added_rows(groups, dtype)
    block()
    rows((4096, 32768), torch.float32)
    rows((4096, 128256), torch.bfloat16)
