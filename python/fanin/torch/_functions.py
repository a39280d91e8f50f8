# SPDX-License-Identifier: Apache-2.0
"""The functions of all operators, which are registered here."""

from ._operators import register
from ._reductions import ROWS as REDUCTIONS
from ._scatters import ROWS as SCATTERS

ROWS = {row.name: row for row in (*REDUCTIONS, *SCATTERS)}


def meshes():
    """The module for DTensors, which is imported when a DTensor comes: PyTorch takes a second to import them."""
    from . import _meshes
    return _meshes


FUNCTIONS = {name: register(row, meshes) for name, row in ROWS.items()}
