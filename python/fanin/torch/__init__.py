# SPDX-License-Identifier: Apache-2.0
"""PyTorch's reductions with fanin's results: operators with gradients, which torch.compile and vmap know."""

from ._operators import register as _register
from ._reductions import ROWS as _reductions
from ._scatters import ROWS as _scatters
from ._totals import any_nonfinite, clip_grad_norm_, total_mean, total_norm, total_sum

globals().update((row.name, _register(row)) for row in (*_reductions, *_scatters))
