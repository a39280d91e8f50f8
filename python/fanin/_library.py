# SPDX-License-Identifier: Apache-2.0
"""The C interface (fanin.h) by ctypes: structs, prototypes and statuses. Calls release the GIL."""

import ctypes
import os
from _thread import get_ident
from ctypes import POINTER, Structure, byref, c_char, c_char_p, c_double, c_int32, c_int64, c_size_t, c_uint32, \
    c_uint64, c_void_p

from ._errors import BY_STATUS, Error, OutOfMemory


class Sized(Structure):
    """A struct that begins with its size."""

    def __init__(self, **members):
        super().__init__(ctypes.sizeof(self), **members)


class Input(Sized):
    _fields_ = [("struct_size", c_size_t), ("x", c_void_p), ("y", c_void_p), ("count", c_uint64), ("type", c_int32),
                ("place", c_int32), ("mask", c_void_p), ("mask_first", c_uint64), ("mask_form", c_int32)]


class Options(Sized):
    _fields_ = [("struct_size", c_size_t), ("backend", c_char_p), ("variant", c_char_p), ("method", c_int32),
                ("result_type", c_int32), ("threads", c_uint32), ("nan", c_int32), ("devices", c_void_p),
                ("device_count", c_size_t), ("bound", c_int32)]


class CReport(Sized):
    _fields_ = [("struct_size", c_size_t), ("backend", c_char * 32), ("variant", c_char * 32), ("method", c_int32),
                ("reproducibility", c_int32), ("bound_of_result", c_double), ("bound_of_magnitudes", c_double),
                ("bound_absolute", c_double), ("absent", c_uint64), ("fallback", c_char_p), ("error_bound", c_double),
                ("unproven", c_char_p)]


class Batch(Sized):
    _fields_ = [("struct_size", c_size_t), ("layout", c_int32), ("shape", POINTER(c_uint64)),
                ("strides", POINTER(c_int64)), ("axis_count", c_uint32), ("along_count", c_uint32),
                ("along", POINTER(c_int32)), ("index", c_void_p), ("index_count", c_uint64), ("index_type", c_int32),
                ("drop_others", c_int32), ("group_count", c_uint64), ("if_empty", c_void_p)]


class Output(Sized):
    _fields_ = [("struct_size", c_size_t), ("data", c_void_p), ("count", c_uint64), ("place", c_int32)]


class CDescription(Sized):
    _fields_ = [("struct_size", c_size_t), ("count", c_uint64), ("nan", c_uint64), ("type", c_int32),
                ("sum_type", c_int32), ("quotient_type", c_int32), ("min", c_uint64), ("max", c_uint64),
                ("sum", c_uint64), ("mean", c_uint64), ("standard_deviation", c_uint64),
                ("sum_overflows", c_int32)]


ALLOCATE, RELEASE = ctypes.CFUNCTYPE(c_void_p, c_size_t, c_void_p), ctypes.CFUNCTYPE(None, c_void_p, c_void_p)


class Allocator(Sized):
    _fields_ = [("struct_size", c_size_t), ("allocate", ALLOCATE), ("release", RELEASE), ("user", c_void_p)]


HOST, DEVICE = 0, 1
ROWS, SEGMENTS, GROUPS = 1, 2, 3
DEFAULT_TYPE = -1

PATH = os.environ.get("FANIN_LIBRARY") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "libfanin.so")
lib = ctypes.CDLL(PATH)


def _declare(result, name, *arguments):
    function = getattr(lib, name)
    function.restype, function.argtypes = result, arguments
    return function


_code, _object = c_int32, c_void_p
_batch_call = (_code, POINTER(Input), POINTER(Batch), POINTER(Options), POINTER(Output), POINTER(CReport))
version = _declare(c_char_p, "fanin_version")
last_error = _declare(c_char_p, "fanin_last_error")
operation_name = _declare(c_char_p, "fanin_operation_name", _code)
operation_story = _declare(c_char_p, "fanin_operation_story", _code)
operation_inputs = _declare(c_int32, "fanin_operation_inputs", _code)
has_method = _declare(c_int32, "fanin_has_method", _code, _code, _code)
type_name = _declare(c_char_p, "fanin_type_name", _code)
type_size = _declare(c_size_t, "fanin_type_size", _code)
method_name = _declare(c_char_p, "fanin_method_name", _code)
backend_name = _declare(c_char_p, "fanin_backend_name", c_uint32)
backend_obstacle = _declare(c_char_p, "fanin_backend_obstacle", c_uint32)
result_type = _declare(_code, "fanin_result_type", _code, _code, _code, POINTER(c_int32), POINTER(c_int32),
                       POINTER(c_size_t))
