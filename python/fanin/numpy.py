# SPDX-License-Identifier: Apache-2.0
"""numpy's reductions with numpy's names and arguments, and with fanin's results: `import fanin.numpy as np`.

Sums, means and variances are rounded once. An input that fanin refuses is an error here too. docs/python.md lists where
results differ from numpy's.

>>> import fanin.numpy
>>> fanin.numpy.sum([1e16, 1.0, -1e16], initial=0.5)
np.float64(1.5)
"""

import operator

import numpy

from . import _aliases, _median
from ._errors import InvalidArgument, Overflow, Unsupported, shown
from ._operations import functions

_AxisError = getattr(numpy, "exceptions", numpy).AxisError
_NoValue = numpy._NoValue


def sum(a, axis=None, dtype=None, out=None, keepdims=False, initial=_NoValue, where=True):
    return _reduced("sum", a, axis, dtype, out, keepdims, initial, where)


def prod(a, axis=None, dtype=None, out=None, keepdims=False, initial=_NoValue, where=True):
    return _reduced("product", a, axis, dtype, out, keepdims, initial, where)


def max(a, axis=None, out=None, keepdims=False, initial=_NoValue, where=True):
    return _reduced("max", a, axis, None, out, keepdims, initial, where)


def min(a, axis=None, out=None, keepdims=False, initial=_NoValue, where=True):
    return _reduced("min", a, axis, None, out, keepdims, initial, where)


amax, amin = max, min


def argmax(a, axis=None, out=None, *, keepdims=False):
    return _reduced("argmax", a, axis, None, out, keepdims)


def argmin(a, axis=None, out=None, *, keepdims=False):
    return _reduced("argmin", a, axis, None, out, keepdims)


def mean(a, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
    return _reduced("mean", a, axis, dtype, out, keepdims, where=where)


def var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=_NoValue, correction=_NoValue):
    return _reduced(_with_ddof("variance", ddof, mean, correction), a, axis, dtype, out, keepdims, where=where)


def std(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=_NoValue, correction=_NoValue):
    return _reduced(_with_ddof("standard_deviation", ddof, mean, correction), a, axis, dtype, out, keepdims, where=where)


def any(a, axis=None, out=None, keepdims=False, *, where=True):
    return _reduced("any", a, axis, None, out, keepdims, where=where)


def all(a, axis=None, out=None, keepdims=False, *, where=True):
    return _reduced("all", a, axis, None, out, keepdims, where=where)


def count_nonzero(a, axis=None, *, keepdims=False):
    return _reduced("count_nonzero", a, axis, None, None, keepdims)


