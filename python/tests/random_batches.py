#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares random batches on a GPU with a CPU, whose exact results have to have the same bits. Needs PyTorch.

usage: random_batches.py RESULTS [SEED]

Batches of random operations, types, layouts, strides and numbers are reduced until there are so many results. Prints
their number by layout. Exits with 1 after the first batch that differs, and prints its seed: RESULTS of 1 and that seed
reduce the batch alone.
"""

import collections
import math
import random
import sys
import time

import torch

import fanin

OPERATIONS = """sum mean sum_of_magnitudes sum_of_squares norm2 variance sample_variance standard_deviation
min max minmax argmin argmax max_magnitude count_nonzero any all""".split()
FLOATS = [torch.float32, torch.float64, torch.bfloat16, torch.float16]
TYPES = FLOATS + [torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64, torch.bool]
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
MOST_ELEMENTS = 1 << 23


def numbers(count, dtype, choose, generator):
    """Numbers of one of several kinds."""
    def normal():
        return torch.randn(count, generator=generator, device=DEVICE, dtype=torch.float64)
    if dtype == torch.bool:
        return normal() > choose.choice((-3, 0, 3))
    if dtype not in FLOATS:
        return (normal() * choose.choice((1, 20))).round().clamp(0 if dtype == torch.uint8 else -100, 100).to(dtype)
    kind = choose.randrange(6)
    x = normal()
    if kind >= 2:
        x = torch.ldexp(x, (normal() * choose.choice((2, 8, 40))).round().to(torch.int32))
    if kind == 3:
        x = torch.where(normal() > 1, x, -0.0)
    if kind == 4:
        x = x.round()
    x = x.to(dtype)
    if kind == 5 and count:
        places = torch.randint(count, (max(1, count // 10000),), generator=generator, device=DEVICE)
        limits = torch.finfo(dtype)
        x[places] = choose.choice((float("inf"), float("nan"), limits.max, limits.smallest_normal / 4))
    return x


def bits(results):
    """The bytes of results, where all NaN are equal; behind them which results are NaN."""
    parts = [part.contiguous().cpu() for part in (results if isinstance(results, tuple) else (results,))]
    plain = [part.nan_to_num(0, float("inf"), -float("inf")) if part.is_floating_point() else part for part in parts]
    return [part.view(-1, 1).view(torch.uint8) for part in plain] + [part.isnan() for part in parts]


def length_of(choose):
    return choose.choice((choose.randint(1, 40), choose.randint(1, 600), 2 ** choose.randint(0, 13),
                          choose.randint(1, 20000)))


class Rows:
    """Rows or columns, at any address, with gaps, and with one or two axes that are kept."""

    def __init__(self, dtype, choose, generator):
        length, gap, before = length_of(choose), choose.choice((0, 0, 1, 3, 8)), choose.choice((0, 0, 1, 2, 5))
        count = choose.randint(1, max(1, min(300000, MOST_ELEMENTS // (length + gap))))
        self.axis, shape = choose.choice(((1, (count, length)), (0, (length, count)), (2, (-(-count // 7), 7, length)),
                                          (1, (-(-count // 5), length, 5)), ((1, 2), (count, -(-length // 3), 3))))
        width = shape[-1] + gap
        x = numbers(before + math.prod(shape[:-1]) * width, dtype, choose, generator)
        self.x = x[before:].reshape(*shape[:-1], width)[..., :shape[-1]]

    def reduce(self, operation, place, **how):
        x = self.x if place == DEVICE else strided_copy(self.x)
        return getattr(fanin, operation)(x, axis=self.axis, **how)


def strided_copy(x):
    """A tensor of the host with the same strides."""
    if x.device.type == "cpu":
        return x
    base = x._base if x._base is not None else x
    return base.cpu().as_strided(x.shape, x.stride(), x.storage_offset())


class Segments:
    def __init__(self, dtype, choose, generator):
        most = length_of(choose)
        count = choose.randint(1, max(1, min(300000, 2 * MOST_ELEMENTS // most)))
        least = choose.choice((1, 1, most))
        lengths = torch.randint(least, most + 1, (count,), generator=generator, device=DEVICE)
        self.offsets = torch.cat((lengths.new_zeros(1), lengths.cumsum(0))) + choose.choice((0, 0, 1, 3))
        if choose.random() < .5:
            self.offsets = self.offsets.to(torch.int32)
        self.x = numbers(int(self.offsets[-1]) + choose.choice((0, 5)), dtype, choose, generator)

    def reduce(self, operation, place, **how):
        return getattr(fanin, "segment_" + operation)(self.x.to(place), self.offsets.to(place), **how)


class Groups:
    def __init__(self, dtype, choose, generator):
        self.groups = choose.choice((choose.randint(1, 50), choose.randint(1, 5000), choose.randint(1, 300000)))
        self.x = numbers(self.groups + choose.randint(0, MOST_ELEMENTS // 2), dtype, choose, generator)
        # Each group has an element, because extrema of none have no value.
        self.keys = torch.randint(self.groups, (len(self.x),), generator=generator, device=DEVICE)
        self.keys[:self.groups] = torch.arange(self.groups, device=DEVICE)
        order = choose.randrange(3)
        if order == 1:
            self.keys = self.keys.sort().values
        if order == 2:
            self.keys = self.keys[torch.randperm(len(self.x), generator=generator, device=DEVICE)]
        types = (torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64)
        self.keys = self.keys.to(choose.choice([one for one in types if torch.iinfo(one).max >= self.groups - 1]))

    def reduce(self, operation, place, **how):
        return getattr(fanin, "group_" + operation)(self.x.to(place), self.keys.to(place), self.groups, **how)


def compare(seed):
    """The layout and the number of results of a batch. Exits if they differ."""
    choose, generator = random.Random(seed), torch.Generator(DEVICE).manual_seed(seed)
    layout, dtype = choose.choice((Rows, Rows, Segments, Groups)), choose.choice(TYPES)
    operation = choose.choice(OPERATIONS)
    how = {"method": "exact"} if dtype in FLOATS and operation in OPERATIONS[:8] else {}
    batch, found = layout(dtype, choose, generator), []
    for place in (DEVICE, "cpu"):
        try:
            found.append(bits(batch.reduce(operation, place, **how)))
        except (fanin.Error, ValueError, OverflowError) as error:
            found.append(type(error))
    there, here = found
    if type(there) is type or type(here) is type:
        if there != here:
            sys.exit("seed %d: %s and %s, %s of %s, %s" % (seed, there, here, operation, dtype, layout.__name__))
        return "errors", 1
    if not all(map(torch.equal, there, here)):
        sys.exit("seed %d: other bits, %s of %s, %s of %s"
                 % (seed, operation, dtype, layout.__name__, tuple(batch.x.shape)))
    return layout.__name__, len(there[0])


def main(results, seed=0):
    counts, batches, begin, last = collections.Counter(), 0, time.time(), int(seed)
    while sum(counts.values()) < int(results):
        layout, count = compare(last + batches)
        counts[layout] += count
        batches += 1
    print("%d batches, seeds from %d, %s on %s in %.0f s: same bits"
          % (batches, last, dict(counts), DEVICE, time.time() - begin))


if __name__ == "__main__":
    main(*sys.argv[1:])
