# SPDX-License-Identifier: Apache-2.0
"""PyTorch's reductions with fanin's results, for models.

Functions with PyTorch's names and arguments, which have gradients, and which torch.compile, vmap and autocast know;
one norm of many tensors, over process groups too; and an exact mode for models that are not changed.

>>> import torch, fanin.torch
>>> fanin.torch.sum(torch.tensor([1e16, 1.0, -1e16], dtype=torch.float64))
tensor(1., dtype=torch.float64)
"""

from ._exact import Report, enable, exact, report
from ._exponentials import max_and_sum_exp
from ._functions import FUNCTIONS as _FUNCTIONS
from ._totals import any_nonfinite, clip_grad_norm_, total_max, total_mean, total_norm, total_sum

globals().update(_FUNCTIONS)
__all__ = [*_FUNCTIONS, "Report", "any_nonfinite", "clip_grad_norm_", "enable", "exact", "max_and_sum_exp", "report",
           "total_max", "total_mean", "total_norm", "total_sum"]
