# SPDX-License-Identifier: Apache-2.0
"""The table of reductions along axes."""

import math
from array import array

import torch

from .._catalogue import OPERATIONS, default_method
from .._errors import InvalidArgument, Unsupported
from .._library import DEFAULT_TYPE, operation_inputs
from .._operations import functions
from .._reduce_each import reduce_each
from .._torch import BY_TYPE
from .._types import NAMES
from ._layer_rows import NARROW
from ._operators import Row
from ._plans import Plans
from ._reduction_gradients import axes_of, correction_of, degrees, of_deviation, of_extremum, of_logarithm, of_mean, \
    of_norm, of_pair, of_product, of_sum, of_variance, shape_of

# Names of the library for the operators whose names differ, by the operator or the order of a norm.
OWN_NAMES = {"prod": "product", "amin": "min", "amax": "max", "logsumexp": "log_sum_exp", "vecdot": "vdot",
             1.0: "sum_of_magnitudes", 2.0: "norm2", math.inf: "max_magnitude"}
DISPERSIONS = {"var": ("variance", "sample_variance"), "std": ("standard_deviation", "sample_standard_deviation")}
INTEGERS = frozenset(dtype for dtype in BY_TYPE if not dtype.is_floating_point and not dtype.is_complex)


def readable(x):
    """The tensor as the readers of the package take it."""
    if x.is_conj() or x.is_neg():
        x = x.resolve_conj().resolve_neg()
    return x.detach() if x.requires_grad else x


# ---- Types of results: of the input's type and of `dtype` -----------------------------------------------------------

def as_sums(x, dtype):
    return dtype or (torch.int64 if x.dtype in INTEGERS else x.dtype)


def as_input(x, dtype):
    return dtype or x.dtype


def as_floats(x, dtype):
    found = dtype or x.dtype
    if found in INTEGERS:
        raise Unsupported("the result is a float: convert the elements of %s, or give dtype=torch.float64" % x.dtype)
    return found


def as_magnitudes(x, dtype):
    found = as_floats(x, dtype)
    return found.to_real() if found.is_complex else found


def as_truths(x, dtype):
    return torch.uint8 if x.dtype == torch.uint8 else torch.bool


def as_counts(x, dtype):
    return torch.int64


# ---- Computation ----------------------------------------------------------------------------------------------------

def holds(dtype, own):
    """Whether `dtype` has each number of a type of floats or complex numbers. PyTorch promotes no floats of 8 bits."""
    return dtype == own or dtype.is_floating_point == own.is_floating_point and dtype.itemsize > own.itemsize


def is_widened(x, name, dtype, method):
    """Whether the library rounds to f32 or f64 instead. To widen floats changes none of them, nor their exact result."""
    return ROUNDED.issuperset((name,) if type(name) is str else name) and method == "exact" and x.dtype in BY_TYPE \
        and x.dtype.is_floating_point and dtype in (torch.float32, torch.float64) and holds(dtype, x.dtype)


def planned(x, name, axes, keepdim, type_of, dtype=None, method=None):
    """The arguments of plan_of() for a call of reduced(); None where that converts elements, or has too few elements."""
    method, asked, wanted = method or DEFAULTS[name], DEFAULT_TYPE, type_of(x, dtype)
    if dtype is not None and dtype != x.dtype:
        if not is_widened(x, name, dtype, method):
            return None
        asked = BY_TYPE[dtype]
    needed = max(NEEDED[one] for one in ((name,) if type(name) is str else name))
    if math.prod(x.shape[axis] for axis in axes) < max(1, needed):
        return None
    return name, axes, keepdim, wanted, asked, method


