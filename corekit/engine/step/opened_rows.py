"""How fast an answer opens what constraints and joints hold.

Impulses of contacts that grow without bound, as of a bar that friction jams at its hinge, cancel against those of the
hinge. What is left of both is rounding, which may satisfy the contact laws while it moves the bar off its hinge: the
contact solver sees W alone, from which the hinge is eliminated, and cannot know. So the rows

    J·Δ + E·λ = r                                                                                     (1)

of all joints and eliminated constraints are measured on the velocities that the answer leads to. Rows that contradict
each other, of a loop that drifts, leave an error before any contact acts. What an answer leaves is compared with it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from attrs import evolve

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.data.status import SolveInfo, Status
from corekit.engine.bodies.body_constraints import FREE_ROW

if TYPE_CHECKING:
    from corekit.engine.world.world_terms import WorldTerms

__all__ = ["judged_by_rows", "row_errors"]

_SHARE = 1e-3
"""Error of (1) relative to the velocities that its rows see, beyond which an answer has moved what they hold."""
_LENIENCE = 10.0
"""How many times the error without contacts is none of the answer's."""
_IS_FREE = 0.5 * FREE_ROW


@compiled
def _joint_errors(jacobian: Array, change: Array, target: Array) -> tuple[float, float]:
    """Largest |J·Δ − r| and Σ|J·Δ| + |r| of dense rows (R, nv)."""
    worst = size = 0.0
    for r in range(len(target)):
        total, moved = -target[r], abs(target[r])
        for k in range(len(change)):
            part = jacobian[r, k] * change[k]
            total, moved = total + part, moved + abs(part)
        worst, size = max(worst, abs(total)), max(size, moved)
    return worst, size


@compiled
def _constraint_errors(
    chosen: IntArray,
    dofs: IntArray,
    values: Array,
    compliance: Array,
    impulse: Array,
    change: Array,
    target: Array,
) -> tuple[float, float]:
    """The same of the chosen of some rows by their entries, (nb, k), with E·λ."""
    worst = size = 0.0
    for r in chosen:
        if compliance[r] >= _IS_FREE:
            continue
        soft = compliance[r] * impulse[r]
        total, moved = soft - target[r], abs(soft) + abs(target[r])
        for k in range(dofs.shape[1]):
            part = values[r, k] * change[dofs[r, k]]
            total, moved = total + part, moved + abs(part)
        worst, size = max(worst, abs(total)), max(size, moved)
    return worst, size


def row_errors(world: WorldTerms, change: Array) -> tuple[float, float]:
    """Largest error of (1) of the world's last linearisation, and the largest sum of its terms, in velocities.

    Args:
        change: Δ, shape (nv,), with which the impulses of the rows came.
    """
    worst = size = 0.0
    if world.joints is not None:
        worst, size = _joint_errors(world.joints.jacobian, change, world.joints.target)
    for terms, where in zip(world.bodies, world.slices, strict=True):
        own = terms.constraints
        if own is not None and len(own.kept):
            found = _constraint_errors(
                own.kept,
                own.rows.dofs,
                own.rows.values,
                own.compliance,
                own.impulse,
                change[where],
                own.target,
            )
            worst, size = max(worst, found[0]), max(size, found[1])
    return worst, size


def judged_by_rows(
    info: SolveInfo,
    world: WorldTerms,
    change: Array,
    free_change: Array | None,
    nothing: Callable[[], float],
) -> SolveInfo:
    """The report of an answer, JAMMED where it was called solved and opens what constraints or joints hold.

    Args:
        change: Δ, shape (nv,). free_change: the same without contacts, or None where it is not known.
        nothing: what computes what is not counted in any case [m/s], asked where something is left.
    """
    if not info.status.solved:
        return info
    worst, size = row_errors(world, change)
    if worst <= _SHARE * size < math.inf:
        return info
    before = 0.0 if free_change is None else row_errors(world, free_change)[0]
    is_held = worst <= max(_LENIENCE * before, nothing()) and math.isfinite(size)
    return info if is_held else evolve(info, status=Status.JAMMED)
