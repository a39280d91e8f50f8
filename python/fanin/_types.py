# SPDX-License-Identifier: Apache-2.0
"""Element types: their numbers in the C interface, and the names that other libraries have for them."""

import ctypes
import math
import struct

from . import _library as c
from ._errors import Unsupported, shown

NAMES = c.list_names(c.type_name)
CODES = {name: code for code, name in enumerate(NAMES)}
SIZES = [c.type_size(code) for code in range(len(NAMES))]
ALIGNMENTS = [size if name[0] != "c" else size // 2 for name, size in zip(NAMES, SIZES)]
F32, F64, I8, I64, U8, U64, F16 = (CODES[name] for name in ("f32", "f64", "i8", "i64", "u8", "u64", "f16"))
INTEGERS = frozenset(code for name, code in CODES.items() if name[0] in "iu")
NARROW = frozenset(code for code, size in enumerate(SIZES) if size < 4 and code not in INTEGERS)  # floats
LONG = 1 << 30  # bytes in host memory, from which on an input is cut into pieces
INDICES = frozenset(CODES[name] for name in ("i32", "i64", "u32", "u64"))  # types of offsets; keys are INTEGERS
COMPLEX = {CODES["c64"]: F32, CODES["c128"]: F64}

# The names in numpy. Types of 16 and 8 bits that numpy lacks have the names in ml_dtypes.
NUMPY = {
    "f32": "float32", "f64": "float64", "i32": "int32", "i64": "int64", "u32": "uint32", "u64": "uint64",
    "i8": "int8", "u8": "uint8", "i16": "int16", "u16": "uint16", "f16": "float16", "bf16": "bfloat16",
    "e5m2": "float8_e5m2", "e4m3": "float8_e4m3fn", "c64": "complex64", "c128": "complex128",
}
NUMPY_NAMES = [NUMPY[name] for name in NAMES]
BY_NUMPY = {NUMPY[name]: code for name, code in CODES.items()}
BY_NUMPY["bool"] = U8

# Floats of up to 32 bits are read and written as bits: where the caller's environment flushes subnormals, the processor
# would change them on the way to a float of 64 bits.
CTYPES = {
    "f32": ctypes.c_uint32, "f64": ctypes.c_double, "i32": ctypes.c_int32, "i64": ctypes.c_int64,
    "u32": ctypes.c_uint32, "u64": ctypes.c_uint64, "i8": ctypes.c_int8, "u8": ctypes.c_uint8,
    "i16": ctypes.c_int16, "u16": ctypes.c_uint16, "f16": ctypes.c_uint16, "bf16": ctypes.c_uint16,
    "e5m2": ctypes.c_uint8, "e4m3": ctypes.c_uint8, "c64": ctypes.c_uint32 * 2, "c128": ctypes.c_double * 2,
}
CTYPE_OF = [CTYPES[name] for name in NAMES]

# Formats of the buffer protocol (the module struct's letters, in native order).
_LETTERS = {"f": "f32", "d": "f64", "e": "f16", "?": "u8", "b": "i8", "B": "u8", "h": "i16", "H": "u16",
            "i": "i32", "I": "u32", "q": "i64", "Q": "u64", "Zf": "c64", "Zd": "c128"}
_LETTERS.update({"l": "i%d" % (8 * ctypes.sizeof(ctypes.c_long)), "L": "u%d" % (8 * ctypes.sizeof(ctypes.c_long))})
BY_FORMAT = {None: U8}
for _letter, _name in _LETTERS.items():
    for _order in ("", "@", "=", "<"):
        if not (_order in ("=", "<") and _letter in "lL"):
            BY_FORMAT[(_order + _letter).encode()] = CODES[_name]
LETTER_OF = {CODES[name]: letter for letter, name in _LETTERS.items() if letter not in "?lL"}

# numpy's names with sizes in bytes, but for i8 and u8, which are fanin's own.
_SHORT = {name[0] + str(size): code for (name, code), size in zip(CODES.items(), SIZES) if name[0] in "fiuc"}
_SHORT.update(CODES, bool=U8, int=I64, float=F64, complex=CODES["c128"])


def code_of(dtype):
    """The number of a type that is given by a name or by another library's object for it.

    >>> NAMES[code_of("f32")], NAMES[code_of(float)], NAMES[code_of("float16")], NAMES[code_of("f8")]
    ('f32', 'f64', 'f16', 'f64')
    """
    if isinstance(dtype, type):
        name = dtype.__name__  # float, numpy.float32
    else:
        name = str(dtype).rpartition(".")[2]  # numpy.dtype("float32"), torch.float32, "f32"
    code = _SHORT.get(name, BY_NUMPY.get(name))
    if code is None:
        words = "there is no element type %r" % name if isinstance(dtype, (str, type)) else \
            "no element type is named by " + shown(dtype)
        raise Unsupported("%s: the types are %s" % (words, ", ".join(NAMES)))
    return code


def value_at(address, code):
    """The Python number of that type at an address."""
    if code in COMPLEX:
        part = COMPLEX[code]
        return complex(value_at(address, part), value_at(address + SIZES[part], part))
    raw = CTYPE_OF[code].from_address(address).value
    return float_of_bits(raw, code) if code == F32 or code in NARROW else raw


def float_of_bits(bits, code):
    """The number that the bits of a float of 8, 16 or 32 bits stand for.

    >>> float_of_bits(0x3c00, F16), float_of_bits(0x3f80, CODES["bf16"]), float_of_bits(0x7e, CODES["e4m3"])
    (1.0, 1.0, 448.0)
    """
    name = NAMES[code]
    if name == "bf16":
        return f32_of_bits(bits << 16)
    if name == "f32":
        return f32_of_bits(bits)
    if name != "e4m3":  # e5m2 is the upper half of f16
        return struct.unpack("<e", struct.pack("<H", bits if name == "f16" else bits << 8))[0]
    exponent, fraction = bits >> 3 & 15, bits & 7
    if exponent == 15 and fraction == 7:
        return math.nan
    size = math.ldexp(fraction, -9) if exponent == 0 else math.ldexp(8 + fraction, exponent - 10)
    return -size if bits >> 7 else size


_to_bytes, _to_f32 = struct.Struct("<I").pack, struct.Struct("<f").unpack


def f32_of_bits(bits):
    """The number of f32 with these bits. Subnormals are formed here, because the processor may take them for 0."""
    if bits & 0x7f800000:
        return _to_f32(_to_bytes(bits))[0]
    size = math.ldexp(bits & 0x7fffff, -149)
    return -size if bits >> 31 else size
