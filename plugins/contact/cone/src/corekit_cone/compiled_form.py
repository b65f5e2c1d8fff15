"""The dense search behind a C entry, for worlds stepped without Python: see `corekit.roles.compiled_form`.

It is the search that `cone` makes where W is not kept by blocks, from the same guess and by the same kernels. What that
leaves inaccurate is left to `cone` itself, which proves contradictions.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from corekit.compiled import compiled
from corekit.compiled.entries import array_at
from corekit.data.arrays import Array
from corekit.roles.compiled_form import SOLVER_ENTRIES, CompiledForm, entries_of
from corekit.roles.contact_laws import relative_velocity
from corekit_cone.least_loads import search_least
from corekit_cone.residuals import measure_residuals
from corekit_cone.search import WORK_ROWS

__all__ = ["form_of"]

_WIDTH: Final = 3
_WORK_ROWS: Final = WORK_ROWS


def form_of(tolerance: float, limit: int) -> CompiledForm:
    """Return the form of a solver of spatial contacts.

    Args:
        tolerance: of a solved problem, relative. limit: largest number of sweeps.
    """
    return CompiledForm(
        numbers=np.array([tolerance]),
        index=np.array([limit], dtype=np.int64),
        entries=entries_of(SOLVER_ENTRIES, solve=_solve),
    )


@compiled
def _solve_problem(
    limit: int,
    tolerance: float,
    delassus: Array,
    free: Array,
    friction: Array,
    impulse: Array,
    residuals: Array,
) -> bool:
    """Solve a problem of spatial contacts; arguments as of the role's entry."""
    rows, contacts, none = len(free), len(friction), np.empty(0)
    work, matrices, index = (
        np.zeros((_WORK_ROWS, rows)),
        np.zeros((2, rows, rows)),
        np.zeros((2, rows), np.int64),
    )
    error, _, _, is_least = search_least(
        delassus, free, _WIDTH, friction, none, none, tolerance, limit, np.zeros((2, contacts)), index, work,
        matrices, impulse,
    )  # fmt: skip
    if not (error <= tolerance and is_least):
        return False
    velocity = work[0]
    relative_velocity(delassus, free, impulse, velocity)
    found = measure_residuals(_WIDTH, friction, none, none, impulse, velocity)
    residuals[0], residuals[1], residuals[2] = found[0], found[1], found[2]
    return True


def _solve(
    index: Any, numbers: Any, _work: Any, contacts: int, delassus: Any, free: Any, friction: Any, _carried: Any,
    impulse: Any, residuals: Any,
) -> int:  # fmt: skip
    rows = _WIDTH * contacts
    solved = _solve_problem(
        array_at(index, (1,))[0], array_at(numbers, (1,))[0], array_at(delassus, (rows, rows)),
        array_at(free, (rows,)), array_at(friction, (contacts,)), array_at(impulse, (rows,)),
        array_at(residuals, (3,)),
    )  # fmt: skip
    return 1 if solved else 0
