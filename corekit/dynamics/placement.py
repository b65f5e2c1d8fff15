"""Where a step leaves bodies that touch: no contact is deeper at its end than at its start.

A contact row binds v⁺, and q⁺ follows from the mean velocity

    q⁺ = q₀ ⊕ h·v̄⁺,   v̄⁺ = (1 − θ)·v₀ + θ·v⁺                                                          (1)

At θ = 1 the row is a statement about q⁺. At θ = ½, which smooth motion needs for its second order, an impulse moves q⁺
by half of what it would if it acted from the start of the step on. This is right for forces, and an impact of which
nothing is known but that it falls into the step leaves the bodies ½·h·|v_n| deep, wherever they are. Slow push-out
mends that at an obstacle at rest. On one that turns, a ball that has sunk meets rows that are not those of the surface,
and sinks on. Hence positions have impulses ν of their own, normal ones that no velocity knows:

    q⁺ ← q⁺ ⊕ δ,   δ = G·J_nᵀ·ν,   0 ≤ ν ⊥ φ(q⁺) − min(φ₀, 0) + J_n·δ ≥ 0                            (2)

with φ(q⁺) = φ_k + h·J_n·(v̄⁺ − v̄) to first order, from the end state of the linearisation. At a contact that goes on, ν
is the curvature of its path, of order h³. What was deep at the start is left to the push-out of the rows.

Source: Brüls, Acary, Cardona (2014), Simultaneous enforcement of constraints at position and velocity levels in the
nonsmooth generalized-α scheme, Comput. Methods Appl. Mech. Engrg. 281, whose position-level multiplier is ν; the norm
of the projection is that of Gear, Leimkuhler, Gupta (1985), J. Comput. Appl. Math. 12-13.
"""

from __future__ import annotations

from typing import Final

from attrs import evolve

from corekit.data.state import State
from corekit.data.status import SolveInfo, Status
from corekit.dynamics.step_equation import StepEquation
from corekit.dynamics.world_terms import WorldTerms

__all__ = ["place_apart"]

_NEGLIGIBLE: Final = 1e-6
"""How deep a step may lead, relative to the margin up to which contacts are found."""


def place_apart(world: WorldTerms, equation: StepEquation, start: State, end: State) -> SolveInfo | None:
    """Move the bodies by (2) at the end of a step.

    Args:
        world, equation: after a step at position level.
        start: state at the start of the step.
        end: of the step, with v⁺; its coordinates are changed.
    Returns:
        How (2) was solved; None where nothing sank.
    """
    pipeline, point = world.pipeline, equation.point
    if pipeline is None or point is None or not equation.contact_count or equation.passed_pair:
        return None
    theta, step = point.share, point.step
    if theta == 1.0:
        return None
    mean = (1.0 - theta) * start.v + theta * end.v
    gap = pipeline.room + step * world.jacobian.normal_velocity(mean - point.mean)
    negligible = _NEGLIGIBLE * pipeline.margin
    if gap.min() >= -negligible:
        return None
    info, rate = equation.solve_apart(gap, end.v)
    left = gap + step * world.jacobian.normal_velocity(rate)
    # a solver judges by the velocities of the problem, among which those of (2) may be the smallest
    if (
        info.status is Status.INACCURATE
        and info.residuals.normal * step <= negligible
        and left.min() >= -negligible
    ):
        info = evolve(info, status=Status.CONVERGED)
    if info.status.solved:
        moved = world.new_state()
        world.integrate(end, rate, step, end, moved)
        moved.v[:], moved.time = end.v, end.time
        world.set_prescribed_coordinates(moved)
        end.copy_from(moved)
    return info