def reduced(x, name, axes, keepdim, type_of, dtype=None, method=None, y=None):
    """The operation of the library along axes. A result that has too few elements is NaN, as PyTorch's is."""
    wanted, choices = type_of(x, dtype), {"method": method or DEFAULTS[name]}
    if dtype is not None and dtype != x.dtype:
        if is_widened(x, name, dtype, choices["method"]):
            choices["dtype"] = NAMES[BY_TYPE[dtype]]
        else:
            x = x.to(dtype)
    inputs = [readable(part) for part in ((x,) if y is None else (x, y))]
    if y is not None and inputs[0].stride() != inputs[1].stride():
        inputs = [part.contiguous() for part in inputs]
    if not x.dim():
        inputs, axes, keepdim = [part.reshape(1) for part in inputs], (0,), False
    shape = shape_of(inputs[0].shape, axes, keepdim)
    count = math.prod(inputs[0].shape[axis] for axis in axes)
    if 0 in shape:
        return x.new_empty(shape, dtype=wanted)
    if count < NEEDED[name]:
        if name in ("min", "max", "argmin", "argmax"):
            raise IndexError("%s of no elements along dim: Expected reduction dim to have non-zero size" % name)
        return x.new_full(shape, math.nan, dtype=wanted)
    axis = None if len(axes) == inputs[0].dim() and not keepdim else axes
    found = functions[name](*inputs, axis=axis, keepdims=keepdim, **choices)
    return found if found.dtype == wanted else found.to(wanted)


DEFAULTS = {name: default_method(name) for name in OPERATIONS}


def has_result(name, count, **choices):
    """Whether the library has the result of `count` elements of f32."""
    try:
        functions[name](*[array("f", [1] * count)] * operation_inputs(OPERATIONS[name]), backend="serial", **choices)
    except (InvalidArgument, Unsupported):
        return False
    return True


# The operations whose results can have a wider type than the elements, and how many elements a result needs.
ROUNDED = frozenset(name for name in OPERATIONS if has_result(name, 2, dtype="f64"))
NEEDED = {name: next((count for count in range(3) if has_result(name, count)), 0) for name in OPERATIONS}


def simple(name, type_of):
    own = OWN_NAMES.get(name, name)

    def describe(self, dim=None, keepdim=False, *, dtype=None, method=None):
        return own, axes_of(self.dim(), dim), keepdim, type_of, dtype, method

    def shape(self, dim=None, keepdim=False, *, dtype=None, method=None):
        return shape_of(self.shape, axes_of(self.dim(), dim), keepdim), type_of(self, dtype)
    return described(describe), shape


def described(describe):
    """What computes reduced(x, *describe(x, ...)), by a plan if there is one. describe() may give a result itself."""
    def description(x, *args, **kwargs):
        found = describe(x, *args, **kwargs)
        return planned(x, *found) if type(found) is tuple else None

    def compute(self, *args, **kwargs):
        result = plans.compute(self, args, kwargs)
        if result is NotImplemented:
            result = describe(self, *args, **kwargs)
        return reduced(self, *result) if type(result) is tuple else result
    plans = compute.plans = Plans(description)
    return compute


def index(name):
    def compute(self, dim=None, keepdim=False):
        if dim is None:  # the index is that of the elements in C order
            found = reduced(self.reshape(-1), name, (0,), False, as_counts).reshape([1] * self.dim() * keepdim)
        else:
            found = reduced(self, name, axes_of(self.dim(), dim), keepdim, as_counts)
        return found.clone()  # beside each index stood the element

    def shape(self, dim=None, keepdim=False):
        return shape_of(self.shape, axes_of(self.dim(), dim), keepdim), torch.int64
    return compute, shape


def as_dispersions(x, dtype):
    if x.is_complex():
        raise Unsupported("complex numbers have no variance here: hand over their parts with torch.view_as_real(x)")
    return as_floats(x, dtype)


def dispersion_of_numbers(name):
    """Variance or standard deviation. Other corrections than 0 and 1 take one more product, in f64 where exact."""
    names = DISPERSIONS[name]

    def describe(self, dim=None, *, correction=None, keepdim=False, method="exact"):
        axes, divisor = axes_of(self.dim(), dim), correction_of(correction)
        if divisor in (0, 1):
            return names[int(divisor)], axes, keepdim, as_dispersions, None, method
        wide = torch.float64 if method == "exact" else None
        count = math.prod(self.shape[axis] for axis in axes)
        left = degrees(count, divisor)
        factor = count / left if left else math.inf
        found = reduced(self, "variance", axes, keepdim, as_dispersions, wide, method) * factor
        return (found if name == "var" else found.sqrt()).to(as_dispersions(self, None))

    def shape(self, dim=None, *, correction=None, keepdim=False, method="exact"):
        return shape_of(self.shape, axes_of(self.dim(), dim), keepdim), as_dispersions(self, None)
    return described(describe), shape