reduce = _declare(_code, "fanin_reduce", _code, POINTER(Input), POINTER(Options), _object, POINTER(CReport))
enqueue = _declare(_code, "fanin_context_enqueue", _object, _code, POINTER(Input), POINTER(Options), _object)
reduce_batch = _declare(_code, "fanin_reduce_batch", *_batch_call)
_each_call = (POINTER(_code), POINTER(_code), c_size_t, POINTER(Input), POINTER(Batch), POINTER(Options),
              POINTER(POINTER(Output)))
reduce_each = _declare(_code, "fanin_reduce_each", *_each_call, POINTER(POINTER(CReport)))
add_to = _declare(_code, "fanin_add_to", *_batch_call)
describe = _declare(_code, "fanin_describe", POINTER(Input), POINTER(Options), POINTER(CDescription),
                    POINTER(CReport))
incremental_create = _declare(_code, "fanin_incremental_create", _code, _code, POINTER(Options), POINTER(_object))
incremental_push = _declare(_code, "fanin_incremental_push", _object, POINTER(Input))
incremental_finish = _declare(_code, "fanin_incremental_finish", _object, c_void_p, POINTER(CReport))
incremental_destroy = _declare(None, "fanin_incremental_destroy", _object)
context_describe = _declare(_code, "fanin_context_describe", _object, POINTER(Input), POINTER(Options),
                            POINTER(CDescription), POINTER(CReport))
context_create = _declare(_code, "fanin_context_create", c_int32, c_void_p, POINTER(_object))
context_create_with = _declare(_code, "fanin_context_create_with", c_int32, c_void_p, POINTER(Allocator),
                               POINTER(_object))
context_reduce = _declare(_code, "fanin_context_reduce", _object, _code, POINTER(Input), POINTER(Options), c_void_p,
                          POINTER(CReport))
context_reduce_batch = _declare(_code, "fanin_context_reduce_batch", _object, *_batch_call)
context_enqueue_batch = _declare(_code, "fanin_context_enqueue_batch", _object, *_batch_call[:-1])
context_enqueue_each = _declare(_code, "fanin_context_enqueue_each", _object, *_each_call)
context_enqueue_add_to = _declare(_code, "fanin_context_enqueue_add_to", _object, *_batch_call[:-1])
context_enqueue_add_rows = _declare(_code, "fanin_context_enqueue_add_rows", _object, POINTER(Input), POINTER(Input),
                                    c_size_t, POINTER(Input), POINTER(Output))
lane_count = _declare(c_size_t, "fanin_lane_count", _code, _code)
context_enqueue_lanes_of_arrays = _declare(_code, "fanin_context_enqueue_lanes_of_arrays", _object, _code,
                                           POINTER(c_void_p), c_size_t, POINTER(Options), _object)
context_enqueue_value_of_lanes = _declare(_code, "fanin_context_enqueue_value_of_lanes", _object, _code, _code, _object,
                                          POINTER(Options), _object)
context_destroy = _declare(None, "fanin_context_destroy", _object)
state_create = _declare(_code, "fanin_state_create", _code, _code, POINTER(_object))
state_accumulate = _declare(_code, "fanin_state_accumulate", _object, POINTER(Input), POINTER(Options), _object,
                            POINTER(CReport))
state_merge = _declare(_code, "fanin_state_merge", _object, _object)
state_count = _declare(c_uint64, "fanin_state_count", _object)
state_finish = _declare(_code, "fanin_state_finish", _object, _code, _code, c_void_p)
state_saved_bytes = _declare(c_size_t, "fanin_state_saved_bytes", _object)
state_save = _declare(_code, "fanin_state_save", _object, c_void_p, c_size_t)
state_load = _declare(_code, "fanin_state_load", c_void_p, c_size_t, POINTER(_object))
state_lane_count = _declare(c_size_t, "fanin_state_lane_count", _object)
state_lanes = _declare(_code, "fanin_state_lanes", _object, c_void_p)
state_from_lanes = _declare(_code, "fanin_state_from_lanes", _object, c_void_p)
state_destroy = _declare(None, "fanin_state_destroy", _object)


refused = {}  # by thread: the OutOfMemory to raise where the library of a tensor has refused memory to the call


def check(status):
    """Raises the exception of a status that is not FANIN_OK."""
    if status:
        error, of_library = BY_STATUS.get(status, Error), refused.pop(get_ident(), None)
        raise (of_library if error is OutOfMemory and of_library else error)(last_error().decode())


def list_names(name_of):
    """The names that name_of(0), name_of(1), ... give, up to null."""
    names = []
    while True:
        name = name_of(len(names))
        if name is None:
            return names
        names.append(name.decode())


def result_of(what, element, wanted=DEFAULT_TYPE):
    """The type of the number in a result, its form and its size in bytes."""
    number, form, size = c_int32(), c_int32(), c_size_t()
    check(result_type(what, element, wanted, byref(number), byref(form), byref(size)))
    return number.value, form.value, size.value
