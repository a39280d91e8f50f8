# SPDX-License-Identifier: Apache-2.0
"""PyTorch's operators with sums, computed with exact sums: what the exact mode calls in their place."""

import math

import torch

from .._reduce_each import reduce_each
from . import _functions  # noqa: F401, which registers torch.ops.fanin
from . import _layer_rows, _whole_rows
from ._layer_rows import NARROW, rounded, wide
from ._plans import Plans
from ._reductions import as_input, described, holds, planned, readable

aten, ours = torch.ops.aten, torch.ops.fanin
FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
SUMMED = (*FLOATS, torch.complex64, torch.complex128)
REPLACEMENTS = {}  # what computes an operator, by the operator; NotImplemented where PyTorch computes it
OF_ANY_TYPE = set()  # the operators whose replacements take tensors of any type; the others take floats


def replaces(*operators, of_any_type=False):
    def keep(function):
        REPLACEMENTS.update(dict.fromkeys(operators, function))
        OF_ANY_TYPE.update(operators if of_any_type else ())
        return function
    return keep


def along(name):
    """The description of a result along an axis, with length 1 there: f32 of elements of 16 bits, of which there is no
    copy."""
    return lambda x, dim: (name, (dim,), True, as_input, torch.float32 if x.dtype in NARROW else None, "exact")


means, variances, sums_of_squares = (described(along(name)) for name in ("mean", "variance", "sum_of_squares"))
plans_of_both = Plans(lambda x, dim: planned(x, *along(("variance", "mean"))(x, dim)))


def variances_and_means(x, dim):
    """Both results, on a device by one read."""
    if not x.is_cuda:
        return variances(x, dim), means(x, dim)
    found = plans_of_both.compute(x, (dim,), {})
    if found is NotImplemented:
        found = reduce_each(("variance", "mean"), readable(x), dim, method="exact", keepdims=True,
                            dtype="f32" if x.dtype in NARROW else None)
    return found


# ---- Reductions -----------------------------------------------------------------------------------------------------

def is_summed(x, dtype):
    """Whether the mode sums the elements of x, which PyTorch first converts to `dtype`, if it is given."""
    wanted = dtype or x.dtype
    return wanted in SUMMED and (wanted.is_complex or not x.is_complex())


@replaces(aten.sum.default, aten.sum.dim_IntList, of_any_type=True)
def sum_of(x, dim=None, keepdim=False, *, dtype=None):
    return ours.sum(x, dim, keepdim, dtype=dtype) if is_summed(x, dtype) else NotImplemented


@replaces(aten.mean.default, aten.mean.dim, of_any_type=True)
def mean_of(x, dim=None, keepdim=False, *, dtype=None):
    return ours.mean(x, dim, keepdim, dtype=dtype) if is_summed(x, dtype) else NotImplemented


REPLACEMENTS.update({aten.var.correction: ours.var, aten.std.correction: ours.std,
                     aten.var_mean.correction: ours.var_mean, aten.std_mean.correction: ours.std_mean,
                     aten.logsumexp.default: ours.logsumexp})


@replaces(aten.dot.default, of_any_type=True)
def dot_of(x, y):
    return ours.dot(x, y) if x.dtype in SUMMED else NotImplemented


@replaces(aten.vdot.default, of_any_type=True)
def vdot_of(x, y):
    return ours.vecdot(x, y) if x.dtype in SUMMED else NotImplemented


def has_norm(x, ord, dtype):
    """Whether the mode computes the norm: also if it is in a wider type, as PyTorch's may be."""
    return x.dtype in SUMMED and ord in ((2,) if x.is_complex() else (1, 2, math.inf)) \
        and (dtype is None or holds(dtype, x.dtype))


@replaces(aten.linalg_vector_norm.default, of_any_type=True)
def norm_of(x, ord=2, dim=None, keepdim=False, *, dtype=None):
    return ours.vector_norm(x, ord, dim, keepdim, dtype=dtype) if has_norm(x, ord, dtype) else NotImplemented


@replaces(aten._foreach_norm.Scalar, of_any_type=True)
def norms_of(tensors, ord=2, dtype=None):
    if not all(has_norm(x, ord, dtype) for x in tensors):
        return NotImplemented
    return [ours.vector_norm(x, ord, dtype=dtype) for x in tensors]


# ---- Softmax and the loss -------------------------------------------------------------------------------------------

def less_largest(x, dim):
    return x - wide(ours.amax(x, dim, True))


