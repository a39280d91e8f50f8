# SPDX-License-Identifier: Apache-2.0
"""Advice for arguments that other libraries' reductions have and fanin's have not."""

from ._errors import Unsupported

SKIP = "nan='skip' leaves NaN and missing elements out"
METHOD = "choose the method with method='fast' or the like"
COUNT = "fanin.std and fanin.var have ddof=0, or ddof=1 for a sample"
NOTHING = "the sum of no elements is 0, and other results raise ValueError"
NORM = "norm2 is the Euclidean norm; others are sum_of_magnitudes and max_magnitude"
THREADS = "write threads= instead"
ERROR = "call fanin.report('sum', x), whose error_bound is the largest possible error"
ADVICE = {
    "dim": "write axis= with numbers of axes, or call x.reduce(fanin.sum, 'dimension') of xarray",
    "keepdim": "write keepdims= instead",
    "numeric_only": "leave the other columns out, with x.select_dtypes('number')",
    "include": "describe has every column of numbers", "percentiles": "call numpy.percentile(x, q)",
    "nan_policy": SKIP, "ignore_nulls": SKIP, "skip_nulls": SKIP, "skip_nan": SKIP, "dropna": SKIP,
    "min_count": NOTHING, "default": NOTHING, "initial": "add it to the result", "start": "add it to the result",
    "weights": "call fanin.dot(x, weights) / fanin.sum(weights) for a mean with weights",
    "correction": COUNT, "unbiased": COUNT, "ddof": COUNT, "mask": "write where= instead",
    "ord": NORM, "p": NORM, "n_jobs": THREADS, "num_threads": THREADS, "workers": THREADS,
    "how": METHOD, "exact": METHOD, "precision": METHOD, "algorithm": METHOD,
    "device": "the reduction runs where x is", "bound": ERROR, "return_report": ERROR,
    "by": "call fanin.group_sum(x, keys)",
}


def refuse(function, unknown):
    """Raises the TypeError of Python for the first of the unknown arguments, with advice."""
    word = next(iter(unknown))
    raise Unsupported("%s() got an unexpected keyword argument %r%s"
                      % (function, word, ": " + ADVICE[word] if word in ADVICE else ""))
