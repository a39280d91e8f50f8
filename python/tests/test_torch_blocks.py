# SPDX-License-Identifier: Apache-2.0
"""A transformer's block in the exact mode: the bits of a row depend on that row alone, whichever kernels compute it."""

import itertools
import math
import unittest
from unittest import mock

try:
    import torch
    from torch import nn
    from torch.nn import functional

    import fanin.torch
    from fanin.torch import _whole_rows
except ImportError:
    torch = None

DEVICES = ["cpu"] + (["cuda"] if torch is not None and torch.cuda.is_available() else [])
# On a device kernels of the package serve rows whose lengths are multiples of 8, and PyTorch's operators the others.
TOKENS, PADDED, WIDTH, CLASSES = 7, (9, 13, 16, 24), 24, 32
IGNORED = -100


def setUpModule():
    if torch is None:
        raise unittest.SkipTest("torch is not installed")


class Block(object if torch is None else nn.Module):
    """Embedding, attention and a perceptron, with both norms. Products are sums, which the mode makes exact."""

    def __init__(self):
        super().__init__()
        self.embedding, self.before, self.between = nn.Embedding(CLASSES, WIDTH), nn.LayerNorm(WIDTH), nn.RMSNorm(WIDTH)
        sizes = (*[(WIDTH, WIDTH)] * 3, (WIDTH, 2 * WIDTH), (2 * WIDTH, WIDTH), (WIDTH, CLASSES))
        self.weights = nn.ParameterList(torch.randn(b, a) / a ** 0.5 for a, b in sizes)

    @staticmethod
    def product(x, weight):
        return (x.unsqueeze(-2) * weight).sum(-1)

    def forward(self, tokens):
        there = tokens >= 0
        x = self.hidden = self.embedding(tokens.clamp(min=0))
        q, k, v = (self.product(self.before(x), weight) for weight in self.weights[:3])
        scores = (q.unsqueeze(2) * k.unsqueeze(1)).sum(-1) / 5
        scores = scores.masked_fill(~there.unsqueeze(1), -math.inf).softmax(-1)
        x = x + (scores.unsqueeze(-1) * v.unsqueeze(1)).sum(2)
        inner = functional.silu(self.product(self.between(x), self.weights[3]))
        return self.product(x + self.product(inner, self.weights[4]), self.weights[5])


class Run:
    """A block with random weights, and 64 rows of tokens."""

    def __init__(self, device, dtype):
        torch.manual_seed(1)
        self.block, self.rows = Block().to(device, dtype), torch.randint(0, CLASSES, (64, TOKENS)).to(device)

    def __call__(self, rows, padded):
        """The outputs, and the gradients of these rows and of the weights. Each token is the target of its place."""
        tokens = functional.pad(rows, (0, padded - TOKENS), value=-1)
        self.block.zero_grad()
        with fanin.torch.exact():
            out = self.block(tokens)
            self.block.hidden.retain_grad()
            functional.cross_entropy(out.flatten(0, 1), tokens.where(tokens >= 0, IGNORED).flatten(), ignore_index=IGNORED,
                                     reduction="sum").backward()
        return out[:, :TOKENS].detach(), self.block.hidden.grad[:, :TOKENS], \
            [parameter.grad for parameter in self.block.parameters()]


def runs():
    return [Run(device, dtype) for device, dtype in itertools.product(DEVICES, (torch.float32, torch.bfloat16))]


class Rows(unittest.TestCase):
    def test_rows(self):
        """Row 5 has the same bits alone, in two runs, and in batches of 7 and 64, at any padding."""
        for run, (begin, end) in itertools.product(runs(), ((5, 6), (0, 7), (0, 64))):
            alone, of_weights = run(run.rows[5:6], PADDED[0]), None
            for padded in PADDED:
                with self.subTest(device=run.rows.device, dtype=alone[0].dtype, rows=end - begin, padded=padded):
                    found = run(run.rows[begin:end], padded)
                    for whole, of_batch in zip(alone[:2], found[:2]):
                        self.assertTrue(torch.equal(whole[0], of_batch[5 - begin]))
                    of_weights = of_weights or found[2]
                    self.assertTrue(all(map(torch.equal, of_weights, found[2])))

    def test_kernels(self):
        """On a device the kernels served both norms, the loss, and each attention whose rows have vectors."""
        for run, padded in itertools.product(runs(), PADDED):
            with mock.patch.object(_whole_rows, "run", wraps=_whole_rows.run) as kernels:
                run(run.rows, padded)
            found = sorted((call.args[0] is _whole_rows.enqueue, call.args[1].length) for call in kernels.call_args_list)
            expected = [(False, WIDTH)] * 4 + [(True, padded)] * (padded % 8 == 0) + [(True, CLASSES)]
            is_served = run.rows.is_cuda and _whole_rows.enqueue is not None
            self.assertEqual(found, expected if is_served else [])
            report = fanin.torch.report()
            self.assertEqual(report.left, {})
            self.assertLessEqual({"aten::native_layer_norm", "aten::_softmax", "aten::_log_softmax", "aten::nll_loss_forward",
                                  "aten::embedding_dense_backward"}, set(report.replaced))

    def test_order_of_rows(self):
        """The gradients of the parameters are the same for any order of the rows."""
        for run in runs():
            expected = run(run.rows, 9)[2]
            for rows in (run.rows.flip(0), run.rows[torch.randperm(64)]):
                self.assertTrue(all(map(torch.equal, run(rows, 9)[2], expected)))


if __name__ == "__main__":
    unittest.main()
