# SPDX-License-Identifier: Apache-2.0
"""The types of results, and the results in memory as the caller gets them."""

from . import _library as c
from ._catalogue import EXTREMES, INDEXED, NUMBER, is_count, is_truth
from ._types import U64, U8


def result_type_for(what, code, narrow, method, wanted):
    """The type that results of elements have: theirs where it is one of `narrow`, and the library's own is wider."""
    if wanted == c.DEFAULT_TYPE and method == "exact" and code in narrow:
        default, form, _ = c.result_of(what, code)
        if default != code and form == NUMBER and default not in (U64, U8):
            return code
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
