# SPDX-License-Identifier: Apache-2.0
"""The elementwise parts of norms of layers and of gradients of reductions: rows of elements, and numbers for each row.

On a device one kernel of the library (layer_rows.cu) computes each function here, if is_served() says so. Otherwise
PyTorch's operators compute the same bits. Each step is rounded to f32, or to f64 for elements of f64, and the result to
the type of the elements.
"""

from ctypes import POINTER, Structure, byref, c_int32, c_uint64, c_void_p

import torch

from .. import _library as c
from .._torch import BY_TYPE, raw_stream

NARROW = (torch.float16, torch.bfloat16)
SERVED = (*NARROW, torch.float32)
VECTOR, MOST = 8, 1 << 34  # elements


class Call(Structure):
    _fields_ = [(name, c_void_p) for name in ("x", "grad", "weight", "bias", "mean", "scale", "of_weighted", "of_terms",
                                              "out", "products", "terms", "weighted")] \
        + [("rows", c_uint64), ("length", c_uint64), ("type", c_int32), ("weight_type", c_int32), ("bias_type", c_int32)]


try:  # a library without GPU code has no such function
    enqueue = c._declare(c_int32, "fanin_enqueue_layer_rows", POINTER(Call), c_int32, c_void_p)
except AttributeError:
    enqueue = None


def wide(x):
    """The elements as PyTorch computes with them: those of 16 bits as f32."""
    return x.float() if x.dtype in NARROW else x


def rounded(operator, x, y, dtype):
    """The result of an operator of two tensors, which rounds to a type where it stores: there is no copy as f32."""
    return operator(x, y, out=torch.empty(torch.broadcast_shapes(x.shape, y.shape), dtype=dtype, device=x.device))


def has_vectors(x):
    """Whether kernels read the elements of a tensor in place, in vectors of 16 bytes."""
    return x.is_contiguous() and not x.is_neg() and x.data_ptr() % 16 == 0


def is_served(x, weight, bias, of_elements=(), of_rows=()):
    """Whether the kernel reads these tensors, of which all but x may be None: numbers of columns, elements and rows."""
    def fit(parts, shape, dtypes):
        return all(part is None or part.device == x.device and part.shape == shape and part.dtype in dtypes
                   and has_vectors(part) for part in parts)

    return enqueue is not None and x.is_cuda and x.shape[1] % VECTOR == 0 and x.numel() < MOST \
        and fit((x,), x.shape, SERVED) and fit((weight, bias), x.shape[1:], SERVED) \
        and fit(of_elements, x.shape, (x.dtype,)) and fit(of_rows, (x.shape[0], 1), (torch.float32,))


def run(x, weight=None, bias=None, **tensors):
    tensors.update(x=x, weight=weight, bias=bias)
    device = x.get_device()
    c.check(enqueue(byref(Call(
        rows=x.shape[0], length=x.shape[1], type=BY_TYPE[x.dtype],
        weight_type=0 if weight is None else BY_TYPE[weight.dtype], bias_type=0 if bias is None else BY_TYPE[bias.dtype],
        **{name: part.data_ptr() for name, part in tensors.items() if part is not None})), device, raw_stream(device)))


def less_mean(x, mean):
    return x if mean is None else x - mean


def weighted(rows, weight):
    return rows if weight is None else rows * weight


def norm(x, mean, scale, weight, bias):
    """(x - mean) * scale * weight + bias, of the type of x. What is None takes no part, here and below."""
    if is_served(x, weight, bias, of_rows=(mean, scale)):
        out = torch.empty_like(x)
        run(x, weight, bias, mean=mean, scale=scale, out=out)
        return out
    steps = [(torch.mul, scale)]
    steps += [(step, part) for step, part in ((torch.mul, weight), (torch.add, bias)) if part is not None]
    out = less_mean(x, mean)
    for step, part in steps[:-1]:
        out = step(out, part)
    return rounded(steps[-1][0], out, steps[-1][1], x.dtype)


def terms(grad, x, mean, scale, weight, of_x, of_weight):
    """What gradients sum up: grad * normal for the weight, grad * weight * normal and, with a mean, grad * weight.

    `normal` is (x - mean) * scale. What neither the gradient of x nor that of the weight needs is None.
    """
    of_weight, has_mean = of_weight or of_x and weight is None, of_x and mean is not None
    if is_served(x, weight, None, (grad,), (mean, scale)):
        products, both, given = (torch.empty(x.shape, dtype=torch.float32, device=x.device) if needed else None
                                 for needed in (of_weight, of_x and weight is not None, has_mean))
        run(x, weight, grad=grad, mean=mean, scale=scale, products=products, terms=both, weighted=given)
    else:
        grad, normal = wide(grad), less_mean(x, mean) * scale
        given = weighted(grad, weight) if of_x else None
        products, both = grad * normal if of_weight else None, given * normal if of_x else None
    return products, products if of_x and weight is None else both, given if has_mean else None


def gradient(grad, x, mean, scale, weight, of_weighted, of_terms):
    """The gradient of x, by the means of grad * weight and of grad * weight * normal along the rows."""
    if is_served(x, weight, None, (grad,), (mean, scale, of_weighted, of_terms)):
        out = torch.empty_like(x)
        run(x, weight, grad=grad, mean=mean, scale=scale, of_weighted=of_weighted, of_terms=of_terms, out=out)
        return out
    given = less_mean(weighted(wide(grad), weight), of_weighted)
    return rounded(torch.mul, given - less_mean(x, mean) * scale * of_terms, scale, x.dtype)
