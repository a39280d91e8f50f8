# SPDX-License-Identifier: Apache-2.0
"""The view of any input, by the reader of the library that the input belongs to."""

from ._arrow import read_arrow
from ._buffers import Held, read_format
from ._cuda_array import read_cuda_array
from ._dlpack import read_dlpack
from ._errors import Unsupported, a
from ._libraries import PYTHON
from ._numpy import is_instance_of, library_of, read_numpy
from ._pandas import is_pandas, read_pandas
from ._sequences import read_sequence
from ._types import SIZES
from ._views import View, in_elements


def read_buffer(x, library=PYTHON):
    """The view of an object that has the buffer protocol."""
    held = Held(x)
    buffer = held.buffer
    code = read_format(buffer.format)
    shape = tuple(buffer.shape[i] for i in range(buffer.ndim))
    strides = tuple(buffer.strides[i] for i in range(buffer.ndim)) if buffer.strides else None
    return View(x, buffer.buf, code, shape, in_elements(strides, SIZES[code], type(x).__name__), library,
                buffer.format == b"?", held)


def view_of(x):
    """The view of any input. Raises TypeError, with the call that converts it, if it cannot be read where it lies."""
    if is_instance_of(x, "numpy", "ndarray"):
        return read_numpy(x)
    if is_instance_of(x, "torch", "Tensor"):
        from ._torch import read_torch
        return read_torch(x)
    if hasattr(x, "__cuda_array_interface__"):
        return read_cuda_array(x)
    if is_instance_of(x, "numpy", "generic"):
        import numpy
        return read_numpy(numpy.asarray(x))
    if is_pandas(x):
        return read_pandas(x)
    if library_of(x) == "xarray":
        raise Unsupported("%s of xarray is not read: hand over %s, or call x.reduce(fanin.sum, 'dimension')"
                          % (a(type(x).__name__), "x['name'].values" if hasattr(x, "data_vars") else "x.values"))
    if hasattr(x, "__arrow_c_array__") or hasattr(x, "__arrow_c_stream__"):
        return read_arrow(x)
    try:
        return read_buffer(x)
    except TypeError as error:
        if "bytes-like" not in str(error):
            raise
    except BufferError as error:
        raise Unsupported("%s cannot be read without a copy (%s)" % (type(x).__name__, error)) from None
    if hasattr(x, "__dlpack__"):
        return read_dlpack(x)
    if hasattr(x, "to_numpy"):
        raise Unsupported("%s is not read: call x.to_numpy()" % a(type(x).__name__))
    return read_sequence(x)
