# SPDX-License-Identifier: Apache-2.0
"""How a row of a table becomes an operator torch.ops.fanin.*, with all that PyTorch asks of an operator."""

import inspect
from types import SimpleNamespace
from typing import Callable, NamedTuple

import torch

LIBRARY = torch.library.Library("fanin", "DEF")
TAGS = tuple(getattr(torch.Tag, name) for name in ("pt2_compliant_tag", "reduction") if hasattr(torch.Tag, name))
functions = {}  # of the operators, for Python, by name


class Row:
    """An operator: its schema, what computes it, and what PyTorch has to know about it.

    `compute` has the arguments of the schema, and computes the results on any device. `shape` has them too, and gives
    the shape and the type of each result; all results have the same. `gradient(call, *grads)` gives the gradients of
    tensors by their names, where there are any, from those of `results`, which may be None if there are several;
    `call` is a Call, and `saves` names the tensors and results that it keeps. In place of `gradient`, `first_of` names
    the operator before, with the same arguments, whose first result and gradient are this one's. `batch(call)`
    computes the operator for a Call whose tensors have one more axis in front. `autocast` gives a Call the types that
    autocast asks for. `compute` may have `plans`, the calls that were made before.
    """

    def __init__(self, schema, story, compute, shape, batch, gradient=None, saves=(), autocast=None,
                 results=("result",), first_of=None):
        self.schema, self.story, self.compute, self.shape = schema, story, compute, shape
        self.batch, self.gradient, self.saves, self.autocast = batch, gradient, saves, autocast
        self.results, self.first_of = results, first_of
        self.name = schema.partition("(")[0]


TENSORS = ("Tensor", "Optional[Tensor]")


class Call(SimpleNamespace):
    """The arguments of a call of an operator, by name; and what the call is known by besides."""

    def __init__(self, operator, arguments, **known):
        super().__init__(operator=operator, **arguments, **known)

    def again(self, /, **changed):
        """The operator with these arguments in place of the call's own."""
        return self.operator(**{argument.name: changed.get(argument.name, getattr(self, argument.name))
                                for argument in self.operator._schema.arguments})


def bound(operator, args, kwargs):
    """All arguments of the schema, by name, where the dispatcher leaves out those that have their default."""
    defaults = _defaults.get(operator)
    if defaults is None:
        arguments = operator._schema.arguments
        defaults = _defaults[operator] = {argument.name: argument.default_value for argument in arguments}
    return {**defaults, **dict(zip(defaults, args)), **kwargs}


_defaults = {}


def register(row, meshes):
    """Defines the operator of a row, and gives its function for Python. meshes() is the module for DTensors."""
    name = "fanin::" + row.name
    LIBRARY.define(row.schema, tags=TAGS)
    operator = getattr(torch.ops.fanin, row.name).default
    for key in ("CPU", "CUDA"):
        LIBRARY.impl(row.name, row.compute, key)
    torch.library.register_fake(name, lambda *args, **kwargs: fake(row, args, kwargs), lib=LIBRARY)
    torch.library.register_vmap(name, lambda info, in_dims, *args, **kwargs: batched(row, operator, info, in_dims, args,
                                                                                     kwargs), lib=LIBRARY)
    differentiable = differentiable_of(row, operator, meshes)
    if differentiable is not None:
        _differentiable[row.name] = differentiable
        register_gradient(row, operator, differentiable, meshes)
    if row.autocast is not None:
        for device in ("cpu", "cuda"):
            register_autocast(row, operator, device)
    function = functions[row.name] = function_of(row, operator, differentiable, meshes)
    return function


_differentiable = {}  # by the name of the operator


def fake(row, args, kwargs):
    shape, dtype = row.shape(*args, **kwargs)
    found = tuple(args[0].new_empty(shape, dtype=dtype) for _ in row.results)
    return found if len(found) > 1 else found[0]


def batched(row, operator, info, in_dims, args, kwargs):
    """The operator under vmap: the tensors get their axis in front, where those that have none repeat."""
    def moved(x, dim):
        if not isinstance(x, torch.Tensor):
            return x
        return x.unsqueeze(0).expand(info.batch_size, *x.shape) if dim is None else x.movedim(dim, 0)
    args = [moved(x, dim) for x, dim in zip(args, in_dims)]
    kwargs = {name: moved(x, None) for name, x in kwargs.items()}
    return row.batch(Call(operator, bound(operator, args, kwargs))), (0,) * len(row.results) if row.results[1:] else 0


