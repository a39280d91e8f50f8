# SPDX-License-Identifier: Apache-2.0
"""Reductions of DTensors: how operators take shards, and exact results of all elements, which are merged as lanes.

The rules let each rank have all elements of its results, so that results do not depend on the mesh: where an axis that
is reduced is sharded, DTensor moves elements until another axis is sharded, or if none is long enough, copies them.
"""

import math

import torch
from torch.distributed.tensor import DTensor, Replicate, Shard
from torch.distributed.tensor._op_schema import RuntimeSchemaInfo
from torch.distributed.tensor.experimental import register_sharding

from ._operators import bound
from ._plans import FLOATS
from ._reduction_gradients import axes_of
from ._reductions import ROWS as REDUCTIONS
from ._reductions import holds
from ._scatters import ROWS as SCATTERS
from ._totals import total_mean, total_norm, total_sum


def is_tensor(argument):
    return hasattr(argument, "tensor_meta")


def rules_of(row, operator):
    """What gives the placements of the result and of the arguments, which are handed over without their defaults."""
    along_axes = row in REDUCTIONS

    def rules(*args, **kwargs):
        def all_placed(placement):
            return [placement if is_tensor(argument) else None for argument in args]
        copied = [([Replicate()] * len(row.results), all_placed(Replicate()))]
        if not along_axes:
            return copied
        x, given = args[0], bound(operator, args, kwargs)
        axes = axes_of(x.ndim, given.get("dim"))
        kept = [axis for axis in range(x.ndim) if axis not in axes]
        sharded = [([Shard(axis if given.get("keepdim") else axis - sum(other < axis for other in axes))]
                    * len(row.results), all_placed(Shard(axis))) for axis in kept]
        moves = any(getattr(placement, "dim", None) in axes for placement in x.placements)
        return sharded if moves and any(x.shape[axis] >= x.mesh.size() for axis in kept) else sharded + copied
    return rules


def register_rules():
    for row in (*REDUCTIONS, *SCATTERS):
        operator = getattr(torch.ops.fanin, row.name).default
        register_sharding(operator)(rules_of(row, operator))
        # The rules depend on all arguments, and not on those alone that are one integer.
        names = [argument.name for argument in operator._schema.arguments if argument.kwarg_only]
        DTensor._op_dispatcher.sharding_propagator.op_to_schema_info[operator] = RuntimeSchemaInfo(1, names, True)


register_rules()
TOTALS = {"sum": lambda given, dtype: total_sum([given["self"]], dtype=dtype),
          "mean": lambda given, dtype: total_mean([given["self"]], dtype=dtype),
          "vector_norm": lambda given, dtype: total_norm([given["self"]], float(given["ord"]), dtype=dtype)}


def total(name, operator, args, kwargs):
    """The exact sum, mean or norm of all elements of a DTensor with shards, on all ranks; else NotImplemented."""
    x = args[0]
    if name not in TOTALS or not isinstance(x, DTensor) or x.dtype not in FLOATS:
        return NotImplemented
    given = bound(operator, args, kwargs)
    dtype = given["dtype"] or x.dtype
    if given["method"] not in (None, "exact") or len(axes_of(x.ndim, given["dim"])) != x.ndim \
            or not holds(dtype, x.dtype) or given.get("ord", 2) not in (1, 2, math.inf) \
            or all(placement.is_replicate() for placement in x.placements) \
            or any(placement.is_partial() for placement in x.placements):
        return NotImplemented
    found = TOTALS[name](given, dtype).reshape([1] * x.ndim if given["keepdim"] else [])
    return DTensor.from_local(found, x.device_mesh, [Replicate()] * x.device_mesh.ndim, run_check=False)
