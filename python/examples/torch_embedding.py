# SPDX-License-Identifier: Apache-2.0
# needs: torch numpy
"""The gradient of an embedding has the same bits for any order of the tokens: each is an exact sum, rounded once."""

import torch

import fanin.torch

TOKENS, WORDS, WIDTH = 5000, 300, 16


class Embedding(torch.nn.Embedding):
    """PyTorch's embedding with a gradient that is an exact index_add."""

    def forward(self, tokens):
        return Lookup.apply(self.weight, tokens)


class Lookup(torch.autograd.Function):
    @staticmethod
    def forward(ctx, weight, tokens):
        ctx.save_for_backward(tokens)
        ctx.words = len(weight)
        return weight[tokens]

    @staticmethod
    def backward(ctx, grad):
        tokens, = ctx.saved_tensors
        return fanin.torch.index_add(grad.new_zeros(ctx.words, grad.shape[-1]), 0, tokens.reshape(-1),
                                     grad.reshape(-1, grad.shape[-1])), None


def gradient(embedding, tokens, factors):
    embedding.weight.grad = None
    (embedding(tokens) * factors).sum().backward()
    return embedding.weight.grad


def main():
    torch.manual_seed(1)
    tokens, factors, order = torch.randint(0, WORDS, (TOKENS,)), torch.randn(TOKENS, WIDTH), torch.randperm(TOKENS)
    ours, theirs = Embedding(WORDS, WIDTH), torch.nn.Embedding(WORDS, WIDTH)
    same = torch.equal(gradient(ours, tokens, factors), gradient(ours, tokens[order], factors[order]))
    assert same
    differ = (gradient(theirs, tokens, factors) != gradient(theirs, tokens[order], factors[order])).sum().item()
    print("in another order of the tokens: 0 elements of the gradient differ, and %d of PyTorch's own" % differ)


if __name__ == "__main__":
    main()
