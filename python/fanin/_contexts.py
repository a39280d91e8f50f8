# SPDX-License-Identifier: Apache-2.0
"""The contexts of streams of devices, and the calls that are enqueued there for one array each."""

import ctypes
from _thread import allocate_lock, get_ident  # threading takes milliseconds to import
from ctypes import byref

from . import _library as c
from ._catalogue import NUMBER, OF_FLOATS_ON_DEVICES, is_read_on_devices, kept_options
from ._direct_calls import call_of
from ._errors import Unsupported
from ._results import result_type_for
from ._types import COMPLEX, INTEGERS, SIZES, code_of

LEGACY_STREAM, PER_THREAD_STREAM = 1, 2


class Context:
    """A context of the C interface, which serves one call at a time.

    `memory` allocates the workspace, as memory of a library for work on that stream, where the library can do so.
    """

    __slots__ = ("handle", "lock", "allocator")

    def __init__(self, device, stream, memory=None):
        self.handle, self.lock, self.allocator = ctypes.c_void_p(), allocate_lock(), None
        if memory is None:
            c.check(c.context_create(device, stream or LEGACY_STREAM, byref(self.handle)))
            return
        self.allocator = c.Allocator(allocate=c.ALLOCATE(lambda size, _: memory.allocate(size, device, stream)),
                                     release=c.RELEASE(lambda address, _: memory.release(address)))
        c.check(c.context_create_with(device, stream or LEGACY_STREAM, self.allocator, byref(self.handle)))


class ContextOfCapture(Context):
    """The context of one call that is captured. The graph keeps the memory, which the library's pool gives it."""

    __slots__ = ()

    def __del__(self):
        c.context_destroy(self.handle)


_contexts = {}  # by device, stream, memory and, for streams of threads, the thread: until the process ends


def context_of(device, stream, library=None):
    """The context of that stream, where 0 and 1 are the legacy default stream, and 2 is that of this thread.

    The library is that of the input.
    """
    memory = library if hasattr(library, "allocate") else None
    if memory is not None and memory.is_captured():
        return ContextOfCapture(device, stream, memory)
    key = device, stream, memory, get_ident() if stream == PER_THREAD_STREAM else None
    if key not in _contexts:
        _contexts[key] = Context(device, stream, memory)
    return _contexts[key]


def device_of(address):
    """The number of the device to which memory belongs, as the driver knows it."""
    driver = ctypes.CDLL("libcuda.so.1")
    ordinal = ctypes.c_int()
    if driver.cuPointerGetAttribute(byref(ordinal), 9, ctypes.c_uint64(address)):
        raise Unsupported("the memory of __cuda_array_interface__ belongs to no device")
    return ordinal.value


def is_left_to_long_call(what, code, is_bool, wanted):
    """Whether the long call converts or checks the elements, or reads bool as a type of its own for results of that
    type."""
    if is_bool and wanted != c.DEFAULT_TYPE:
        return True
    is_read = is_read_on_devices(what, code) and SIZES[code] < 8
    return code in INTEGERS and (what in OF_FLOATS_ON_DEVICES and not is_read or
                                 wanted not in INTEGERS | {c.DEFAULT_TYPE})


class ShortCall:
    """A call for one array on a device: what is looked up once for an operation, its choices, a type and a stream.

    run(x, result, count, y) enqueues the reduction of `count` elements at the address x, and of as many at y unless y is
    left out, to device memory for the result and a number of its size behind it.
    """

    __slots__ = ("run", "number", "make", "finish")

    def __init__(self, what, code, is_bool, choices, dtype, device, stream, library):
        wanted = c.DEFAULT_TYPE if dtype is None else code_of(dtype)
        if is_left_to_long_call(what, code, is_bool, wanted):
            raise KeyError(what)
        wanted = result_type_for(what, code, library.narrow, choices[0], wanted)
        self.number, form, _ = c.result_of(what, code, wanted)
        if form != NUMBER or self.number in COMPLEX or stream == PER_THREAD_STREAM:
            raise KeyError(what)  # for the long call
        self.run = call_of(what, c.Input(type=code, place=c.DEVICE), kept_options[choices + (wanted,)],
                           context_of(device, stream, library))