def type_of_softmax(x, half_to_float):
    return torch.float32 if half_to_float else x.dtype


@replaces(aten._softmax.default)
def softmax(x, dim, half_to_float):
    if not x.numel():
        return NotImplemented
    dtype = type_of_softmax(x, half_to_float)
    found = _whole_rows.softmax(_whole_rows.SOFTMAX, x, dim, dtype)
    if found is not None:
        return found
    exponentials = less_largest(x, dim).exp_()
    return rounded(torch.div, exponentials, ours.sum(exponentials, dim, True), dtype)


@replaces(aten._safe_softmax.default, of_any_type=True)
def safe_softmax(x, dim, dtype=None):
    x = x if dtype is None else x.to(dtype)
    if not x.numel() or x.dtype not in FLOATS:
        return NotImplemented
    return torch.where(ours.all(x == -math.inf, dim, True), 0, softmax(x, dim, False))


@replaces(aten._log_softmax.default)
def log_softmax(x, dim, half_to_float):
    if not x.numel():
        return NotImplemented
    dtype = type_of_softmax(x, half_to_float)
    found = _whole_rows.softmax(_whole_rows.LOG_SOFTMAX, x, dim, dtype)
    if found is not None:
        return found
    less = less_largest(x, dim)
    return rounded(torch.sub, less, ours.sum(less.exp(), dim, True).log(), dtype)


@replaces(aten._softmax_backward_data.default)
def softmax_backward(grad, output, dim, input_dtype):
    grad, output = wide(grad), wide(output)
    return rounded(torch.mul, output, grad - ours.vecdot(grad, output, dim=dim).unsqueeze(dim), input_dtype)


@replaces(aten._log_softmax_backward_data.default)
def log_softmax_backward(grad, output, dim, input_dtype):
    grad = wide(grad)
    return rounded(torch.sub, grad, wide(output).exp() * ours.sum(grad, dim, True), input_dtype)


@replaces(aten.nll_loss_forward.default, aten.nll_loss2d_forward.default)
def nll_loss(x, target, weight, reduction, ignore_index):
    if reduction == 0 or not x.dim():
        return NotImplemented
    axis = 0 if x.dim() == 1 else 1
    taken = target != ignore_index
    classes = torch.where(taken, target, 0)
    weights = torch.ones_like(classes, dtype=x.dtype) if weight is None else weight[classes]
    weights = torch.where(taken, weights, 0)
    losses = torch.where(taken, -x.gather(axis, classes.unsqueeze(axis)).squeeze(axis) * weights, 0)
    total, all_weights = ours.sum(losses), ours.sum(weights)
    return (total / all_weights if reduction == 1 else total), all_weights


# ---- Norms of layers ------------------------------------------------------------------------------------------------

class Rows:
    """The input of a norm of layers as rows [rows, elements of the normalized axes]."""

    def __init__(self, x, normalized_shape):
        self.shape, self.length = x.shape, math.prod(normalized_shape)
        self.ones = (*x.shape[:x.dim() - len(normalized_shape)], *[1] * len(normalized_shape))
        self.x = self.of(x)

    def of(self, x):
        return x.reshape(-1, self.length).contiguous()

    def column(self, numbers):
        """Numbers for each row, as PyTorch computes with them."""
        return wide(numbers).reshape(-1, 1).contiguous()


def flat(weight):
    return None if weight is None else weight.reshape(-1)


@replaces(aten.native_layer_norm.default)
def layer_norm(x, normalized_shape, weight, bias, eps):
    if not x.numel():
        return NotImplemented
    rows = Rows(x, normalized_shape)
    found = _whole_rows.norm(rows.x, True, flat(weight), flat(bias), eps)
    if found is None:
        variance, mean = variances_and_means(rows.x, 1)
        scale = (variance + eps).rsqrt_()
        found = _layer_rows.norm(rows.x, mean, scale, flat(weight), flat(bias)), mean, scale
    out, mean, scale = found
    kept = x.dtype if x.device.type == "cpu" and (weight is None or weight.dtype == x.dtype) else mean.dtype
    return out.reshape(x.shape), mean.reshape(rows.ones).to(kept), scale.reshape(rows.ones).to(kept)


