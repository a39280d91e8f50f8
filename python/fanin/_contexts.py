# SPDX-License-Identifier: Apache-2.0
"""The contexts of streams of devices, and the calls that are enqueued there for one array each."""

import ctypes
import threading
from ctypes import byref

from . import _library as c
from ._catalogue import NUMBER, OF_FLOATS_ON_DEVICES, TRUTHS, kept_options
from ._errors import Unsupported
from ._types import COMPLEX, INTEGERS, NARROW, code_of

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
        if code in INTEGERS and (what in OF_FLOATS_ON_DEVICES or wanted not in INTEGERS | {c.DEFAULT_TYPE}):
            raise KeyError(what)  # for the long call, which converts
        self.number, form, _ = c.result_of(what, code, wanted)
        # Exact results of some libraries have the type of narrow elements.
        is_narrow = code in NARROW and choices[0] == "exact" and wanted == c.DEFAULT_TYPE
        if form != NUMBER or is_narrow or what in TRUTHS or self.number in NARROW or self.number in COMPLEX \
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
