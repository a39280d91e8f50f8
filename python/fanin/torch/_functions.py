# SPDX-License-Identifier: Apache-2.0
"""The functions of all operators, which are registered here."""

from ._operators import register
from ._reductions import ROWS as REDUCTIONS
from ._scatters import ROWS as SCATTERS

ROWS = {row.name: row for row in (*REDUCTIONS, *SCATTERS)}
FUNCTIONS = {name: register(row) for name, row in ROWS.items()}
