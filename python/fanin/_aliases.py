# SPDX-License-Identifier: Apache-2.0
"""numpy's names of reductions, such as fanin.std and fanin.nansum, and advice for names that are not here."""

from ._errors import InvalidArgument, Unsupported, shown
from ._operations import functions

SAME = {"prod": "product", "amin": "min", "amax": "max"}
SKIPPING = {"nan" + name: SAME.get(name, name)
            for name in ("sum", "prod", "min", "max", "argmin", "argmax", "mean")}
DISPERSIONS = {"std": "standard_deviation", "var": "variance", "nanstd": "standard_deviation", "nanvar": "variance"}
TARGETS = {**SAME, **SKIPPING, **DISPERSIONS, "average": "mean"}
NAMES = tuple(TARGETS)

# The advice for names of numpy, scipy and the module statistics that mean something else here, or nothing.
ADVICE = {
    "quantile": "numpy.quantile(x, q)", "percentile": "numpy.percentile(x, q)", "unique": "numpy.unique(x)",
    "cumsum": "numpy.cumsum(x)", "cumprod": "numpy.cumprod(x)", "matmul": "numpy.matmul(x, y)",
    "dot": "fanin.dot(x, y) for the sum of all products, or numpy.dot(x, y) for a product of matrices",
    "inner": "fanin.dot(x, y) for the sum of all products, or numpy.inner(x, y)", "vdot": "fanin.vdot(x, y)",
    "linalg": "fanin.norm2(x) for a norm", "avg": "fanin.mean(x)", "total": "fanin.sum(x)",
    "ptp": "fanin.minmax(x)", "norm": "fanin.norm2(x)", "logsumexp": "fanin.log_sum_exp(x)",
    "bincount": "fanin.group_sum(weights, x, groups)", "fmean": "fanin.mean(x)", "pvariance": "fanin.variance(x)",
    "idxmax": "x.index[fanin.argmax(x)]", "idxmin": "x.index[fanin.argmin(x)]", "aminmax": "fanin.minmax(x)",
    "sem": "fanin.std(x, ddof=1) / len(x) ** 0.5", "rms": "fanin.norm2(x) / len(x) ** 0.5",
    "cov": "numpy.cov(x, y)", "corr": "numpy.corrcoef(x, y)", "corrcoef": "numpy.corrcoef(x, y)",
    "mode": "statistics.mode(x)", "nunique": "len(numpy.unique(x))", "sumproduct": "fanin.dot(x, y)",
    "einsum": "numpy.einsum(...)", "trapezoid": "numpy.trapezoid(y, x)", "add": "fanin.sum([x, y])",
    "nanquantile": "numpy.nanquantile(x, q)", "nanpercentile": "numpy.nanpercentile(x, q)",
    "pstdev": "fanin.std(x)", "stdev": "fanin.std(x, ddof=1)",
    "count": "len(x), or fanin.describe(x).count for the numbers that are not NaN",
}


def reported(name):
    """The name that report() takes in place of a name of numpy."""
    words = "report '%s'" % TARGETS[name]
    if name in DISPERSIONS:
        words += ", or for ddof=1 'sample_%s'" % DISPERSIONS[name]
    return words + (", with nan='skip'" if name.startswith("nan") else "")


REPORTED = {name: reported(name) for name in NAMES}
REPORTED.update((name, "call fanin.%s(x), which has no report" % name) for name in ("median", "nanmedian"))

SKIPPING_DOC = """fanin.%s without NaN, whose other arguments it has.

>>> fanin.%s([1.0, float("nan"), 4.0])
%s
"""
DISPERSION_DOC = """fanin.%s, or with ddof=1 fanin.sample_%s, whose other arguments it has.%s

>>> fanin.%s([1.0, 3.0], ddof=1)
%s
"""


def make(name):
    """The function of that name; None if there is none here."""
    if name in SAME:
        return functions[SAME[name]]
    found = skipping(name) if name in SKIPPING else dispersion(name) if name in DISPERSIONS else \
        average if name == "average" else None
    if found is not None:
        found.__name__ = found.__qualname__ = name
        found.__module__ = "fanin"
    return found


def advice_for(name):
    """The advice for a name that is not here, behind a colon. Empty for a name that is not known."""
    kind, _, rest = name.partition("_")
    if kind in ("segment", "group") and rest in NAMES:
        return ": there is " + of_many(kind, rest)
    return ": call " + ADVICE[name] if name in ADVICE else ""


def of_many(kind, name):
    """What gives many results in place of a name of numpy."""
    words = "fanin.%s_%s" % (kind, TARGETS[name])
    if name in DISPERSIONS:
        words += ", or for ddof=1 fanin.%s_sample_%s" % (kind, DISPERSIONS[name])
    return words + (", with nan='skip'" if name.startswith("nan") else "")


def skipping(name):
    operation = functions[SKIPPING[name]]

    def reduce(x, axis=None, **others):
        return operation(x, axis, nan="skip", **others)
    values = {"sum": 5.0, "product": 4.0, "min": 1.0, "max": 4.0, "argmin": 0, "argmax": 2, "mean": 2.5}
    reduce.__doc__ = SKIPPING_DOC % (SKIPPING[name], name, values[SKIPPING[name]])
    return reduce


def dispersion(name):
    what = DISPERSIONS[name]
    population, sample = functions[what], functions["sample_" + what]
    skips = name.startswith("nan")

    def reduce(x, axis=None, *, ddof=0, **others):
        if ddof not in (0, 1):
            raise InvalidArgument("ddof=%s: only 0 and 1 are offered" % shown(ddof))
        if skips:
            others["nan"] = "skip"
        return (sample if ddof else population)(x, axis, **others)
    reduce.__doc__ = DISPERSION_DOC % (what, what, " NaN are left out." if skips else "", name,
                                       "2.0" if what == "variance" else "1.4142135623730951")
    return reduce


def average(x, axis=None, weights=None, **others):
    """fanin.mean, whose other arguments it has.

    >>> fanin.average([1.0, 2.0])
    1.5
    """
    if weights is not None:
        raise Unsupported("average takes no weights, because it would be rounded three times: call "
                          "fanin.dot(x, weights) / fanin.sum(weights)")
    return functions["mean"](x, axis, **others)
