# SPDX-License-Identifier: Apache-2.0
"""torch tensors, of the CPU and of CUDA devices."""

import os
from _thread import get_ident
from functools import partial
from math import prod

import torch

from ._errors import InvalidArgument, OutOfMemory, Unsupported
from ._libraries import check_out
from ._library import refused
from ._types import CODES
from ._views import View

TYPES = {"f32": torch.float32, "f64": torch.float64, "i32": torch.int32, "i64": torch.int64, "i8": torch.int8,
         "u8": torch.uint8, "i16": torch.int16, "f16": torch.float16, "bf16": torch.bfloat16,
         "c64": torch.complex64, "c128": torch.complex128, "u64": torch.int64}
for _name, _attribute in (("e5m2", "float8_e5m2"), ("e4m3", "float8_e4m3fn"), ("u16", "uint16"), ("u32", "uint32")):
    if hasattr(torch, _attribute):
        TYPES[_name] = getattr(torch, _attribute)
BY_TYPE = {dtype: CODES[name] for name, dtype in TYPES.items() if name != "u64"}
if hasattr(torch, "uint64"):
    BY_TYPE[torch.uint64] = CODES["u64"]
BY_TYPE[torch.bool] = CODES["u8"]
TYPE_OF = {CODES[name]: dtype for name, dtype in TYPES.items()}

# The handle of the current stream, without an object for it where torch has that function.
raw_stream = getattr(torch._C, "_cuda_getCurrentRawStream", None) or \
    (lambda device: torch.cuda.current_stream(device).cuda_stream)
# Whether the current stream is being captured, without a function of Python where torch has that one.
is_captured = getattr(torch._C, "_cuda_isCurrentStreamCapturing", torch.cuda.is_current_stream_capturing)

MOST_KEPT = 1 << 10  # elements


def has_room():
    """Whether an allocation has 512 bytes or a multiple, as those of the caching allocator have."""
    backend = getattr(torch.cuda, "get_allocator_backend", str)  # which PyTorch has from 2.0 on
    return "PYTORCH_NO_CUDA_MEMORY_CACHING" not in os.environ and backend() == "native"


def maker_of(x, shape, dtype):
    """A function that makes tensors of that shape and type in the memory of x. It keeps a tensor if that is small."""
    if prod(shape) > MOST_KEPT:
        return partial(torch.empty, shape, dtype=dtype, device=x.device)
    return partial(torch.empty_like, x.new_empty(shape, dtype=dtype))  # takes 0.7 of the time


def maker_of_single(x, dtype, shape=()):
    """A function that makes single results on a device, and one that gives them their shape, or None if they have it.

    Behind each result there is room for a number of its size, which tells of an overflow.
    """
    if has_room():
        return maker_of(x, shape, dtype), None
    return maker_of(x, (2,), dtype), lambda result: result.as_strided_(shape, (1,) * len(shape))


# Older versions have the second name alone, or a RuntimeError.
OUT_OF_MEMORY = getattr(torch, "OutOfMemoryError", None) or getattr(torch.cuda, "OutOfMemoryError", RuntimeError)


class OutOfMemoryOfTorch(OutOfMemory, OUT_OF_MEMORY):
    """PyTorch's allocator had no memory for the workspace of a call."""


class TorchResults:
    """Results as tensors on the input's device. Sums and counts of integers are int64, as torch's are."""

    name = "torch"
    narrow = frozenset((CODES["f16"], CODES["bf16"]))

    def allocate(self, size, device, stream):
        """Memory of PyTorch's allocator for work on a stream; of the graph's pool while the stream is captured."""
        try:
            return torch.cuda.caching_allocator_alloc(size, device, stream)
        except OUT_OF_MEMORY:
            refused[get_ident()] = OutOfMemoryOfTorch
            return None

    release = staticmethod(torch.cuda.caching_allocator_delete)
    is_captured = staticmethod(is_captured)

    def empty(self, shape, code, view):
        memory = torch.empty(shape, dtype=TYPE_OF[code], device=view.owner.device)
        return memory, memory.data_ptr()

    empty_on_device = empty

    def finished(self, memory, shape, code, view, part=None, truth=False, counts=False):
        if truth:
            memory = memory.view(torch.bool)
        return memory if part is None else memory[..., part]

    def converted(self, view, code):
        return view.owner.to(TYPE_OF[code]).contiguous()

    def broadcast(self, view, shape):
        return view.owner.expand(shape).contiguous()

    def make_lanes(self, lanes, device):
        return torch.tensor(lanes, dtype=torch.int64, device=device)

    def check(self, out, shape, code):
        check_out(out, torch.Tensor, TYPE_OF[code], torch.bool, shape, code)

    def address_of(self, out):
        if not out.is_contiguous():
            raise InvalidArgument("out has to be contiguous")
        return out.data_ptr()


TORCH = TorchResults()


def read_torch(x):
    if x.requires_grad and torch.is_grad_enabled():
        raise Unsupported("a tensor that requires grad is not read, because results have no gradient: call the "
                          "functions of fanin.torch, which have gradients, or x.detach()")
    if x.layout is not torch.strided:
        raise Unsupported("a tensor of layout %s is not read: call x.to_dense()" % x.layout)
    if x.is_conj() or x.is_neg():
        raise Unsupported("a tensor that is conjugated or negated lazily is not read: call x.resolve_conj() or "
                        "x.resolve_neg()")
    code = BY_TYPE.get(x.dtype)
    if code is None:
        raise Unsupported("a tensor of %s is not read: convert it with x.to(torch.float64)" % x.dtype)
    kind = x.device.type
    if kind not in ("cpu", "cuda"):
        raise Unsupported("a tensor on %s is not read: call x.cpu()" % x.device)
    strides = None if x.is_contiguous() else tuple(x.stride())
    view = View(x, x.data_ptr(), code, tuple(x.shape), strides, TORCH, x.dtype is torch.bool)
    if kind == "cuda":
        device = x.get_device()
        view.on_device(device, raw_stream(device))
    return view
