# SPDX-License-Identifier: Apache-2.0
"""Steps of gradients whose own gradients are sums: PyTorch would round these sums, and the operators here do not."""

from torch.autograd import Function

from .._errors import Unsupported
from ._operators import functions


class Repeat(Function):
    """Repeats a result along axes of length 1. The gradient is an exact sum along them."""

    generate_vmap_rule = True

    @staticmethod
    def forward(y, shape, axes):
        return y.expand(shape)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.axes = inputs[2]

    @staticmethod
    def backward(ctx, grad):
        return functions["sum"](grad, ctx.axes, True), None, None


class Take(Function):
    """index_select() or gather(). The gradient is an exact index_add or scatter_add."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x, dim, index, whole_slices):
        return x.index_select(dim, index) if whole_slices else x.gather(dim, index)

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, ctx.dim, index, ctx.whole_slices = inputs
        ctx.shape = x.shape
        ctx.save_for_backward(index)

    @staticmethod
    def backward(ctx, grad):
        index, = ctx.saved_tensors
        add = functions["index_add" if ctx.whole_slices else "scatter_add"]
        return add(grad.new_zeros(ctx.shape), ctx.dim, index, grad), None, None, None


class FirstOnly(Function):
    """The product of a gradient and a factor that is no longer a function of the inputs."""

    generate_vmap_rule = True

    @staticmethod
    def forward(grad, factor):
        return grad * factor

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, grad):
        raise Unsupported("products of segments and of scattered elements have no second derivative here")
