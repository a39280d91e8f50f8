# SPDX-License-Identifier: Apache-2.0
"""One result of many tensors, of all ranks of process groups, and of all shards of DTensors."""

import math
from ctypes import addressof, c_void_p, sizeof

import torch
import torch.distributed

from .. import _library as c
from .._catalogue import OPERATIONS, options_of
from .._contexts import context_of
from .._errors import InvalidArgument, Unsupported
from .._operations import functions
from .._state import State
from .._torch import BY_TYPE, TORCH, raw_stream
from .._types import F32, F64, NAMES
from ._operators import TENSOR_CLASSES

WIDE = torch.float64
TYPES = (torch.float16, torch.bfloat16, torch.float32, WIDE)
SMALL = 1 << 20  # Tensors of fewer elements are copied into one before they are compared, so that launches are few.


class Lanes:
    """An exact sum of tensors that is not rounded yet, as lanes of f64, and behind them of f32, on one device.

    Tensors of 8, 16 and 32 bits are added to the lanes of f32.
    """

    def __init__(self, operation, device):
        self.operation, self.device, self.what = operation, device, OPERATIONS[operation]
        self.counts = [c.lane_count(self.what, code) for code in (F64, F32)]
        self.sum = torch.zeros(sum(self.counts), dtype=torch.int64, device=device)
        self.wide, self.narrow = self.sum.split(self.counts)
        self.has_wide = False

    def add(self, tensors):
        for lanes, is_wide in ((self.wide, True), (self.narrow, False)):
            part = [x for x in tensors if (x.dtype == WIDE) == is_wide and x.numel()]
            if part:
                lanes += (self.on_device if self.device.type == "cuda" else self.on_host)(part)
                self.has_wide = self.has_wide or is_wide

    def on_host(self, tensors):
        state = State(operation="sum_of_squares" if self.operation == "norm2" else "sum")
        for x in tensors:
            state.add((x.abs() if self.operation == "sum_of_magnitudes" else x).contiguous())
        return state.lanes()

    def on_device(self, tensors):
        """The sum of the lanes of each type, which one call of the library enqueues."""
        parts = {}
        for x in tensors:
            parts.setdefault(x.dtype, []).append(x.contiguous())
        count = c.lane_count(self.what, BY_TYPE[tensors[0].dtype])
        rows = torch.empty(len(parts), count, dtype=torch.int64, device=self.device)
        device = rows.get_device()
        context = context_of(device, raw_stream(device), TORCH)
        with context.lock:
            for row, (dtype, some) in zip(rows, parts.items()):
                inputs = inputs_of(some, BY_TYPE[dtype])
                begin = addressof(inputs)
                addresses = (c_void_p * len(some))(*range(begin, begin + sizeof(inputs), sizeof(c.Input)))
                c.check(c.context_enqueue_lanes_of_arrays(context.handle, self.what, addresses, len(some), EXACT,
                                                          row.data_ptr()))
        return rows.sum(0)

    def value(self, dtype):
        if dtype not in TYPES:
            raise InvalidArgument("the dtype of a total is a type of floats of 16 bits or more, and not %s" % dtype)
        if self.device.type == "cuda" and (dtype == WIDE or dtype == torch.float32 and not self.has_wide):
            return self.value_on_device(dtype)
        state = State.from_lanes(self.as_wide())
        value = state.norm2 if self.operation == "norm2" else state.mean if self.operation == "mean" else state.value
        return torch.tensor(value(NAMES[BY_TYPE[dtype]]), dtype=dtype, device=self.device)

    def as_wide(self):
        return self.wide + widened(self.narrow, 1 + (self.operation == "norm2"), len(self.wide))

    def value_on_device(self, dtype):
        """The value, which nothing waits for: of the lanes of f32 for f32, as no tensor is of f64 then."""
        if dtype != WIDE:
            torch._assert_async(self.wide[-7] == 0, "tensors of another rank are f64: give dtype=torch.float64")
        lanes = self.as_wide() if dtype == WIDE else self.narrow
        result = torch.empty(2, dtype=dtype, device=self.device)  # Behind the result there is room for an overflow.
        device = result.get_device()
        context = context_of(device, raw_stream(device), TORCH)
        with context.lock:
            c.check(c.context_enqueue_value_of_lanes(context.handle, self.what, BY_TYPE[dtype], lanes.data_ptr(), EXACT,
                                                     result.data_ptr()))
        return result[0]

    def is_special(self):
        """Whether a NaN or an infinity was added, which the last three lanes count."""
        return self.wide[-3:].any() | self.narrow[-3:].any()


EXACT = options_of()


def inputs_of(tensors, code):
    """Inputs of the library, one behind the other. To call Input() for each takes three times as long."""
    inputs = (c.Input * len(tensors))()
    for given, x in zip(inputs, tensors):
        given.struct_size, given.x, given.count = sizeof(c.Input), x.data_ptr(), x.numel()
        given.type, given.place = code, c.DEVICE
    return inputs


def gathered(tensors):
    """The tensors of each type, without gaps. The small ones are parts of one."""
    parts = {}
    for x in tensors:
        parts.setdefault(x.dtype, ([], []))[x.numel() < SMALL].append(x)
    return {dtype: [x.contiguous() for x in large] + ([flattened(small)] if small else [])
            for dtype, (large, small) in parts.items()}


flattened = torch._utils._flatten_dense_tensors  # takes a third of the time of cat() of reshaped tensors


def widened(lanes, power, length):
    """Lanes of f32 as lanes of f64, whose unit is smaller by a power of two (docs/exact-format.md)."""
    words, bits = divmod(power * (1074 - 149), 32)
    count = len(lanes) - 7
    made = lanes.new_zeros(length)
    made[words:words + count] += (lanes[:count] & (1 << 32 - bits) - 1) << bits
    made[words + 1:words + count + 1] += lanes[:count] >> 32 - bits
    made[-7:] = lanes[-7:]
    return made


