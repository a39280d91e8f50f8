# SPDX-License-Identifier: Apache-2.0
"""Calls of reductions that were made before: all but the addresses of tensors is kept, by the other arguments."""

from ctypes import POINTER, byref, c_int32, pointer
from math import prod

import torch

from .. import _library as c
from .._catalogue import NUMBER, OPERATIONS, options_for
from .._contexts import PER_THREAD_STREAM, context_of
from .._direct_calls import call_of, reduce_buffer
from .._reduce import batch_of
from .._results import result_type_for
from .._torch import TORCH, TYPE_OF, is_captured, maker_of, maker_of_single, raw_stream, read_torch
from .._types import ALIGNMENTS, LONG
from ._operators import is_simple

FLOATS = frozenset((torch.float16, torch.bfloat16, torch.float32, torch.float64))
MOST_PLANS = 1024
MOST_OF_ANY = LONG >> 3  # Tensors of fewer elements share the plan for all elements, whatever their shapes are.


class Plan:
    """A reduction of tensors of one type and place, along the axes of one shape or of all elements in C order."""

    __slots__ = ("make", "finish", "alignment", "run")

    def __init__(self, what, view, options, batch, shape, number):
        on_device = view.place == c.DEVICE
        self.alignment = ALIGNMENTS[view.code] - 1
        if on_device and batch is None:
            self.make, self.finish = maker_of_single(view.owner, TYPE_OF[number], shape)
        else:
            self.make, self.finish = maker_of(view.owner, shape, TYPE_OF[number]), None
        self.run = call_of(what, c.Input(type=view.code, place=view.place), options,
                           context_of(view.device, view.stream, TORCH) if on_device else None, batch,
                           c.Output(count=prod(shape), place=view.place))

    def __call__(self, address, count):
        results = self.make()
        self.run(address, results.data_ptr(), count)
        return results if self.finish is None else self.finish(results)


class PlanOfSeveral:
    """Several operations of rows in device memory, which share a read, with results of one type."""

    __slots__ = ("make", "alignment", "context", "input", "outputs", "arguments")

    def __init__(self, whats, view, options, batch, shape, number):
        self.alignment = ALIGNMENTS[view.code] - 1
        self.make = maker_of(view.owner, shape, TYPE_OF[number])
        self.context = context_of(view.device, view.stream, TORCH)
        self.input = c.Input(count=view.count, type=view.code, place=c.DEVICE)
        self.outputs = [c.Output(count=prod(shape), place=c.DEVICE) for _ in whats]
        count = len(whats)
        self.arguments = ((c_int32 * count)(*whats), (c_int32 * count)(*[number] * count), count, byref(self.input),
                          byref(batch), options, (POINTER(c.Output) * count)(*map(pointer, self.outputs)))

    def __call__(self, address, count):
        results = tuple(self.make() for _ in self.outputs)
        with self.context.lock:
            self.input.x = address
            for output, found in zip(self.outputs, results):
                output.data = found.data_ptr()
            c.check(c.context_enqueue_each(self.context.handle, *self.arguments))
        return results


def plan_of(x, name, axes, keepdim, wanted, asked, method):
    """The plan for the tensor's type, shape and place; None if there is none.

    `wanted` is the type of results, and `asked` the code of the type that the library is asked for. With a tuple of
    names the plan is for several operations.
    """
    whats, view = [OPERATIONS[one] for one in ((name,) if type(name) is str else name)], read_torch(x.detach())
    what = whats[0]
    is_long = view.place == c.HOST and x.nbytes >= LONG
    if reduce_buffer is None or wanted not in FLOATS or view.stream == PER_THREAD_STREAM or is_long:
        return None
    asked = result_type_for(what, view.code, TORCH.narrow, method, asked)
    number, form, _ = c.result_of(what, view.code, asked)
    if form != NUMBER or TYPE_OF[number] != wanted:
        return None
    options = options_for(method, "propagate", "auto", 0, asked)
    batch, shape = batch_of(view, axes, keepdim, method, form, False)
    if len(whats) > 1:
        is_served = view.place == c.DEVICE and batch is not None
        return PlanOfSeveral(whats, view, options, batch, shape, number) if is_served else None
    return Plan(what, view, options, batch, shape, number)


class Plans(dict):
    """The plans of an operator. describe(x, ...) gives the arguments of plan_of() behind the tensor, or None."""

    def __init__(self, describe):
        super().__init__()
        self.describe = describe

    def compute(self, x, args, kwargs, make=True):
        """The results of a call with a plan; NotImplemented where there is none, or none yet and `make` is False."""
        if list in map(type, args):  # of axes, which cannot be looked up
            args = tuple(map(without_list, args))
        device = x.get_device()
        if x.is_neg() or (is_captured() if device >= 0 else not x.is_cpu):
            return NotImplemented
        stream = raw_stream(device) if device >= 0 else None
        try:
            count = x.numel()
            if not args and not kwargs and x.is_contiguous() and 1 < count < MOST_OF_ANY:
                key = x.dtype, device, stream
            else:
                key = x.dtype, device, stream, x.shape, x.stride(), args, tuple(kwargs.items())
            plan = self[key]
        except KeyError:
            plan = self.made(key, x, args, kwargs) if make else None
        except TypeError:  # a list, which cannot be looked up
            if not any(type(value) is list for value in args + tuple(kwargs.values())):
                return NotImplemented
            return self.compute(x, tuple(map(without_list, args)),
                                {name: without_list(value) for name, value in kwargs.items()}, make)
        except RuntimeError:  # a tensor without strides
            return NotImplemented
        address = x.data_ptr()
        if plan is None or address & plan.alignment:
            return NotImplemented
        return plan(address, count)

    def made(self, key, x, args, kwargs):
        if x.dtype not in FLOATS or not x.numel() or not x.dim() or not is_simple((*args, *kwargs.values())):
            return None
        if len(self) >= MOST_PLANS:
            self.clear()
        described = self.describe(x, *args, **kwargs)
        plan = self[key] = None if described is None else plan_of(x, *described)
        return plan


def without_list(value):
    return tuple(value) if type(value) is list else value
