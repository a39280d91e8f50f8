# SPDX-License-Identifier: Apache-2.0
"""Reductions in device memory: on the stream of the library that the input belongs to, without waiting for it."""

import ctypes
from math import prod

from . import _library as c
from ._catalogue import EXTREMES, INDEXED, NUMBER
from ._contexts import context_of
from ._libraries import PYTHON
from ._results import finish
from ._types import SIZES


def reduce_on_device(what, x, call, batch, options, shape, number, form, held, out, direct, report):
    """The results on the device, enqueued; on the host, where the library is unknown or a report is wanted."""
    context = context_of(x.device, x.stream, x.library)
    if report is not None or not hasattr(x.library, "empty_on_device"):
        return reduce_to_host(context, what, x, call, batch, options, shape, held, form, report)
    if batch is None and not shape and SIZES[number] > 1:
        # Behind the result stands a number that tells of an overflow.
        words = {NUMBER: (2,), INDEXED: (3,), EXTREMES: (3,)}[form]
        memory, address = x.library.empty_on_device(words, held, x)
        with context.lock:
            c.check(c.enqueue(context.handle, what, call, options, address))
        memory = memory[0] if form == NUMBER else memory[:2]
        return finish(what, x, memory, shape, held, form, out)
    batch = batch or one_row(x)
    memory, address = direct or x.library.empty_on_device(shape + (() if form == NUMBER else (2,)), held, x)
    output = c.Output(data=address, count=prod(shape), place=c.DEVICE)
    with context.lock:
        c.check(c.context_enqueue_batch(context.handle, what, call, batch, options, output))
    return out if memory is out else finish(what, x, memory, shape, held, form, out)


def one_row(x):
    return c.Batch(layout=c.ROWS, axis_count=1, along_count=1, shape=(ctypes.c_uint64 * 1)(x.count),
                   along=(ctypes.c_int32 * 1)(0))


def reduce_to_host(context, what, x, call, batch, options, shape, held, form, report):
    memory, address = PYTHON.empty(shape + (() if form == NUMBER else (2,)), held, x)
    with context.lock:
        if batch is None:
            c.check(c.context_reduce(context.handle, what, call, options, address, report))
        else:
            output = c.Output(data=address, count=prod(shape), place=c.HOST)
            c.check(c.context_reduce_batch(context.handle, what, call, batch, options, output, report))
    x.library = PYTHON
    return finish(what, x, memory, shape, held, form)