def local_parts(tensors):
    """The tensors of this rank: lists of them by the mesh over which they are sharded; None for plain tensors."""
    found = {}
    for x in tensors:
        mesh, counts = None, True
        if type(x) not in TENSOR_CLASSES and hasattr(x, "placements"):
            mesh = x.device_mesh
            for dim, placement in enumerate(x.placements):
                if placement.is_partial():
                    raise Unsupported("a DTensor with partial results is not read: call redistribute()")
                if placement.is_replicate() and mesh.get_local_rank(dim):
                    counts = False  # Another rank has the same elements.
            x = x.to_local()
        if not x.dtype.is_floating_point:
            raise Unsupported("totals are of floats, and not of %s" % x.dtype)
        found.setdefault(mesh, []).extend([x] if counts else [])
    return found


def groups_of(mesh, groups):
    """The process groups over which parts are merged."""
    if mesh is not None:
        return mesh.get_all_groups()
    if groups is None:
        return []
    return groups if isinstance(groups, (list, tuple)) else [groups]


def device_of(parts):
    devices = {x.device for tensors in parts.values() for x in tensors}
    if len(devices) > 1:
        raise Unsupported("the tensors are on several devices (%s): call it for each, in one process group"
                          % ", ".join(sorted(map(str, devices))))
    return devices.pop() if devices else torch.device("cpu")


@torch.no_grad()
def merged(operation, tensors, group):
    """The lanes of all tensors, here and on the other ranks."""
    parts, total = local_parts(tensors), None
    device = device_of(parts)
    for mesh, local in (parts or {None: []}).items():
        lanes = Lanes(operation, device)
        lanes.add(local)
        for one in groups_of(mesh, group):
            torch.distributed.all_reduce(lanes.sum, group=one)
        if total is not None:
            lanes.sum += total.sum
            lanes.has_wide = lanes.has_wide or total.has_wide
        total = lanes
    return total


def type_for(tensors, dtype):
    return dtype or (WIDE if any(x.dtype == WIDE for x in tensors) else torch.float32)


def total_sum(tensors, *, group=None, dtype=None):
    """The sum of all elements of all tensors, rounded once; the same bits for any split into tensors and ranks.

    `group` is a process group, or a list of them, over which the sum goes too. The shards of DTensors are summed over
    their mesh. Ranks may have different numbers of tensors. The result is f32, f64 if a tensor is, or `dtype`.
    """
    tensors = list(tensors)
    return merged("sum", tensors, group).value(type_for(tensors, dtype))


def total_mean(tensors, *, group=None, dtype=None):
    """The mean of all elements, with the arguments of total_sum()."""
    tensors = list(tensors)
    return merged("mean", tensors, group).value(type_for(tensors, dtype))


def any_nonfinite(tensors, *, group=None):
    """Whether a NaN or an infinity is among the elements, with the arguments of total_sum(), as a tensor."""
    return merged("sum", tensors, group).is_special()


def total_norm(tensors, norm_type=2.0, *, group=None, dtype=None):
    """The norm of order 1, 2 or inf of all elements of all tensors, with the other arguments of total_sum()."""
    tensors = list(tensors)
    if norm_type == math.inf:
        return largest("max_magnitude", 0.0, tensors, group).to(type_for(tensors, dtype))
    if norm_type not in (1, 2):
        raise InvalidArgument("norm_type is 1, 2 or inf, and not %s" % norm_type)
    return merged("norm2" if norm_type == 2 else "sum_of_magnitudes", tensors, group).value(type_for(tensors, dtype))


def total_max(tensors, *, group=None, dtype=None):
    """The largest element, with the arguments of total_sum(): NaN if one is, and -inf of no elements."""
    tensors = list(tensors)
    return largest("max", -math.inf, tensors, group).to(type_for(tensors, dtype))


@torch.no_grad()
def largest(operation, least, tensors, group):
    """The largest result of the operation for a tensor, as f64, and not below `least`."""
    parts = local_parts(tensors)
    least = torch.tensor(least, dtype=WIDE, device=device_of(parts))
    total = reordered(least.view(torch.int64))
    for mesh, local in (parts or {None: []}).items():
        found = [functions[operation](x.detach()).to(WIDE) for some in gathered(local).values() for x in some
                 if x.numel()]
        key = reordered(torch.stack([least, *found]).view(torch.int64)).amax()
        for one in groups_of(mesh, group):
            torch.distributed.all_reduce(key, torch.distributed.ReduceOp.MAX, group=one)
        total = torch.maximum(total, key)
    return reordered(total).view(WIDE)


def reordered(bits):
    """The bits of f64 as integers in the order of the numbers, and these integers as the bits. The largest is NaN's."""
    return bits ^ (bits >> 63 & (1 << 63) - 1)


@torch.no_grad()
def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, *, group=None):
    """torch.nn.utils.clip_grad_norm_ with an exact norm, over process groups too. Returns the norm."""
    parameters = [parameters] if isinstance(parameters, torch.Tensor) else list(parameters)
    grads = [p.grad for p in parameters if p.grad is not None]
    norm = total_norm(grads, norm_type, group=group)
    if error_if_nonfinite and not norm.isfinite():
        raise InvalidArgument("the norm of the gradients is %s: nothing was clipped" % norm.item())
    factor = (max_norm / (norm + 1e-6)).clamp(max=1.0)
    local = [grad.to_local() if hasattr(grad, "placements") else grad for grad in grads]
    if local:
        torch._foreach_mul_(local, factor)
    return norm
