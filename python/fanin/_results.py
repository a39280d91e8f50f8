# SPDX-License-Identifier: Apache-2.0
"""The types of results, and the results in memory as the caller gets them."""

from . import _library as c
from ._catalogue import EXTREMES, INDEXED, NUMBER, is_count, is_truth
from ._types import U64, U8


def result_type_for(what, x, method, wanted):
    """The type that results have: where the library's own is wider than an element, the element's."""
    if wanted == c.DEFAULT_TYPE and method == "exact" and x.code in x.library.narrow:
        default, form, _ = c.result_of(what, x.code)
        if default != x.code and form == NUMBER and default not in (U64, U8):
            return x.code
    return wanted


def finish(what, x, memory, shape, held, form, out=None):
    """The results as the caller gets them: indices, pairs, truth values or numbers."""
    truth = is_truth(what, x.is_bool)
    counts = held == U64 and is_count(what, x.is_bool)

    def part(which):
        return x.library.finished(memory, shape, held, x, which, truth, counts)
    if form == EXTREMES:
        return part(0), part(1)
    return copied(part(1 if form == INDEXED else None), out)


def copied(results, out):
    if out is None:
        return results
    out[...] = results
    return out
