"""How fast an answer opens what constraints and joints hold.

Impulses of contacts that grow without bound, as of a bar that friction jams at its hinge, cancel against those of the
hinge. What is left of both is rounding, which may satisfy the contact laws while it moves the bar off its hinge: the
contact solver sees W alone, from which the hinge is eliminated, and cannot know. So the rows

    J·Δ + E·λ = r                                                                                     (1)

of all joints and eliminated constraints are measured on the velocities that the answer leads to. Rows of turns and of
places, in rad/s and m/s, are compared as speeds of the surface: with r the `velocity_scale` and e the error of a row,

    e/Σ_j (|J_j|/r_j)                                                                                 (2)

is the slowest motion of the surface that brings it about. An answer is none where contacts open because the rows do:
half of what changes at the contacts of a jammed bar is that of its hinge, and 1e-9 of it where the bar turns. Rows that
contradict each other, of a loop that drifts, leave an error before any contact acts. What an answer leaves is compared
with it.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import numpy as np
from attrs import evolve

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.data.status import SolveInfo, Status
from corekit.engine.bodies.body_constraints import FREE_ROW

if TYPE_CHECKING:
    from corekit.engine.world.world_terms import WorldTerms

__all__ = ["ROUNDING", "SHARE", "constraint_errors", "judged_by_rows", "row_errors"]

SHARE: Final = 1e-3
"""Error (2) relative to the speeds that the rows see, and to what changes at contacts, beyond which an answer has moved
what they hold."""
ROUNDING: Final = 64.0 * sys.float_info.epsilon
"""The same that is rounding of the sums."""
_LENIENCE = 10.0
"""How many times the error without contacts is none of the answer's."""
_IS_FREE = 0.5 * FREE_ROW


@compiled
def _joint_errors(jacobian: Array, change: Array, target: Array, scale: Array) -> tuple[float, float]:
    """Largest |J·Δ − r| and Σ|J·Δ| + |r| of dense rows (R, nv), by (2)."""
    worst = size = 0.0
    for r in range(len(target)):
        total, moved, weight = -target[r], abs(target[r]), 0.0
        for k in range(len(change)):
            part = jacobian[r, k] * change[k]
            total, moved, weight = total + part, moved + abs(part), weight + abs(jacobian[r, k]) / scale[k]
        if weight > 0.0:
            worst, size = max(worst, abs(total) / weight), max(size, moved / weight)
    return worst, size


@compiled
def constraint_errors(
    chosen: IntArray,
    dofs: IntArray,
    values: Array,
    compliance: Array,
    impulse: Array,
    change: Array,
    target: Array,
    scale: Array,
) -> tuple[float, float]:
    """The same of the chosen of some rows by their entries, (nb, k), with E·λ."""
    worst = size = 0.0
    for r in chosen:
        if compliance[r] >= _IS_FREE:
            continue
        soft = compliance[r] * impulse[r]
        total, moved, weight = soft - target[r], abs(soft) + abs(target[r]), 0.0
        for k in range(dofs.shape[1]):
            part = values[r, k] * change[dofs[r, k]]
            total, moved = total + part, moved + abs(part)
            weight += abs(values[r, k]) / scale[dofs[r, k]]
        if weight > 0.0:
            worst, size = max(worst, abs(total) / weight), max(size, moved / weight)
    return worst, size


def row_errors(world: WorldTerms, change: Array, scale: Array) -> tuple[float, float]:
    """Largest error (2) of the world's last linearisation, and the largest sum of its terms alike [m/s].

    Args:
        change: Δ, shape (nv,), with which the impulses of the rows came. scale: r, shape (nv,).
    """
    worst = size = 0.0
    if world.joints is not None:
        worst, size = _joint_errors(world.joints.jacobian, change, world.joints.target, scale)
    for terms, where in zip(world.bodies, world.slices, strict=True):
        own = terms.constraints
        if own is not None and len(own.kept):
            found = constraint_errors(
                own.kept,
                own.rows.dofs,
                own.rows.values,
                own.compliance,
                own.impulse,
                change[where],
                own.target,
                scale[where],
            )
            worst, size = max(worst, found[0]), max(size, found[1])
    return worst, size


def judged_by_rows(
    info: SolveInfo,
    world: WorldTerms,
    change: Array,
    free_change: Array | None,
    scale: Array,
    nothing: Callable[[], float],
) -> SolveInfo:
    """The report of an answer, JAMMED where it was called solved and opens what constraints or joints hold.

    Args:
        change: Δ, shape (nv,). free_change: the same without contacts, or None where it is not known.
        scale: r, shape (nv,).
        nothing: what computes what is nothing beside the speeds of the step [m/s], asked where something is left.
    """
    if not info.status.solved:
        return info
    worst, size = row_errors(world, change, scale)
    if worst <= ROUNDING * size < math.inf:
        return info
    least, before, changed = nothing(), 0.0, math.inf
    if free_change is not None:
        before = _LENIENCE * row_errors(world, free_change, scale)[0]
        changed = float(np.abs(world.jacobian.multiply(change - free_change)).max(initial=0.0))
    is_held = worst <= max(SHARE * size, before, least) < math.inf
    is_held = is_held and worst <= max(SHARE * max(changed, least), before)
    return info if is_held else evolve(info, status=Status.JAMMED)
