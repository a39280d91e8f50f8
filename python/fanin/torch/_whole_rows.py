# SPDX-License-Identifier: Apache-2.0
"""Softmax, its logarithm and its parts of rows on a device, in one kernel (whole_rows.cu), and norms (norm_rows.cu).

For other tensors PyTorch's operators and sums of the library compute the same bits (_replacements.py), if the exp, log and
rsqrt of PyTorch's CUDA are those of the compiler of the kernels.
"""

from ctypes import POINTER, Structure, byref, c_float, c_int32, c_uint64, c_void_p

import torch

from .. import _library as c
from .._torch import BY_TYPE, raw_stream
from ._layer_rows import SERVED, VECTOR, has_vectors

SOFTMAX, LOG_SOFTMAX, MAX_AND_SUM = range(3)
MOST, MOST_ROWS = 1 << 18, 1 << 31
MOST_OF_NORM = 1 << 15  # The registers of a block hold no longer row.


class Call(Structure):
    _fields_ = [(name, c_void_p) for name in ("x", "out")] \
        + [("rows", c_uint64), ("length", c_uint64)] + [(name, c_int32) for name in ("type", "out_type", "what")]


class Norms(Structure):
    _fields_ = [(name, c_void_p) for name in ("x", "weight", "bias", "out", "mean", "scale")] \
        + [("rows", c_uint64), ("length", c_uint64), ("inverse_length", c_float), ("eps", c_float)] \
        + [(name, c_int32) for name in ("type", "weight_type", "bias_type")]


try:  # a library without GPU code has no such functions
    enqueue = c._declare(c_int32, "fanin_enqueue_whole_rows", POINTER(Call), c_int32, c_void_p)
    enqueue_norms = c._declare(c_int32, "fanin_enqueue_norm_rows", POINTER(Norms), c_int32, c_void_p)
except AttributeError:
    enqueue = None


def fits(x):
    return x.dtype in SERVED and has_vectors(x)


def is_served(x, length):
    """Whether the kernels read rows of so many elements of x."""
    return enqueue is not None and x.is_cuda and length % VECTOR == 0 and length <= MOST and fits(x) \
        and x.numel() < MOST_ROWS * length


def are_norms_served(x, weights):
    """Whether the kernel computes norms of rows, with weights and biases for each element of a row, or None."""
    length = x.shape[1]
    return is_served(x, length) and length <= MOST_OF_NORM \
        and all(part is None or part.device == x.device and part.numel() == length and fits(part) for part in weights)


def pointer(x):
    return None if x is None else x.data_ptr()


def type_of(x):
    return 0 if x is None else BY_TYPE[x.dtype]


def run(function, call, device):
    c.check(function(byref(call), device, raw_stream(device)))


def are_rows_served(x, dim):
    return x.dim() > 0 and dim in (-1, x.dim() - 1) and is_served(x, x.shape[-1])


def compute(what, x, out):
    length = x.shape[-1]
    run(enqueue, Call(x=x.data_ptr(), out=out.data_ptr(), rows=x.numel() // length, length=length, type=type_of(x),
                      out_type=type_of(out), what=what), x.get_device())
    return out


def softmax(what, x, dim, dtype):
    """The softmax of a type, or its logarithm, along the last axis; None where the kernel does not serve."""
    return compute(what, x, torch.empty_like(x, dtype=dtype)) if are_rows_served(x, dim) else None


def max_and_sum_exp(x, dim):
    """The f32 of _exponentials.max_and_sum_exp(), with the axis of length 1; None where the kernel does not serve."""
    if not are_rows_served(x, dim):
        return None
    return tuple(compute(MAX_AND_SUM, x, torch.empty((2, *x.shape[:-1], 1), dtype=torch.float32, device=x.device)))


def norm(x, centred, weight, bias, eps):
    """The norms of rows [rows, elements], the mean of each row, if centred, and its factor; None as above."""
    if not are_norms_served(x, (weight, bias)):
        return None
    rows, length = x.shape
    out = torch.empty_like(x)
    mean, scale = (torch.empty(rows, dtype=torch.float32, device=x.device) if wanted else None for wanted in (centred, True))
    run(enqueue_norms, Norms(
        x=x.data_ptr(), weight=pointer(weight), bias=pointer(bias), out=out.data_ptr(), mean=pointer(mean),
        scale=scale.data_ptr(), rows=rows, length=length, inverse_length=1 / length, eps=eps, type=type_of(x),
        weight_type=type_of(weight), bias_type=type_of(bias)), x.get_device())
    return out, mean, scale
