# SPDX-License-Identifier: Apache-2.0
"""Reductions of JAX arrays with fanin's results, under jit, grad and vmap.

>>> import jax.numpy as jnp, fanin.jax
>>> print(fanin.jax.sum(jnp.array([1e8, 1.0, -1e8], dtype=jnp.float32)))
1.0
"""

from ._functions import logsumexp, mean, norm, segment_sum, sum

__all__ = ["logsumexp", "mean", "norm", "segment_sum", "sum"]
