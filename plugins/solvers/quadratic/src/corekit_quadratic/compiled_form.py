"""The solver behind a C entry, for worlds stepped without Python: see `corekit.roles.compiled_form`.

The work space holds the sizes of the last program, then what `solve_banded` takes: as long as programs have the same
sizes, it knows which of their rows share columns.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from corekit.compiled import compiled
from corekit.compiled.entries import array_at
from corekit.data.arrays import Array, IntArray
from corekit.roles.compiled_form import PROGRAM_ENTRIES, CompiledForm, ProgramSizes, entries_of
from corekit_quadratic.active_set import NOT_DEFINITE, WORKSPACE_FULL
from corekit_quadratic.compiled import solve_banded, workspace_lengths

__all__ = ["form_of"]

_HEAD: Final = 4
_NOT_DEFINITE: Final = NOT_DEFINITE
_WORKSPACE_FULL: Final = WORKSPACE_FULL


def form_of(changes: int, patience: int) -> CompiledForm:
    """Return the form of a solver.

    Args:
        changes, patience: see `Workspace`.
    """
    return CompiledForm(
        index=np.array([changes, patience], dtype=np.int64),
        scratch_for=_room,
        entries=entries_of(PROGRAM_ENTRIES, program=_program),
    )


@compiled
def _entries(rows: int, width: int) -> int:
    """Capacity for entries of the rows in whitened coordinates, and of their factor."""
    return max(24 * rows + 128, rows * max(width, (rows + 1) // 2))


def _room(sizes: ProgramSizes) -> int:
    n, columns, rows, width = sizes
    return _HEAD + sum(workspace_lengths(n, columns, rows, _entries(rows, width))) + 3


@compiled
def _solve(
    limits: IntArray, known: IntArray, work: Array, integers: int, positions: int, entries: int, gradient: Array,
    dofs: IntArray, values: Array, lower: Array, upper: Array, compliance: Array, least: Array, most: Array, h: Array,
    tolerance: float, report: Array, x: Array, multiplier: Array, residuals: Array,
) -> bool:  # fmt: skip
    """Solve a program; arguments as of the role's entry and of `solve_banded`."""
    own = work[:integers].view(np.int64)
    places = work[integers : integers + positions].view(np.int64)
    n, columns, (rows, width) = len(gradient), h.shape[1], dofs.shape
    if known[0] != n or known[1] != columns or known[2] != rows or known[3] != width:
        known[0], known[1], known[2], known[3] = n, columns, rows, width
        own[0], own[1], own[2], own[3], own[4], own[5] = limits[0], limits[1], 0, -1, 0, 0
    outcome = solve_banded(
        gradient, dofs, values, lower, upper, compliance, least, most, h, own, places, work[integers + positions :],
        report, entries, x, multiplier,
    )  # fmt: skip
    if outcome in (_NOT_DEFINITE, _WORKSPACE_FULL):
        return False
    residuals[0], residuals[1] = report[1], report[2]
    return report[1] <= tolerance and report[2] < math.inf


def _program(
    index: Any, _numbers: Any, work: Any, sizes: Any, hessian: Any, gradient: Any, dofs: Any, values: Any, lower: Any,
    upper: Any, compliance: Any, least: Any, most: Any, tolerance: float, x: Any, multiplier: Any, residuals: Any,
) -> int:  # fmt: skip
    size = array_at(sizes, (4,))
    n, columns, rows, width = size[0], size[1], size[2], size[3]
    entries = _entries(rows, width)
    integers, positions, numbers = workspace_lengths(n, columns, rows, entries)
    space = array_at(work, (_HEAD + integers + positions + numbers + 3,))
    solved = _solve(
        array_at(index, (2,)), space[:_HEAD].view(np.int64), space[_HEAD + 3 :], integers, positions, entries,
        array_at(gradient, (n,)), array_at(dofs, (rows, width)), array_at(values, (rows, width)),
        array_at(lower, (rows,)), array_at(upper, (rows,)), array_at(compliance, (rows,)), array_at(least, (rows,)),
        array_at(most, (rows,)), array_at(hessian, (n, columns)), tolerance, space[_HEAD : _HEAD + 3],
        array_at(x, (n,)), array_at(multiplier, (rows,)), array_at(residuals, (2,)),
    )  # fmt: skip
    return 1 if solved else 0
