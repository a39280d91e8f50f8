# SPDX-License-Identifier: Apache-2.0
"""Arrow arrays without nulls, by Arrow's C data interface: those of pyarrow, polars and DuckDB."""

import ctypes
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_int, c_int64, c_void_p, py_object

from ._errors import Unsupported
from ._libraries import PYTHON
from ._types import CODES, SIZES
from ._views import View

TYPES = {b"c": "i8", b"C": "u8", b"s": "i16", b"S": "u16", b"i": "i32", b"I": "u32", b"l": "i64", b"L": "u64",
         b"e": "f16", b"f": "f32", b"g": "f64"}


class Schema(ctypes.Structure):
    _fields_ = [("format", c_char_p), ("name", c_char_p), ("metadata", c_void_p), ("flags", c_int64),
                ("children_count", c_int64), ("children", c_void_p), ("dictionary", c_void_p), ("release", c_void_p),
                ("private", c_void_p)]


class Array(ctypes.Structure):
    _fields_ = [("length", c_int64), ("null_count", c_int64), ("offset", c_int64), ("buffer_count", c_int64),
                ("children_count", c_int64), ("buffers", POINTER(c_void_p)), ("children", c_void_p),
                ("dictionary", c_void_p), ("release", CFUNCTYPE(None, c_void_p)), ("private", c_void_p)]

    def __del__(self):
        # An array that a stream gave is released here. A capsule releases its array itself: this is a mere copy then.
        if getattr(self, "owned", False) and self.release:
            self.release(ctypes.addressof(self))


class Stream(ctypes.Structure):
    _fields_ = [("get_schema", CFUNCTYPE(c_int, c_void_p, c_void_p)),
                ("get_next", CFUNCTYPE(c_int, c_void_p, c_void_p)),
                ("get_last_error", CFUNCTYPE(c_char_p, c_void_p)), ("release", c_void_p), ("private", c_void_p)]


_pointer = ctypes.PYFUNCTYPE(c_void_p, py_object, c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))


def read_arrow(x):
    if hasattr(x, "__arrow_c_array__"):
        schema, array = x.__arrow_c_array__()
        text = Schema.from_address(_pointer(schema, b"arrow_schema")).format
        return view_of_array(x, text, Array.from_address(_pointer(array, b"arrow_array")), (schema, array))
    capsule = x.__arrow_c_stream__()
    address = _pointer(capsule, b"arrow_array_stream")
    stream = Stream.from_address(address)
    schema = Schema()
    check(stream, address, stream.get_schema(address, ctypes.addressof(schema)))
    text = schema.format
    CFUNCTYPE(None, c_void_p)(schema.release)(ctypes.addressof(schema))
    chunks = [next_chunk(stream, address)]
    while chunks[-1].release:
        chunks.append(next_chunk(stream, address))
    if len(chunks) == 1:
        return View(x, None, code_of_format(type(x).__name__, text), (0,), None, PYTHON)
    if len(chunks) != 2:
        raise Unsupported("a %s of %d chunks is not read: call x.combine_chunks() (pyarrow) or x.rechunk() (polars)"
                        % (type(x).__name__, len(chunks) - 1))
    return view_of_array(x, text, chunks[0], chunks)


def next_chunk(stream, address):
    array = Array()
    check(stream, address, stream.get_next(address, ctypes.addressof(array)))
    array.owned = True
    return array


def check(stream, address, status):
    if status:
        raise RuntimeError((stream.get_last_error(address) or b"the Arrow stream failed").decode())


def code_of_format(name, text):
    if text.startswith(b"+"):
        raise Unsupported("an Arrow %s of columns or lists is not read: take one column of numbers, as by x['name']"
                          % name)
    if text not in TYPES:
        raise Unsupported("an Arrow %s of the format %r is not read: cast it to numbers, as by x.cast('double') of "
                          "pyarrow, or x.cast(float) of polars" % (name, text.decode()))
    return CODES[TYPES[text]]


def view_of_array(x, text, array, kept):
    name = type(x).__name__
    if array.dictionary:
        raise Unsupported("an Arrow %s with a dictionary is not read: decode it, as by x.dictionary_decode()" % name)
    code = code_of_format(name, text)
    if array.buffers[0] and array.null_count != 0:
        raise Unsupported("an Arrow %s with nulls is not read: call x.drop_null(), x.drop_nulls() of polars, or "
                          "x.to_numpy() of pandas" % name)
    address = (array.buffers[1] or 0) + array.offset * SIZES[code]
    return View(x, address, code, (array.length,), None, PYTHON, False, kept)
