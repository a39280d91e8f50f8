# SPDX-License-Identifier: Apache-2.0
"""The functions fanin.sum, fanin.min and so on: one for each operation of the catalogue, made from its row."""

from . import _library as c
from ._catalogue import INDEXED, NAMES, OF_FLOATS, default_method, is_count, is_truth, kept_options, \
    policy_for, story_of
from ._direct_calls import call_of_buffers, reduce_buffer
from ._keywords import refuse
from ._short_calls import torch_calls
from ._types import BY_FORMAT, COMPLEX, F16, I64, INTEGERS, LETTER_OF, NARROW, NUMPY_NAMES, U64, code_of

DOC = """%s.

Along the axes of `axis` (an int or a tuple), or of all elements. `method`: "fast", "compensated" or "exact".
`nan`: "propagate" or "skip", which skipna=True asks for too. `where`: an array of bool, which is broadcast to x's
shape. `dtype`: the type of the result. `threads`: 0 for as many as the process has cores.

%s
"""


class ShortCalls(dict):
    """The calls of one operation, whose keys the functions reduce_short() choose. Those for buffers are made here."""

    def __init__(self, what):
        super().__init__()
        self.what = what

    def __missing__(self, key):
        """The call for the buffers of a class and a format, with a choice of options and a type; or NotImplemented."""
        kind, text, choices, dtype = key
        call = self[key] = buffer_call(self.what, kind.__module__ == "numpy", text, choices, dtype)
        return call


def buffer_call(what, is_numpy, text, choices, dtype):
    code = BY_FORMAT.get(text)
    wanted = c.DEFAULT_TYPE if dtype is None else code_of(dtype)
    if code is None or code == F16 and is_numpy and wanted == c.DEFAULT_TYPE:
        return NotImplemented  # the long call chooses the type
    if code in INTEGERS and (what in OF_FLOATS or wanted not in INTEGERS | {c.DEFAULT_TYPE}):
        return NotImplemented  # the long call converts
    if text == b"?" and wanted == I64:
        return NotImplemented  # the long call reads bool as i8
    number, form, _ = c.result_of(what, code, wanted)
    if form > INDEXED or number in COMPLEX or number in NARROW:
        return NotImplemented
    indexed, truth = form == INDEXED, is_truth(what, text == b"?")
    letter = "?" if truth else "q" if indexed else LETTER_OF[number]
    scalars = None
    if is_numpy:
        counts = indexed or number == U64 and is_count(what, text == b"?")
        import numpy
        scalars = numpy.zeros(16, "bool" if truth else "int64" if counts else NUMPY_NAMES[number])
    return call_of_buffers(what, code, kept_options[choices + (wanted,)], letter, int(indexed), scalars)


class KindsOfCalls(dict):
    """The functions reduce_short() for classes. Classes of modules that are not imported yet join when their arrays
    come."""

    def __missing__(self, kind):
        known = kind.__module__.partition(".")[0], kind.__name__
        if reduce_buffer is None:
            return None
        if known in (("numpy", "ndarray"), ("array", "array")):
            self[kind] = reduce_buffer
        elif known == ("torch", "Tensor"):
            self[kind] = torch_calls[kind].reduce_short
        elif known == ("cupy", "ndarray"):
            from ._cuda_array import reduce_short
            self[kind] = reduce_short
        return self.get(kind)


kinds_of_calls = KindsOfCalls({memoryview: reduce_buffer})


def make_one(what, default):
    calls = ShortCalls(what)

    def reduce(x, axis=None, *, method=default, dtype=None, keepdims=False, out=None, where=None, nan="propagate",
               skipna=None, backend="auto", threads=0, **unknown):
        if unknown:
            refuse(NAMES[what], unknown)
        if skipna is not None:
            nan = policy_for(nan, skipna)
        if out is None and where is None and not keepdims and type(backend) is str:
            short = kinds_of_calls[type(x)]
            if short is not None:
                result = short(calls, x, axis, (method, nan, backend, threads), dtype)
                if result is not NotImplemented:
                    return result
        from ._long_calls import reduce_one
        return reduce_one(reduce, what, x, axis, method, dtype, keepdims, out, where, nan, backend, threads)
    return reduce


def make_two(what, default):
    calls = ShortCalls(what)

    def reduce(x, y, axis=None, *, method=default, dtype=None, keepdims=False, out=None, where=None, nan="propagate",
               skipna=None, backend="auto", threads=0, **unknown):
        if unknown:
            refuse(NAMES[what], unknown)
        nan = policy_for(nan, skipna)
        short = torch_calls[type(x)]
        if short is not None and axis is out is where is None and not keepdims and type(backend) is str:
            result = short.reduce_short_pair(calls, x, y, (method, nan, backend, threads), dtype)
            if result is not NotImplemented:
                return result
        from ._long_calls import reduced
        return reduced(what, (x, y), axis, method, dtype, keepdims, out, where, nan, backend, threads)
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
