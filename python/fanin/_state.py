# SPDX-License-Identifier: Apache-2.0
"""Exact sums that are not rounded yet."""

import ctypes
import threading
from array import array
from ctypes import byref

from . import _library as c
from ._catalogue import OPERATIONS, name_of, name_to_code, options_of, policy_for
from ._contexts import context_of
from ._errors import InvalidArgument
from ._inputs import view_of
from ._pieces import pieces_of
from ._reduce import call_without_gaps, reduce_views
from ._sequences import split
from ._types import F32, F64, INTEGERS, LONG, NARROW, SIZES, code_of, value_at

_POWER = 5  # the place of the power in a saved state (docs/exact-format.md)


def _power_of(what):
    """The power of the numbers that states of the operation add up; None if the operation has no states."""
    made = ctypes.c_void_p()
    if c.state_create(what, F64, byref(made)):
        return None
    size = c.state_saved_bytes(made)
    saved = ctypes.create_string_buffer(size)
    c.check(c.state_save(made, saved, size))
    c.state_destroy(made)
    return saved.raw[_POWER]


_POWERS = {name: power for name, code in OPERATIONS.items() if (power := _power_of(code))}
_KINDS = {name: OPERATIONS[name] for name in _POWERS}


class State:
    """The exact sum of floating-point numbers (or of their squares), to which more can be added and merged.

    A state depends on the multiset of its numbers only: any split, order and merging gives the same state. `dtype` is
    f32, also for floats of 8 and 16 bits, or f64, also for integers; without it, it is that of the first numbers.
    Integers of a list are exact below 2**1024 (with `where`, if all fit into 64 bits); those of an array are exact where
    their own sum, or sum of squares, fits into 64 bits.

    >>> import fanin
    >>> parts = fanin.State([1e16, 1.0]) + fanin.State([-1e16])
    >>> parts.value(), parts.count
    (1.0, 3)
    """

    __slots__ = ("_handle", "_lock", "_operation", "_code", "_lanes_as")

    def __init__(self, x=None, *, dtype=None, operation="sum"):
        self._operation = name_to_code(_KINDS, name_of(operation), "operation of states")
        self._handle, self._lock, self._code, self._lanes_as = ctypes.c_void_p(), threading.Lock(), None, None
        if dtype is not None:
            self._create(code_of(dtype))
        if x is not None:
            self.add(x)

    def __del__(self):
        if getattr(self, "_handle", None):
            c.state_destroy(self._handle)

    def _create(self, code):
        made = ctypes.c_void_p()
        c.check(c.state_create(self._operation, code, byref(made)))
        self._code, self._handle = code, made  # in this order: others may look at the handle first

    def _created(self):
        """The state, or where nothing was added yet, one of f64."""
        return self if self._handle else State(dtype="f64", operation=self.operation)

    def add(self, x, *, where=None, nan="propagate", skipna=None, backend="auto", threads=0):
        """Adds the numbers of x, of host or device memory, and returns the state."""
        nan = policy_for(nan, skipna)
        if isinstance(x, (list, tuple)) and where is None:
            view, integers = split(x)
        else:
            view, integers = view_of(x), []
        if view.code in INTEGERS:
            known = c.CReport(fallback=b"")
            total = reduce_views(self._operation, [view], mask=where, nan=nan, backend=backend, threads=threads,
                                 report=known)
            self._merge_integers(int(total), view.count - known.absent)
        else:
            self._add_floats(view, where, nan, backend, threads)
        if integers:
            power = _POWERS[self.operation]
            self._merge_integers(sum(integer ** power for integer in integers), len(integers))
        make = getattr(view.library, "make_lanes", None)
        self._lanes_as = None if make is None else (make, view.owner.device)
        return self

    def _add_floats(self, view, where, nan, backend, threads):
        call = call_without_gaps(view, where, nan, "a state")
        options = options_of("exact", nan, backend, threads)
        with self._lock:
            if not self._handle:
                self._create(F32 if view.code in NARROW else view.code)
            if view.place == c.DEVICE:
                context = context_of(view.device, view.stream, view.library)
                with context.lock:
                    c.check(c.state_accumulate(self._handle, call, options, context.handle, None))
            else:
                pieces = pieces_of(call) if view.count * SIZES[view.code] >= LONG else (call,)
                for piece in pieces:
                    c.check(c.state_accumulate(self._handle, piece, options, None, None))

    def _merge_integers(self, total, count):
        """Merges the state of `count` integers whose sum, or sum of squares, is `total`: docs/exact-format.md."""
        made = State(dtype="f64", operation=self.operation)
        units = total << 1074 * _POWERS[self.operation]
        top = c.state_lane_count(made._handle) - 8
        words = [units >> 32 * i & 0xffffffff for i in range(top)]
        self.merge(State.from_lanes(words + [units >> 32 * top, count, 0, int(count > 0), 0, 0, 0, 0]))

    def merge(self, other):
        """Adds all that was added to the other state, and returns this one."""
        if other._handle:
            with self._lock:
                if not self._handle:
                    self._create(other._code)
            c.check(c.state_merge(self._handle, other._handle))
            self._lanes_as = self._lanes_as or other._lanes_as
        return self

    def __add__(self, other):
        if not isinstance(other, State):
            return NotImplemented
        return self.copy().merge(other)

    def __radd__(self, other):
        return self.copy() if other == 0 else NotImplemented  # sum(states)

    def copy(self):
        made = State(operation=self.operation)
        return made.merge(self)

    @property
    def operation(self):
        return next(name for name, code in _KINDS.items() if code == self._operation)

    @property
    def dtype(self):
        """"f32", "f64", or None before the first numbers."""
        return None if self._code is None else {F32: "f32", F64: "f64"}[self._code]

    @property
    def count(self):
        """How many numbers were added; None where a saved state did not say."""
        count = c.state_count(self._handle)
        return None if count == 2 ** 64 - 1 else count

    def value(self, dtype=None):
        """The sum, rounded once: to f32 or f64, as the state is, or to the floating-point type `dtype`.

        Before the first numbers a state without `dtype` has the value, the bytes and the lanes of an empty one of f64.
        """
        return self._finish(self._operation, dtype)

    def mean(self, dtype=None):
        """The mean of the numbers of a state of sums."""
        return self._finish(OPERATIONS["mean"], dtype)

    def norm2(self, dtype=None):
        """The root of a state of sums of squares."""
        return self._finish(OPERATIONS["norm2"], dtype)

    def _finish(self, what, dtype):
        made = self._created()
        code = made._code if dtype is None else code_of(dtype)
        result = ctypes.c_uint64()
        made.write_value(what, code, ctypes.addressof(result))
        return value_at(ctypes.addressof(result), code)

    def write_value(self, what, code, address):
        """Writes the result of an operation, rounded to a floating-point type, to memory."""
        c.check(c.state_finish(self._handle, what, code, address))

    def save(self):
        """The state as bytes, which any machine loads (docs/exact-format.md)."""
        made = self._created()
        size = c.state_saved_bytes(made._handle)
        saved = ctypes.create_string_buffer(size)
        c.check(c.state_save(made._handle, saved, size))
        return saved.raw

    @staticmethod
    def load(saved):
        """The state that save() wrote."""
        saved = bytes(saved)
        handle = ctypes.c_void_p()
        c.check(c.state_load(saved, len(saved), byref(handle)))
        made = State(operation=next(name for name, power in _POWERS.items() if power == saved[_POWER]))
        made._handle, made._code = handle, F32 if saved[4] == 4 else F64
        return made

    def __reduce__(self):
        return (State.load, (self.save(),)) if self._handle else (_empty, (self.operation,))

    def lanes(self):
        """The state as integers that any transport can add: lanes of up to 2**31 states, added lane by lane.

        An array of int64 of the library, and on the device, of the numbers that were added last: a torch tensor or a
        CuPy array, else a numpy array; without numpy an array of Python's.
        """
        made = self._created()
        lanes = (ctypes.c_int64 * c.state_lane_count(made._handle))()
        c.check(c.state_lanes(made._handle, lanes))
        if self._lanes_as is not None:
            make, device = self._lanes_as
            return make(list(lanes), device)
        try:
            import numpy
        except ImportError:
            return array("q", lanes)
        return numpy.array(lanes, numpy.int64)

    @staticmethod
    def from_lanes(lanes):
        """The state of these lanes, of one state or of the sum of many."""
        numbers = array("q", lanes.tolist() if hasattr(lanes, "tolist") else lanes)
        for operation in _KINDS:
            for dtype in ("f32", "f64"):
                made = State(dtype=dtype, operation=operation)
                if c.state_lane_count(made._handle) == len(numbers):
                    c.check(c.state_from_lanes(made._handle, numbers.buffer_info()[0]))
                    return made
        raise InvalidArgument("a state does not have %d lanes" % len(numbers))

    def __repr__(self):
        return "<fanin.State: %s of %s numbers%s>" % (self.operation, self.count,
                                                      "" if self._code is None else " as " + self.dtype)


def _empty(operation):
    return State(operation=operation)
