# SPDX-License-Identifier: Apache-2.0
"""Softmax and its logarithm, and RMS norms of f16 and bf16, of rows on a device, each in one kernel (whole_rows.cu).

For other tensors PyTorch's operators and sums of the library compute the same bits (_replacements.py), if the exp, log and
rsqrt of PyTorch's CUDA are those of the compiler of the kernel.
"""

from ctypes import POINTER, Structure, byref, c_float, c_int32, c_uint64, c_void_p

import torch

from .. import _library as c
from .._torch import BY_TYPE, raw_stream
from ._layer_rows import NARROW, SERVED, VECTOR, has_vectors

SOFTMAX, LOG_SOFTMAX, RMS_NORM = range(3)
MOST, MOST_ROWS = 1 << 18, 1 << 31
MOST_OF_NORM = 1 << 13  # Of longer rows the kernel for sums of squares, and then that of layer norms, take less time.


class Call(Structure):
    _fields_ = [(name, c_void_p) for name in ("x", "weight", "out", "scale")] \
        + [("rows", c_uint64), ("length", c_uint64), ("inverse_length", c_float), ("eps", c_float)] \
        + [(name, c_int32) for name in ("type", "weight_type", "out_type", "what")]


try:  # a library without GPU code has no such function
    enqueue = c._declare(c_int32, "fanin_enqueue_whole_rows", POINTER(Call), c_int32, c_void_p)
except AttributeError:
    enqueue = None


def fits(x):
    return x.dtype in SERVED and has_vectors(x)


def is_served(x, length, weight=None):
    """Whether the kernel reads rows of so many elements of x, and a weight for each of these elements."""
    return enqueue is not None and x.is_cuda and length % VECTOR == 0 and length <= MOST and fits(x) \
        and x.numel() < MOST_ROWS * length \
        and (weight is None or weight.device == x.device and weight.numel() == length and fits(weight))


def run(what, x, length, out, weight=None, scale=None, eps=0):
    device = x.get_device()
    c.check(enqueue(byref(Call(
        x=x.data_ptr(), weight=None if weight is None else weight.data_ptr(), out=out.data_ptr(),
        scale=None if scale is None else scale.data_ptr(), rows=x.numel() // length, length=length,
        inverse_length=1 / length, eps=eps, type=BY_TYPE[x.dtype],
        weight_type=0 if weight is None else BY_TYPE[weight.dtype], out_type=BY_TYPE[out.dtype], what=what)), device,
        raw_stream(device)))
    return out


def softmax(what, x, dim, dtype):
    """The softmax of a type, or its logarithm, along the last axis; None where the kernel does not serve."""
    if not x.dim() or dim not in (-1, x.dim() - 1) or not is_served(x, x.shape[-1]):
        return None
    return run(what, x, x.shape[-1], torch.empty_like(x, dtype=dtype))


def rms_norm(x, length, weight, eps):
    """The norms of rows and the factor of each row; None where the kernel does not serve."""
    if x.dtype not in NARROW or length > MOST_OF_NORM or not is_served(x, length, weight):
        return None
    scale = torch.empty(x.numel() // length, dtype=torch.float32, device=x.device)
    return run(RMS_NORM, x, length, torch.empty_like(x), weight, scale, eps), scale
