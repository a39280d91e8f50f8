#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints fanin/__init__.pyi, the types of the package, from the functions that the catalogue makes.

usage: PYTHONPATH=python FANIN_LIBRARY=build/default/python/libfanin.so python/stubs.py > python/fanin/__init__.pyi

With the word torch it prints fanin/torch/__init__.pyi, from the schemas of the operators.
"""

import inspect
import sys
import textwrap

import fanin
from fanin._aliases import NAMES, SAME

HEAD = '''# SPDX-License-Identifier: Apache-2.0
# Written by python/stubs.py.
# Results belong to the library of the input, so that their type is not known here.
from typing import Any, Dict, Iterable, Literal, NamedTuple, Optional, Sequence, SupportsIndex, Tuple, Union

_Array = Any
_Axis = Union[None, SupportsIndex, Sequence[int]]
_DType = Any
_Method = Literal["fast", "compensated", "exact"]
_Nan = Literal["propagate", "skip"]

__version__: str

class Error(Exception): ...
class InvalidArgument(Error, ValueError): ...
class Unsupported(Error, TypeError): ...
class BackendUnavailable(Error, RuntimeError): ...
class Overflow(Error, OverflowError): ...
class OutOfMemory(Error, MemoryError): ...
class DeviceError(Error, RuntimeError): ...

class Bound(NamedTuple):
    of_result: float
    of_magnitudes: float
    absolute: float

class Report(NamedTuple):
    value: Any
    backend: str
    variant: str
    method: _Method
    reproducibility: Literal["same_for_any_order", "same_for_fixed_order", "same_run_to_run", "same_never"]
    bound: Bound
    absent: int
    fallback: str
    error_bound: float
    unproven: str

class Description(NamedTuple):
    count: int  # type: ignore[assignment]
    nan: int
    min: Any
    max: Any
    sum: Any
    mean: float
    standard_deviation: float

class State:
    def __init__(self, x: Optional[_Array] = ..., *, dtype: _DType = ...,
                 operation: Any = ...) -> None: ...
    def add(self, x: _Array, *, where: Optional[_Array] = ..., nan: _Nan = ..., skipna: Optional[bool] = ...,
            backend: str = ..., threads: int = ...) -> State: ...
    def merge(self, other: State) -> State: ...
    def __add__(self, other: State) -> State: ...
    def __radd__(self, other: int) -> State: ...
    def copy(self) -> State: ...
    @property
    def operation(self) -> str: ...
    @property
    def dtype(self) -> Optional[str]: ...
    @property
    def count(self) -> Optional[int]: ...
    def value(self, dtype: _DType = ...) -> float: ...
    def mean(self, dtype: _DType = ...) -> float: ...
    def norm2(self, dtype: _DType = ...) -> float: ...
    def save(self) -> bytes: ...
    @staticmethod
    def load(saved: Any) -> State: ...
    def lanes(self) -> Any: ...
    @staticmethod
    def from_lanes(lanes: Any) -> State: ...

def fsum(values: Iterable[Any]) -> float: ...
def describe(x: _Array, *, where: Optional[_Array] = ..., nan: _Nan = ..., skipna: Optional[bool] = ...,
             backend: str = ..., threads: int = ...) -> Any: ...
def reduce_each(operations: Iterable[Any], x: _Array, axis: _Axis = ..., *, method: Optional[_Method] = ...,
                dtype: _DType = ..., keepdims: bool = ..., where: Optional[_Array] = ..., nan: _Nan = ...,
                skipna: Optional[bool] = ..., backend: str = ..., threads: int = ...) -> Tuple[Any, ...]: ...
def report(operation: Any, x: _Array, y: Optional[_Array] = ..., axis: _Axis = ..., *, method: Optional[_Method] = ...,
           dtype: _DType = ..., where: Optional[_Array] = ..., nan: _Nan = ..., skipna: Optional[bool] = ...,
           backend: str = ..., threads: int = ..., bound: bool = ...) -> Report: ...
def index_add(out: _Array, keys: _Array, x: _Array, *, operation: Any = ...,
              drop_others: bool = ..., method: _Method = ..., where: Optional[_Array] = ..., nan: _Nan = ...,
              skipna: Optional[bool] = ..., backend: str = ..., threads: int = ...) -> Any: ...
def backends() -> Dict[str, Optional[str]]: ...
def operations() -> Dict[str, str]: ...
'''

TYPES = {"x": "_Array", "y": "_Array", "axis": "_Axis", "method": "_Method", "dtype": "_DType", "keepdims": "bool",
         "out": "Optional[_Array]", "where": "Optional[_Array]", "nan": "_Nan", "skipna": "Optional[bool]",
         "backend": "str", "threads": "int",
         "offsets": "_Array", "keys": "_Array", "groups": "Optional[int]", "drop_others": "bool", "empty": "Any",
         "ddof": "Literal[0, 1]", "weights": "None"}
ORDINARY = inspect.Parameter.POSITIONAL_OR_KEYWORD


def line_of(name):
    arguments = []
    for argument in inspect.signature(getattr(fanin, name)).parameters.values():
        if argument.name == "unknown":  # taken only to be refused with advice
            continue
        if argument.kind is argument.VAR_KEYWORD:
            arguments.append("**%s: Any" % argument.name)
            continue
        if argument.kind is not ORDINARY and "*" not in arguments:
            arguments.append("*")
        default = "" if argument.default is argument.empty else " = ..."
        arguments.append("%s: %s%s" % (argument.name, TYPES[argument.name], default))
    result = "Tuple[Any, Any]" if name.endswith("minmax") else "Any"
    line = "def %s(%s) -> %s: ..." % (name, ", ".join(arguments), result)
    kept = line.replace(" ", "~").replace(",~", ", ").replace("Any, Any", "Any,~Any")  # lines end behind arguments
    return textwrap.fill(kept, 120, subsequent_indent="    ", break_on_hyphens=False).replace("~", " ")


def stubs():
    lines = [line_of(kind + name) for kind in ("", "segment_", "group_") for name in fanin.operations()]
    lines += ["%s = %s" % pair for pair in SAME.items()]
    lines += [line_of(name) for name in (*NAMES, "median", "nanmedian") if name not in SAME]
    return HEAD + "\n".join(lines) + "\n"


HEAD_OF_TORCH = '''# SPDX-License-Identifier: Apache-2.0
# Written by python/stubs.py.
from contextlib import AbstractContextManager
from typing import Any, Dict, Iterable, NamedTuple, Optional, Tuple, Union

from torch import Tensor, dtype as _DType

class Report(NamedTuple):
    replaced: Dict[str, int]
    left: Dict[str, int]

def exact() -> AbstractContextManager[Any]: ...
def enable() -> None: ...
def report() -> Report: ...
def max_and_sum_exp(self: Tensor, dim: int = ..., keepdim: bool = ...) -> Tuple[Tensor, Tensor]: ...
def total_sum(tensors: Iterable[Tensor], *, group: Any = ..., dtype: Optional[_DType] = ...) -> Tensor: ...
def total_mean(tensors: Iterable[Tensor], *, group: Any = ..., dtype: Optional[_DType] = ...) -> Tensor: ...
def total_max(tensors: Iterable[Tensor], *, group: Any = ..., dtype: Optional[_DType] = ...) -> Tensor: ...
def total_norm(tensors: Iterable[Tensor], norm_type: float = ..., *, group: Any = ...,
               dtype: Optional[_DType] = ...) -> Tensor: ...
def any_nonfinite(tensors: Iterable[Tensor], *, group: Any = ...) -> Tensor: ...
def clip_grad_norm_(parameters: Union[Tensor, Iterable[Tensor]], max_norm: float, norm_type: float = ...,
                    error_if_nonfinite: bool = ..., *, group: Any = ...) -> Tensor: ...
'''
OF_SCHEMA = {"Tensor": "Tensor", "Optional[Tensor]": "Optional[Tensor]", "int": "int", "bool": "bool", "str": "str"}


def stubs_of_torch():
    import torch

    from fanin.torch import _FUNCTIONS
    lines = []
    for name in _FUNCTIONS:
        arguments = []
        schema = getattr(torch.ops.fanin, name).default._schema
        for argument in schema.arguments:
            if argument.kwarg_only and "*" not in arguments:
                arguments.append("*")
            kind = "Optional[_DType]" if argument.name == "dtype" else OF_SCHEMA.get(str(argument.type), "Any")
            arguments.append("%s: %s%s" % (argument.name, kind, " = ..." if argument.has_default_value() else ""))
        result = "Tensor" if len(schema.returns) == 1 else "Tuple[Tensor, Tensor]"
        line = "def %s(%s) -> %s: ..." % (name, ", ".join(arguments), result)
        kept = line.replace(" ", "~").replace(",~", ", ").replace("Tensor, Tensor", "Tensor,~Tensor")
        lines.append(textwrap.fill(kept, 120, subsequent_indent="    ",
                                   break_on_hyphens=False).replace("~", " "))
    return HEAD_OF_TORCH + "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(stubs_of_torch() if "torch" in sys.argv[1:] else stubs(), end="")
