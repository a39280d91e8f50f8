# SPDX-License-Identifier: Apache-2.0
# needs: torch triton
"""A kernel of Triton that computes an activation, and in the same pass the exact sum of its results, as lanes.

Lanes are integers that any transport can add (docs/exact-format.md). Triton's interpreter runs the kernel if there is no
GPU.
"""

import os

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"

import triton
import triton.language as tl

import fanin

WORDS = 11  # of the sum of f32; seven counters follow


@triton.jit
def add_to_lanes(y, there, lanes, words: tl.constexpr):
    """Adds the elements `there` of a block of f32 to lanes. The word at bit 32 k of the sum, in 2^-149, is lane k."""
    bits = y.to(tl.int32, bitcast=True)
    exponent = (bits >> 23) & 255
    fraction = (bits & 0x7fffff).to(tl.int64)
    magnitude = tl.where(exponent == 0, fraction, fraction + 0x800000)
    magnitude = tl.where(there & (exponent < 255), magnitude, 0)
    place = tl.maximum(exponent, 1) - 1
    shifted = magnitude << (place % 32).to(tl.int64)  # below 2^55: a part of two words
    sign = tl.where(bits < 0, -1, 1).to(tl.int64)
    low, high, word = (shifted & 0xffffffff) * sign, (shifted >> 32) * sign, place // 32
    for k in tl.static_range(words):
        tl.atomic_add(lanes + k, tl.sum(tl.where(word == k, low, 0) + tl.where(word + 1 == k, high, 0), 0))
    count = tl.sum(there.to(tl.int64), 0)
    others = tl.sum((there & (bits != -2147483648)).to(tl.int64), 0)  # than -0
    tl.atomic_add(lanes + words, count)
    tl.atomic_add(lanes + words + 2, tl.minimum(others, 1))
    tl.atomic_add(lanes + words + 3, tl.where(others == 0, tl.minimum(count, 1), 0))
    nan = there & (exponent == 255) & (fraction != 0)
    infinite = there & (exponent == 255) & (fraction == 0)
    tl.atomic_add(lanes + words + 4, tl.max(nan.to(tl.int64), 0))
    tl.atomic_add(lanes + words + 5, tl.max((infinite & (bits >= 0)).to(tl.int64), 0))
    tl.atomic_add(lanes + words + 6, tl.max((infinite & (bits < 0)).to(tl.int64), 0))


@triton.jit
def silu_kernel(x, y, lanes, count, words: tl.constexpr, block: tl.constexpr):
    i = tl.program_id(0) * block + tl.arange(0, block)
    there = i < count
    values = tl.load(x + i, mask=there, other=0.0)
    results = values * tl.sigmoid(values)
    tl.store(y + i, results, mask=there)
    add_to_lanes(results, there, lanes, words)


def silu_and_lanes(x, block=1024):
    y, lanes = torch.empty_like(x), torch.zeros(WORDS + 7, dtype=torch.int64, device=x.device)
    silu_kernel[(triton.cdiv(x.numel(), block),)](x, y, lanes, x.numel(), WORDS, block)
    return y, lanes


def main():
    device = "cuda" if torch.cuda.is_available() else "cpu"
    powers = torch.randint(-120, 4, (10007,), generator=torch.Generator().manual_seed(1))
    x = (torch.randn(10007, generator=torch.Generator().manual_seed(2)) * 2.0 ** powers).to(device)
    for block in (256, 1024):
        y, lanes = silu_and_lanes(x, block)
        assert fanin.State.from_lanes(lanes).value() == fanin.sum(y).item()
        assert fanin.State.from_lanes(lanes).mean("f64") == fanin.mean(y, dtype="f64").item()
    for special in ([float("inf"), 1.0], [float("nan")], [-0.0, -0.0], []):
        y, lanes = silu_and_lanes(torch.tensor(special, device=device))
        assert repr(fanin.State.from_lanes(lanes).value()) == repr(fanin.sum(y).item()), special
    print("%d results of a kernel, and their exact sum: %r" % (x.numel(), fanin.State.from_lanes(
        silu_and_lanes(x)[1]).value()))


if __name__ == "__main__":
    main()
