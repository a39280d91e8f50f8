# SPDX-License-Identifier: Apache-2.0
"""The functions of fanin.jax, with their gradients."""

import functools
import math
import operator

import jax
import jax.numpy as jnp
import numpy

from .._catalogue import METHODS, OPERATIONS, default_method, has_exact, name_to_code
from .._errors import InvalidArgument, Unsupported
from .._operations import functions
from . import _handlers  # noqa: F401, which registers what XLA calls

NARROW = (jnp.float16, jnp.bfloat16)
FLOATS = (*NARROW, jnp.float32, jnp.float64)
NORMS = {1: "sum_of_magnitudes", 2: "norm2", math.inf: "max_magnitude"}


def of_none(name):
    """The result of no elements; NaN where the library has none."""
    try:
        return functions[name]([], backend="serial")
    except InvalidArgument:
        return math.nan


def floats(x):
    x = jnp.asarray(x)
    if x.dtype not in FLOATS:
        raise Unsupported("fanin.jax takes floats of 16, 32 and 64 bits, not %s: convert them" % x.dtype)
    return x


def axes_of(axis, ndim):
    """The axes that `axis` names, from 0 on."""
    named = range(ndim) if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
    axes = []
    for one in map(operator.index, named):
        if not -ndim <= one < ndim:
            raise InvalidArgument("there is no axis %d: the array has %d" % (one, ndim))
        axes.append(one % ndim)
    if len(set(axes)) != len(axes):
        raise InvalidArgument("an axis is named twice")
    return tuple(sorted(axes))


def called(target, name, method, dtype, shape, *arrays, **attributes):
    """The results of a call of the library, which gives floats of 16 bits where it rounds once."""
    rounds_once = method == "exact" and has_exact(OPERATIONS[name]) or name == "max_magnitude"
    given = jnp.float32 if dtype in NARROW and not rounds_once else dtype
    call = jax.ffi.ffi_call(target, jax.ShapeDtypeStruct(shape, given),
                            vmap_method="broadcast_all" if "axes" in attributes else "sequential")
    results = call(*arrays, what=numpy.int32(OPERATIONS[name]),
                   method=numpy.int32(name_to_code(METHODS, method, "method")), **attributes)
    return results.astype(dtype)


# ---- Along axes ------------------------------------------------------------------------------------------------------

@functools.partial(jax.custom_vjp, nondiff_argnums=(1, 2, 3, 4))
def reduced(x, name, axes, method, shape):
    """The results of an operation along axes of an array of that shape, without these axes."""
    kept = tuple(length for axis, length in enumerate(shape) if axis not in axes)
    if 0 in shape:
        return jnp.full(kept, of_none(name), x.dtype)
    from_behind = numpy.array([axis - len(shape) for axis in axes], numpy.int64)
    return called("fanin_reduce", name, method, x.dtype, kept, x, axes=from_behind)


def forward(x, name, axes, method, shape):
    result = reduced(x, name, axes, method, shape)
    return result, (None if name in ("sum", "mean") else x, result)


def backward(name, axes, method, shape, kept, grad):
    x, result = kept
    grad, result = jnp.expand_dims(grad, axes), jnp.expand_dims(result, axes)
    if name == "sum":
        found = grad
    elif name == "mean":
        found = grad / max(math.prod(shape[axis] for axis in axes), 1)
    elif name == "norm2":
        found = jnp.where(result == 0, 0, grad / result) * x
    elif name == "sum_of_magnitudes":
        found = grad * jnp.sign(x)
    elif name == "max_magnitude":  # equal elements share the gradient
        chosen = jnp.abs(x) == result
        found = grad / jnp.sum(chosen, axes, keepdims=True) * chosen * jnp.sign(x)
    else:
        found = grad * jnp.exp(x - jnp.where(result == -math.inf, 0, result))
    return (jnp.broadcast_to(found, shape).astype(grad.dtype),)