def below_autograd(row, operator, meshes, args, kwargs):
    """What the operator computes; of a DTensor, as the rules for meshes say."""
    with torch._C._AutoDispatchBelowAutograd():
        found = meshes().total(row.name, operator, args, kwargs) if hasattr(args[0], "placements") else NotImplemented
        return operator(*args, **kwargs) if found is NotImplemented else found


class Differentiable(NamedTuple):
    """What computes results with a gradient from all arguments. torch.func needs `apply`; `apply_here` is shorter."""
    apply: Callable
    apply_here: Callable


def differentiable_of(row, operator, meshes):
    if row.first_of is not None:
        return Differentiable(*(lambda *values, both=both: both(*values)[0] for both in _differentiable[row.first_of]))
    if row.gradient is None:
        return None
    made = function_with_gradient(row, operator, meshes)
    # Function.apply() looks at the signature of forward() in each call, for default arguments, of which there are none.
    return Differentiable(made.apply, super(torch.autograd.Function, made).apply)


def function_with_gradient(row, operator, meshes):
    """A Function with setup_context(), which torch.func needs. PyTorch's register_autograd() has none."""
    arguments = operator._schema.arguments
    names = [argument.name for argument in arguments]
    first_of_keywords = sum(not argument.kwarg_only for argument in arguments)
    tensors = [(place, argument.name) for place, argument in enumerate(arguments) if str(argument.type) in TENSORS]

    def forward(*values):
        args, kwargs = values[:first_of_keywords], dict(zip(names[first_of_keywords:], values[first_of_keywords:]))
        if kind_of(values) == PLAIN:
            return row.compute(*args, **kwargs)
        return below_autograd(row, operator, meshes, args, kwargs)

    def setup_context(ctx, inputs, output):
        given = list(inputs)
        ctx.like, ctx.placed, saved = {}, {}, {}
        for place, name in tensors:
            x, given[place] = given[place], None
            if x is not None:
                ctx.like[name] = x.shape, x.dtype
                if hasattr(x, "placements"):
                    ctx.placed[name] = x.device_mesh, x.placements
                if name in row.saves:
                    saved[name] = x
        for name, x in zip(row.results, output if type(output) is tuple else (output,)):
            if name in row.saves:
                saved[name] = x
        ctx.set_materialize_grads(len(row.results) == 1)  # A gradient of several may be missing, and is None.
        ctx.given, ctx.saved_names = given, list(saved)
        ctx.save_for_backward(*saved.values())

    def backward(ctx, *grads):
        if all(grad is None for grad in grads):
            return (None,) * len(names)
        call = Call(operator, dict(zip(names, ctx.given)), like=ctx.like)
        call.__dict__.update(zip(ctx.saved_names, ctx.saved_tensors))
        found = row.gradient(call, *grads)
        for name, placed in ctx.placed.items():  # in the same order on all ranks
            if name in found:
                found[name] = found[name].redistribute(*placed)
        return tuple(found[name].to(ctx.like[name][1]) if needed else None
                     for name, needed in zip(names, ctx.needs_input_grad))

    return type("Of_" + row.name, (torch.autograd.Function,), {
        "generate_vmap_rule": True, "forward": staticmethod(forward), "setup_context": staticmethod(setup_context),
        "backward": staticmethod(backward)})


def register_gradient(row, operator, differentiable, meshes):
    def kernel(*args, **kwargs):
        if torch.is_grad_enabled() and any(isinstance(x, torch.Tensor) and x.requires_grad for x in args):
            return differentiable.apply(*bound(operator, args, kwargs).values())
        if kind_of((*args, *kwargs.values())) == PLAIN:  # as in a compiled graph, without a second dispatch
            return row.compute(*args, **kwargs)
        return below_autograd(row, operator, meshes, args, kwargs)
    LIBRARY.impl(row.name, kernel, "Autograd")


