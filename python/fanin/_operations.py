# SPDX-License-Identifier: Apache-2.0
"""The functions fanin.sum, fanin.min and so on: one for each operation of the catalogue, made from its row."""

from ctypes import py_object

from . import _library as c
from ._buffers import CONTIGUOUS, INDEX, Scratch, get_buffer, pool, release
from ._catalogue import INDEXED, NAMES, OF_FLOATS, default_method, is_count, is_truth, kept_options, \
    policy_for, story_of
from ._cuda_array import reduce_short as reduce_short_cupy
from ._errors import Overflow
from ._frames import is_frame, reduce_frame, require_no_arrays
from ._integers import result_of_integers
from ._keywords import refuse
from ._pieces import LONG
from ._reduce import reduce_views, views_for
from ._short_calls import torch_calls
from ._types import ALIGNMENTS, BY_FORMAT, COMPLEX, F16, F32, I64, INTEGERS, NUMPY_NAMES, SIZES, U64, code_of, \
    f32_of_bits


c_reduce = c.reduce
DOC = """%s.

Along the axes of `axis` (an int or a tuple), or of all elements. `method`: "fast", "compensated" or "exact".
`nan`: "propagate" or "skip", which skipna=True asks for too. `where`: an array of bool, which is broadcast to x's
shape. `dtype`: the type of the result. `threads`: 0 for as many as the process has cores.

%s
"""


class ShortCall:
    """The facts for calls of one operation, library, format and choice of options, looked up once."""

    __slots__ = ("code", "shift", "unaligned", "options", "number", "wrap", "scalar")

    def __init__(self, what, kind, text, choices, dtype):
        code = BY_FORMAT[text]
        wanted = c.DEFAULT_TYPE if dtype is None else code_of(dtype)
        if wanted == c.DEFAULT_TYPE and code == F16 and kind.__module__ == "numpy":
            raise KeyError(text)  # the long call chooses the type
        if code in INTEGERS and (what in OF_FLOATS or wanted not in INTEGERS | {c.DEFAULT_TYPE}):
            raise KeyError(text)  # the long call converts
        if text == b"?" and wanted == I64:
            raise KeyError(text)  # the long call reads bool as i8
        number, form, _ = c.result_of(what, code, wanted)
        if form > INDEXED or number in COMPLEX or number == F16:
            raise KeyError(text)
        self.code, self.shift, self.unaligned = code, SIZES[code].bit_length() - 1, ALIGNMENTS[code] - 1
        self.options = kept_options[choices + (wanted,)]
        self.number = INDEX if form == INDEXED else number
        truth = is_truth(what, text == b"?")
        counts = number == U64 and is_count(what, text == b"?")
        self.wrap = bool if truth else f32_of_bits if self.number == F32 else None
        self.scalar = None  # The type of a numpy scalar, and which item of that type in the storage is the result.
        if kind.__module__ == "numpy":
            self.scalar = ("int64", 1) if form == INDEXED else \
                ("bool" if truth else "int64" if counts else NUMPY_NAMES[number], 0)


def reduce_short(what, calls, x, axis, choices, dtype):
    """The result for an array that is contiguous and in host memory; NotImplemented for another one."""
    if axis is not None:
        return NotImplemented
    try:
        scratch = pool.pop()
    except IndexError:
        scratch = Scratch()
    buffer = scratch.buffer
    try:
        get_buffer(py_object(x), scratch.buffer_ref, CONTIGUOUS)
    except (BufferError, ValueError, TypeError):
        pool.append(scratch)
        return NotImplemented
    try:
        key = type(x), buffer.format, choices, dtype
        call = calls.get(key)
        if call is None:
            try:
                call = calls[key] = ShortCall(what, key[0], key[1], choices, dtype)
            except KeyError:
                return NotImplemented
        size, address = buffer.len, buffer.buf or 0
        if size >= LONG or address & call.unaligned and size:
            return NotImplemented
        given = scratch.input
        given.x = address
        given.count = size >> call.shift
        given.type = call.code
        status = c_reduce(what, scratch.input_ref, call.options, scratch.storage_ref, None)
        if status:
            c.check(status)
        if call.scalar is not None:
            dtype, item = call.scalar
            return scratch.scalars[dtype][item]
        value = scratch.numbers[call.number].value
        return value if call.wrap is None else call.wrap(value)
    finally:
        release(scratch.buffer_ref)
        pool.append(scratch)


class ShortCalls(dict):
    """The short calls of classes. Classes of modules that are not imported yet join when their arrays come."""

    def __missing__(self, kind):
        known = kind.__module__.partition(".")[0], kind.__name__
        if known in (("numpy", "ndarray"), ("array", "array")):
            self[kind] = reduce_short
        elif known == ("torch", "Tensor"):
            self[kind] = torch_calls[kind].reduce_short
        elif known == ("cupy", "ndarray"):
            self[kind] = reduce_short_cupy
        return self.get(kind)


short_calls = ShortCalls({memoryview: reduce_short})


