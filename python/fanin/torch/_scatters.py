# SPDX-License-Identifier: Apache-2.0
"""The table of reductions of segments, and of elements and slices that an index scatters."""

import math

import torch

import fanin

from .._errors import InvalidArgument, Unsupported
from ._added_rows import added_rows, are_added_in_place, is_of_slices
from ._operators import Row, functions as operators
from ._reductions import INTEGERS, NARROW, readable, widest
from ._gradient_steps import FirstOnly, Take

NAMES = {"sum": "sum", "mean": "mean", "prod": "product", "amax": "max", "amin": "min", "max": "max", "min": "min"}
AT_ONCE = 1 << 26  # how many elements and offsets are brought into the order of segments at once


def operation_of(reduce):
    if reduce not in NAMES:
        raise InvalidArgument("there is no reduce %r: choose one of %s" % (reduce, ", ".join(NAMES)))
    return NAMES[reduce]


def identity_of(operation, dtype):
    """The element that changes no result."""
    if operation not in ("max", "min"):
        return int(operation == "product")
    if dtype == torch.bool:
        return operation == "min"
    if dtype in INTEGERS:
        limits = torch.iinfo(dtype)
        return limits.max if operation == "min" else limits.min
    return math.inf if operation == "min" else -math.inf


def require_keys(index, count):
    """Checks keys on the host at once, and on a device where the stream comes to the check."""
    if index.is_cuda and count:
        torch._assert_async((index.clamp(0, count - 1) == index).all(), "an index is out of range")
        return
    least, largest = torch.aminmax(index)
    if least < 0 or largest >= count:
        raise IndexError("an index is out of range: there are %d places, and an index is %d"
                         % (count, least if least < 0 else largest))


# ---- Computation ----------------------------------------------------------------------------------------------------

