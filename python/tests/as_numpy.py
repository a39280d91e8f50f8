# SPDX-License-Identifier: Apache-2.0
"""numpy's reductions by fanin.numpy's, and copies of numpy's own tests that call these in their place."""

import ast
import functools

import fanin.numpy
import numpy

METHODS = ("sum", "prod", "min", "max", "argmin", "argmax", "mean", "var", "std", "any", "all")
FUNCTIONS = (*METHODS, "amin", "amax", "count_nonzero", *("nan" + name for name in METHODS[:-2]))

computed = []  # the names of the functions that fanin computed since it was cleared
refused = set()  # what fanin refused, which numpy computed


def adapted(name):
    """The function of fanin.numpy, or of numpy if fanin.numpy refuses the arguments."""
    original, ours = getattr(numpy, name), getattr(fanin.numpy, name)

    @functools.wraps(original)
    def reduce(*arguments, **choices):
        try:
            return ours(*arguments, **{key: value for key, value in choices.items() if value is not numpy._NoValue})
        except fanin.Unsupported as error:
            refused.add(str(error))
            return original(*arguments, **choices)
        finally:
            computed.append(name)
    return reduce


functions = {name: adapted(name) for name in FUNCTIONS}


def function(name):
    return functions[name]


def method(x, name):
    """The method of an array, by fanin. Other objects keep their own method."""
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
        elif node.attr in METHODS:
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
