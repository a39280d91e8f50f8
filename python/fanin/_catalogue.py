# SPDX-License-Identifier: Apache-2.0
"""The operations of the library, as the C interface lists them, and the options of a call as a struct of C."""

from ctypes import byref

from . import _library as c
from ._errors import InvalidArgument, Unsupported, shown
from ._types import F64, I64, INTEGERS, SIZES, U8, U64

NAMES = c.list_names(c.operation_name)
OPERATIONS = {name: code for code, name in enumerate(NAMES)}
METHODS = {name: code for code, name in enumerate(c.list_names(c.method_name))}
NAN = {"propagate": 0, "skip": 1}
REPRODUCIBILITY = ("same_for_any_order", "same_for_fixed_order", "same_run_to_run", "same_never")
NUMBER, INDEXED, EXTREMES = 0, 1, 2


def has_method(what, element, method):
    """Whether the operation exists for elements of that type with the method."""
    return c.has_method(what, element, METHODS[method]) != 0


def has_exact(what):
    """Whether there are exact results of floats."""
    return has_method(what, F64, "exact")


def is_number_of(what, element, number):
    """Whether results of these elements are numbers of that type, without an index."""
    if not has_method(what, element, "fast"):
        return False
    found, form, _ = c.result_of(what, element)
    return found == number and form != INDEXED


# Operations whose results are truth values, those whose results of bool are, and those whose results are counts.
TRUTHS = frozenset(what for what in OPERATIONS.values() if is_number_of(what, F64, U8))
TRUTHS_OF_BOOL = frozenset(what for what in OPERATIONS.values() if is_number_of(what, U8, U8))
COUNTS = frozenset(what for what in OPERATIONS.values() if is_number_of(what, F64, U64))

# Operations that exist for floats, and not for integers; and those that do not exist for integers on devices, which
# have no sums of products of integers.
OF_FLOATS = frozenset(what for what in OPERATIONS.values()
                      if has_method(what, F64, "fast") and not has_method(what, I64, "fast"))
OF_FLOATS_ON_DEVICES = OF_FLOATS | {what for what in OPERATIONS.values() if c.operation_inputs(what) == 2}


def is_read_as_integers(what, code):
    """Whether the library reads integers as they are, although the operation is one of floats."""
    return what in OF_FLOATS and code in INTEGERS


def is_read_on_devices(what, code):
    """Whether devices read integers as they are, although the operation is one of floats."""
    return is_read_as_integers(what, code) and SIZES[code] != 2


def is_truth(what, is_bool):
    """Whether results are truth values, as the elements may be."""
    return what in TRUTHS or is_bool and what in TRUTHS_OF_BOOL


def is_count(what, is_bool):
    """Whether results of unsigned integers are counts, which other libraries give as int64."""
    return what in COUNTS or is_bool


def is_index(what):
    """Whether results are indices. The library has the element beside each."""
    return c.result_of(what, F64)[1] == INDEXED


def story_of(what):
    """A line about an operation."""
    story = c.operation_story(what).decode()
    return story.partition(", and the element")[0] if is_index(what) else story


def default_method(name):
    return "exact" if has_exact(OPERATIONS[name]) else "fast"


def name_to_code(names, name, kind, advice={}):
    """The number of a name. `advice` says what to do in place of names that are none."""
    code = names.get(name) if isinstance(name, str) else None
    if code is None:
        choices = "choose one of " + ", ".join(names)
        if not isinstance(name, str):
            raise InvalidArgument("the %s is given by its name, not by %s: %s" % (kind, shown(name), choices))
        raise InvalidArgument("there is no %s %r: %s" % (kind, name, advice.get(name, choices)))
    return code


def name_of(operation):
    """The name of an operation that is given by its name or its function."""
    return operation if isinstance(operation, str) else getattr(operation, "__name__", operation)


def policy_for(nan, skipna):
    """The policy for NaN: skipna is its name in pandas."""
    return nan if skipna is None else "skip" if skipna else "propagate"


def options_of(method="exact", nan="propagate", backend="auto", threads=0, wanted=c.DEFAULT_TYPE, bound=False):
    """The struct of these choices. With "auto" the environment's FANIN_BACKEND chooses, if it is set."""
    if not 0 <= threads < 2 ** 31:
        raise InvalidArgument("threads is 0 or more, not %d" % threads)
    if not isinstance(backend, str):
        raise Unsupported("backend is a string, such as 'auto' or 'tbb,serial', not a %s" % type(backend).__name__)
    return c.Options(backend=None if backend == "auto" else backend.encode(),
                     method=name_to_code(METHODS, method, "method"), result_type=wanted, threads=threads,
                     nan=name_to_code(NAN, nan, "policy for NaN"), bound=bound)


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
