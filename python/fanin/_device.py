# SPDX-License-Identifier: Apache-2.0
"""Reductions in device memory: on the stream of the library that the input belongs to, without waiting for it."""

import ctypes
import threading
from ctypes import byref

from . import _library as c
from ._catalogue import EXTREMES, INDEXED, NUMBER, TRUTHS, kept_options
from ._errors import Unsupported
from ._types import COMPLEX, NARROW, SIZES, code_of

LEGACY_STREAM, PER_THREAD_STREAM = 1, 2


class Context:
    """A context of the C interface, which serves one call at a time."""

    __slots__ = ("handle", "lock")

    def __init__(self, device, stream):
        self.handle, self.lock = ctypes.c_void_p(), threading.Lock()
        c.check(c.context_create(device, stream, byref(self.handle)))


class Contexts(dict):
    """The contexts of (device, stream). They stay until the process ends, since graphs may use them."""

    def __missing__(self, key):
        made = self[key] = Context(key[0], key[1] or LEGACY_STREAM)
        return made


_contexts = Contexts()


def context_of(device, stream):
    """The context of that stream, where 0 and 1 are the legacy default stream, and 2 is that of this thread."""
    if stream == PER_THREAD_STREAM:
        return _contexts[device, stream, threading.get_ident()]
    return _contexts[device, stream]


def device_of(address):
    """The number of the device to which memory belongs, as the driver knows it."""
    driver = ctypes.CDLL("libcuda.so.1")
    ordinal = ctypes.c_int()
    if driver.cuPointerGetAttribute(byref(ordinal), 9, ctypes.c_uint64(address)):
        raise Unsupported("the memory of __cuda_array_interface__ belongs to no device")
    return ordinal.value


class ShortCall:
    """A call for one array on a device: what is looked up once for an operation, its choices, a type and a stream.

    The lock of the stream's context guards the structs, too.
    """

    __slots__ = ("lock", "handle", "what", "input", "input_ref", "options", "result", "number", "like")

    def __init__(self, what, code, choices, dtype, device, stream):
        wanted = c.DEFAULT_TYPE if dtype is None else code_of(dtype)
        self.number, form, _ = c.result_of(what, code, wanted)
        if form != NUMBER or code in NARROW or what in TRUTHS or self.number in NARROW or self.number in COMPLEX \
                or stream == PER_THREAD_STREAM:
            raise KeyError(what)  # for the long call
        context = context_of(device, stream)
        self.lock, self.handle, self.what = context.lock, context.handle, what
        self.options = kept_options[choices + (wanted,)]
        self.input, self.result = c.Input(type=code, place=c.DEVICE), ctypes.c_void_p()
        self.input_ref = byref(self.input)
        self.like = None  # what results are made like, where the library makes them so


context_enqueue = c.context_enqueue


def enqueue(call, address, count, result):
    """Enqueues the reduction of `count` elements to device memory for the result and a number of its size behind it."""
    with call.lock:
        given = call.input
        given.x = address
        given.count = count
        call.result.value = result
        status = context_enqueue(call.handle, call.what, call.input_ref, call.options, call.result)
    if status:
        c.check(status)


def reduce_on_device(what, x, call, batch, options, shape, number, form, held, out, direct, report):
    """The results on the device, enqueued; on the host, where the library is unknown or a report is wanted."""
    from ._reduce import finish, prod
    context = context_of(x.device, x.stream)
    if report is not None or not hasattr(x.library, "empty_on_device"):
        return reduce_to_host(context, what, x, call, batch, options, shape, held, form, report)
    if batch is None and not shape and (number != x.code or SIZES[number] >= 4):
        # Behind the result stands a number that tells of an overflow.
        words = {NUMBER: (2,), INDEXED: (3,), EXTREMES: (3,)}[form]
        memory, address = x.library.empty_on_device(words, held, x)
        with context.lock:
            c.check(c.context_enqueue(context.handle, ctypes.c_int32(what), byref(call), options,
                                      ctypes.c_void_p(address)))
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
    from ._libraries import PYTHON
    from ._reduce import finish, prod
    memory, address = PYTHON.empty(shape + (() if form == NUMBER else (2,)), held, x)
    with context.lock:
        if batch is None:
            c.check(c.context_reduce(context.handle, what, call, options, address, report))
        else:
            output = c.Output(data=address, count=prod(shape), place=c.HOST)
            c.check(c.context_reduce_batch(context.handle, what, call, batch, options, output, report))
    x.library = PYTHON
    return finish(what, x, memory, shape, held, form)
