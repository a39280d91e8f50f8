# SPDX-License-Identifier: Apache-2.0
"""Reductions you can trust: sums and the like that are correctly rounded, with the same bits in any order.

>>> import fanin
>>> fanin.sum([0.1] * 10), sum([0.1] * 10)  # doctest: +SKIP
(1.0, 0.9999999999999999)

One function for each operation (fanin.operations() lists them), of whatever has the buffer protocol, __dlpack__,
__cuda_array_interface__ or Arrow's interface, without a copy; results belong to the input's library and stay on its
device. State keeps exact sums to which more is added; segment_sum, group_sum and the like give many results.
"""

from . import _library, _operations
from ._errors import BackendUnavailable, DeviceError, Error, InvalidArgument, OutOfMemory, Overflow, Unsupported

__version__ = _library.version().decode()
globals().update(_operations.functions)

# The modules of some names. These modules are imported when the names are first used.
_LATER = {"fsum": "_fsum", "State": "_state", "describe": "_describe", "Description": "_describe",
          "report": "_report", "Report": "_report", "index_add": "_batches", "reduce_each": "_reduce_each",
          "backends": "_report", "operations": "_report", "median": "_median", "nanmedian": "_median"}


def __getattr__(name):
    if name in ("jax", "numpy", "torch"):
        return __import__("fanin." + name, fromlist=(name,))
    if name in _LATER:
        found = getattr(__import__(_LATER[name], globals(), None, (name,), 1), name)
    elif name.startswith(("segment_", "group_")) and name.partition("_")[2] in _operations.functions:
        from ._batches import make
        found = make(name)
    else:
        from ._aliases import advice_for, make
        found = make(name)
        if found is None:
            raise AttributeError("module 'fanin' has no attribute %r%s" % (name, advice_for(name)))
    globals()[name] = found
    return found


def __dir__():
    from ._aliases import NAMES
    return sorted(set(globals()) | set(_LATER) | set(NAMES)
                  | {kind + name for kind in ("segment_", "group_") for name in _operations.functions})
