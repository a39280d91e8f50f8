# SPDX-License-Identifier: Apache-2.0
"""Libraries to which results belong: Python itself and numpy. Torch's and CuPy's are beside their readers."""

import ctypes
from array import array
from math import prod

from . import _library as c
from ._errors import InvalidArgument, Unsupported, a
from ._types import COMPLEX, CTYPE_OF, LETTER_OF, NARROW, NUMPY_NAMES, SIZES, value_at


def check_out(out, kind, dtype, boolean, shape, code):
    """Whether the caller's array can take results: one of the class `kind`, of their type and shape."""
    if not isinstance(out, kind):
        raise Unsupported("out has to be a %s.%s" % (kind.__module__.partition(".")[0], kind.__name__))
    if out.dtype != dtype and not (out.dtype == boolean and SIZES[code] == 1):
        raise Unsupported("out has the type %s, and the results have %s" % (out.dtype, dtype))
    if tuple(out.shape) != shape:
        raise InvalidArgument("out has the shape %s, and the results have %s" % (tuple(out.shape), shape))


class PythonResults:
    """Results as Python numbers, and many of them as an array of the module array.

    Truth values and complex numbers, of which there are no such arrays, are in lists, and results of several axes in
    lists of lists.
    """

    name = "Python"
    narrow = frozenset()  # types that results have where the input has them, of 8 and 16 bits

    def empty(self, shape, code, view):
        """Memory for results of that type: what holds them, and its address."""
        memory = (CTYPE_OF[code] * prod(shape))()
        return memory, ctypes.addressof(memory)

    def finished(self, memory, shape, code, view, part=None, truth=False, counts=False):
        """The results that stand in the memory; of pairs, the part 0 or 1."""
        step, first = (1, 0) if part is None else (2, part)
        if len(shape) == 1 and not truth and code not in COMPLEX:
            if code in NARROW:
                return array("d", numbers_in(memory, code)[first::step])
            return array(LETTER_OF[code], memoryview(bytes(memory)).cast(LETTER_OF[code])[first::step].tobytes())
        numbers = numbers_in(memory, code)[first::step]
        if truth:
            numbers = list(map(bool, numbers))
        for length in shape[:0:-1]:
            numbers = [numbers[i:i + length] for i in range(0, len(numbers), length)] if length else []
        return numbers if shape else numbers[0]

    def converted(self, view, code):
        """A copy of the integers of a view as numbers of another type, in C order."""
        numbers = array(LETTER_OF[code], memoryview(bytes_of(view)).cast(LETTER_OF[view.code]))
        return numbers if len(view.shape) == 1 else memoryview(numbers).cast("B").cast(LETTER_OF[code], view.shape)

    def broadcast(self, view, shape):
        """A copy of the truth values of a view, broadcast to a shape, in C order."""
        data, lengths = bytes_of(view), (1,) * (len(shape) - len(view.shape)) + view.shape
        for axis, length in enumerate(shape):
            if lengths[axis] != length:
                each = prod(lengths[axis + 1:])
                data = b"".join(data[i:i + each] * length for i in range(0, len(data), each or 1))
                lengths = lengths[:axis] + (length,) + lengths[axis + 1:]
        return memoryview(data).cast("?", shape) if data else memoryview(data).cast("?")

    def check(self, out, shape, code):
        raise Unsupported("out= is for numpy, torch and CuPy arrays")


def numbers_in(memory, code):
    """The numbers of an array of ctypes, in a list."""
    begin = ctypes.addressof(memory)
    return [value_at(begin + i * SIZES[code], code) for i in range(len(memory))]


def bytes_of(view):
    """A copy of the elements of a view in host memory, in C order."""
    if view.place == c.DEVICE:
        raise Unsupported("integers of %s on a device are not converted: convert them to float64"
                          % a(type(view.owner).__name__))
    if view.strides is None:
        return ctypes.string_at(view.address or 0, view.count * SIZES[view.code])
    try:
        return memoryview(view.owner).tobytes()
    except TypeError:
        raise Unsupported("%s with gaps is not converted: hand over a contiguous copy"
                          % a(type(view.owner).__name__)) from None


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

    def converted(self, view, code):
        return view.owner.astype(self.dtype(code), order="C")

    def broadcast(self, view, shape):
        return self.numpy.ascontiguousarray(self.numpy.broadcast_to(view.owner, shape))

    def address_of(self, out):
        """The address of the caller's memory for results."""
        if not (out.flags.c_contiguous and out.flags.writeable):
            raise InvalidArgument("out has to be writable and in C order")
        return out.__array_interface__["data"][0]


PYTHON = PythonResults()
_numpy = []


def numpy_library():
    if not _numpy:
        _numpy.append(NumpyResults())
    return _numpy[0]
