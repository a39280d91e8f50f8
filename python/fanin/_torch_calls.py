# SPDX-License-Identifier: Apache-2.0
"""Calls for torch tensors of a CUDA device, of which all but addresses and counts is looked up once."""

import torch

from ._batch_calls import adding_call, indexed_call, rows_call
from ._catalogue import INDEXED, NUMBER, is_truth
from ._contexts import ShortCall
from ._torch import BY_TYPE, TORCH, TYPE_OF, is_captured, maker_of, maker_of_single, raw_stream, read_torch

MOST_CALLS = 256  # An operation keeps so many calls; each shape of rows, and each number of groups, has its own.


def is_in_place(x):
    """Whether elements are read where they are, at the strides of x."""
    return x.is_cuda and not x.requires_grad and x.layout is torch.strided and not x.is_neg()


def is_plain(x):
    return is_in_place(x) and x.is_contiguous()


def are_alike(x, y):
    """Whether both are tensors of one device that are read without a copy."""
    return type(y) is torch.Tensor and is_plain(x) and is_plain(y) and x.get_device() == y.get_device()


def reduce_short(calls, x, axis, choices, dtype):
    """The enqueued results for a tensor on a device, along an axis or of all elements if they are contiguous;
    NotImplemented otherwise."""
    if not is_in_place(x) or is_captured():
        return NotImplemented
    own, device = x.dtype, x.get_device()
    stream = raw_stream(device)
    is_array = axis is None
    strides = None if x.is_contiguous() else x.stride()
    if is_array and strides is None:
        key = own, device, stream, choices, dtype
    elif type(axis) is int:
        key = own, device, stream, choices, dtype, axis, x.shape, strides
    else:
        return NotImplemented
    call = calls.get(key)
    if call is None:
        call = calls[key] = call_of_array(calls.what, x, choices, dtype, stream) if is_array else \
            call_of_batch(rows_call, calls, x, axis, choices, dtype)
    return call if call is NotImplemented else enqueued(call, x)


def reduce_short_pair(calls, x, y, choices, dtype):
    """The enqueued result of two contiguous tensors on a device; NotImplemented for other ones."""
    if not are_alike(x, y) or x.dtype is not y.dtype or x.shape != y.shape or is_captured():
        return NotImplemented
    stream = raw_stream(x.get_device())
    key = x.dtype, x.get_device(), stream, choices, dtype
    call = calls.get(key)
    if call is None:
        call = calls[key] = call_of_array(calls.what, x, choices, dtype, stream)
    return call if call is NotImplemented else enqueued(call, x, y.data_ptr())


def reduce_short_indexed(calls, x, index, groups, drop_others, choices, dtype):
    """The enqueued results of segments (groups is None) or groups of a contiguous tensor on a device; NotImplemented
    for another one."""
    if not are_alike(x, index) or x.dim() != 1 or index.dim() != 1 or is_captured():
        return NotImplemented
    count, indices = x.numel(), index.numel()
    result_count = indices - 1 if groups is None else groups
    if not count or result_count < 1:
        return NotImplemented
    device = x.get_device()
    key = x.dtype, device, raw_stream(device), choices, dtype, index.dtype, groups, drop_others
    call = calls.get(key)
    if call is None:
        call = calls[key] = call_of_batch(indexed_call, calls, x, BY_TYPE.get(index.dtype), groups, drop_others, choices,
                                          dtype)
    if call is NotImplemented:
        return NotImplemented
    results = x.new_empty((result_count, *call.pair), dtype=call.dtype)
    call.run(x.data_ptr(), results.data_ptr(), count, 0, index.data_ptr(), indices, result_count)
    return results if call.finish is None else call.finish(results)


def add_short(calls, out, keys, x, drop_others, choices):
    """`out`, to which the elements of a contiguous tensor on a device are added; NotImplemented for other tensors, and
    where `out` overlaps them or has another type than the results."""
    if not are_alike(x, keys) or not are_alike(x, out) or x.dim() != 1 or keys.dim() != 1 or out.dim() != 1 \
            or is_captured():
        return NotImplemented
    count, indices, groups = x.numel(), keys.numel(), out.numel()
    if not count or not groups:
        return NotImplemented
    device = x.get_device()
    key = x.dtype, device, raw_stream(device), choices, keys.dtype, groups, drop_others
    call = calls.get(key)
    if call is None:
        call = calls[key] = call_of_batch(adding_call, calls, x, BY_TYPE.get(keys.dtype), groups, drop_others, choices)
    if call is NotImplemented or call.held != BY_TYPE.get(out.dtype):
        return NotImplemented
    begin, of_keys, of_x = out.data_ptr(), keys.data_ptr(), x.data_ptr()
    end = begin + out.nbytes
    if begin < of_keys + keys.nbytes and of_keys < end or begin < of_x + x.nbytes and of_x < end:
        return NotImplemented
    call.run(of_x, begin, count, 0, of_keys, indices, groups)
    return out


def enqueued(call, x, y=0):
    results = call.make()
    call.run(x.data_ptr(), results.data_ptr(), x.numel(), y)
    return results if call.finish is None else call.finish(results)


def call_of_array(what, x, choices, dtype, stream):
    is_bool = x.dtype is torch.bool
    try:
        call = ShortCall(what, BY_TYPE[x.dtype], is_bool, choices, dtype, x.get_device(), stream, TORCH)
    except KeyError:
        return NotImplemented
    call.make, call.finish = maker_of_single(x, torch.bool if is_truth(what, is_bool) else TYPE_OF[call.number])
    return call


def call_of_batch(make, calls, x, *facts):
    if len(calls) >= MOST_CALLS:
        calls.clear()
    try:
        call = make(calls.what, read_torch(x), *facts)
    except KeyError:
        return NotImplemented
    call.dtype = torch.bool if call.is_truth else TYPE_OF[call.held]
    call.make = maker_of(x, (*call.shape, *call.pair), call.dtype) if call.shape is not None else None
    call.finish = None if call.form == NUMBER else take_indices if call.form == INDEXED else take_pairs
    return call


def take_indices(results):
    return results[..., 1]


def take_pairs(results):
    return results[..., 0], results[..., 1]
