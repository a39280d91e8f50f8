# SPDX-License-Identifier: Apache-2.0
"""The exact mode: the reductions of whole models, without a change to the models."""

import re
from collections import Counter
from functools import cache
from typing import NamedTuple

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from ._replacements import FLOATS, OF_ANY_TYPE, REPLACEMENTS

# How the names of operators begin that add in an order of PyTorch's own, beside those that have its tag for reductions.
ADDING = re.compile(
    r"_*(mm|bmm|addmm|baddbmm|addbmm|mv|addmv|addr|vdot|conv(olution|_|\d)|slow_conv|trilinear|grouped_mm|scaled_mm|"
    r"scaled_grouped_mm|weight_int|sparse_\w*(mm|matmul|sum|prod|softmax|linear)|linear_cross_entropy|"
    r"scaled_dot_product|flash_attention|efficient_attention|native_multi_head_attention|transformer_encoder_layer|"
    r"cudnn|miopen|mkldnn|thnn|gru|lstm|rnn|batch_norm|native_(batch|layer|group)_norm|fused_rms_norm|"
    r"weight_norm_interface|embedding_(bag|dense|sparse|renorm)|renorm|norm(\.|$)|foreach_(norm|powsum)|"
    r"(safe_|log_|masked_)?softmax|cumsum|cumprod|logcumsumexp|trace|dist(\.|$)|cdist|pdist|euclidean_dist|multinomial|"
    r"linalg_(?!check)|cholesky|triangular_solve|geqrf|ormqr|fft|hist|bincount|"
    r"((nll|mse|smooth_l1|huber|soft_margin)_loss|binary_cross_entropy)(?!\w*backward)|kl_div|ctc_loss|"
    r"(multi|multilabel)_margin_loss|avg_pool|adaptive_avg|\w*max_pool\w*_backward|"
    r"(reflection|replication)_pad\w*_backward|upsample|grid_sampler|im2col|col2im|unfold_backward|put(_?\.|_?$)|"
    r"unsafe_(masked_)?index_put|index_(add|reduce)|scatter_(add|reduce)|scatter_?\.(value_)?reduce|segment_reduce)")
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
    if not isinstance(operator, torch._ops.OpOverload) or operator.namespace == "fanin":
        return False
    name, packet = operator._schema.name.partition("::")[2], operator.overloadpacket
    return name not in COMPARISONS and (
        any(torch.Tag.reduction in getattr(packet, other).tags for other in packet.overloads())
        or ADDING.match(operator.name().partition("::")[2]) is not None)


def accumulates(operator, args, kwargs):
    """Whether the call is an index_put that adds, and does not only assign."""
    return "index_put" in operator._schema.name and (args[3] if len(args) > 3 else kwargs.get("accumulate", False))


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
        if function is not None and not types and is_readable(args, operator in OF_ANY_TYPE):
            result = function(*args, **kwargs)
            if result is not NotImplemented:
                self.replaced[operator._schema.name] += 1
                return result
        result = operator(*args, **kwargs)
        if (adds(operator) or function is not None and accumulates(operator, args, kwargs)) \
                and (has_floats(args) or has_floats((result,))):
            self.left[operator._schema.name] += 1
        return result

    def decomposed(self, operator, args, kwargs):
        global _last
        last = _last
        try:
            with self:
                return operator.decompose(*args, **kwargs)
        finally:
            _last = last


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


def is_readable(args, of_any_type):
    x = first_tensor(args)
    return isinstance(x, torch.Tensor) and (of_any_type or x.dtype in FLOATS) and x.device.type in ("cpu", "cuda") \
        and is_dense(x) and x.dim() <= MOST_AXES


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
