# SPDX-License-Identifier: Apache-2.0
"""A block of Llama, of the package transformers, in the exact mode: the bits of a row depend on that row alone."""

import hashlib
import itertools
import subprocess
import sys
import unittest

try:
    import torch
    from torch.nn import functional
    from torch.overrides import TorchFunctionMode
    from transformers import LlamaConfig
    from transformers.models.llama.modeling_llama import LlamaDecoderLayer, LlamaRotaryEmbedding

    import fanin.torch
except ImportError as error:
    torch, MISSING = None, str(error)

DEVICES = ["cpu"] + (["cuda"] if torch is not None and torch.cuda.is_available() else [])
TYPES = () if torch is None else (torch.float32, torch.bfloat16)
TOKENS, PADDED, WIDTH = 7, (9, 13), 32


def setUpModule():
    if torch is None:
        raise unittest.SkipTest(MISSING)


class ExactProducts(object if torch is None else TorchFunctionMode):
    """Matrix products as sums of products, which the exact mode replaces. PyTorch's own depend on the size of a batch."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        if function is functional.linear:
            return (args[0].unsqueeze(-2) * args[1]).sum(-1)
        if function is torch.matmul:
            return (args[0].unsqueeze(-2) * args[1].mT.unsqueeze(-3)).sum(-1)
        return function(*args, **(kwargs or {}))


class Run:
    """A block with random weights, and 64 rows of tokens with the gradients of what the block makes of them."""

    def __init__(self, device, dtype):
        torch.manual_seed(1)
        config = LlamaConfig(hidden_size=WIDTH, intermediate_size=48, num_attention_heads=4, num_key_value_heads=2,
                             attn_implementation="eager")
        self.block = LlamaDecoderLayer(config, 0).to(device, dtype)
        self.rows, self.grads = torch.randn(2, 64, TOKENS, WIDTH).to(device, dtype)
        self.angles = LlamaRotaryEmbedding(config)(torch.empty(0, dtype=dtype), torch.arange(max(PADDED)).unsqueeze(0))

    def __call__(self, begin, end, padded):
        """The output for some rows, and the gradients of these rows and of the weights."""
        x = functional.pad(self.rows[begin:end], (0, 0, 0, padded - TOKENS), value=1.0).requires_grad_()
        hidden = torch.ones(padded, padded, dtype=torch.bool).triu(1)
        hidden[:, TOKENS:] = True
        mask = torch.zeros(hidden.shape).masked_fill(hidden, torch.finfo(x.dtype).min).to(x)
        angles = tuple(part[:, :padded].to(x) for part in self.angles)
        with fanin.torch.exact(), ExactProducts():
            out = self.block(x, attention_mask=mask.expand(1, 1, -1, -1), position_embeddings=angles)
            out = (out[0] if isinstance(out, tuple) else out)[:, :TOKENS]  # older versions give a tuple
            found = torch.autograd.grad(out, (x, *self.block.parameters()), self.grads[begin:end])
        return bits(out.detach()), bits(found[0][:, :TOKENS]), [bits(grad) for grad in found[1:]]


def bits(x):
    return x.contiguous().view(torch.uint8).cpu()


def digests():
    """A text that tells apart the results of a batch of 7 for every type and device."""
    found = []
    for device, dtype in itertools.product(DEVICES, TYPES):
        out, of_rows, of_weights = Run(device, dtype)(0, 7, PADDED[0])
        parts = (bytes(part.flatten().tolist()) for part in (out, of_rows, *of_weights))
        found.append(hashlib.sha256(b"".join(parts)).hexdigest())
    return " ".join(found)


class Llama(unittest.TestCase):
    def test_rows(self):
        """Row 5 alone and in batches of 7 and 64, at two paddings; alone the gradients of the weights, too."""
        for device, dtype in itertools.product(DEVICES, TYPES):
            run = Run(device, dtype)
            out, of_rows, of_weights = run(5, 6, PADDED[0])
            for (begin, end), padded in itertools.product(((5, 6), (0, 7), (0, 64)), PADDED):
                with self.subTest(device=device, dtype=dtype, rows=end - begin, padded=padded):
                    found = run(begin, end, padded)
                    self.assertTrue(torch.equal(found[0][5 - begin], out[0]))
                    self.assertTrue(torch.equal(found[1][5 - begin], of_rows[0]))
                    report = fanin.torch.report()
                    self.assertEqual(report.left, {})
                    self.assertLessEqual({"aten::sum", "aten::mean", "aten::_softmax"}, set(report.replaced))
                    if end - begin == 1:
                        self.assertTrue(all(map(torch.equal, found[2], of_weights)))

    def test_two_processes(self):
        other = subprocess.run([sys.executable, __file__, "digests"], check=True, capture_output=True, text=True)
        self.assertEqual(other.stdout.split()[-len(DEVICES) * len(TYPES):], digests().split())


if __name__ == "__main__":
    if sys.argv[1:] == ["digests"]:
        print(digests())
    else:
        unittest.main()
