"""What a contact solver's answer is, as the kernel measures it.

The residuals of normal, cone and friction, which are zero in every law of friction, are those of
`corekit.roles.contact_laws`. The relative velocity w = J·v⁺ + bias comes from the velocities of the bodies that the
answer leads to, not from W, so that errors in W and in eliminating constraints count too.

A solver's own tolerance is its own matter, but no answer is one that leaves a tenth of what it was to do. By the free
velocity w₀ of the contacts, in which λ changes w, an error of a row is compared with

    σᵢ = |w₀ᵢ| + |wᵢ − w₀ᵢ|                                                                       (1)

which is no small number of bodies at rest either: it holds the fall that λ takes from them. It is gross beyond
σᵢ/10, a hundredth of the largest σ of its kind, normal or tangential, and a thousandth of the largest of all, in
which tolerances count. Impulses have a scale too: what is beyond the rounding of the momentum of all bodies.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, BoolArray
from corekit.data.status import Residuals, SolveInfo, Status
from corekit.engine.step.error_bound import NEGLIGIBLE
from corekit.linalg.vectors import max_abs
from corekit.roles.contact_laws import law_residuals

if TYPE_CHECKING:
    from corekit.engine.step.step_equation import StepEquation
    from corekit.engine.world.world_terms import WorldTerms

__all__ = ["checked_solution", "is_gross", "solution_residuals"]

_LENIENCE: Final = 10.0
"""Largest measured residual relative to the reported one: solvers measure in W, and sum in another order."""
_ROUNDING: Final = 1e-9
"""What is not counted, relative to the largest impulse and the largest speed of the step: ε·κ of W up to κ = 4·10⁶."""
_GROSS: Final = 0.1
_GROSS_OF_KIND: Final = 0.01
_GROSS_OF_ALL: Final = 1e-3
"""Share of (1) of a row, of its kind's largest, and of the largest one, from which on an error is gross."""

_ALL: BoolArray = np.zeros(0, dtype=np.bool_)


@compiled
def solution_residuals(
    relative_velocity: Array,
    bias: Array,
    impulse: Array,
    friction: Array,
    movable: BoolArray,
) -> tuple[float, float, float, float]:
    """Return the largest normal, friction and cone residual of m contacts, and the speed up to which they are nothing.

    They are mere rounding where no case of velocities below that speed [m/s] counts, beyond rounding of the largest; it
    is infinite where an impulse is wrong at any speed. A residual that compares an impulse with a velocity is one where
    both are more than rounding: in worlds of micrograms every impulse is a small number. All are infinite where a
    number is not finite.

    Args:
        relative_velocity: J·v⁺, shape (m, width) [m/s]; w is written there.
        bias: of the same shape.
        impulse: λ, contact by contact, shape (m·width,) at least [N·s].
        friction: μ, shape (m,) at least.
        movable: contacts that an impulse can move, shape (m,), or (0,): all.
    """
    count, width = relative_velocity.shape
    normal = driven = cone = speed = load = 0.0
    for c in range(count):
        if len(movable) and not movable[c]:
            continue
        speed = max(speed, abs(relative_velocity[c, 0]), abs(bias[c, 0]))
        total = 0.0
        for a in range(width):
            relative_velocity[c, a] += bias[c, a]
            load = max(load, abs(impulse[c * width + a]))
            total += abs(impulse[c * width + a]) + abs(relative_velocity[c, a])
        if not total < math.inf:
            return math.inf, math.inf, math.inf, math.inf
    light, fastest = _ROUNDING * load, 0.0
    for c in range(count):
        if len(movable) and not movable[c]:
            continue
        own, w = impulse[c * width : (c + 1) * width], relative_velocity[c]
        found = law_residuals(own, w, friction[c])
        normal, driven, cone = max(normal, found[0]), max(driven, found[1]), max(cone, found[2])
        if found[2] > light or own[0] < -light:
            fastest = math.inf
        fastest = max(fastest, -w[0], w[0] if own[0] > light else 0.0)
        if found[1] > light:
            for a in range(1, width):
                fastest = max(fastest, abs(w[a]))
    return normal, driven, cone, max(0.0, fastest - _ROUNDING * speed)


