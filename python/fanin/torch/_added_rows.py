# SPDX-License-Identifier: Apache-2.0
"""Sums of rows that keys scatter on a device, where one call of the library reads the rows where they are."""

import torch

from .. import _library as c
from .._contexts import context_of
from .._torch import BY_TYPE, TORCH, raw_stream
from ._plans import FLOATS


def added_rows(base, groups, keys, rows):
    """The sums [groups, columns] of the rows of a base, or None, and of the rows that keys name, on a device."""
    keys, rows = keys.contiguous(), rows.contiguous()
    results = torch.empty(groups, rows.shape[1], dtype=rows.dtype, device=rows.device)
    base = results[:0] if base is None else base.contiguous()
    of_rows, of_keys, of_base = (c.Input(x=x.data_ptr(), count=x.numel(), type=BY_TYPE[x.dtype], place=c.DEVICE)
                                 for x in (rows, keys, base))
    device = rows.get_device()
    context = context_of(device, raw_stream(device), TORCH)
    with context.lock:
        c.check(c.context_enqueue_add_rows(
            context.handle, of_rows, of_keys, rows.shape[1], of_base,
            c.Output(data=results.data_ptr(), count=results.numel(), place=c.DEVICE)))
    return results


def are_added_in_place(operation, rows):
    """Whether the library adds rows where they are."""
    return operation == "sum" and rows.is_cuda and rows.dtype in FLOATS


def is_of_slices(index, dim, shape):
    """Whether each slice along dim of a tensor of that shape has one key, in an index that was expanded."""
    return all(axis == dim or count == shape[axis] and (stride == 0 or count == 1)
               for axis, (count, stride) in enumerate(zip(index.shape, index.stride())))
