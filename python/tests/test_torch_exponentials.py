# SPDX-License-Identifier: Apache-2.0
"""The maximum and the sum of exponentials of rows."""

import math
import unittest

from support import exact_sum

try:
    import torch

    import fanin.torch
    from fanin.torch import _exponentials, _whole_rows
    from torch_samples import numbers
except ImportError:
    torch = None

DEVICES = ["cpu"] + (["cuda"] if torch is not None and torch.cuda.is_available() else [])


def setUpModule():
    if torch is None:
        raise unittest.SkipTest("torch is not installed")


def equal(found, expected):
    return all(torch.equal(a.nan_to_num(7), b.nan_to_num(7)) and torch.equal(a.isnan(), b.isnan())
               for a, b in zip(found, expected))


class Exponentials(unittest.TestCase):
    def test_values(self):
        for device in DEVICES:
            for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
                x = (numbers(6, 24) * 20).to(device, dtype)
                for dim in (0, 1, -1):
                    largest, total = fanin.torch.max_and_sum_exp(x, dim)
                    wide = x if dtype == torch.float64 else x.float()
                    self.assertEqual((largest.dtype, total.dtype), (wide.dtype, wide.dtype))
                    self.assertTrue(torch.equal(largest, wide.amax(dim)))
                    terms = (wide - wide.amax(dim, True)).exp().movedim(dim, -1).tolist()
                    sums = torch.tensor([exact_sum(row) for row in terms], dtype=torch.float64)
                    self.assertTrue(torch.equal(total.cpu(), sums.to(wide.dtype)), (device, dtype, dim))
                    kept = fanin.torch.max_and_sum_exp(x, dim, True)
                    self.assertTrue(equal(kept, (largest.unsqueeze(dim), total.unsqueeze(dim))))

    def test_kernel(self):
        """Rows that a kernel reads have the bits of the operators; also of lengths between and beyond its threads."""
        for dtype in (torch.bfloat16, torch.float32) if "cuda" in DEVICES else ():
            for length in (8, 24, 1000, 4096, 70000):
                for scale in (1, 30):
                    x = (torch.randn(5, length, generator=torch.Generator().manual_seed(length)) * scale).to("cuda", dtype)
                    x[1, 3], x[2, 5], x[3], x[4, 0] = math.nan, math.inf, -math.inf, -math.inf
                    self.assertIsNotNone(_whole_rows.max_and_sum_exp(x, -1))
                    one_more = torch.cat((x, x[:, :1] * 0 - math.inf), 1)[:, :length]  # there is a gap between rows
                    self.assertIsNone(_whole_rows.max_and_sum_exp(one_more, -1))
                    self.assertTrue(equal(fanin.torch.max_and_sum_exp(x), fanin.torch.max_and_sum_exp(one_more)),
                                    (dtype, length, scale))

    def test_special_values(self):
        infinity = math.inf
        rows = [[1, 2, math.nan, 3], [infinity, 1, 2, 3], [-infinity] * 4, [-infinity, 5, -infinity, 5], [0.0, -0.0, 0, 0]]
        for device in DEVICES:
            x = torch.tensor(rows, device=device).repeat(1, 2)
            largest, total = fanin.torch.max_and_sum_exp(x)
            expected = torch.tensor([[math.nan, math.nan, -infinity, 5, 0], [math.nan, math.nan, 0, 4, 8]], device=device)
            self.assertTrue(equal((largest, total), expected))

    def test_parts(self):
        """Two parts of a row merge to the logarithm of the sum of all."""
        for device in DEVICES:
            x = (numbers(7, 64) * 9).to(device)
            (m, s), (n, t) = fanin.torch.max_and_sum_exp(x[:, :40]), fanin.torch.max_and_sum_exp(x[:, 40:])
            k = torch.maximum(m, n)
            merged = k + (s * (m - k).exp() + t * (n - k).exp()).log()
            torch.testing.assert_close(merged, x.logsumexp(1))

    def test_gradients(self):
        for device in DEVICES:
            x = numbers(3, 8).to(device).requires_grad_()
            self.assertTrue(torch.autograd.gradcheck(fanin.torch.max_and_sum_exp, (x,)))
            self.assertTrue(torch.autograd.gradgradcheck(fanin.torch.max_and_sum_exp, (x,)))

    def test_compiled_and_batched(self):
        call = fanin.torch.max_and_sum_exp
        for device in DEVICES:
            x = (numbers(4, 16) * 5).to(device, torch.float32)
            expected = call(x)
            compiled = torch.compile(call, fullgraph=True, backend="aot_eager")(x)
            self.assertTrue(equal(compiled, expected))
            self.assertTrue(equal(torch.vmap(call)(x), expected))

    def test_refused(self):
        with self.assertRaisesRegex(TypeError, "takes floats"):
            fanin.torch.max_and_sum_exp(torch.ones(3, dtype=torch.int64))
        with self.assertRaises(IndexError):
            _exponentials.max_and_sum_exp(torch.ones(3), 2)


if __name__ == "__main__":
    unittest.main()