@replaces(aten._fused_rms_norm.default)
def rms_norm(x, normalized_shape, weight, eps):
    if not x.numel():
        return NotImplemented
    eps = torch.finfo(x.dtype).eps if eps is None else eps
    rows = Rows(x, normalized_shape)
    found = _whole_rows.norm(rows.x, False, flat(weight), None, eps)
    if found is None:
        scale = (sums_of_squares(rows.x, 1) / rows.length + eps).rsqrt_()
        found = _layer_rows.norm(rows.x, None, scale, flat(weight), None), None, scale
    out, _, scale = found
    return out.reshape(x.shape), scale.reshape(rows.ones)


def gradients(grad, x, normalized_shape, mean, scale, weight, wanted):
    """The gradients of x and of the weight."""
    rows, of_x, of_weight = Rows(x, normalized_shape), None, None
    grad, mean, scale = rows.of(grad), None if mean is None else rows.column(mean), rows.column(scale)
    wanted = wanted[0], wanted[1] and weight is not None
    if not any(wanted):
        return None, None
    products, terms, given = _layer_rows.terms(grad, rows.x, mean, scale, flat(weight), *wanted)
    if wanted[0]:
        of_x = _layer_rows.gradient(grad, rows.x, mean, scale, flat(weight), None if given is None else means(given, 1),
                                    means(terms, 1)).reshape(x.shape)
    if wanted[1]:
        of_weight = ours.sum(products, 0).reshape(weight.shape).to(weight.dtype)
    return of_x, of_weight


@replaces(aten.native_layer_norm_backward.default)
def layer_norm_backward(grad, x, normalized_shape, mean, scale, weight, bias, wanted):
    if not x.numel():
        return NotImplemented
    of_bias = None
    if wanted[2] and bias is not None:
        dtype = torch.float32 if grad.dtype in NARROW else None
        of_bias = ours.sum(grad.reshape(-1, bias.numel()), 0, dtype=dtype).reshape(bias.shape).to(bias.dtype)
    return *gradients(grad, x, normalized_shape, mean, scale, weight, wanted), of_bias


@replaces(aten._fused_rms_norm_backward.default)
def rms_norm_backward(grad, x, normalized_shape, scale, weight, wanted):
    return gradients(grad, x, normalized_shape, None, scale, weight, wanted) if x.numel() else NotImplemented


# ---- Scatters -------------------------------------------------------------------------------------------------------

@replaces(aten.embedding_dense_backward.default)
def embedding_backward(grad, indices, num_weights, padding_idx, scale_grad_by_freq):
    rows, keys = grad.reshape(-1, grad.shape[-1]), indices.reshape(-1)
    if padding_idx >= 0:
        rows = rows.masked_fill((keys == padding_idx).unsqueeze(1), 0)
    if scale_grad_by_freq:
        counts = ours.index_add(keys.new_zeros(num_weights), 0, keys, torch.ones_like(keys))
        rows = rows / counts[keys].unsqueeze(1)
    return ours.index_add(rows.new_zeros(num_weights, rows.shape[1]), 0, keys, rows)


REPLACEMENTS.update({aten.index_add.default: ours.index_add, aten.scatter_add.default: ours.scatter_add,
                     aten.scatter_reduce.two: ours.scatter_reduce})


@replaces(aten.index_put.default)
def index_put(x, indices, values, accumulate=False):
    """Sums of elements with the same place; where one axis alone has an index, they are sums of slices."""
    given = [axis for axis, index in enumerate(indices) if index is not None]
    if not accumulate or len(given) != 1 or indices[given[0]].dtype != torch.int64:
        return NotImplemented
    axis, index = given[0], indices[given[0]]
    values = values.expand(*x.shape[:axis], *index.shape, *x.shape[axis + 1:])
    values = values.reshape(*x.shape[:axis], -1, *x.shape[axis + 1:])
    keys = index.reshape(-1)
    return ours.index_add(x, axis, torch.where(keys < 0, keys + x.shape[axis], keys), values)


def in_place(function):
    def change(x, *others, **named):
        found = function(x, *others, **named)
        return found if found is NotImplemented else x.copy_(found)
    return change


REPLACEMENTS.update({aten.index_add_.default: in_place(ours.index_add), aten.index_put_.default: in_place(index_put),
                     aten.scatter_add_.default: in_place(ours.scatter_add),
                     aten.scatter_reduce_.two: in_place(ours.scatter_reduce)})


@replaces(aten._index_put_impl_.default)
def index_put_impl(x, indices, values, accumulate=False, unsafe=False):
    return in_place(index_put)(x, indices, values, accumulate)
