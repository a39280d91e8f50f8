# SPDX-License-Identifier: Apache-2.0
"""The maximum and the sum of exponentials, of which softmax and logsumexp are made."""

import math

import torch

from .._errors import Unsupported
from . import _whole_rows
from ._functions import FUNCTIONS
from ._layer_rows import wide
from ._operators import PLAIN, kind_of


def max_and_sum_exp(self, dim=-1, keepdim=False):
    """The maximum m along dim, and the sum of e^(x - m) over the elements x. Both are f32, or f64 for elements of f64.

    The difference and the exponential are rounded, and the sum is rounded once. So the results have the same bits in
    any batch. In the exact mode softmax is e^(x - m) / s, and log_softmax is x - m - log(s), with these m and s. Two
    parts of a row with (m, s) and (n, t) have the maximum k = max(m, n) and the sum s * e^(m - k) + t * e^(n - k)
    together, unless k is -inf: then the sum is 0.

    Elements that are all -inf have the maximum -inf and the sum 0. If an element is NaN or +inf, both are NaN.
    On a device rows of f16, bf16 and f32 along the last axis, which no gradient needs, are read once, if they have a
    multiple of 8 elements, at most 2^18. Other tensors take the memory of the exponentials.
    """
    if not self.is_floating_point():
        raise Unsupported("max_and_sum_exp takes floats, and not elements of %s" % self.dtype)
    if not torch.compiler.is_dynamo_compiling() and kind_of((self,)) == PLAIN and self.numel():
        found = _whole_rows.max_and_sum_exp(self, dim)
        if found is not None:
            return found if keepdim else tuple(part.squeeze(-1) for part in found)
    x = wide(self)
    largest = FUNCTIONS["amax"](x, dim, True)
    total = FUNCTIONS["sum"]((x - largest).exp(), dim, True)
    total = torch.where(largest == -math.inf, 0, total)
    largest = torch.where(total.isnan(), total, largest)
    return (largest, total) if keepdim else (largest.squeeze(dim), total.squeeze(dim))
