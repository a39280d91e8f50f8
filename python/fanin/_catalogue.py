# SPDX-License-Identifier: Apache-2.0
"""What the library offers, as the C interface lists it, and the options of a call as its struct."""

from ctypes import byref

from . import _library as c
from ._errors import InvalidArgument, Unsupported
from ._types import F64, I64

NAMES = c.list_names(c.operation_name)
OPERATIONS = {name: code for code, name in enumerate(NAMES)}
METHODS = {name: code for code, name in enumerate(c.list_names(c.method_name))}
NAN = {"propagate": 0, "skip": 1}
REPRODUCIBILITY = ("same_for_any_order", "same_for_fixed_order", "same_run_to_run", "same_never")
NUMBER, INDEXED, EXTREMES = 0, 1, 2

# Operations of which no method is exact.
FAST_ONLY = frozenset(("product", "log_sum_exp"))
# Operations whose results are of the element's type, and those that are truth values.
OF_ELEMENTS = frozenset(OPERATIONS[name] for name in ("min", "max", "minmax"))
TRUTHS = frozenset(OPERATIONS[name] for name in ("any", "all"))
COUNT_NONZERO = OPERATIONS["count_nonzero"]

# Operations that exist for floats, and not for integers.
OF_FLOATS = frozenset(what for what in OPERATIONS.values() if c.has_result(what, F64) and not c.has_result(what, I64))


def is_truth(what, is_bool):
    """Whether results are truth values, as the elements may be."""
    return what in TRUTHS or is_bool and what in OF_ELEMENTS


def is_count(what, is_bool):
    """Whether results of unsigned integers are counts, which other libraries give as int64."""
    return what == COUNT_NONZERO or is_bool


def usual_method(name):
    return "fast" if name in FAST_ONLY else "exact"


def name_to_code(names, name, kind):
    code = names.get(name)
    if code is None:
        raise InvalidArgument("there is no %s %r: choose one of %s" % (kind, name, ", ".join(names)))
    return code


def options_of(method="exact", nan="propagate", backend="auto", threads=0, wanted=c.DEFAULT_TYPE):
    """The struct of these choices. With "auto" the environment's FANIN_BACKEND chooses, if it is set."""
    if not 0 <= threads < 2 ** 31:
        raise InvalidArgument("threads is a number from 0 on, and not %d" % threads)
    if not isinstance(backend, str):
        raise Unsupported("backend is one text, as 'auto' or 'tbb,serial', and not a %s" % type(backend).__name__)
    return c.Options(backend=None if backend == "auto" else backend.encode(),
                     method=name_to_code(METHODS, method, "method"), result_type=wanted, threads=threads,
                     nan=name_to_code(NAN, nan, "policy for NaN"))


class KeptOptions(dict):
    """References to the structs of choices that were made before."""

    def __missing__(self, choices):
        if len(self) >= 256:
            self.clear()
        reference = self[choices] = byref(options_of(*choices))
        return reference


kept_options = KeptOptions()


def options_for(*choices):
    """A reference to the struct of any choices. A list cannot be looked up: options_of() says why it is refused."""
    try:
        return kept_options[choices]
    except TypeError:
        return byref(options_of(*choices))
