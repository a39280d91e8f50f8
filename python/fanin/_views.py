# SPDX-License-Identifier: Apache-2.0
"""An input: the place, type, shape and strides of its elements, and the library that results belong to."""

from math import prod

from . import _library as c
from ._errors import Unsupported, a
from ._types import ALIGNMENTS, SIZES


class View:
    """Elements in memory. `strides` is in elements, and None in C order; `device` is a number in device memory.

    `presence` says which elements are there, where others are missing (null, NA); else it is None.
    """

    __slots__ = ("owner", "address", "code", "shape", "strides", "place", "device", "stream", "library", "is_bool",
                 "kept", "presence")

    def __init__(self, owner, address, code, shape, strides, library, is_bool=False, kept=None, presence=None):
        self.owner, self.address, self.code, self.library = owner, address, code, library
        self.shape, self.strides = shape, None if in_c_order(shape, strides) else strides
        self.is_bool, self.kept, self.presence = is_bool, kept, presence
        if (address or 0) % ALIGNMENTS[code] and 0 not in shape:
            raise Unsupported("%s that is not aligned is not read: call x.copy()" % a(type(owner).__name__))
        self.place, self.device, self.stream = c.HOST, None, None

    @property
    def count(self):
        return prod(self.shape)

    @property
    def extent(self):
        """The addresses of the first byte, and behind the last one, between which the elements are."""
        first, size = self.address or 0, SIZES[self.code]
        if self.strides is None or 0 in self.shape:
            return first, first + self.count * size
        reaches = [(length - 1) * stride * size for length, stride in zip(self.shape, self.strides)]
        return first + sum(min(reach, 0) for reach in reaches), first + sum(max(reach, 0) for reach in reaches) + size

    def on_device(self, device, stream):
        """This view, marked as memory of a device that work on `stream` (a cudaStream_t) has written."""
        self.place, self.device, self.stream = c.DEVICE, device, stream
        return self


def in_c_order(shape, strides):
    """Whether elements at these distances stand one after another in C order."""
    if strides is None:
        return True
    expected = 1
    for length, stride in zip(reversed(shape), reversed(strides)):
        if length != 1 and stride != expected:
            return prod(shape) <= 1
        expected *= length
    return True


def overlap(begin, end, views):
    """Whether the bytes from `begin` up to `end` may overlap with the bytes of a view."""
    return any(begin < behind and first < end for first, behind in (view.extent for view in views))


def in_elements(strides, size, name):
    """Strides in bytes as strides in elements."""
    if strides is None:
        return None
    if any(stride % size for stride in strides):
        raise Unsupported("%s has strides that are not multiples of the element size: call x.copy()" % name)
    return tuple(stride // size for stride in strides)
