# SPDX-License-Identifier: Apache-2.0
"""The exact mode: the reductions of whole models, without a change to the models."""

from collections import Counter
from functools import cache
from typing import NamedTuple

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from ._replacements import FLOATS, REPLACEMENTS

# Operators that add in an order of PyTorch's own, beside those that have its tag for reductions.
PRODUCTS = ("mm", "bmm", "addmm", "baddbmm", "addbmm", "mv", "addmv", "addr", "vdot", "convolution", "conv",
            "_scaled_dot_product", "_flash_attention", "_efficient_attention", "_trilinear", "_cdist", "_embedding_bag",
            "_grouped_mm", "_scaled_mm", "native_batch_norm", "_native_batch_norm", "cudnn", "native_group_norm",
            "cumsum", "cumprod", "logcumsumexp", "avg_pool", "_adaptive_avg", "adaptive_avg", "upsample", "mse_loss",
            "l1_loss", "smooth_l1_loss", "huber_loss",
            "binary_cross_entropy", "kl_div", "nll_loss", "_ctc_loss", "segment_reduce", "index_reduce", "grid_sampler",
            "histc", "bincount", "im2col", "col2im", "_fft", "put", "unfold_backward", "_sparse", "gru", "lstm", "rnn",
            "_thnn", "_softmax", "_log_softmax", "_safe_softmax", "native_layer_norm", "_fused_rms_norm",
            "embedding_dense", "index_add", "scatter_add", "scatter_reduce", "_foreach_norm", "norm", "linalg")
MOST_AXES = 64  # PyTorch refuses to reduce tensors with more, in its own words.
# Reductions whose results do not depend on an order.
COMPARISONS = ("amax", "amin", "aminmax", "max", "min", "argmax", "argmin", "any", "all", "count_nonzero")


class Report(NamedTuple):
    """How many calls of PyTorch's operators the exact mode replaced, and how many it left, by name.

    What was left adds in an order of PyTorch's own: matrix products first of all.
    """

    replaced: dict
    left: dict

    def __str__(self):
        def lines(calls):
            return "".join("\n  %6d %s" % (count, name) for name, count in sorted(calls.items()))
        return "replaced:%s\nleft:%s" % (lines(self.replaced), lines(self.left))


@cache
def adds(operator):
    if not isinstance(operator, torch._ops.OpOverload):
        return False
    name = operator._schema.name.partition("::")[2]
    if name in COMPARISONS or name.startswith("nll_loss") and name.endswith("backward"):
        return False
    return torch.Tag.reduction in operator.tags or name.startswith(PRODUCTS)


has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key


@cache
def is_composite(operator):
    return isinstance(operator, torch._ops.OpOverload) and has_kernel(operator.name(), "CompositeImplicitAutograd")


class Exact(TorchDispatchMode):
    supports_higher_order_operators = True

    def __init__(self):
        super().__init__()
        self.replaced, self.left = Counter(), Counter()

    def __enter__(self):
        global _last
        _last = self
        return super().__enter__()

    def __torch_dispatch__(self, operator, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if is_composite(operator) and not types and is_composed(operator, args):
            return self.decomposed(operator, args, kwargs)
        function = REPLACEMENTS.get(operator)
        if function is not None and not types and is_readable(args):
            result = function(*args, **kwargs)
            if result is not NotImplemented:
                self.replaced[operator._schema.name] += 1
                return result
        if adds(operator) and has_floats(args):
            self.left[operator._schema.name] += 1
        return operator(*args, **kwargs)

    def decomposed(self, operator, args, kwargs):
        global _last
        last = _last
        with self:
            result = operator.decompose(*args, **kwargs)
        _last = last
        return result


_last = None  # the mode that was entered last, which report() is about


def first_tensor(args):
    found = args[0] if args else None
    return found[0] if isinstance(found, (list, tuple)) and found else found


def is_dense(x):
    return x.layout is torch.strided and not x.is_nested


def is_composed(operator, args):
    """Whether PyTorch composes this call of others: before the mode sees it, unless torch.inference_mode() is on."""
    x = first_tensor(args)
    return not isinstance(x, torch.Tensor) \
        or is_dense(x) and not has_kernel(operator.name(), torch._C._dispatch_key_for_device(x.device.type))


def is_readable(args):
    x = first_tensor(args)
    return isinstance(x, torch.Tensor) and x.dtype in FLOATS and x.device.type in ("cpu", "cuda") and is_dense(x) \
        and x.dim() <= MOST_AXES


def has_floats(args):
    x = first_tensor(args)
    return isinstance(x, torch.Tensor) and (x.is_floating_point() or x.is_complex())


def exact():
    """A context in which PyTorch's reductions are exact, with their gradients: report() says which.

    The mode holds for the thread, and for the gradients that backward() computes inside of the context.
    """
    return Exact()


def enable():
    """Enters the exact mode for the rest of the thread."""
    exact().__enter__()


def report():
    """What the exact mode that was entered last has replaced, and what it has left."""
    return Report({}, {}) if _last is None else Report(dict(_last.replaced), dict(_last.left))
