# SPDX-License-Identifier: Apache-2.0
"""numpy arrays and scalars, also of the types of ml_dtypes."""

import sys

from ._errors import Unsupported
from ._libraries import numpy_library
from ._types import BY_NUMPY
from ._views import View, in_elements


def is_instance_of(x, module, name):
    """Whether x is of a class of a module, which is not imported for that."""
    loaded = sys.modules.get(module)
    return loaded is not None and isinstance(x, getattr(loaded, name, ()))


def library_of(x):
    """The name of the package that has the class of x."""
    return type(x).__module__.partition(".")[0]


# Ways to get numbers from arrays that are no arrays of numbers, by the kind of the dtype.
ADVICE = {
    "M": "hand over its dates as integers, x.astype('int64')",
    "m": "hand over its times as integers, x.astype('int64')",
    "U": "convert its text with x.astype('float64')",
    "S": "convert its text with x.astype('float64')",
    "T": "convert its text with x.astype('float64')",
    "V": "take one of its fields, such as x['name'].copy()",
    "c": "round it with x.astype('complex128')",
}


def read_numpy(x):
    """The view of a numpy array, also of the types of ml_dtypes, which have no format."""
    if is_instance_of(x, "numpy.ma", "MaskedArray"):
        raise Unsupported("a masked array is not read: hand over x.data, and where=~numpy.ma.getmaskarray(x)")
    dtype = x.dtype
    code = BY_NUMPY.get(dtype.name)
    if code is None or not dtype.isnative:
        advice = "convert it with x.astype('float64')" if code is not None else \
            "round it with x.astype('float64')" if dtype.kind == "f" else \
            ADVICE.get(dtype.kind, "convert it with x.astype('float64')")
        if dtype.kind in "Mm" and (x != x).any():  # NaT, which becomes the least integer
            advice = advice.replace("x.", "x[~numpy.isnat(x)].")
        raise Unsupported("a numpy array of dtype %s is not read: %s" % (dtype.str, advice))
    return View(x, x.__array_interface__["data"][0], code, x.shape, in_elements(x.strides, dtype.itemsize, "the array"),
                numpy_library(), dtype.name == "bool")
