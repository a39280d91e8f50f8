# SPDX-License-Identifier: Apache-2.0
"""Reports about results, and lists of what the library has."""

from collections import namedtuple

from . import _library as c
from ._aliases import REPORTED
from ._catalogue import METHODS, NAMES, OPERATIONS, REPRODUCIBILITY, default_method, name_of, name_to_code, \
    policy_for, story_of
from ._errors import InvalidArgument
from ._reduce import reduce_views, views_for
from ._types import code_of


class Bound(namedtuple("Bound", "of_result of_magnitudes absolute")):
    """|value - exact| <= of_result |exact| + of_magnitudes M + absolute, where M is the sum of the magnitudes.

    docs/numerics.md has M of each operation. With method="exact" of_magnitudes is 0.
    """

    __slots__ = ()


class Report(namedtuple("Report", "value backend variant method reproducibility bound absent fallback error_bound "
                                 "unproven")):
    """A result and what is known of it.

    `error_bound` is the largest possible error of the value, as one number. Where it is infinite, `unproven` says why.
    `reproducibility` is "same_for_any_order", "same_for_fixed_order", "same_run_to_run" or "same_never"; `absent`
    counts the elements that took no part; `fallback` names the backends that were passed over, and why.
    """

    __slots__ = ()


def report(operation, x, y=None, axis=None, *, method=None, dtype=None, where=None, nan="propagate", skipna=None,
           backend="auto", threads=0, bound=False):
    """The result of an operation, given by its name or its function, and what is known of it.

    Of a CUDA array the value is copied to the host, for which the call waits. With bound=True the `error_bound` of
    results that are not exact is computed too, by one more read of x, which has one result then.

    >>> import fanin
    >>> found = fanin.report("sum", [0.1] * 10)
    >>> found.value, found.method, found.reproducibility
    (1.0, 'exact', 'same_for_any_order')
    >>> found.error_bound
    1.1102230246251565e-16
    """
    name = name_of(operation)
    what = name_to_code(OPERATIONS, name, "operation", REPORTED)
    if y is None and c.operation_inputs(what) == 2:
        raise InvalidArgument("%s takes y, a second array: call fanin.report('%s', x, y)" % (name, name))
    wanted = c.DEFAULT_TYPE if dtype is None else code_of(dtype)
    views = views_for(what, (x,) if y is None else (x, y), wanted, where)
    known = c.CReport(fallback=b"")
    value = reduce_views(what, views, axis, method or default_method(name), wanted, False, None, where,
                         policy_for(nan, skipna), backend, threads, report=known, bound=bound)
    return Report(value, known.backend.decode(), known.variant.decode(), list(METHODS)[known.method],
                  REPRODUCIBILITY[known.reproducibility],
                  Bound(known.bound_of_result, known.bound_of_magnitudes, known.bound_absolute), known.absent,
                  (known.fallback or b"").decode(), known.error_bound, (known.unproven or b"").decode())


def backends():
    """The backends in order of preference: for each name None if it can run here, else the reason."""
    names = c.list_names(c.backend_name)
    obstacles = [c.backend_obstacle(i) for i in range(len(names))]
    return {name: None if obstacle is None else obstacle.decode() for name, obstacle in zip(names, obstacles)}


def operations():
    """A line about each operation, by name."""
    return {name: story_of(what) for what, name in enumerate(NAMES)}
