# SPDX-License-Identifier: Apache-2.0
"""Libraries to which results belong: Python itself and numpy. Torch's and CuPy's are beside their readers."""

import ctypes
from array import array
from math import prod

from . import _library as c
from ._errors import InvalidArgument, Unsupported
from ._types import COMPLEX, CTYPE_OF, LETTER_OF, NARROW, NUMPY_NAMES, SIZES, value_at


def check_out(out, kind, dtype, boolean, shape, code):
    """Whether the caller's array can take results: one of the class `kind`, of their type and shape."""
    if not isinstance(out, kind):
        raise Unsupported("out has to be a %s.%s, as the input is" % (kind.__module__.partition(".")[0], kind.__name__))
    if out.dtype != dtype and not (out.dtype == boolean and SIZES[code] == 1):
        raise Unsupported("out has the type %s, and the results have %s" % (out.dtype, dtype))
    if tuple(out.shape) != shape:
        raise InvalidArgument("out has the shape %s, and the results have %s" % (tuple(out.shape), shape))


class PythonResults:
    """Results as Python numbers, and many of them as memoryviews."""

    name = "Python"
    narrow = frozenset()  # types that results have where the input has them, of 8 and 16 bits

    def empty(self, shape, code, view):
        """Memory for results of that type: what holds them, and its address."""
        memory = (CTYPE_OF[code] * prod(shape))()
        return memory, ctypes.addressof(memory)

    def finished(self, memory, shape, code, view, part=None, truth=False, counts=False):
        """The results that stand in the memory; of pairs, the part 0 or 1."""
        step, first = (1, 0) if part is None else (2, part)
        if shape and code not in NARROW and code not in COMPLEX:
            letter = "?" if truth else LETTER_OF[code]
            flat = memoryview(bytes(memory)).cast(letter)[first::step].tobytes()
        else:
            numbers = [value_at(ctypes.addressof(memory) + i * SIZES[code], code)
                       for i in range(first, len(memory), step)]
            if not shape:
                return bool(numbers[0]) if truth else numbers[0]
            if code in COMPLEX:
                return numbers  # memoryviews know no complex numbers
            letter, flat = "d", array("d", numbers).tobytes()
        return memoryview(flat).cast(letter, shape) if flat else memoryview(flat).cast(letter)

    def as_floats(self, view):
        """A copy of the integers of a view as floats of 64 bits, in C order."""
        if view.place == c.DEVICE:
            raise Unsupported("integers of a %s on a device are not converted to floats: convert them to float64"
                              % type(view.owner).__name__)
        if view.strides is None:
            data = ctypes.string_at(view.address or 0, view.count * SIZES[view.code])
        else:
            data = memoryview(view.owner).tobytes()
        floats = array("d", memoryview(data).cast(LETTER_OF[view.code]))
        return floats if len(view.shape) == 1 else memoryview(floats).cast("B").cast("d", view.shape)

    def check(self, out, shape, code):
        raise Unsupported("out= is for numpy, torch and CuPy arrays")


class NumpyResults:
    """Results as numpy scalars, and many of them as numpy arrays."""

    name = "numpy"
    narrow = NARROW

    def __init__(self):
        import numpy
        self.numpy = numpy
        self.types = {}

    def dtype(self, code):
        found = self.types.get(code)
        if found is None:
            name = NUMPY_NAMES[code]
            if not hasattr(self.numpy, name):
                import ml_dtypes
                found = self.numpy.dtype(getattr(ml_dtypes, name))
            else:
                found = self.numpy.dtype(name)
            self.types[code] = found
        return found

    def empty(self, shape, code, view):
        memory = self.numpy.empty(shape, self.dtype(code))
        return memory, memory.__array_interface__["data"][0]

    def finished(self, memory, shape, code, view, part=None, truth=False, counts=False):
        if truth or counts:
            memory = memory.view(bool if truth else "int64")
        return memory[()] if part is None else memory[..., part][()]

    def check(self, out, shape, code):
        check_out(out, self.numpy.ndarray, self.dtype(code), bool, shape, code)

    def as_floats(self, view):
        return view.owner.astype("float64", order="C")

    def address_of(self, out):
        """Where the caller's memory for results is."""
        if not (out.flags.c_contiguous and out.flags.writeable):
            raise InvalidArgument("out has to be writable and in C order")
        return out.__array_interface__["data"][0]


PYTHON = PythonResults()
_numpy = []


def numpy_library():
    if not _numpy:
        _numpy.append(NumpyResults())
    return _numpy[0]
