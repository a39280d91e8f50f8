# SPDX-License-Identifier: Apache-2.0
"""The kernel for softmax and RMS norms of whole rows: exact sums of rows, and the bits of PyTorch's operators."""

import itertools
import unittest
from unittest import mock

from support import wide_numbers

try:
    import torch

    from fanin.torch import _replacements, _whole_rows
    from fanin.torch._layer_rows import NARROW
except ImportError:
    torch = None

SHAPES = ((1, 8), (3, 128), (37, 24), (5, 4096), (2, 33000), (1, 1 << 18))


def setUpModule():
    if torch is None or not torch.cuda.is_available():
        raise unittest.SkipTest("there is no GPU with torch")
    if _whole_rows.enqueue is None:
        raise unittest.SkipTest("the library has no GPU code")


def numbers(*shape, binades=8, seed=1):
    found = torch.tensor(wide_numbers(torch.Size(shape).numel(), seed, binades), dtype=torch.float64)
    return found.reshape(shape).to("cuda")


def with_special_values(x):
    """Rows with infinities, NaN and zeros alone behind the rows of x."""
    special = x[:1].repeat(6, 1)
    special[0, 2], special[1, 3], special[2, 4] = float("inf"), float("nan"), float("-inf")
    special[3] = float("-inf")
    special[4] = 0
    special[5, 5:] = float("-inf")
    return torch.cat((x, special))


class WholeRows(unittest.TestCase):
    def check(self, function, *args):
        """The kernel and PyTorch's operators give the same bits."""
        with mock.patch.object(_whole_rows, "run", wraps=_whole_rows.run) as run:
            found = function(*args)
            self.assertTrue(run.called)
        with mock.patch.object(_whole_rows, "enqueue", None):
            expected = function(*args)
        for one, other in zip(*((x if isinstance(x, tuple) else (x,)) for x in (found, expected))):
            self.assertEqual((one.dtype, one.shape), (other.dtype, other.shape))
            torch.testing.assert_close(one, other, rtol=0, atol=0, equal_nan=True)

    def test_bits_of_softmax(self):
        for shape, dtype, scale, function in itertools.product(
                SHAPES, _whole_rows.SERVED, (1, 30), (_replacements.softmax, _replacements.log_softmax)):
            with self.subTest(shape=shape, dtype=dtype, scale=scale, function=function.__name__):
                x = torch.randn(shape, device="cuda", dtype=torch.float64, generator=torch.Generator("cuda").manual_seed(5))
                x = with_special_values((x * scale).to(dtype))
                self.check(function, x, 1, False)
                self.check(function, x, -1, dtype == torch.float16)

    def test_bits_of_rms_norms(self):
        for shape, dtype, other, binades in itertools.product(SHAPES[:-2], NARROW, (None, *_whole_rows.SERVED), (3, 8, 120)):
            with self.subTest(shape=shape, dtype=dtype, other=other, binades=binades):
                x = with_special_values(numbers(*shape, binades=binades).to(dtype))
                weight = None if other is None else numbers(shape[1], seed=2).to(other)
                self.check(_replacements.rms_norm, x, (shape[1],), weight, None)
                self.check(_replacements.rms_norm, x * 2.0 ** -10, (shape[1],), weight, 1e-6)

    def test_sums_near_ties(self):
        """Sums of squares that are halfway between two f32, or off by a square that is smaller by up to 2^520."""
        for head, small in itertools.product(([1.0, 2.0 ** -12], [1.0, 2.0 ** -12, 2.0 ** -12], [2.0 ** 127, 2.0 ** 115],
                                              [2.0 ** -120, 2.0 ** -132]),
                                             (0.0, 2.0 ** -40, 2.0 ** -80, 2.0 ** -126, 2.0 ** -133)):
            with self.subTest(head=head, small=small):
                x = torch.tensor([head + [small] * 3 + [0.0] * (13 - len(head))], device="cuda", dtype=torch.bfloat16)
                self.check(_replacements.rms_norm, x, (16,), None, 0.0)

    def test_others_are_left_to_pytorch(self):
        x = torch.ones(8, 24, device="cuda")
        self.assertTrue(_whole_rows.is_served(x, 24, x[0]))
        for some in (x[:, :16], x[:, 1:].contiguous(), x.double(), x.cpu(), x.view(-1)[1:-7].view(-1, 8)):
            self.assertFalse(_whole_rows.is_served(some, some.shape[-1]))
        self.assertFalse(_whole_rows.is_served(x, 24, x[0, :8]))
        self.assertFalse(_whole_rows.is_served(torch.ones(1, (1 << 18) + 8, device="cuda"), (1 << 18) + 8))
        for dim in (0, -2, 3, -3):
            self.assertIsNone(_whole_rows.softmax(_whole_rows.SOFTMAX, x, dim, x.dtype))
        self.assertIsNone(_whole_rows.rms_norm(x, 24, None, 1e-6))
        x = torch.ones(1, (1 << 13) + 8, device="cuda", dtype=torch.float16)
        self.assertIsNone(_whole_rows.rms_norm(x, x.shape[1], None, 1e-6))
