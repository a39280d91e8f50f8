# SPDX-License-Identifier: Apache-2.0
"""The modules of the package import each other without a circle."""

import ast
import graphlib
import pathlib
import unittest

import fanin

FOLDER = pathlib.Path(fanin.__file__).parent
OF_OTHER_PACKAGES = {"_torch"}  # These modules import an optional package, and are imported where it is loaded.


def imported(statement):
    """The modules of the package that an import statement names."""
    if not isinstance(statement, ast.ImportFrom) or statement.level != 1:
        return set()
    return {statement.module} if statement.module else {name.name for name in statement.names}


class Layers(unittest.TestCase):
    def setUp(self):
        self.trees = {path.stem: ast.parse(path.read_text()) for path in FOLDER.glob("*.py")
                      if path.stem != "__main__"}

    def test_no_circle(self):
        arrows = {name: set().union(*map(imported, ast.walk(tree))) for name, tree in self.trees.items()}
        self.assertIn("_views", arrows["_reduce"])
        list(graphlib.TopologicalSorter(arrows).static_order())  # raises CycleError

    def test_imports_at_the_top(self):
        for name, tree in self.trees.items():
            late = set().union(*map(imported, ast.walk(tree))) - set().union(*map(imported, tree.body))
            # __getattr__ of the package imports what is used first there.
            allowed = OF_OTHER_PACKAGES | ({"_batches", "_aliases"} if name == "__init__" else set())
            self.assertLessEqual(late, allowed, name)
