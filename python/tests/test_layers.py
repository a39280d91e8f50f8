# SPDX-License-Identifier: Apache-2.0
"""The modules of the package import each other without a circle."""

import ast
import graphlib
import pathlib
import unittest

import fanin

FOLDER = pathlib.Path(fanin.__file__).parent
# These modules import an optional package, or a part of one, and are imported where it is loaded. _calls is optional itself.
OF_OTHER_PACKAGES = {"_torch", "_torch_calls", "torch._meshes", "_calls", "_cuda_array"}
# What these modules import where it is used first, so that the package is imported in little time.
USED_LATER = {"__init__": {"_batches", "_aliases"}, "_operations": {"_long_calls"}}


def imported(statement, folder):
    """The modules of the package that an import statement names, in a module of that folder."""
    if not isinstance(statement, ast.ImportFrom) or not statement.level:
        return set()
    above = folder[:len(folder) - statement.level + 1]
    return {".".join((*above, name)) for name in
            ([statement.module] if statement.module else [name.name for name in statement.names])}


def found_in(folder, statements):
    return set().union(*(imported(statement, folder) for statement in statements))


class Layers(unittest.TestCase):
    def setUp(self):
        paths = {path: path.relative_to(FOLDER).with_suffix("").parts for path in FOLDER.rglob("*.py")}
        self.trees = {".".join(parts): (parts[:-1], ast.parse(path.read_text())) for path, parts in paths.items()
                      if parts[-1] != "__main__"}

    def test_no_circle(self):
        arrows = {name: found_in(folder, ast.walk(tree)) for name, (folder, tree) in self.trees.items()}
        self.assertIn("_views", arrows["_reduce"])
        self.assertIn("_operations", arrows["torch._reductions"])
        list(graphlib.TopologicalSorter(arrows).static_order())  # raises CycleError

    def test_imports_at_the_top(self):
        for name, (folder, tree) in self.trees.items():
            late = found_in(folder, ast.walk(tree)) - found_in(folder, tree.body)
            self.assertLessEqual(late, OF_OTHER_PACKAGES | USED_LATER.get(name, set()), name)
