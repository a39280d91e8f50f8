# SPDX-License-Identifier: Apache-2.0
"""The kernel for norms of layers beside PyTorch's operators, whose bits it has."""

import itertools
import unittest
from unittest import mock

from support import wide_numbers

try:
    import torch

    import fanin.torch
    from fanin.torch import _layer_rows
except ImportError:
    torch = None

SHAPES = ((1, 8), (3, 128), (37, 24), (16, 4096))


def setUpModule():
    if torch is None or not torch.cuda.is_available():
        raise unittest.SkipTest("there is no GPU with torch")
    if _layer_rows.enqueue is None:
        raise unittest.SkipTest("the library has no GPU code")


def numbers(*shape, dtype=torch.float32 if torch is not None else None, seed=1):
    found = torch.tensor(wide_numbers(torch.Size(shape).numel(), seed, 8), dtype=torch.float64)
    return found.reshape(shape).to("cuda", dtype)


class Bits(unittest.TestCase):
    def assertSame(self, found, expected):
        for one, other in zip(found, expected):
            self.assertIs(one is None, other is None)
            if one is not None:
                self.assertEqual((one.dtype, one.shape), (other.dtype, other.shape))
                torch.testing.assert_close(one, other, rtol=0, atol=0, equal_nan=True)

    def check(self, function, *args):
        with mock.patch.object(_layer_rows, "run", wraps=_layer_rows.run) as run:
            found = function(*args)
            self.assertTrue(run.called)
        with mock.patch.object(_layer_rows, "enqueue", None):
            self.assertSame(*((x if isinstance(x, tuple) else (x,)) for x in (found, function(*args))))

    def test_bits(self):
        for shape, dtype, other in itertools.product(SHAPES, _layer_rows.SERVED, _layer_rows.SERVED):
            x, grad = numbers(*shape, dtype=dtype), numbers(*shape, dtype=dtype, seed=2)
            weight, bias = numbers(shape[1], dtype=other, seed=3), numbers(shape[1], dtype=other, seed=4)
            mean, scale, first, second = (numbers(shape[0], 1, seed=seed) for seed in range(5, 9))
            x[0, 1], x[-1, 2] = float("inf"), float("nan")
            for mean, weight, bias in itertools.product((mean, None), (weight, None), (bias, None)):
                with self.subTest(shape=shape, dtype=dtype, other=other, parts=[mean is None, weight is None, bias is None]):
                    self.check(_layer_rows.norm, x, mean, scale, weight, bias)
                    for wanted in ((True, True), (True, False), (False, True)):
                        self.check(_layer_rows.terms, grad, x, mean, scale, weight, *wanted)
                    of_mean = None if mean is None else first
                    self.check(_layer_rows.gradient, grad, x, mean, scale, weight, of_mean, second)

    def test_gradients_of_reductions(self):
        """Of rows the gradients of variances, norms and logsumexp take the kernel, by one step of autograd."""
        f = fanin.torch
        calls = (lambda x: f.var(x, 1), lambda x: f.std(x, (0, 1), correction=0), lambda x: f.var_mean(x, 1)[0],
                 lambda x: sum(f.std_mean(x, -1, keepdim=True)), lambda x: f.vector_norm(x, 2, -1),
                 lambda x: f.vector_norm(x), lambda x: f.logsumexp(x, 1))
        for shape, call, dtype in itertools.product(SHAPES, calls, _layer_rows.SERVED):
            def gradient(x):
                leaf = x.clone().requires_grad_()
                return torch.autograd.grad(call(leaf).square().sum(), leaf)
            with self.subTest(shape=shape, dtype=dtype, call=calls.index(call)):
                self.check(gradient, numbers(*shape, dtype=dtype))

    def test_others_are_left_to_pytorch(self):
        x, scale = numbers(4, 17), numbers(4, 1)
        for some in (x[:, :12], x[:, 1:9], x[:, :8].double()):
            self.assertFalse(_layer_rows.is_served(some, None, None, of_rows=(scale,)))
        x, weight = x[:, :8].contiguous(), numbers(8)
        self.assertTrue(_layer_rows.is_served(x, weight, None, (x,), (scale,)))
        for other in (numbers(16), numbers(4), weight.cpu(), weight.double()):
            self.assertFalse(_layer_rows.is_served(x, other, None))
        for other in (x.half(), numbers(3, 8), x.cpu()):
            self.assertFalse(_layer_rows.is_served(x, None, None, (other,)))
        for other in (numbers(3, 1), numbers(1, 4), scale.double(), scale.cpu(), scale._neg_view()):
            self.assertFalse(_layer_rows.is_served(x, None, None, of_rows=(other,)))

    def test_weights_of_another_length_are_an_error(self):
        x = numbers(4, 4096)
        with fanin.torch.exact(), self.assertRaises(RuntimeError):
            torch.nn.functional.layer_norm(x, (4096,), weight=numbers(8))


if __name__ == "__main__":
    unittest.main()