reduced.defvjp(forward, backward)


def along(x, name, axis, keepdims, method):
    x = floats(x)
    axes = axes_of(axis, x.ndim)
    if not axes:
        x, axes = jnp.expand_dims(x, -1), (x.ndim,)
        return reduced(x, name, axes, method, x.shape)
    found = reduced(x, name, axes, method, x.shape)
    return jnp.expand_dims(found, axes) if keepdims else found


def sum(x, axis=None, keepdims=False, *, method="exact"):
    """The sum along the axes, rounded once."""
    return along(x, "sum", axis, keepdims, method)


def mean(x, axis=None, keepdims=False, *, method="exact"):
    """The mean along the axes, rounded once."""
    return along(x, "mean", axis, keepdims, method)


def norm(x, ord=2, axis=None, keepdims=False, *, method="exact"):
    """The norm of order 1, 2 or inf along the axes, rounded once; of all elements, without an axis."""
    if ord not in NORMS:
        raise Unsupported("ord is 1, 2 or inf, not %s: call jax.numpy.linalg.norm" % ord)
    return along(x, NORMS[ord], axis, keepdims, method)


def logsumexp(x, axis=None, keepdims=False):
    """The logarithm of the sum of the exponentials, in an order that depends on the number of elements alone."""
    return along(x, "log_sum_exp", axis, keepdims, default_method("log_sum_exp"))


# ---- Segments -------------------------------------------------------------------------------------------------------

def places(keys, groups, width):
    """The number of the result of each element of [width, elements]; of keys out of range, -1."""
    inside = (keys >= 0) & (keys < groups)
    first = jnp.arange(width, dtype=keys.dtype)[:, None] * groups
    return jnp.where(inside, keys + first, -1).reshape(-1)


@functools.partial(jax.custom_vjp, nondiff_argnums=(2, 3))
def of_segments(x, keys, groups, method):
    """The sums [groups, width] of the elements [elements, width] with each key."""
    width = x.shape[1]
    if 0 in (*x.shape, groups):
        return jnp.zeros((groups, width), x.dtype)
    if width * groups >= 2 ** 31 and keys.dtype != jnp.int64:
        raise Unsupported("there are 2^31 results or more: enable jax_enable_x64, and hand over keys of int64")
    found = called("fanin_groups", "sum", method, x.dtype, (width * groups,), x.T.reshape(-1),
                   places(keys, groups, width))
    return found.reshape(width, groups).T


def forward_of_segments(x, keys, groups, method):
    return of_segments(x, keys, groups, method), keys


def backward_of_segments(groups, method, keys, grad):
    inside = (keys >= 0) & (keys < groups)
    rows = jnp.take(grad, jnp.where(inside, keys, 0), axis=0, mode="clip") if groups else \
        jnp.zeros((len(keys), grad.shape[1]), grad.dtype)
    return jnp.where(inside[:, None], rows, 0), None


of_segments.defvjp(forward_of_segments, backward_of_segments)


def segment_sum(data, segment_ids, num_segments, *, method="exact"):
    """The sums of the slices of data with each number in segment_ids, rounded once: the same bits for any order.

    Slices with other numbers than 0 up to num_segments - 1 are left out.
    """
    x, keys = floats(data), jnp.asarray(segment_ids)
    if keys.dtype not in (jnp.int32, jnp.int64):
        raise Unsupported("segment_ids are of int32 or int64, not %s: convert them" % keys.dtype)
    if keys.ndim != 1 or x.shape[:1] != keys.shape:
        raise InvalidArgument("segment_ids have to have one axis, as long as the first axis of data; the shapes are "
                              "%s and %s" % (keys.shape, x.shape))
    groups = operator.index(num_segments)
    rows = x.reshape(len(keys), math.prod(x.shape[1:]))
    return of_segments(rows, keys, groups, method).reshape(groups, *x.shape[1:])