def of_segments(operation, data, offsets):
    """Results [batches, segments, columns] of data [batches, elements, columns]; offsets are [batches, segments + 1].

    The columns become rows in a copy, of a part of the columns at a time. All segments of all rows are segments of one
    array then, with one more segment at the end of each row, which is dropped.
    """
    batches, length, columns = data.shape
    count = offsets.shape[1] - 1
    result = data.new_empty(batches, count, columns)
    function = getattr(fanin, "segment_" + operation)
    empty = {"empty": identity_of(operation, data.dtype)} if operation in ("max", "min") else {}
    step = max(1, AT_ONCE // max(batches * (length + count + 1), 1))
    for first in range(0, columns, step):
        rows = data[:, :, first:first + step].transpose(1, 2).contiguous()
        index = torch.int32 if rows.numel() < 2 ** 31 else torch.int64
        begins = torch.arange(rows.shape[0] * rows.shape[1], device=data.device, dtype=index) * length
        within = (begins.reshape(batches, -1, 1) + offsets.unsqueeze(1).to(index)).reshape(-1)
        within = torch.cat((within, torch.full_like(within[:1], rows.numel())))
        found = function(rows.reshape(-1), within, **empty)
        result[:, :, first:first + step] = found.reshape(batches, -1, count + 1)[..., :count].transpose(1, 2)
    return result


def of_rows(operation, base, keys, rows):
    """The results [groups, columns] of the rows of a base, each together with the rows that have its number as key.

    Keys of no row are left out. Where there are fewer keys than rows of the base, each different key takes a place of
    its own among as many places as there are keys. The places that are left over end in one more row, which is dropped.
    """
    groups, places = len(base), base
    if are_added_in_place(operation, rows):
        return added_rows(base, groups, keys, rows)
    keys = keys.masked_fill((keys < 0) | (keys >= groups), groups)
    heads = None
    if len(keys) < groups:
        keys, order = torch.sort(keys, stable=True)
        rows = rows.index_select(0, order)
        ranks = torch.cat((torch.zeros_like(keys[:1]), (keys[1:] != keys[:-1]).to(keys.dtype))).cumsum(0)
        heads = torch.full_like(keys, groups).scatter_(0, ranks, keys)
        places, keys = base.index_select(0, heads.clamp(max=groups - 1)), ranks
    numbers = torch.arange(len(places) + 1, device=keys.device, dtype=keys.dtype)
    ordered, order = torch.sort(torch.cat((numbers[:-1], keys)), stable=True)
    offsets = torch.searchsorted(ordered, numbers)
    rows = torch.cat((places, rows)).index_select(0, order)
    found = of_segments(operation, rows.unsqueeze(0), offsets.unsqueeze(0))[0]
    return found if heads is None else torch.cat((base, base[:1])).index_copy_(0, heads, found)[:groups]


def of_elements(operation, base, keys, elements):
    """The results of groups of single elements, each together with the element of the base that has its number as key."""
    if operation == "mean":
        every = torch.cat((torch.arange(len(base), device=keys.device), keys))
        return fanin.group_mean(torch.cat((base, elements)), every, len(base))
    wide = torch.int64 if base.dtype in INTEGERS and operation in ("sum", "product") else \
        torch.float32 if base.dtype in NARROW and operation == "product" else base.dtype
    out = base.to(wide, copy=True)
    return fanin.index_add(out, keys, elements.to(wide).contiguous(), operation=operation).to(base.dtype)


def places(index, dim, shape):
    """The number in C order of each element of a tensor of that shape that an index of scatter() names."""
    stride, found = 1, torch.zeros((), dtype=torch.int64, device=index.device)
    for axis in reversed(range(index.dim())):
        here = index if axis == dim else torch.arange(index.shape[axis], device=index.device).reshape(
            [-1 if other == axis else 1 for other in range(index.dim())])
        found = found + here * stride
        stride *= shape[axis]
    return found.reshape(-1)


def scattered(operation, self, dim, index, src, include_self=True):
    shape, dim = self.shape, dim % max(self.dim(), 1)
    if not index.numel():
        return self.clone()
    if include_self and are_added_in_place(operation, self) and index.dim() > 1 and is_of_slices(index, dim, shape):
        return index_add(self, dim, index.movedim(dim, 0).flatten(1)[:, 0], src[tuple(map(slice, index.shape))])
    if not self.dim():
        self, index, src = self.reshape(1), index.reshape(1), src.reshape(1)
    require_keys(index, self.shape[dim])
    base, keys = readable(self).reshape(-1), places(index, dim, self.shape)
    elements = readable(src)[tuple(map(slice, index.shape))].reshape(-1)
    if include_self:
        return of_elements(operation, base, keys, elements).reshape(shape)
    touched = torch.zeros_like(base, dtype=torch.bool).index_fill_(0, keys, True)
    if operation == "mean":
        found = fanin.group_mean(elements, keys, len(base))
        return torch.where(touched, found, base).reshape(shape)
    return of_elements(operation, base.masked_fill(touched, identity_of(operation, base.dtype)), keys,
                       elements).reshape(shape)


def scatter_add(self, dim, index, src):
    require_type(self, src)
    return scattered("sum", self, dim, index, src)


def scatter_reduce(self, dim, index, src, reduce, *, include_self=True):
    require_type(self, src)
    operation = operation_of(reduce)
    if operation == "mean" and self.dtype in INTEGERS:
        raise Unsupported("the mean of integers is a float: convert the tensors")
    return scattered(operation, self, dim, index, src, include_self)


def require_type(self, source):
    if self.dtype != source.dtype:
        raise Unsupported("the tensors have the types %s and %s: convert one of them" % (self.dtype, source.dtype))


def index_add(self, dim, index, source, *, alpha=1):
    require_type(self, source)
    shape = self.shape
    if not self.dim():
        self, source = self.reshape(1), source.reshape(1)
    dim, index = dim % self.dim(), index.reshape(-1)
    rows, base = readable(source), readable(self)
    if dim:
        rows, base = rows.movedim(dim, 0), base.movedim(dim, 0)
    if rows.shape != (len(index), *base.shape[1:]):
        raise InvalidArgument("source of shape %s and index of %d elements do not fit self of shape %s along dim %d"
                              % (tuple(source.shape), len(index), tuple(self.shape), dim))
    if not source.numel():
        return self.reshape(shape).clone()
    if alpha != 1:
        rows = rows * alpha
    single = math.prod(base.shape[1:]) == 1
    if not (single and index.is_cuda):  # There the library checks, and adds nothing where a key is wrong.
        require_keys(index, len(base))
    if single:
        return of_elements("sum", base.reshape(-1), index, rows.reshape(-1)).reshape(shape)
    found = of_rows("sum", base.reshape(len(base), -1), index, rows.reshape(len(index), -1))
    return found.reshape(base.shape).movedim(0, dim).contiguous()


# ---- Segments -------------------------------------------------------------------------------------------------------

class Segments:
    """The segments of a call: their offsets [batches, segments + 1] and where each element of data belongs."""

    def __init__(self, shape, axis, lengths, offsets):
        self.shape, self.axis = shape, axis % len(shape)
        given = lengths if offsets is None else offsets
        if given is None or (lengths is not None and offsets is not None):
            raise InvalidArgument("segment_reduce takes either lengths or offsets")
        if tuple(given.shape[:-1]) != tuple(shape[:self.axis]):
            raise InvalidArgument("lengths and offsets have to have the axes of data before axis, and one more")
        self.count = given.shape[-1] - int(offsets is not None)
        if offsets is None:
            offsets = torch.nn.functional.pad(lengths.cumsum(-1), (1, 0))
        self.offsets = offsets.reshape(-1, self.count + 1)
        self.result_shape = (*shape[:self.axis], self.count, *shape[self.axis + 1:])

    def keys(self):
        """The number of the segment of each element, [batches, elements]; and whether it is in one."""
        length = self.shape[self.axis]
        numbers = torch.arange(length, device=self.offsets.device, dtype=self.offsets.dtype)
        numbers = numbers.expand(len(self.offsets), length).contiguous()
        keys = torch.searchsorted(self.offsets[:, 1:].contiguous(), numbers, right=True)
        return keys, (numbers >= self.offsets[:, :1]) & (keys < self.count)

    def beside(self, keys):
        """Numbers of elements [batches, elements] in the shape of data."""
        ones = [1] * (len(self.shape) - self.axis - 1)
        return keys.reshape(*self.shape[:self.axis + 1], *ones).expand(self.shape)


def require_segments(segments, length):
    offsets = segments.offsets
    if not offsets.is_cuda and bool(((offsets < 0) | (offsets > length)).any() | (offsets.diff() < 0).any()):
        raise InvalidArgument("a segment is outside of data: there are %d elements along axis" % length)


def segment_reduce(data, reduce, lengths=None, offsets=None, *, axis=0, unsafe=False, initial=None):
    operation, data = operation_of(reduce), readable(data)
    segments = Segments(data.shape, axis, lengths, offsets)
    length = data.shape[segments.axis]
    if not unsafe:
        require_segments(segments, length)
    cubes = data.reshape(len(segments.offsets), length, math.prod(data.shape[segments.axis + 1:]))
    if operation == "mean" and initial is not None:
        raise Unsupported("initial has no part in a mean: leave it out")
    if initial is None and not (are_added_in_place(operation, data) and cubes.shape[2] > 1):
        return of_segments(operation, cubes, segments.offsets).reshape(segments.result_shape)
    keys, inside = segments.keys()
    groups = len(keys) * segments.count
    first = torch.arange(len(keys), device=keys.device).unsqueeze(1) * segments.count
    keys = torch.where(inside, keys + first, groups).reshape(-1)
    rows = cubes.reshape(-1, cubes.shape[2])
    found = added_rows(None, groups, keys, rows) if initial is None else \
        of_rows(operation, cubes.new_full((groups, cubes.shape[2]), initial), keys, rows)
    return found.reshape(segments.result_shape)


def shape_of_segments(data, reduce, lengths=None, offsets=None, *, axis=0, unsafe=False, initial=None):
    operation_of(reduce)
    return Segments(data.shape, axis, lengths, offsets).result_shape, data.dtype


def shape_of_self(self, *others, **named):
    return self.shape, self.dtype


# ---- Gradients ------------------------------------------------------------------------------------------------------

def of_index_add(call, grad):
    found = Take.apply(grad.unsqueeze(0) if not grad.dim() else grad, call.dim, call.index.reshape(-1), True)
    return {"self": grad, "source": found.reshape(call.like["source"][0]) * call.alpha}


def require_whole(call):
    if call.index.shape != call.like["src"][0]:
        raise Unsupported("there is a gradient of src only where index has the shape of src")


def of_scatter_add(call, grad):
    require_whole(call)
    return {"self": grad, "src": Take.apply(grad, call.dim, call.index, False)}


def of_scatter_reduce(call, grad):
    require_whole(call)
    operation, self, src = operation_of(call.reduce), call.self, call.src
    counts = torch.full_like(self, int(call.include_self))

    def added(to, what):
        return operators["scatter_add"](to, call.dim, call.index, what)

    def picked(x):
        return Take.apply(x, call.dim, call.index, False)
    touched = added(torch.zeros_like(self), torch.ones_like(src)) > 0
    of_self = grad if call.include_self else grad.masked_fill(touched, 0)
    if operation == "sum":
        return {"self": of_self, "src": picked(grad)}
    if operation == "mean":
        shares = grad / added(counts, torch.ones_like(src)).clamp(min=1)
        return {"self": torch.where(touched, shares, grad) if call.include_self else of_self, "src": picked(shares)}
    if operation == "product":
        zeros = added((self == 0).to(self.dtype) * counts, (src == 0).to(self.dtype))
        others = operators["scatter_reduce"](self.masked_fill(self == 0, 1), call.dim, call.index,
                                             src.masked_fill(src == 0, 1), "prod", include_self=call.include_self)
        first = without(self, zeros, others)
        return {"self": FirstOnly.apply(grad, first if call.include_self else torch.where(touched, 0, first)),
                "src": FirstOnly.apply(picked(grad), without(src, picked(zeros), picked(others)))}
    chosen = (src == picked(call.result)).to(grad.dtype)
    chosen_self = (self == call.result).to(grad.dtype)
    if not call.include_self:
        chosen_self = chosen_self.masked_fill(touched, 0)
    shares = grad / added(chosen_self, chosen).clamp(min=1)
    return {"self": shares * chosen_self, "src": picked(shares) * chosen}


def without(x, zeros, others):
    """The product of all but x, where `others` is that of all but zeros, of which there are so many."""
    return torch.where(x == 0, torch.where(zeros == 1, others, 0), torch.where(zeros == 0, others / x, 0)).detach()


def of_segment_reduce(call, grad):
    operation, data, axis = operation_of(call.reduce), call.data, call.axis % len(call.like["data"][0])
    segments = Segments(call.like["data"][0], axis, call.lengths, call.offsets)
    keys, inside = map(segments.beside, segments.keys())
    keys = keys.clamp(max=max(segments.count - 1, 0))

    def picked(x):
        return torch.where(inside, Take.apply(x, axis, keys, False), 0)

    def totals(x, reduce="sum"):
        return operators["segment_reduce"](x, reduce, call.lengths, call.offsets, axis=axis, unsafe=True)
    if operation == "sum":
        return {"data": picked(grad)}
    if operation == "mean":
        return {"data": picked(grad / totals(torch.ones_like(data)).clamp(min=1))}
    if operation == "product":
        zero = data == 0
        others = totals(data.masked_fill(zero, 1), "prod") * (1 if call.initial is None else call.initial)
        zeros = totals(zero.to(data.dtype))
        return {"data": FirstOnly.apply(picked(grad), without(data, picked(zeros), picked(others)))}
    chosen = ((data == picked(call.result)) & inside).to(grad.dtype)
    return {"data": picked(grad / totals(chosen).clamp(min=1)) * chosen}


# ---- One more axis in front -----------------------------------------------------------------------------------------

def batch_index_add(call):
    """The slices of all tensors are those of one, in which each tensor has its own keys."""
    shape, base, source = call.self.shape, call.self, call.source
    if len(shape) == 1:
        base, source = base.unsqueeze(1), source.reshape(len(base), -1)
    dim = call.dim % (base.dim() - 1) + 1
    base, source = base.movedim(dim, 1), source.movedim(dim, 1)
    index = call.index.reshape(len(base), -1)
    keys = index + torch.arange(len(base), device=index.device, dtype=index.dtype).unsqueeze(1) * base.shape[1]
    found = call.again(self=base.flatten(0, 1), dim=0, index=keys.reshape(-1), source=source.flatten(0, 1))
    return found.reshape(base.shape).movedim(1, dim).reshape(shape)


def batch_scatter(call):
    ndim = call.self.dim() - 1
    if ndim:
        return call.again(dim=call.dim % ndim + 1)
    columns = {name: getattr(call, name).reshape(len(call.self), 1) for name in ("self", "index", "src")}
    return call.again(dim=1, **columns).reshape(-1)


def batch_segments(call):
    return call.again(axis=call.axis % (call.data.dim() - 1) + 1)


ROWS = [
    Row("segment_reduce(Tensor data, str reduce, Tensor? lengths=None, Tensor? offsets=None, *, int axis=0, "
        "bool unsafe=False, Scalar? initial=None) -> Tensor",
        "A result for each segment along axis: reduce is sum, mean, prod, max or min.", segment_reduce,
        shape_of_segments, batch_segments, of_segment_reduce, ("data", "lengths", "offsets", "result")),
    Row("index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor",
        "self, to whose slices along dim those of source are added: each sum is rounded once.", index_add,
        shape_of_self, batch_index_add, of_index_add, ("index",), widest("self", "source")),
    Row("scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
        "self, to whose elements those of src are added: each sum is rounded once.", scatter_add, shape_of_self,
        batch_scatter, of_scatter_add, ("index",), widest("self", "src")),
    Row("scatter_reduce(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True) -> "
        "Tensor",
        "self with whose elements those of src are reduced: reduce is sum, mean, prod, amax or amin.", scatter_reduce,
        shape_of_self, batch_scatter, of_scatter_reduce, ("self", "index", "src", "result"), widest("self", "src")),
]
