# SPDX-License-Identifier: Apache-2.0
"""Arrow arrays of pyarrow, polars and DuckDB, by Arrow's C data interface. Nulls are missing elements."""

import ctypes
import sys
from array import array as typed_array
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_int, c_int64, c_void_p, py_object

from ._errors import Unsupported, a
from ._libraries import PYTHON, PythonResults
from ._numpy import library_of
from ._presence import BITS, Presence, of_bytes, unpacked
from ._types import CODES, LETTER_OF, NAMES, SIZES
from ._views import View

TYPES = {b"c": "i8", b"C": "u8", b"s": "i16", b"S": "u16", b"i": "i32", b"I": "u32", b"l": "i64", b"L": "u64",
         b"e": "f16", b"f": "f32", b"g": "f64", b"b": "u8"}
TEXTS = (b"u", b"U", b"vu")
BOOL = b"b"  # whose elements are bits


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


class ArrowResults(PythonResults):
    """Results as Python numbers, and many of them as a column that a function makes of a list and the type's name."""

    def __init__(self, name, make):
        self.name, self.make = name, make

    def finished(self, memory, shape, code, view, part=None, truth=False, counts=False):
        found = super().finished(memory, shape, code, view, part, truth, counts)
        return self.make(list(found), "bool" if truth else NAMES[code]) if shape else found


def polars_column(numbers, name):
    polars = sys.modules["polars"]
    kind = "Boolean" if name == "bool" else POLARS[name[0]] + name[1:]
    return polars.Series(numbers, dtype=getattr(polars, kind))


def pyarrow_column(numbers, name):
    pyarrow = sys.modules["pyarrow"]
    return pyarrow.array(numbers, "bool" if name == "bool" else PYARROW[name[0]] + name[1:])


POLARS = {"f": "Float", "i": "Int", "u": "UInt"}
PYARROW = {"f": "float", "i": "int", "u": "uint"}
LIBRARIES = {"polars": ArrowResults("polars", polars_column), "pyarrow": ArrowResults("pyarrow", pyarrow_column)}


def read_arrow(x):
    if hasattr(x, "__arrow_c_array__"):
        schema, array = x.__arrow_c_array__()
        text = Schema.from_address(_pointer(schema, b"arrow_schema")).format
        return view_of_chunks(x, text, [Array.from_address(_pointer(array, b"arrow_array"))], (schema, array))
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
    return view_of_chunks(x, text, chunks[:-1], chunks)


def next_chunk(stream, address):
    array = Array()
    check(stream, address, stream.get_next(address, ctypes.addressof(array)))
    array.owned = True
    return array


def check(stream, address, status):
    if status:
        raise RuntimeError((stream.get_last_error(address) or b"the Arrow stream failed").decode())


def view_of_chunks(x, text, chunks, kept):
    """The view of a column: in place if one chunk has its elements, and of a copy otherwise, or of bool."""
    code = code_of_format(x, text, any(chunk.dictionary for chunk in chunks))
    library = LIBRARIES.get(library_of(x), PYTHON)
    chunks = [chunk for chunk in chunks if chunk.length]
    if len(chunks) == 1 and text != BOOL:
        chunk = chunks[0]
        address = (chunk.buffers[1] or 0) + chunk.offset * SIZES[code]
        return View(x, address, code, (chunk.length,), None, library, False, kept, presence_of(chunk))
    copied = typed_array("B", b"".join(elements_of(chunk, code, text) for chunk in chunks))
    presence = None
    if any(map(presence_of, chunks)):
        presence = of_bytes(b"".join(presence.as_bytes() if presence else b"\1" * chunk.length
                                     for chunk, presence in ((chunk, presence_of(chunk)) for chunk in chunks)))
    owner = memoryview(copied).cast("?" if text == BOOL else LETTER_OF[code])
    return View(owner, copied.buffer_info()[0], code, (len(owner),), None, library, text == BOOL, copied, presence)


def presence_of(chunk):
    """Which elements of a chunk are there; None where all are."""
    if not chunk.buffers[0] or chunk.null_count == 0:
        return None
    presence = Presence(chunk.buffers[0], chunk.length, BITS, chunk.offset)
    return None if chunk.null_count < 0 and all(presence.as_bytes()) else presence  # -1: nobody has counted them


def elements_of(chunk, code, text):
    """A copy of the elements of a chunk: of bool, a byte for each bit."""
    address = chunk.buffers[1] or 0
    if text == BOOL:
        return unpacked(address, chunk.offset, chunk.length)
    return ctypes.string_at(address + chunk.offset * SIZES[code], chunk.length * SIZES[code])


# How a library gives the integers of dates, floats of numbers of other types, and the elements of lists.
ADVICE = {
    "polars": ("x.to_physical()", "x.cast(polars.Float64)", "x.explode()"),
    "pyarrow": ("x.cast('int64')", "x.cast('float64')", "x.flatten()"),
}


def code_of_format(x, text, coded):
    """The element type of Arrow's format. Raises Unsupported where there is none, or where elements are coded."""
    name, library = type(x).__name__, library_of(x)
    of_integers, of_floats, of_lists = ADVICE.get(library, ("its integers", "a cast to float64", "its elements"))
    if text.startswith((b"+l", b"+L", b"+w")):
        raise Unsupported("%s of lists is not read: hand over %s" % (a(name), of_lists))
    if text.startswith(b"+"):
        raise Unsupported("%s of %s is not read: take one column of numbers, such as x['name']" % (a(name), library))
    if coded:
        raise Unsupported("%s of %s with a dictionary is not read: hand over %s" % (a(name), library, of_floats))
    if text.startswith(b"t"):
        raise Unsupported("%s of dates or times is not read: hand over %s" % (a(name), of_integers))
    if text in TEXTS:
        raise Unsupported("%s of text is not read: leave the column out, or if its text is numbers, hand over %s"
                          % (a(name), of_floats))
    if text not in TYPES:
        raise Unsupported("%s of %s, of Arrow's format %r, is not read: convert it with %s"
                          % (a(name), library, text.decode(), of_floats))
    return CODES[TYPES[text]]
