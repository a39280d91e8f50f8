# SPDX-License-Identifier: Apache-2.0
"""The kernels for softmax and norms of whole rows: exact statistics of rows, and the bits of PyTorch's operators."""

import functools
import itertools
import math
import unittest
from unittest import mock

from support import wide_numbers

try:
    import torch

    from fanin.torch import _replacements, _whole_rows
except ImportError:
    torch = None

SHAPES = ((1, 8), (3, 128), (37, 24), (5, 4096), (2, 33000), (1, 1 << 18))
NORMS = (*SHAPES[:4], (4, 5000), (5, 8192), (3, 1 << 14), (2, 20000), (3, 1 << 15))


def setUpModule():
    if torch is None or not torch.cuda.is_available():
        raise unittest.SkipTest("there is no GPU with torch")
    if _whole_rows.enqueue is None:
        raise unittest.SkipTest("the library has no GPU code")


@functools.lru_cache(None)
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
            bits = torch.int16 if one.dtype.itemsize == 2 else torch.int32
            differ = one.view(bits).ne(other.view(bits)) & ~(one.isnan() & other.isnan())
            self.assertFalse(differ.any(), (one[differ], other[differ]))

    def test_bits_of_softmax(self):
        for shape, dtype, scale, function in itertools.product(
                SHAPES, _whole_rows.SERVED, (1, 30), (_replacements.softmax, _replacements.log_softmax)):
            with self.subTest(shape=shape, dtype=dtype, scale=scale, function=function.__name__):
                x = torch.randn(shape, device="cuda", dtype=torch.float64, generator=torch.Generator("cuda").manual_seed(5))
                x = with_special_values((x * scale).to(dtype))
                self.check(function, x, 1, False)
                self.check(function, x, -1, dtype == torch.float16)

    def check_norms(self, x, weight=None, bias=None, eps=1e-6):
        self.check(_replacements.rms_norm, x, x.shape[1:], weight, eps)
        self.check(_replacements.layer_norm, x, x.shape[1:], weight, bias, eps)

    def test_bits_of_norms(self):
        """Of numbers whose sizes differ by up to 2^120, of numbers near 1, and of numbers of which some are subnormal."""
        others = (None, *_whole_rows.SERVED)
        for shape, dtype, other, binades in itertools.product(NORMS, _whole_rows.SERVED, others, (3, 8, 120)):
            if shape[1] > 4096 and other is not None and (other != dtype or binades == 8):
                continue
            with self.subTest(shape=shape, dtype=dtype, other=other, binades=binades):
                x = with_special_values(numbers(*shape, binades=binades).to(dtype))
                weight, bias = (None if other is None else numbers(shape[1], seed=seed).to(other) for seed in (2, 3))
                self.check_norms(x, weight, bias)
                self.check_norms(x * 2.0 ** -10 + 1, weight, None, 0.0)
                self.check_norms(x * 2.0 ** -126, None, bias, 1e-30)

    def test_norms_of_equal_and_of_integer_rows(self):
        """Rows of one number, and of integers, of whose results many are halfway between two f32."""
        for dtype, length in itertools.product(_whole_rows.SERVED, (8, 4096, 24000, 1 << 15)):
            with self.subTest(dtype=dtype, length=length):
                generator = torch.Generator("cuda").manual_seed(7)
                x = torch.randint(-300, 300, (64, length), generator=generator, device="cuda").to(dtype)
                x[0], x[1], x[2], x[3] = 0.1, 0.0, -0.0, 3.0
                self.check_norms(x, eps=0.0)

    def test_variances_and_means_near_ties(self):
        """Results that are halfway between two f32, or off by a number that is smaller by up to 2^140."""
        for length, small in itertools.product((8, 1024, 1 << 15), (0.0, *(2.0 ** -k for k in (12, 40, 60, 100, 126)))):
            with self.subTest(length=length, small=small):
                variance = torch.tensor([[4097.0, -4097.0, small, -small], [small, -4099.0, 4099.0, -small]], device="cuda")
                self.check_norms(variance.repeat(1, length // 4), eps=0.0)
                variance = torch.tensor([[8194.0, small, 8194.0, -small], [8198.0, -small, 8198.0, small]], device="cuda")
                self.check_norms(variance.repeat(1, length // 4), eps=0.0)
                mean = torch.zeros(4, length, device="cuda")
                mean[:, 0], mean[:, length // 2] = length, length * 2.0 ** -24
                mean[1], mean[:2, -1], mean[2:, -1] = -mean[1], small, -small
                mean[3, length // 2] *= 3
                self.check_norms(mean, eps=0.0)

    def test_softmax_near_ties(self):
        """Sums of which half are halfway between two f32, but for an exponential that is smaller by up to 2^144."""
        functions = _replacements.softmax, _replacements.log_softmax
        for small, function in itertools.product((-math.inf, -30, -60, -100), functions):
            with self.subTest(small=small, function=function.__name__):
                x = torch.full((512, 16), -math.inf, device="cuda")
                x[:, 0], x[:, 1], x[:, 2] = 0, torch.linspace(-0.69, -0.01, 512), small
                self.check(function, x, 1, False)

    def test_sums_near_ties(self):
        """Sums of squares that are halfway between two f32, or off by a square that is smaller by up to 2^520."""
        for head, small, dtype in itertools.product(
                ([1.0, 2.0 ** -12], [1.0, 2.0 ** -12, 2.0 ** -12], [2.0 ** 127, 2.0 ** 115], [2.0 ** -120, 2.0 ** -132]),
                (0.0, 2.0 ** -40, 2.0 ** -80, 2.0 ** -126, 2.0 ** -133), (torch.bfloat16, torch.float32)):
            with self.subTest(head=head, small=small, dtype=dtype):
                x = torch.zeros(3, 16, device="cuda", dtype=dtype)
                x[:, :len(head)] = torch.tensor(head)
                x[0, len(head):len(head) + 3] = small
                x[1:, 3], x[2, 5] = small, small * 2.0 ** -40  # beside the second number in the order of the kernel
                self.check_norms(x, eps=0.0)

    def test_others_are_left_to_pytorch(self):
        x = torch.ones(8, 24, device="cuda")
        self.assertTrue(_whole_rows.is_served(x, 24) and _whole_rows.are_norms_served(x, (x[0], None)))
        for some in (x[:, :16], x[:, 1:].contiguous(), x.double(), x.cpu(), x.view(-1)[1:-7].view(-1, 8)):
            self.assertFalse(_whole_rows.is_served(some, some.shape[-1]))
        for weight in (x[0, :8], x[0].double(), x[0].cpu(), x.view(-1)[1:25]):
            self.assertFalse(_whole_rows.are_norms_served(x, (x[0], weight)))
        self.assertFalse(_whole_rows.is_served(torch.ones(1, (1 << 18) + 8, device="cuda"), (1 << 18) + 8))
        for dim in (0, -2, 3, -3):
            self.assertIsNone(_whole_rows.softmax(_whole_rows.SOFTMAX, x, dim, x.dtype))
        x = torch.ones(1, (1 << 15) + 8, device="cuda")
        self.assertIsNone(_whole_rows.norm(x, False, None, None, 1e-6))
