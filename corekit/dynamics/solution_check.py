"""What the kernel measures of a contact solver's answer, whatever the solver reports.

With the relative velocity w = J·v⁺ + bias of the step that the answer leads to, every law of friction demands

    normal    |min(λ_n, w_n)| = 0                                                          (1)
    cone      max(0, |λ_t| − μ·λ_n) = 0,   μ the largest in any direction              (2)
    friction  min(|λ_t|, max(0, w_t·λ_t/|λ_t|)) = 0: friction never drives a contact          (3)

w is taken from the velocities of the bodies, not from W, so that errors in W and in eliminating constraints count too.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, BoolArray
from corekit.data.status import Residuals, SolveInfo, Status

__all__ = ["checked_solution"]

_LENIENCE: Final = 10.0
"""Largest measured residual relative to the reported one: solvers measure in W, and sum in another order."""
_ROUNDING: Final = 1e-9
"""What is not counted, relative to the largest term of w and to the largest impulse: ε·κ of W up to κ = 4·10⁶."""
_NOTHING: Final = 1e-12
"""What is not counted in any case [m/s or N·s]."""


_ALL: BoolArray = np.zeros(0, dtype=np.bool_)


@compiled
def solution_residuals(
    relative_velocity: Array, bias: Array, impulse: Array, friction: Array, movable: BoolArray
) -> tuple[float, float, float, float]:
    """The largest of (1), (3) and (2) over m contacts, and of their terms; infinite where a number is not finite.

    Args:
        relative_velocity: J·v⁺, shape (m, width) [m/s].
        bias: of the same shape.
        impulse: λ, contact by contact, shape (m·width,) at least [N·s].
        friction: μ, shape (m,) at least.
        movable: contacts that an impulse can move, shape (m,), or (0,): all.
    """
    count, width = relative_velocity.shape
    normal = driven = cone = scale = 0.0
    for c in range(count):
        if len(movable) and not movable[c]:
            continue
        along = impulse[c * width]
        least = abs(min(along, relative_velocity[c, 0] + bias[c, 0]))
        squared = power = 0.0
        for a in range(1, width):
            tangential = impulse[c * width + a]
            squared += tangential * tangential
            power += tangential * (relative_velocity[c, a] + bias[c, a])
        size = math.sqrt(squared)
        if not least + size + abs(power) < math.inf:
            return math.inf, math.inf, math.inf, 0.0
        normal = max(normal, least)
        scale = max(scale, abs(along), size, abs(relative_velocity[c, 0]), abs(bias[c, 0]))
        if size > 0.0:
            cone = max(cone, size - friction[c] * along)
            driven = max(driven, min(size, power / size))
    return normal, driven, cone, scale


def checked_solution(
    info: SolveInfo,
    solver: str,
    relative_velocity: Array,
    bias: Array,
    impulse: Array,
    friction: Array,
    movable: BoolArray | None,
) -> SolveInfo:
    """What a solver reported, or what was measured where that is worse: MISREPORTED if it said to have solved.

    Args:
        info, solver: the solver's report, and its name where the report has none.
        relative_velocity, bias, impulse, friction, movable: as of `solution_residuals`; None: all are movable.
    """
    normal, driven, cone, scale = solution_residuals(
        relative_velocity, bias, impulse, friction, _ALL if movable is None else movable
    )
    rounding = _ROUNDING * scale + _NOTHING
    if normal <= rounding and driven <= rounding and cone <= rounding:
        return info
    said = info.residuals
    if max(normal, driven, cone) <= _LENIENCE * said.worst + rounding:
        return info
    measured = Residuals(
        normal=max(said.normal, normal), friction=max(said.friction, driven), cone=max(said.cone, cone),
        equation=said.equation, compliance=said.compliance,
    )  # fmt: skip
    status = Status.MISREPORTED if info.status.solved else info.status
    return SolveInfo(status, info.iterations, measured, info.answered_by or solver)
