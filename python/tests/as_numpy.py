# SPDX-License-Identifier: Apache-2.0
"""numpy's reductions by the package's, and copies of numpy's own tests that call these in their place."""

import ast
import functools
import inspect

import fanin
import numpy

# The operation for each function of numpy.
OPERATIONS = {"sum": "sum", "prod": "product", "min": "min", "max": "max", "amin": "min", "amax": "max",
              "argmin": "argmin", "argmax": "argmax", "mean": "mean", "var": "variance", "std": "standard_deviation",
              "any": "any", "all": "all", "count_nonzero": "count_nonzero"}
SKIPPING = {"nan" + name for name in ("sum", "prod", "min", "max", "argmin", "argmax", "mean", "var", "std")}

computed = []  # the names of the functions that fanin computed since it was cleared
refused = set()  # what fanin refused, which numpy computed


def adapted(name):
    """A function that has numpy's arguments and fanin's results."""
    original = getattr(numpy, name)
    operation = OPERATIONS[name[3:] if name in SKIPPING else name]
    signature = inspect.signature(original)

    @functools.wraps(original)
    def reduce(*arguments, **choices):
        try:
            result = by_fanin(operation, signature.bind(*arguments, **choices).arguments, name in SKIPPING)
        except fanin.Unsupported as error:
            refused.add(str(error))
            return original(*arguments, **choices)
        finally:
            computed.append(name)
        return result
    return reduce


def by_fanin(operation, given, skipping):
    given = {key: value for key, value in given.items() if value is not numpy._NoValue and value is not None}
    x = numpy.asanyarray(given.pop("a"))
    if "dtype" in given:  # the type in which numpy adds
        x = x.astype(given.pop("dtype"))
    if given.get("ddof") == 1:
        operation = "sample_" + operation
    if given.get("ddof") in (0, 1):
        del given["ddof"]
    where = given.pop("where", True)
    if where is not True:
        given["where"] = numpy.ascontiguousarray(numpy.broadcast_to(where, x.shape))
    return getattr(fanin, operation)(x, nan="skip" if skipping else "propagate", **given)


functions = {name: adapted(name) for name in [*OPERATIONS, *SKIPPING]}


def function(name):
    return functions[name]


def method(x, name):
    """The method of an array, by fanin; that of anything else as it is."""
    if type(x) is numpy.ndarray or isinstance(x, numpy.generic):
        return functools.partial(functions[name], x)
    return getattr(x, name)


class Replacing(ast.NodeTransformer):
    """np.sum becomes as_numpy.functions["sum"], and x.sum becomes as_numpy.method(x, "sum")."""

    def visit_Attribute(self, node):
        self.generic_visit(node)
        if node.attr not in functions or not isinstance(node.ctx, ast.Load):
            return node
        if isinstance(node.value, ast.Name) and node.value.id == "np":
            text = "__import__('as_numpy').functions[%r]" % node.attr
        elif node.attr in OPERATIONS:
            text = "__import__('as_numpy').method(x, %r)" % node.attr
        else:
            return node
        made = ast.parse(text, mode="eval").body
        if isinstance(made, ast.Call):
            made.args[0] = node.value
        return ast.copy_location(made, node)


def copy_of(source):
    """The text of a file of numpy's tests with the functions replaced."""
    return ast.unparse(ast.fix_missing_locations(Replacing().visit(ast.parse(source))))