@compiled
def is_gross(
    free: Array,
    velocity: Array,
    bias: Array,
    impulse: Array,
    friction: Array,
    movable: BoolArray,
    nothing: float,
    momentum: float,
) -> bool:
    """Whether an answer leaves much of what it was to do, by (1).

    Args:
        free, velocity: J·v_f and w, shape (m, width) [m/s].
        bias, impulse, friction, movable: as of `solution_residuals`. nothing: a speed that is none [m/s].
        momentum: largest entry of M·v_f [N·s]. Bodies that slide free of all loads have impulses of rounding alone.
    """
    count, width = velocity.shape
    most_n = most_t = load = 0.0
    for c in range(count):
        if not len(movable) or movable[c]:
            for a in range(width):
                began = free[c, a] + bias[c, a]
                scale = abs(began) + abs(velocity[c, a] - began)
                most_n, most_t = max(most_n, scale if a == 0 else 0.0), max(most_t, scale if a > 0 else 0.0)
                load = max(load, abs(impulse[c * width + a]))
    tolerance = _GROSS_OF_ALL * max(most_n, most_t)
    least_n, least_t = max(_GROSS_OF_KIND * most_n, tolerance), max(_GROSS_OF_KIND * most_t, tolerance)
    light = max(_GROSS_OF_KIND * load, _ROUNDING * momentum)
    for c in range(count):
        if len(movable) and not movable[c]:
            continue
        began = free[c, 0] + bias[c, 0]
        bound = max(_GROSS * (abs(began) + abs(velocity[c, 0] - began)), least_n, nothing)
        normal, size, power, scale = impulse[c * width], 0.0, 0.0, 0.0
        for a in range(1, width):
            own = impulse[c * width + a]
            size, power = size + own * own, power + own * velocity[c, a]
            began = free[c, a] + bias[c, a]
            scale += abs(began) + abs(velocity[c, a] - began)
        size = math.sqrt(size)
        if velocity[c, 0] < -bound or (velocity[c, 0] > bound and normal > light):
            return True
        if normal < -light or size > (1.0 + _GROSS) * friction[c] * normal + light:
            return True
        slow = max(_GROSS * scale, least_t, nothing)
        if size > light and power > slow * size:
            return True
    return False


def checked_solution(
    info: SolveInfo, solver: str, world: WorldTerms, equation: StepEquation, velocity: Array
) -> SolveInfo:
    """What a solver reported, or what was measured where that is worse: MISREPORTED if it said to have solved.

    So is an answer as bad as it says that is gross.

    Args:
        info, solver: the solver's report, and its name where the report has none.
        equation: of the world, with the answer. velocity: v⁺, shape (nv,).
    """
    pipeline, bias, impulse = world.pipeline, equation.bias, equation.impulses.impulse
    assert pipeline is not None
    friction, movable = pipeline.contacts.friction, _ALL if equation.movable is None else equation.movable
    w, rehearsed = world.jacobian.multiply(velocity), pipeline.rehearsed is not None
    normal, driven, cone, speed = solution_residuals(w, bias, impulse, friction, movable)
    if speed == 0.0 and not rehearsed:
        return info
    nothing, gross = equation.error_bound(velocity, NEGLIGIBLE), False
    if equation.free is not None and (rehearsed or speed > nothing):  # rehearsed, so that all is compiled
        momentum = np.empty(world.nv)
        for terms, where in zip(world.bodies, world.slices, strict=True):
            terms.mass.multiply(equation.free[where], momentum[where])
        began = world.jacobian.multiply(equation.free)
        gross = is_gross(began, w, bias, impulse, friction, movable, nothing, max_abs(momentum))
    if speed <= nothing:
        return info
    said = info.residuals
    is_told = max(normal, driven, cone) <= _LENIENCE * said.worst
    if is_told and not (info.status.solved and gross):
        return info
    measured = Residuals(
        normal=max(said.normal, normal), friction=max(said.friction, driven), cone=max(said.cone, cone),
        equation=said.equation, compliance=said.compliance,
    )  # fmt: skip
    status = Status.MISREPORTED if info.status.solved else info.status
    return SolveInfo(status, info.iterations, measured, info.answered_by or solver)