def dispersion_and_mean(name):
    """The dispersion and the exact mean: of rows and with equal methods, by one read."""
    alone, shape = dispersion_of_numbers(name)

    def together(self, dim=None, *, correction=None, keepdim=False, method="exact"):
        """The names of both operations, and the other arguments of planned(); None where they share no read."""
        axes, divisor = axes_of(self.dim(), dim), correction_of(correction)
        count = math.prod(self.shape[axis] for axis in axes)
        if method != "exact" or divisor not in (0, 1) or count <= divisor or len(axes) == self.dim():
            return None
        return (DISPERSIONS[name][int(divisor)], "mean"), axes, keepdim, as_dispersions, None, method

    def plan(x, *args, **kwargs):
        found = together(x, *args, **kwargs)
        return None if found is None else planned(x, *found)

    def compute(self, *args, **kwargs):
        results = plans.compute(self, args, kwargs)
        if results is not NotImplemented:
            return results
        wanted, found = as_dispersions(self, None), together(self, *args, **kwargs)
        if found is None or not self.numel():
            dim, keepdim = args[0] if args else kwargs.get("dim"), kwargs.get("keepdim", False)
            mean = reduced(self, "mean", axes_of(self.dim(), dim), keepdim, as_dispersions)
            return alone(self, *args, **kwargs), mean
        names, axes, keepdim, _, _, method = found
        both = reduce_each(names, readable(self), axes, method=method, keepdims=keepdim)
        return tuple(one.to(wanted) for one in both)
    plans = compute.plans = Plans(plan)
    return compute, shape


def name_of_order(order):
    if order not in (1, 2, math.inf):
        raise Unsupported("ord is 1, 2 or inf, and not %s: call torch.linalg.vector_norm" % order)
    return OWN_NAMES[float(order)]


def norm():
    def describe(self, ord=2, dim=None, keepdim=False, *, dtype=None, method="exact"):
        return name_of_order(ord), axes_of(self.dim(), dim), keepdim, as_magnitudes, dtype, method

    def shape(self, ord=2, dim=None, keepdim=False, *, dtype=None, method="exact"):
        name_of_order(ord)
        return shape_of(self.shape, axes_of(self.dim(), dim), keepdim), as_magnitudes(self, dtype)
    return described(describe), shape


def pair(name):
    own = OWN_NAMES.get(name, name)

    def shape(self, other, *, dim=-1, method="exact"):
        if self.shape != other.shape or self.dtype != other.dtype:
            raise InvalidArgument("%s takes two tensors of one shape and type, and not %s of %s and %s of %s"
                                  % (name, tuple(self.shape), self.dtype, tuple(other.shape), other.dtype))
        if name == "dot" and self.dim() != 1:
            raise InvalidArgument("dot takes tensors with one axis: call fanin.torch.vecdot")
        return shape_of(self.shape, axes_of(self.dim(), dim), False), as_floats(self, None)

    def compute(self, other, *, dim=-1, method="exact"):
        shape(self, other, dim=dim)
        return reduced(self, own, axes_of(self.dim(), dim), False, as_floats, None, method, other)
    return compute, shape


# ---- One more axis in front, and autocast ---------------------------------------------------------------------------

def batch_axes(call):
    """The reduction of each of many tensors: their axes come one later."""
    ndim = call.self.dim() - 1
    if not ndim:
        return call.again(self=call.self.unsqueeze(1), dim=[1], keepdim=False)
    return call.again(dim=[axis + 1 for axis in axes_of(ndim, call.dim)])


def batch_index(call):
    x, ndim = call.self, call.self.dim() - 1
    if call.dim is None or not ndim:
        found = call.again(self=x.reshape(len(x), -1), dim=1, keepdim=False)
        return found.reshape([len(x)] + [1] * ndim) if call.keepdim else found
    return call.again(dim=call.dim % ndim + 1)


def batch_dot(call):
    return torch.ops.fanin.vecdot(call.self.conj(), call.other, method=call.method)


def batch_vecdot(call):
    return call.again(dim=call.dim % (call.self.dim() - 1) + 1)