def median(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    return _written(_median.median(numpy.asarray(a), axis, keepdims=keepdims), out)


def average(a, axis=None, weights=None, returned=False, *, keepdims=False):
    if returned:
        raise Unsupported("returned= is not offered: the sum of the weights is the number of elements")
    return _aliases.average(numpy.asarray(a), axis, weights, keepdims=keepdims)


def nansum(a, axis=None, dtype=None, out=None, keepdims=False, initial=_NoValue, where=True):
    return _reduced("sum", a, axis, dtype, out, keepdims, initial, where, "skip")


def nanprod(a, axis=None, dtype=None, out=None, keepdims=False, initial=_NoValue, where=True):
    return _reduced("product", a, axis, dtype, out, keepdims, initial, where, "skip")


def nanmax(a, axis=None, out=None, keepdims=False, initial=_NoValue, where=True):
    return _reduced("max", a, axis, None, out, keepdims, initial, where, "skip")


def nanmin(a, axis=None, out=None, keepdims=False, initial=_NoValue, where=True):
    return _reduced("min", a, axis, None, out, keepdims, initial, where, "skip")


def nanargmax(a, axis=None, out=None, *, keepdims=False):
    return _reduced("argmax", a, axis, None, out, keepdims, nan="skip")


def nanargmin(a, axis=None, out=None, *, keepdims=False):
    return _reduced("argmin", a, axis, None, out, keepdims, nan="skip")


def nanmean(a, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
    return _reduced("mean", a, axis, dtype, out, keepdims, where=where, nan="skip")


def nanvar(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=_NoValue, correction=_NoValue):
    return _reduced(_with_ddof("variance", ddof, mean, correction), a, axis, dtype, out, keepdims, where=where, nan="skip")


def nanstd(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=_NoValue, correction=_NoValue):
    return _reduced(_with_ddof("standard_deviation", ddof, mean, correction), a, axis, dtype, out, keepdims, where=where, nan="skip")


def nanmedian(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    return _written(_median.nanmedian(numpy.asarray(a), axis, keepdims=keepdims), out)


def _with_ddof(operation, ddof, mean, correction):
    if mean is not _NoValue:
        raise Unsupported("mean= is not offered: the variance is computed from the elements, and rounded once")
    if correction is not _NoValue:
        if ddof != 0:
            raise InvalidArgument("ddof and correction are two names of one argument: give one of them")
        ddof = correction
    if ddof not in (0, 1):
        raise InvalidArgument("ddof=%s: only 0 and 1 are offered" % shown(ddof))
    return "sample_" + operation if ddof else operation


def _reduced(operation, a, axis, dtype, out, keepdims, initial=_NoValue, where=True, nan="propagate"):
    x = numpy.asarray(a) if not isinstance(a, numpy.ma.MaskedArray) else a
    axis = _checked(axis, x.ndim)
    if dtype is not None:
        x, where = _converted(x, numpy.dtype(dtype), where, nan)
    if initial is not _NoValue and initial is not None:
        x, axis, where, shape = _with_initial(operation, x, axis, where, initial)
        result = functions[operation](x, axis, where=where, nan=nan)
        if keepdims:
            result = numpy.reshape(result, shape)
    else:
        _require_some(operation, x, axis)
        result = functions[operation](x, axis, keepdims=keepdims, where=None if where is True else where, nan=nan)
    if x.dtype == numpy.float16 and result.dtype == numpy.float32:  # a product
        with numpy.errstate(over="ignore"):
            result = result.astype(numpy.float16)
    if dtype is not None and result.dtype != dtype:
        with numpy.errstate(invalid="ignore"):
            wide, result = result, result.astype(dtype)
        if not numpy.array_equal(wide, result):
            raise Overflow("the results do not fit into %s" % numpy.dtype(dtype))
    return _written(result, out)


def _converted(x, dtype, where, nan):
    """The elements as numbers of a type, and `where`, which leaves out skipped NaN where the type has no NaN."""
    if dtype.kind in "biu" and x.dtype.kind in "fc" and nan == "skip":
        where = numpy.logical_and(x == x, where)
    _require_held(x if where is True else x[numpy.broadcast_to(where, x.shape)], dtype)
    with numpy.errstate(invalid="ignore"):  # of elements that are left out
        return x.astype(dtype, copy=False), where


def _require_held(values, dtype):
    """Raises Overflow where a type of integers does not hold the integer part of a number."""
    if dtype.kind not in "iu" or values.dtype.kind not in "biufc" or not values.size:
        return
    least, most = numpy.iinfo(dtype).min, numpy.iinfo(dtype).max
    if not (least - 1 < values.real.min().item() and values.real.max().item() < most + 1):  # nor NaN
        raise Overflow("an element does not fit into %s" % dtype)


def _checked(axis, count):
    """The axis, which exists; None for an axis of an array without axes, which numpy takes."""
    if axis is None:
        return None
    named = axis if isinstance(axis, tuple) else (operator.index(axis),)
    for i in named:
        if not -(count or 1) <= operator.index(i) < (count or 1):
            raise _AxisError(i, count)
    return axis if count else None


def _require_some(operation, x, axis):
    """Raises InvalidArgument for extrema of no elements, which fanin has as NaN where there are several results."""
    if operation in ("min", "max", "argmin", "argmax") and x.size == 0:
        axes = range(x.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
        kept = [length for i, length in enumerate(x.shape) if i not in {j % x.ndim for j in axes}]
        if 0 not in kept:
            raise InvalidArgument("%s of an empty array" % operation)


def _with_initial(operation, x, axis, where, initial):
    """The elements of each result in a row of one array, behind them the initial one; with their axis and `where`."""
    axes = tuple(range(x.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = tuple(i % x.ndim for i in axes)
    shape = tuple(1 if i in axes else length for i, length in enumerate(x.shape))
    rows = tuple(length for i, length in enumerate(x.shape) if i not in axes)
    dtype = x.dtype
    if operation in ("sum", "product") and dtype.kind in "biu":  # whose results have 64 bits
        dtype = numpy.sum(numpy.zeros(0, dtype)).dtype

    _require_held(numpy.asarray(initial), dtype)

    def with_last(values, last, dtype):
        values = numpy.moveaxis(values, axes, range(-len(axes), 0))
        columns = numpy.size(values) // numpy.prod(rows, dtype=int) if numpy.prod(rows) else 0
        values = values.reshape(rows + (columns,))
        return numpy.concatenate([values, numpy.full(rows + (1,), last)], -1, dtype=dtype, casting="unsafe")
    mask = None
    if where is not True:
        mask = with_last(numpy.broadcast_to(numpy.asarray(where, bool), x.shape), True, bool)
    return with_last(x, initial, dtype), -1, mask, shape


def _written(result, out):
    if out is None:
        return result
    if numpy.shape(out) != numpy.shape(result):
        raise InvalidArgument("out has the shape %s, and the results have %s" % (numpy.shape(out), numpy.shape(result)))
    numpy.copyto(out, result, casting="same_kind")
    return out


def __getattr__(name):
    if name in _aliases.ADVICE or not hasattr(numpy, name):
        raise AttributeError("fanin.numpy has no %s%s" % (name, _aliases.advice_for(name)))
    raise AttributeError("fanin.numpy has reductions only: call numpy.%s" % name)
