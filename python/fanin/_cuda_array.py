# SPDX-License-Identifier: Apache-2.0
"""Arrays with __cuda_array_interface__ (version 3), of CuPy and others. Results for CuPy are CuPy arrays."""

import sys

from ._catalogue import COUNTS, TRUTHS
from ._contexts import LEGACY_STREAM, ShortCall, device_of
from ._errors import InvalidArgument, Unsupported, a
from ._libraries import PYTHON, NumpyResults, check_out
from ._types import BY_NUMPY, CODES, SIZES
from ._views import View, in_elements


class CupyResults(NumpyResults):
    """Results as CuPy arrays. A result of one number has no axes, as in CuPy."""

    name = "cupy"
    narrow = frozenset((CODES["f16"],))

    def __init__(self, cupy):
        super().__init__()
        self.cupy = cupy

    def empty_on_device(self, shape, code, view):
        with self.cupy.cuda.Device(view.device):
            memory = self.cupy.empty(shape, self.dtype(code))
        return memory, memory.data.ptr

    def finished(self, memory, shape, code, view, part=None, truth=False, counts=False):
        if truth or counts:
            memory = memory.view(bool if truth else "int64")
        return memory if part is None else memory[..., part]

    def broadcast(self, view, shape):
        return self.cupy.ascontiguousarray(self.cupy.broadcast_to(view.owner, shape))

    def make_lanes(self, lanes, device):
        with device:
            return self.cupy.array(lanes, "int64")

    def check(self, out, shape, code):
        check_out(out, self.cupy.ndarray, self.dtype(code), bool, shape, code)

    def address_of(self, out):
        if not out.flags.c_contiguous:
            raise InvalidArgument("out has to be in C order")
        return out.data.ptr


_cupy = []


def cupy_library():
    if not _cupy:
        _cupy.append(CupyResults(sys.modules["cupy"]))
    return _cupy[0]


def reduce_short(calls, x, axis, choices, dtype):
    """The enqueued result for a contiguous CuPy array; NotImplemented for another one."""
    if axis is not None or not x.flags.c_contiguous:
        return NotImplemented
    what, library, own, device = calls.what, cupy_library(), x.dtype, x.data.device_id
    cupy = library.cupy
    stream = cupy.cuda.get_current_stream(device).ptr
    key = own, device, stream, choices, dtype
    call = calls.get(key)
    if call is None:
        try:
            if own == bool or what in COUNTS or what in TRUTHS:
                return NotImplemented
            call = calls[key] = ShortCall(what, BY_NUMPY[own.name], False, choices, dtype, device, stream, library)
        except KeyError:
            return NotImplemented
    # Behind the result there is room for what tells of an overflow.
    memory = cupy.cuda.alloc(2 * SIZES[call.number])
    if memory.device_id != device:
        return NotImplemented
    call.run(x.data.ptr, memory.ptr, x.size)
    return cupy.ndarray((), library.dtype(call.number), memory)


def read_cuda_array(x):
    cupy = sys.modules.get("cupy")
    if cupy is not None and isinstance(x, cupy.ndarray):
        code = _code_of(x.dtype.name, x)
        strides = None if x.flags.c_contiguous else in_elements(x.strides, x.dtype.itemsize, "the array")
        view = View(x, x.data.ptr, code, x.shape, strides, cupy_library(), x.dtype.name == "bool")
        return view.on_device(x.device.id, cupy.cuda.get_current_stream(x.device.id).ptr)
    return read_interface(x)


def _code_of(name, x):
    code = BY_NUMPY.get(name)
    if code is None:
        raise Unsupported("%s of %s is not read: convert it with x.astype('float64')" % (a(type(x).__name__), name))
    return code


_KINDS = {"f": "float", "i": "int", "u": "uint", "c": "complex"}


def read_interface(x):
    """The view of an array of any library, which its stream, or without one the legacy default stream, has written."""
    given = x.__cuda_array_interface__
    if given.get("mask") is not None:
        raise Unsupported("an array with a mask in __cuda_array_interface__ is not read: hand the mask over as where=")
    order, kind, size = given["typestr"][0], given["typestr"][1], int(given["typestr"][2:])
    name = "bool" if kind == "b" else _KINDS.get(kind, kind) + str(8 * size)
    if order == ">":
        raise Unsupported("an array whose numbers have the other byte order is not read: call x.astype('<%s')"
                        % given["typestr"][1:])
    code = _code_of(name, x)
    address, shape = given["data"][0], tuple(given["shape"])
    view = View(x, address, code, shape, in_elements(given.get("strides"), size, "the array"), PYTHON, name == "bool",
                given)
    stream = given.get("stream")
    if stream == 0:
        raise InvalidArgument("__cuda_array_interface__ has the stream 0, which its version 3 does not allow")
    return view.on_device(device_of(address) if address else 0, stream or LEGACY_STREAM)
