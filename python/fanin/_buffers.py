# SPDX-License-Identifier: Apache-2.0
"""The buffer protocol: where the elements of numpy arrays, memoryview, array and the like are, without a copy."""

import ctypes
from ctypes import POINTER, byref, c_char_p, c_int, c_ssize_t, c_void_p, py_object

from ._errors import Unsupported
from ._types import BY_FORMAT


class PyBuffer(ctypes.Structure):
    _fields_ = [("buf", c_void_p), ("obj", c_void_p), ("len", c_ssize_t), ("itemsize", c_ssize_t),
                ("readonly", c_int), ("ndim", c_int), ("format", c_char_p), ("shape", POINTER(c_ssize_t)),
                ("strides", POINTER(c_ssize_t)), ("suboffsets", POINTER(c_ssize_t)), ("internal", c_void_p)]


STRIDED = 0x001c  # PyBUF_STRIDES, with PyBUF_FORMAT

# There are no prototypes, because calls with prototypes take twice the time. The arguments are objects of ctypes.
_python = ctypes.PyDLL(None)
get_buffer = _python["PyObject_GetBuffer"]  # (py_object(x), byref(buffer), flags); raises what the exporter raises
release = _python["PyBuffer_Release"]  # (byref(buffer))
release.restype = None


class Held:
    """The buffer of an object, until it is deleted."""

    __slots__ = ("buffer",)

    def __init__(self, x):
        self.buffer = PyBuffer()
        get_buffer(py_object(x), byref(self.buffer), STRIDED)

    def __del__(self):
        release(byref(self.buffer))


def read_format(text):
    """The element type of a format. Raises Unsupported if there is none."""
    code = BY_FORMAT.get(text)
    if code is None:
        raise Unsupported("elements of the format %r are not read: convert them with x.astype('float64')"
                        % (text or b"").decode())
    return code
