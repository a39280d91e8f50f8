# SPDX-License-Identifier: Apache-2.0
# needs: torch numpy
"""Scores of a text that do not depend on the texts beside it in the batch, in the exact mode.

Matrix products stay PyTorch's: those of this model are in f64, rounded to f32, so that their order hardly ever shows.
"""

import torch
from torch import nn

import fanin.torch

WORDS, WIDTH, LENGTH = 500, 64, 20


class Wide(nn.Linear):
    """A layer whose product is formed in f64."""

    def forward(self, x):
        return (x.double() @ self.weight.double().t() + self.bias.double()).to(x.dtype)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.norm = nn.Embedding(WORDS, WIDTH), nn.LayerNorm(WIDTH)
        self.inner, self.outer, self.head = Wide(WIDTH, 4 * WIDTH), Wide(4 * WIDTH, WIDTH), Wide(WIDTH, WORDS)

    def forward(self, tokens):
        x = self.embedding(tokens)
        x = x + self.outer(nn.functional.silu(self.inner(self.norm(x))))
        return self.head(x).log_softmax(-1)


def scores(model, texts):
    """The mean of the logarithms of the probabilities of the next tokens of each text."""
    found = model(texts[:, :-1]).gather(-1, texts[:, 1:, None]).squeeze(-1)
    return found.mean(1)


def main():
    torch.manual_seed(1)
    model, texts = Model(), torch.randint(0, WORDS, (64, LENGTH))
    with torch.inference_mode(), fanin.torch.exact():
        alone = torch.cat([scores(model, text[None]) for text in texts])
        assert torch.equal(alone, scores(model, texts))
        assert torch.equal(alone.flip(0), scores(model, texts.flip(0)))
    print(fanin.torch.report())


if __name__ == "__main__":
    main()
