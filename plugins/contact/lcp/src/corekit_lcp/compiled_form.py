"""The solution by modes behind a C entry, for worlds stepped without Python: see `corekit.roles.compiled_form`.

It turns the friction pyramids, brings the problem into units of its own and solves it by `by_modes`, as `lcp` does.
What needs an LCP solver is left to `lcp` itself.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from corekit.compiled import compiled
from corekit.compiled.entries import array_at
from corekit.compiled.parts import part
from corekit.data.arrays import Array, IntArray
from corekit.roles.compiled_form import SOLVER_ENTRIES, CompiledForm, entries_of
from corekit.roles.contact_scale import write_scaled
from corekit.roles.pyramid import pyramid_directions, turn_directions
from corekit_lcp.by_modes import AMBIGUOUS, UNKNOWN, solve_by_modes
from corekit_lcp.compliance import unit_compliance

__all__ = ["form_of"]

_WIDTH: Final = 3
_INTEGERS: Final = 4
_NUMBERS: Final = 2
_AMBIGUOUS: Final = AMBIGUOUS
_UNKNOWN: Final = UNKNOWN


def form_of(
    directions: int,
    tolerance: float,
    weight: float,
    corrections: int,
    *,
    aligned: bool,
    finds_least_norm: bool,
) -> CompiledForm:
    """Return the form of a solver of spatial contacts.

    Args:
        directions: of the friction pyramid. tolerance: of a solved problem.
        weight, corrections: of the compliance. aligned, finds_least_norm: see `lcp`.
    """
    unit = pyramid_directions(_WIDTH, directions)
    return CompiledForm(
        numbers=np.concatenate([[tolerance, weight], unit.ravel()]),
        index=np.array([directions, corrections, aligned, finds_least_norm], dtype=np.int64),
        entries=entries_of(SOLVER_ENTRIES, solve=_solve),
    )


@compiled
def _solve_problem(
    index: IntArray, tolerance: float, weight: float, unit: Array, delassus: Array, free: Array, friction: Array,
    carried: Array, impulse: Array, residuals: Array,
) -> bool:  # fmt: skip
    """Solve a problem of spatial contacts by modes; arguments as of the role's entry."""
    contacts, rows, width = len(friction), len(free), _WIDTH
    has_friction = False
    for c in range(contacts):
        has_friction = has_friction or friction[c] != 0.0
    count = unit.shape[1] if has_friction else 0
    work, none = np.empty(rows * rows + rows + 2 * contacts), np.empty(0)
    own_velocity, own_impulse = write_scaled(delassus, free, none, none, width, contacts, work, impulse)
    matrix, ends = part(work, 0, (rows, rows)), rows * rows + rows
    own_free, mobility, reference = (
        work[rows * rows : ends],
        work[ends : ends + contacts],
        work[ends + contacts :],
    )
    base, directions = np.empty((width - 1, count)), np.empty((contacts, width - 1, count))
    for k in range(count):
        for a in range(width - 1):
            base[a, k] = unit[a, k]
            for c in range(contacts):
                directions[c, a, k] = unit[a, k]
    vectors = np.empty((11, rows))
    if index[2] != 0:
        before, nobody, nothing = vectors[0], np.zeros(0, dtype=np.int64), np.zeros((0, 8))
        for i in range(rows):
            before[i] = carried[i] / own_impulse
        turn_directions(
            base,
            friction,
            nobody,
            nobody,
            none,
            nothing,
            matrix,
            0.0,
            own_free,
            before,
            True,
            directions,
            impulse,
        )
    soft = vectors[1]
    unit_compliance(mobility, contacts, width, soft)
    order = np.empty((2, rows), dtype=np.int64)
    columns = np.empty((2, rows, width))
    numbers, beta = np.empty(rows * (2 * rows + 5)), np.empty(count)
    dropped = np.empty(contacts, dtype=np.bool_)
    answer, _, found = solve_by_modes(
        matrix, own_free, friction, directions, none, none, mobility, reference, own_velocity, own_impulse, beta,
        order[0], columns[0], columns[1], numbers, order[1], soft, dropped, index[3] != 0, weight, index[1],
        vectors[2], vectors[3], vectors[4], vectors[5], vectors[6], vectors[7], vectors[8], vectors[9], vectors[10],
        tolerance, impulse,
    )  # fmt: skip
    for i in range(rows):
        impulse[i] *= own_impulse
    residuals[0], residuals[1], residuals[2] = found[0], found[1], found[2]
    return answer != _UNKNOWN and answer != _AMBIGUOUS


def _solve(
    index: Any, numbers: Any, _work: Any, contacts: int, delassus: Any, free: Any, friction: Any, carried: Any,
    impulse: Any, residuals: Any,
) -> int:  # fmt: skip
    integers, rows = array_at(index, (_INTEGERS,)), _WIDTH * contacts
    table = array_at(numbers, (_NUMBERS + (_WIDTH - 1) * integers[0],))
    solved = _solve_problem(
        integers, table[0], table[1], table[_NUMBERS:].reshape((_WIDTH - 1, integers[0])),
        array_at(delassus, (rows, rows)), array_at(free, (rows,)), array_at(friction, (contacts,)),
        array_at(carried, (rows,)), array_at(impulse, (rows,)), array_at(residuals, (3,)),
    )  # fmt: skip
    return 1 if solved else 0