def register_autocast(row, operator, device):
    key = "Autocast" + device.upper()
    off = torch._C.DispatchKeySet(getattr(torch._C.DispatchKey, key))

    def kernel(*args, **kwargs):
        call = Call(operator, bound(operator, args, kwargs))
        row.autocast(call)
        with torch._C._ExcludeDispatchKeyGuard(off):
            return call.again()
    LIBRARY.impl(row.name, kernel, key)


SIMPLE = frozenset((int, bool, float, str, type(None), torch.dtype, torch.Size))
OTHER, PLAIN, WITH_GRADIENT = range(3)


TENSOR_CLASSES = frozenset((torch.Tensor, torch.nn.Parameter))


def is_simple(values):
    """Whether values are numbers, texts and types, or lists of them."""
    return all(type(value) in SIMPLE or type(value) in (list, tuple) and SIMPLE.issuperset(map(type, value))
               for value in values)


def kind_of(values):
    """PLAIN where tensors are PyTorch's own and a computation alone is asked for; WITH_GRADIENT with a gradient."""
    kind, graded = PLAIN, is_grad_enabled()
    for x in values:
        if type(x) in TENSOR_CLASSES:
            if not (x.is_cpu or x.is_cuda):
                return OTHER
            if graded and x.requires_grad:
                kind = WITH_GRADIENT
        elif type(x) not in SIMPLE and not is_simple((x,)):
            return OTHER
    return OTHER if is_watched() else kind


def is_watched():
    """Whether a mode, autocast or a transform of torch.func wants to see the operators that are called."""
    return len_dispatch_stack() or len_function_stack() or is_autocast_enabled() or in_transform()


is_grad_enabled, is_compiling = torch.is_grad_enabled, torch.compiler.is_dynamo_compiling
len_dispatch_stack, len_function_stack = torch._C._len_torch_dispatch_stack, torch._C._len_torch_function_stack
is_autocast_enabled, in_transform = torch._C._is_any_autocast_enabled, torch._C._are_functorch_transforms_active


def function_of(row, operator, differentiable, meshes):
    """The function for Python: the operator, or what is shorter where that does the same.

    torch.func takes a Function, and refuses an operator that has one. The dispatcher takes longer than a short sum.
    """
    names = [argument.name for argument in operator._schema.arguments]
    required = sum(not argument.has_default_value() for argument in operator._schema.arguments)
    most = sum(not argument.kwarg_only for argument in operator._schema.arguments)

    defaults = tuple(argument.default_value for argument in operator._schema.arguments)

    def fits(args, kwargs):
        """Whether the arguments are those of the schema. If they are not, the operator says what is wrong."""
        left = names[len(args):]
        return len(args) <= most and all(name in left for name in kwargs) \
            and all(name in kwargs for name in names[len(args):required])

    plans = getattr(row.compute, "plans", None)

    def function(*args, **kwargs):
        if not is_compiling():
            x = args[0] if args else None
            if plans is not None and type(x) in TENSOR_CLASSES and not (x.requires_grad and is_grad_enabled()) \
                    and not is_watched():
                found = plans.compute(x, args[1:], kwargs, False)
                if found is not NotImplemented:
                    return found
            kind = kind_of((*args, *kwargs.values())) if args and fits(args, kwargs) else OTHER
            if kind == PLAIN:
                return row.compute(*args, **kwargs)
            if kind == WITH_GRADIENT and differentiable is not None:
                return differentiable.apply_here(*(bound(operator, args, kwargs).values() if kwargs
                                                   else args + defaults[len(args):]))
            if differentiable is not None and torch._C._are_functorch_transforms_active():
                return differentiable.apply(*bound(operator, args, kwargs).values())
        if args and hasattr(args[0], "placements"):
            meshes()
        return operator(*args, **kwargs)
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    parameters = [inspect.Parameter(argument.name, kinds[argument.kwarg_only], default=argument.default_value
                                    if argument.has_default_value() else inspect.Parameter.empty)
                  for argument in operator._schema.arguments]
    function.__signature__ = inspect.Signature(parameters)
    function.__name__ = function.__qualname__ = row.name
    function.__module__ = "fanin.torch"
    function.__doc__ = row.story
    return function
