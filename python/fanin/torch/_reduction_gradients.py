# SPDX-License-Identifier: Apache-2.0
"""The axes of reductions, and the gradients of reductions along axes."""

import math

import torch

from . import _layer_rows
from ._gradient_steps import Repeat
from ._layer_rows import wide
from ._operators import PLAIN, kind_of
from ._operators import functions as operators


def axes_of(ndim, dim):
    """The axes that `dim` names, from 0 on: all for None and for an empty list, as PyTorch has it."""
    if dim is None or isinstance(dim, (list, tuple)) and not dim:
        return tuple(range(ndim))
    named = dim if isinstance(dim, (list, tuple)) else (dim,)
    around = max(ndim, 1)
    for axis in named:
        if not -around <= axis < around:
            raise IndexError("Dimension out of range: there is no dim %d of %d" % (axis, ndim))
    axes = tuple(sorted(axis % around for axis in named))
    if len(set(axes)) != len(axes):
        raise RuntimeError("dim names an axis twice")  # as PyTorch has it, like the error above
    return axes if ndim else ()


def shape_of(shape, axes, keepdim):
    return [1 if axis in axes else length for axis, length in enumerate(shape) if keepdim or axis not in axes]


def correction_of(correction):
    return 1 if correction is None else correction


def degrees(count, correction):
    return max(count - correction_of(correction), 0)


class Along:
    """The axes of a call of a reduction, and how its results stand beside its elements."""

    def __init__(self, call):
        self.shape = call.like["self"][0]
        self.axes = axes_of(len(self.shape), getattr(call, "dim", None))
        self.count = math.prod(self.shape[axis] for axis in self.axes)
        self.ones = shape_of(self.shape, self.axes, True)

    def kept(self, results):
        """Results with the axes that were reduced, of length 1."""
        return results.reshape(self.ones)

    def repeated(self, results):
        return Repeat.apply(self.kept(results), self.shape, self.axes) if self.axes else results

    def scaled(self, x, less, scale):
        """(x - less) * scale, where `less` and `scale` are results. `less` may be None.

        The difference of elements of 16 bits is f32. PyTorch computes this in one pass only if it compiles it. Of
        rows in device memory _layer_rows does so where it can, and always rounds the product to the type of x.
        """
        less = None if less is None else wide(less)
        if kind_of((x, less, scale)) == PLAIN and x.is_cuda and x.dtype in _layer_rows.SERVED and x.numel() \
                and x.is_contiguous() and self.axes == tuple(range(len(self.shape)))[-len(self.axes):]:
            of_rows = [None if part is None else part.reshape(-1, 1) for part in (less, wide(scale))]
            return _layer_rows.norm(x.reshape(-1, self.count), *of_rows, None, None).reshape(x.shape)
        return (x if less is None else x - self.repeated(less)) * self.repeated(scale)

    def reduce(self, operator, x):
        """Results along the axes, with length 1 there."""
        return operator(x, self.axes, True) if self.axes else operator(x.unsqueeze(0), 0)


def of_sum(call, grad):
    return {"self": Along(call).repeated(grad)}


def of_mean(call, grad):
    along = Along(call)
    return {"self": along.repeated(grad / along.count)}


def of_product(call, grad):
    """The product of the others, which is right beside zeros too."""
    along = Along(call)
    kept = [axis for axis in range(len(along.shape)) if axis not in along.axes]
    order = kept + list(along.axes)
    x = call.self.to(grad.dtype).permute(order)
    rows = x.reshape(*x.shape[:len(kept)], along.count)
    one = torch.ones_like(rows[..., :1])

    def before(rows):
        return torch.cat((one, rows[..., :-1]), -1).cumprod(-1)
    others = (before(rows) * before(rows.flip(-1)).flip(-1)).reshape(x.shape)
    back = [order.index(axis) for axis in range(len(order))]
    return {"self": along.repeated(grad) * others.permute(back).conj()}


def of_extremum(call, grad):
    """Equal extrema share the gradient, as PyTorch has it."""
    along = Along(call)
    return {"self": shared(along, grad, call.self == along.kept(call.result))}


def shared(along, grad, chosen):
    count = along.reduce(operators["sum"], chosen)
    return along.repeated(along.kept(grad) / along.kept(count)) * chosen


def of_variance(call, grad, grad_of_mean):
    along, found = Along(call), None
    if grad is not None:
        left = along.count - correction_of(call.correction)  # below 0 too, as PyTorch has it
        if left <= 0 and (call.dim is None or not along.axes):  # PyTorch's rule if dim names no axes
            found = grad * torch.full_like(call.self, math.inf).masked_fill(call.self == call.mean, math.nan)
        else:
            found = along.scaled(call.self, call.mean, wide(grad) * (2 / left if left else math.inf))
    if grad_of_mean is not None:
        of_mean = along.repeated(grad_of_mean / along.count)
        found = of_mean if found is None else found + of_mean
    return {"self": found}


def of_deviation(call, grad, grad_of_mean):
    if grad is not None:
        grad = (wide(grad) / (2 * wide(call.dispersion))).masked_fill(call.dispersion == 0, 0)
    return of_variance(call, grad, grad_of_mean)


def of_norm(call, grad):
    along, x = Along(call), call.self
    if call.ord == 1:
        return {"self": along.repeated(grad) * x.sgn()}
    if call.ord == 2:
        return {"self": along.scaled(x, None, (wide(grad) / call.result).masked_fill(call.result == 0, 0))}
    return {"self": shared(along, grad, x.abs() == along.kept(call.result)) * x.sgn()}


def of_logarithm(call, grad):
    along = Along(call)
    result = call.result.masked_fill(call.result == -math.inf, 0)
    return {"self": along.scaled((call.self - along.repeated(result)).exp(), None, grad)}


def of_pair(call, grad):
    grad = Along(call).repeated(grad)
    if call.operator is torch.ops.fanin.dot.default:
        return {"self": grad * call.other.conj(), "other": grad * call.self.conj()}
    return {"self": grad.conj() * call.other, "other": grad * call.self}
