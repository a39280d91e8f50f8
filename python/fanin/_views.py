# SPDX-License-Identifier: Apache-2.0
"""What an input is: where its elements are, their type, shape and strides, and the library that results belong to."""

import sys
from math import prod

from . import _library as c
from ._buffers import Held, read_format
from ._errors import Unsupported
from ._libraries import PYTHON, numpy_library
from ._types import ALIGNMENTS, BY_NUMPY, SIZES


class View:
    """Elements in memory. `strides` is in elements, and None in C order; `device` is a number in device memory."""

    __slots__ = ("owner", "address", "code", "shape", "strides", "place", "device", "stream", "library", "is_bool",
                 "kept")

    def __init__(self, owner, address, code, shape, strides, library, is_bool=False, kept=None):
        self.owner, self.address, self.code, self.library = owner, address, code, library
        self.shape, self.strides = shape, None if in_c_order(shape, strides) else strides
        self.is_bool, self.kept = is_bool, kept
        if (address or 0) % ALIGNMENTS[code] and 0 not in shape:
            raise Unsupported("a %s that is not aligned is not read: call x.copy()" % type(owner).__name__)
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
    """Whether the bytes from `begin` up to `end` may have some in common with those of a view."""
    return any(begin < behind and first < end for first, behind in (view.extent for view in views))


def in_elements(strides, size, name):
    """Strides in bytes as strides in elements."""
    if strides is None:
        return None
    if any(stride % size for stride in strides):
        raise Unsupported("%s has strides that are no multiples of its elements' size: call x.copy()" % name)
    return tuple(stride // size for stride in strides)


def read_buffer(x, library=PYTHON):
    """The view of an object that has the buffer protocol."""
    held = Held(x)
    buffer = held.buffer
    code = read_format(buffer.format)
    shape = tuple(buffer.shape[i] for i in range(buffer.ndim))
    strides = tuple(buffer.strides[i] for i in range(buffer.ndim)) if buffer.strides else None
    return View(x, buffer.buf, code, shape, in_elements(strides, SIZES[code], type(x).__name__), library,
                buffer.format == b"?", held)


def read_numpy(x):
    """The view of a numpy array, also of the types of ml_dtypes, which have no format."""
    if is_instance_of(x, "numpy.ma", "MaskedArray"):
        raise Unsupported("a masked array is not read: hand over x.data, and where=~numpy.ma.getmaskarray(x)")
    dtype = x.dtype
    code = BY_NUMPY.get(dtype.name)
    if code is None or not dtype.isnative:
        raise Unsupported("a numpy array of dtype %s is not read: convert it, as by x.astype('float64')" % dtype.str)
    return View(x, x.__array_interface__["data"][0], code, x.shape, in_elements(x.strides, dtype.itemsize, "the array"),
                numpy_library(), dtype.name == "bool")


def is_instance_of(x, module, name):
    """Whether x is of a class of a module, which is not imported for that."""
    loaded = sys.modules.get(module)
    return loaded is not None and isinstance(x, getattr(loaded, name, ()))


def view_of(x):
    """The view of any input. Raises TypeError, with the call that converts it, if it cannot be read where it lies."""
    if is_instance_of(x, "numpy", "ndarray"):
        return read_numpy(x)
    if is_instance_of(x, "torch", "Tensor"):
        from ._torch import read_torch
        return read_torch(x)
    if hasattr(x, "__cuda_array_interface__"):
        from ._cuda_array import read_cuda_array
        return read_cuda_array(x)
    if is_instance_of(x, "numpy", "generic"):
        import numpy
        return read_numpy(numpy.asarray(x))
    if hasattr(x, "__arrow_c_array__") or hasattr(x, "__arrow_c_stream__"):
        from ._arrow import read_arrow
        return read_arrow(x)
    try:
        return read_buffer(x)
    except TypeError as error:
        if "bytes-like" not in str(error):
            raise
    except BufferError as error:
        raise Unsupported("%s cannot be read without a copy (%s)" % (type(x).__name__, error)) from None
    if hasattr(x, "__dlpack__"):
        from ._dlpack import read_dlpack
        return read_dlpack(x)
    if hasattr(x, "to_numpy"):
        raise Unsupported("a %s is not read where it lies: call x.to_numpy()" % type(x).__name__)
    from ._sequences import read_sequence
    return read_sequence(x)
