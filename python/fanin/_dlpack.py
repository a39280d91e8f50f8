# SPDX-License-Identifier: Apache-2.0
"""Arrays of any library that has DLPack (version 1, and the capsules of before)."""

import ctypes
from ctypes import POINTER, c_char_p, c_int, c_int32, c_int64, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p, \
    py_object

from ._contexts import LEGACY_STREAM
from ._errors import Unsupported, a
from ._libraries import PYTHON
from ._types import CODES
from ._views import View

CPU, CUDA, CUDA_HOST, CUDA_MANAGED = 1, 2, 3, 13


class Tensor(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("device_type", c_int32), ("device", c_int32), ("ndim", c_int32),
                ("kind", c_uint8), ("bits", c_uint8), ("lanes", c_uint16), ("shape", POINTER(c_int64)),
                ("strides", POINTER(c_int64)), ("byte_offset", c_uint64)]


class Versioned(ctypes.Structure):
    _fields_ = [("major", c_uint32), ("minor", c_uint32), ("manager", c_void_p), ("deleter", c_void_p),
                ("flags", c_uint64), ("tensor", Tensor)]


_pointer = ctypes.PYFUNCTYPE(c_void_p, py_object, c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))
_is_valid = ctypes.PYFUNCTYPE(c_int, py_object, c_char_p)(("PyCapsule_IsValid", ctypes.pythonapi))

# (kind, bits): signed 0, unsigned 1, float 2, bfloat 4, complex 5, bool 6, float8_e4m3fn 10, float8_e5m2 12.
TYPES = {(4, 16): "bf16", (5, 64): "c64", (5, 128): "c128", (6, 8): "u8", (10, 8): "e4m3", (12, 8): "e5m2"}
for _bits in (8, 16, 32, 64):
    TYPES[0, _bits], TYPES[1, _bits] = "i%d" % _bits, "u%d" % _bits
    if _bits > 8:
        TYPES[2, _bits] = "f%d" % _bits


def read_dlpack(x):
    """The view of x. Numbers in device memory are written before what comes next on the legacy default stream."""
    device_type, device = x.__dlpack_device__()
    name = type(x).__name__
    if device_type not in (CPU, CUDA, CUDA_HOST, CUDA_MANAGED):
        raise Unsupported("%s on a device of DLPack's type %d is not read: copy it to the host" % (a(name), device_type))
    on_device = device_type in (CUDA, CUDA_MANAGED)
    arguments = {"stream": LEGACY_STREAM} if on_device else {}
    try:
        capsule = x.__dlpack__(max_version=(1, 0), **arguments)
    except TypeError:  # a library of before version 1
        capsule = x.__dlpack__(**arguments)
    # A capsule that keeps its name gives the memory back when it is deleted.
    if _is_valid(capsule, b"dltensor_versioned"):
        versioned = Versioned.from_address(_pointer(capsule, b"dltensor_versioned"))
        if versioned.major != 1:
            raise Unsupported("DLPack of version %d is not read" % versioned.major)
        tensor = versioned.tensor
    else:
        tensor = Tensor.from_address(_pointer(capsule, b"dltensor"))
    found = TYPES.get((tensor.kind, tensor.bits)) if tensor.lanes == 1 else None
    if found is None:
        raise Unsupported("%s of DLPack's type (%d, %d bits) is not read: convert it to float64"
                        % (a(name), tensor.kind, tensor.bits))
    shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
    strides = tuple(tensor.strides[i] for i in range(tensor.ndim)) if tensor.strides else None
    address = (tensor.data or 0) + tensor.byte_offset
    view = View(x, address, CODES[found], shape, strides, PYTHON, tensor.kind == 6, capsule)
    return view.on_device(device, LEGACY_STREAM) if on_device else view
