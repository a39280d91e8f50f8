# SPDX-License-Identifier: Apache-2.0
"""Medians: the elements in the middle by selection, by numpy where it is installed, and their mean rounded once."""

from math import prod

from . import _library as c
from ._catalogue import NAN, name_to_code, policy_for
from ._errors import InvalidArgument, Unsupported
from ._frames import is_frame, reduce_frame
from ._inputs import view_of
from ._keywords import refuse
from ._libraries import bytes_of, numpy_library
from ._operations import functions
from ._reduce import MISSING, axes_of
from ._types import COMPLEX, LETTER_OF


def median(x, axis=None, *, keepdims=False, nan="propagate", skipna=None, **unknown):
    """The element in the middle of the sorted elements; of an even number of elements, the mean of the middle two.

    The mean is rounded once. A NaN makes the median NaN, unless nan="skip" leaves NaN out. More than one axis, and
    floats of 8 and 16 bits, need numpy.

    >>> median([4.0, 1.0, 3.0, 10.0])
    3.5
    """
    if unknown:
        refuse("median", unknown)
    nan = policy_for(nan, skipna)
    name_to_code(NAN, nan, "policy for NaN")
    if is_frame(x):
        return reduce_frame(x, axis, nan, lambda part, along, as_array: median(part, along, keepdims=as_array, nan=nan))
    view = view_of(x)
    if view.place == c.DEVICE or view.code in COMPLEX:
        raise Unsupported("the median needs real numbers in host memory: copy the array to the host")
    if view.presence is not None and nan == "propagate":
        raise InvalidArgument(MISSING)
    try:
        numpy = numpy_library().numpy
    except ImportError:
        return median_of_numbers(view, axis, keepdims, nan)
    found = median_of_array(numpy, array_of(numpy, view), axis, keepdims, nan, view.count)
    return found if view.library is numpy_library() else found.tolist()


def nanmedian(x, axis=None, *, keepdims=False):
    """fanin.median without NaN.

    >>> nanmedian([4.0, float("nan"), 1.0])
    2.5
    """
    return median(x, axis, keepdims=keepdims, nan="skip")


def median_of_numbers(view, axis, keepdims, nan):
    """The median without numpy, of one axis."""
    if len(view.shape) != 1 or keepdims or view.code not in LETTER_OF:
        raise Unsupported("this median needs numpy: install it")
    axes_of(axis, 1)
    numbers = list(memoryview(bytes_of(view)).cast(LETTER_OF[view.code]))
    if view.presence is not None:
        numbers = [number for number, there in zip(numbers, view.presence.as_bytes()) if there]
    present = [number for number in numbers if number == number]
    if nan == "propagate" and len(present) < len(numbers):
        return float("nan")
    require_some(len(present), view.count)
    present.sort()
    return functions["mean"]([present[(len(present) - 1) // 2], present[len(present) // 2]])


def array_of(numpy, view):
    """The elements that are there, as an array of numpy."""
    values = view.owner
    if not isinstance(values, numpy.ndarray):
        values = numpy.frombuffer(bytes_of(view), numpy_library().dtype(view.code)).reshape(view.shape)
    if view.presence is not None:
        values = values[numpy.frombuffer(view.presence.as_bytes(), bool)]
    return values


def median_of_array(numpy, values, axis, keepdims, nan, given):
    axes = axes_of(axis, values.ndim)
    rows = numpy.moveaxis(values, axes, range(-len(axes), 0))
    kept = rows.shape[:values.ndim - len(axes)]
    rows = rows.reshape(kept + (prod(values.shape[i] for i in axes),))
    found = functions["mean"](middle_of(numpy, rows, nan, given), -1)
    if keepdims:
        shape = [1 if i in axes else length for i, length in enumerate(values.shape)]
        return numpy.reshape(found, shape)
    return found


def middle_of(numpy, rows, nan, given):
    """The two elements in the middle of each row, NaN where a row has no element, or NaN that are not skipped.

    One array without an element raises InvalidArgument. `given` is the number of elements before some were left out.
    """
    lost = rows != rows
    skips = nan == "skip" and lost.any()
    if skips and rows.ndim == 1:
        rows, skips = rows[~lost], False
    count = rows.shape[-1]
    if rows.ndim == 1:
        require_some(count, given)
    if count == 0:
        return numpy.full(rows.shape[:-1] + (2,), numpy.nan, rows.dtype if rows.dtype.kind == "f" else float)
    if skips:  # NaN are sorted behind the numbers.
        counts = count - lost.sum(-1)
        places = numpy.stack([(counts - 1) // 2, counts // 2], -1)
        return numpy.take_along_axis(numpy.sort(rows, -1), places, -1)
    low, high = (count - 1) // 2, count // 2
    middle = numpy.partition(rows, [low, high], -1)[..., [low, high]]
    if nan == "propagate" and lost.any():
        middle[lost.any(-1)] = numpy.nan
    return middle


def require_some(count, given):
    if count == 0:
        raise InvalidArgument("median of " + ("no elements: all are left out" if given else "an empty array"))
