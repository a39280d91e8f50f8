# SPDX-License-Identifier: Apache-2.0
"""index_add of single elements on a device, beside that of the CPU."""

import itertools
import math
import unittest
from unittest import mock

try:
    import torch

    import fanin.torch
    from fanin import _batches
    from fanin.torch import _plans
except ImportError:
    torch = None


def setUpModule():
    if torch is None or not torch.cuda.is_available():
        raise unittest.SkipTest("there is no GPU with torch")


class Additions(unittest.TestCase):
    def test_elements_in_place(self):
        """On a device elements are added by a call that is kept, with the CPU's bits, whatever the results were before."""
        if _plans.reduce_buffer is None:
            self.skipTest("the package has no module for short calls")
        generator = torch.Generator().manual_seed(6)
        of_bits = {torch.float16: torch.int16, torch.bfloat16: torch.int16, torch.float32: torch.int32}
        for dtype, groups, most in itertools.product((torch.float16, torch.bfloat16, torch.float32, torch.float64),
                                                     (1, 300, 70000), (0, 9, 100)):
            count = 200000
            x = torch.randn(count, generator=generator, dtype=torch.float64)
            x = (x * 2.0 ** torch.randint(-most, most + 1, x.shape, generator=generator)).to(dtype)
            keys = torch.randint(0, groups, (count,), generator=generator)
            sums = fanin.torch.index_add(torch.zeros(groups, dtype=dtype), 0, keys, x)
            for earlier in (torch.zeros_like(sums), -torch.zeros_like(sums), -sums, 3 * sums, sums * 2.0 ** 24,
                            sums * 2.0 ** -24, torch.full_like(sums, torch.finfo(dtype).smallest_normal),
                            torch.full_like(sums, -torch.finfo(dtype).max), torch.full_like(sums, math.inf)):
                expected = fanin.torch.index_add(earlier, 0, keys, x)
                with self.subTest(dtype=dtype, groups=groups, most=most, earlier=earlier[0]):
                    with mock.patch.object(_batches, "batch_of", side_effect=AssertionError("a long call")):
                        found = fanin.torch.index_add(earlier.cuda(), 0, keys.cuda(), x.cuda()).cpu()
                    same = found.view(of_bits.get(dtype, torch.int64)) == expected.view(of_bits.get(dtype, torch.int64))
                    self.assertTrue((same | found.isnan() & expected.isnan()).all())