def wide_result(call):
    """f32 results of f16 and bf16, as PyTorch's autocast has them for sums, products and norms."""
    if call.dtype is None and call.self.dtype in NARROW:
        call.dtype = torch.float32


def wide_input(call):
    if call.self.dtype in NARROW:
        call.self = call.self.float()


def widest(*names):
    """The type that all of these tensors have after promotion."""
    def promote(call):
        found = getattr(call, names[0]).dtype
        for name in names[1:]:
            found = torch.promote_types(found, getattr(call, name).dtype)
        for name in names:
            setattr(call, name, getattr(call, name).to(found))
    return promote


# ---- The table ------------------------------------------------------------------------------------------------------

def method_for(name):
    return 'str method="%s"' % default_method(OWN_NAMES.get(name, name))


DISPERSION = "%%s(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False, %s) -> %%s" \
    % method_for("variance")
AXES = "Tensor self, int[1]? dim=None, bool keepdim=False"
ROWS = [
    Row("sum(%s, *, ScalarType? dtype=None, %s) -> Tensor" % (AXES, method_for("sum")),
        "The sum along dim, rounded once.", *simple("sum", as_sums), batch_axes, of_sum, autocast=wide_result),
    Row("mean(%s, *, ScalarType? dtype=None, %s) -> Tensor" % (AXES, method_for("mean")),
        "The mean along dim, rounded once.", *simple("mean", as_floats), batch_axes, of_mean),
    Row("prod(%s, *, ScalarType? dtype=None, %s) -> Tensor" % (AXES, method_for("prod")),
        "The product along dim.", *simple("prod", as_sums), batch_axes, of_product, ("self",), wide_result),
    *(Row("%s(%s) -> Tensor" % (name, AXES), "The %s along dim." % story, *simple(name, as_input), batch_axes,
          of_extremum, ("self", "result")) for name, story in (("amin", "minimum"), ("amax", "maximum"))),
    *(Row(DISPERSION % (name + "_mean", "(Tensor, Tensor)"), "The %s and the mean along dim, each rounded once." % story,
          *dispersion_and_mean(name), batch_axes, gradient, saves, results=("dispersion", "mean"))
      for name, story, gradient, saves in (
          ("var", "variance", of_variance, ("self", "mean")),
          ("std", "standard deviation", of_deviation, ("self", "dispersion", "mean")))),
    *(Row(DISPERSION % (name, "Tensor"), "The %s along dim, rounded once." % story, *dispersion_of_numbers(name),
          batch_axes, first_of=name + "_mean") for name, story in (("var", "variance"), ("std", "standard deviation"))),
    Row("vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None, %s)"
        " -> Tensor" % method_for("norm2"), "The norm of order 1, 2 or inf along dim, rounded once.", *norm(),
        batch_axes, of_norm, ("self", "result"), wide_result),
    Row("logsumexp(%s, *, %s) -> Tensor" % (AXES, method_for("logsumexp")),
        "The logarithm of the sum of the exponentials along dim.", *simple("logsumexp", as_floats), batch_axes,
        of_logarithm, ("self", "result"), wide_input),
    Row("dot(Tensor self, Tensor other, *, %s) -> Tensor" % method_for("dot"),
        "The sum of the products of two tensors with one axis, rounded once.", *pair("dot"), batch_dot, of_pair,
        ("self", "other"), widest("self", "other")),
    Row("vecdot(Tensor self, Tensor other, *, int dim=-1, %s) -> Tensor" % method_for("vecdot"),
        "The sums along dim of products, rounded once; of complex numbers with the conjugate of self.",
        *pair("vecdot"), batch_vecdot, of_pair, ("self", "other"), widest("self", "other")),
    Row("count_nonzero(Tensor self, int[1]? dim=None) -> Tensor", "How many elements along dim are not 0.",
        *simple("count_nonzero", as_counts), batch_axes),
    *(Row("%s(%s) -> Tensor" % (name, AXES), "Whether %s elements along dim are not 0." % name,
          *simple(name, as_truths), batch_axes) for name in ("any", "all")),
    *(Row("%s(Tensor self, int? dim=None, bool keepdim=False) -> Tensor" % name,
          "Where the first %s along dim is." % story, *index(name), batch_index)
      for name, story in (("argmin", "minimum"), ("argmax", "maximum"))),
]