def make_one(what, default):
    calls = {}

    def reduce(x, axis=None, *, method=default, dtype=None, keepdims=False, out=None, where=None, nan="propagate",
               skipna=None, backend="auto", threads=0, **unknown):
        if unknown:
            refuse(NAMES[what], unknown)
        if skipna is not None:
            nan = policy_for(nan, skipna)
        if out is None and where is None and not keepdims and type(backend) is str:
            short = short_calls[type(x)]
            if short is not None:
                result = short(what, calls, x, axis, (method, nan, backend, threads), dtype)
                if result is not NotImplemented:
                    return result
        if is_frame(x):
            require_no_arrays(keepdims, out, where)
            return reduce_frame(x, axis, nan, lambda part, along, as_array: reduce(
                part, along, method=method, dtype=dtype, keepdims=as_array, nan=nan, backend=backend, threads=threads))
        wanted = c.DEFAULT_TYPE if dtype is None else code_of(dtype)
        if hasattr(x, "__next__"):
            x = list(x)
        try:
            return reduce_views(what, views_for(what, (x,), wanted), axis, method, wanted, keepdims, out, where, nan,
                                backend, threads)
        except Overflow:
            result = computed_by_python(what, (x,), axis, keepdims, dtype, out, where)
            if result is NotImplemented:
                raise
            return result
    return reduce


def computed_by_python(what, inputs, axis, keepdims, dtype, out, where):
    """The result for lists of integers; NotImplemented for other inputs, or other choices than an axis."""
    if axis not in (None, 0, -1) or keepdims or dtype is not None or out is not None or where is not None:
        return NotImplemented
    return result_of_integers(NAMES[what], *inputs)


def make_two(what, default):
    calls = {}

    def reduce(x, y, axis=None, *, method=default, dtype=None, keepdims=False, out=None, where=None, nan="propagate",
               skipna=None, backend="auto", threads=0, **unknown):
        if unknown:
            refuse(NAMES[what], unknown)
        nan = policy_for(nan, skipna)
        short = torch_calls[type(x)]
        if short is not None and axis is out is where is None and not keepdims and type(backend) is str:
            result = short.reduce_short_pair(what, calls, x, y, (method, nan, backend, threads), dtype)
            if result is not NotImplemented:
                return result
        wanted = c.DEFAULT_TYPE if dtype is None else code_of(dtype)
        inputs = [list(one) if hasattr(one, "__next__") else one for one in (x, y)]
        try:
            return reduce_views(what, views_for(what, inputs, wanted), axis, method, wanted, keepdims, out, where, nan,
                                backend, threads)
        except Overflow:
            result = computed_by_python(what, inputs, axis, keepdims, dtype, out, where)
            if result is NotImplemented:
                raise
            return result
    return reduce


EXAMPLES = {
    "sum": ">>> fanin.sum([1e16, 1.0, -1e16])\n1.0",
    "product": ">>> fanin.product([2, 3, 7])\n42",
    "min": ">>> fanin.min([3, 1, 2])\n1",
    "max": ">>> fanin.max([3.0, 9.0, 2.0])\n9.0",
    "sum_of_squares": ">>> fanin.sum_of_squares([3, 4])\n25",
    "mean": ">>> fanin.mean([1, 2, 6])\n3.0",
    "norm2": ">>> fanin.norm2([3.0, 4.0])\n5.0",
    "variance": ">>> fanin.variance([1, 2, 3, 4])\n1.25",
    "dot": ">>> fanin.dot([1.0, 2.0], [3.0, 4.0])\n11.0",
    "sum_of_magnitudes": ">>> fanin.sum_of_magnitudes([3, -4])\n7",
    "argmin": ">>> fanin.argmin([3, 1, 2])\n1",
    "argmax": ">>> fanin.argmax([3, 9, 2])\n1",
    "minmax": ">>> fanin.minmax([3, 9, 2])\n(2, 9)",
    "max_magnitude": ">>> fanin.max_magnitude([3.0, -4.0])\n4.0",
    "count_nonzero": ">>> fanin.count_nonzero([0.0, -0.0, 2.0])\n1",
    "any": ">>> fanin.any([0, 0, 2])\nTrue",
    "all": ">>> fanin.all([1, 0])\nFalse",
    "standard_deviation": ">>> fanin.standard_deviation([1, 3])\n1.0",
    "sample_variance": ">>> fanin.sample_variance([1, 3])\n2.0",
    "sample_standard_deviation": ">>> fanin.sample_standard_deviation([1, 3, 5])\n2.0",
    "log_sum_exp": ">>> fanin.log_sum_exp([0.0])\n0.0",
    "vdot": ">>> fanin.vdot([1j, 2j], [1j, 1j])\n(3+0j)",
}


def make_operations():
    made = {}
    for what, name in enumerate(NAMES):
        make = make_one if c.operation_inputs(what) == 1 else make_two
        function = make(what, default_method(name))
        function.__name__ = function.__qualname__ = name
        function.__module__ = "fanin"
        function.__doc__ = DOC % (story_of(what), EXAMPLES.get(name, ""))
        made[name] = function
    return made


functions = make_operations()
