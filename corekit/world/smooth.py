"""The smooth part alone, for split integrators: accelerations with bilateral rows and potentials.

    M·v̇ = f + Pᵀf_c + J_bᵀ·λ                                                          (1)
    rigid position row:  J_b·v̇ = −d(J_b)/dt·v − (2/τ)·J_b·v − c/τ²                       (2)
    rigid rate row:      J_b·v̇ = −d(J_b·v − u)/dt|_v − (J_b·v − u)/τ                      (3)
    compliant rows are forces: −c/α, or (u − J_b·v)/α                                   (4)

Bounded rows stay out: like contacts they act at the end of a split step. Prescribed coordinates have
v̇ = p̈(t). τ is ten steps unless it is given. The time derivatives in (2)–(3) at fixed v are central differences
along the motion.
Source for (2): Baumgarte (1972), "Stabilization of constraints and integrals of motion".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.world.body_rows import FREE_ROW
from corekit.world.body_system import BodySystem
from corekit.world.kinks import between_kinks, rate_behind

if TYPE_CHECKING:
    from corekit.world.step_problem import StepSystem

__all__ = ["potential_force", "prescribed_acceleration", "smooth_acceleration"]


def _row_accelerations(part: BodySystem, state: State, around: State, tau: float) -> None:
    """Fill the part's eliminated rows by (2)–(3) and add the forces (4) to its right-hand side."""
    rows, eliminated = part.rows, part.eliminated
    assert rows is not None
    model, inputs, v = part.body.model, part.body.inputs, state.v
    small = 1e-5 * tau
    ahead, behind = (_rate_at(part, state, around, sign * small) for sign in (1.0, -1.0))
    drift = (ahead - behind) / (2.0 * small)
    model.bilateral(state, inputs.at(state.time), rows)
    speed = rows.product(v)
    soft = rows.compliance > 0
    safe = np.where(soft, rows.compliance, 1.0)
    force = np.where(rows.is_velocity_level, rows.target_rate - speed, -rows.position_error) / safe
    rows.add_transpose_product(np.where(soft & ~rows.bounded, force, 0.0), part.right)
    if eliminated is not None:
        wanted = np.where(
            rows.is_velocity_level,
            -drift - (speed - rows.target_rate) / tau,
            -drift - 2.0 * speed / tau - rows.position_error / (tau * tau),
        )
        kept = ~rows.bounded
        eliminated.dofs[:] = rows.dofs[kept]
        eliminated.values[:] = rows.values[kept]
        eliminated.compliance[:] = np.where(soft, FREE_ROW, 0.0)[kept]
        eliminated.rhs[:] = np.where(soft, 0.0, wanted)[kept]


def _rate_at(part: BodySystem, state: State, around: State, shift: float) -> Array:
    """J_b·v − u at the state moved along its own velocity by `shift` seconds, v held."""
    rows, model = part.rows, part.body.model
    assert rows is not None
    model.advance(state, state.v, shift, state, around)
    around.time = state.time + shift
    around.v[:] = state.v
    model.bilateral(around, part.body.inputs.at(around.time), rows)
    return rows.product(state.v) - np.where(rows.is_velocity_level, rows.target_rate, 0.0)


def prescribed_acceleration(part: BodySystem, state: State, small: float) -> None:
    """Take p̈(t), by a central difference of ṗ, as what the prescribed velocities' change is fixed to.

    It does not reach over a kink of ṗ; at one it is that of the side on which the state's own rates are.
    """
    if not len(part.prescribed):
        return
    time = state.time
    behind = rate_behind(part, time)
    low, high = between_kinks(part, time, small) if behind is None else (time - small, time)
    part.fix(low)
    before = part.fixed.copy()
    if behind is None:
        part.fix(high)
        np.subtract(part.fixed, before, out=part.fixed)
        part.fixed /= high - low
        return
    part.fix(time)
    ahead, own = part.fixed.copy(), state.v[part.prescribed]
    part.fix(time + small)
    passed = np.abs(own - behind) < np.abs(own - ahead)
    part.fixed[:] = np.where(passed, part.fixed - behind, ahead - before) / small


def potential_force(system: StepSystem, state: State, velocity: Array | None = None) -> Array | None:
    """A contact potential's force on all bodies at a world state, shape (nv,); None where nothing touches.

    Args:
        velocity: to take instead of the state's own, shape (nv,).
    """
    forces, stage, step = system.forces, system.stage, system.problem.step
    if forces is None or stage is None:
        return None
    # what was found at another state must not be told of this one
    forces.clear()
    if not stage.measure(state):
        return None
    stage.build_rows(state)
    moving = stage.obstacle_velocity(state.time, state.time - step, state.time, instant=True)
    forces.evaluate(state, state.v if velocity is None else velocity, step, moving)
    return forces.generalised()


def smooth_acceleration(
    system: StepSystem, state: State, out: Array, held: Array | None = None, settling: float | None = None
) -> bool:
    """Write v̇ of (1)–(4) at a world state; False if the mass matrix is singular on the rows' kernel.

    With `held` = v₀ the damping stays at its start: D·(v − v₀) is added to f, and f_c is that of v₀.
    """
    step, extra = system.problem.step, potential_force(system, state, held)
    tau = 10.0 * step if settling is None else settling
    ok = True
    for part, where, own, scratch in zip(
        system.parts, system.slices, state.parts, system.scratch.parts, strict=True
    ):
        part.body.model.dynamics(own, part.body.inputs.at(own.time), part.mass, part.force)
        part.matrix.zero()
        part.matrix.add(part.mass)
        part.right[:] = part.force
        if held is not None:
            part.add_held_damping(own.v, held[where])
        if part.rows is not None:
            _row_accelerations(part, own, scratch, tau)
        prescribed_acceleration(part, own, 1e-3 * step)
        ok = part.factor.refactor(part.matrix, part.eliminated) and ok
        if ok:
            share = None if extra is None else extra[where]
            part.solve(share, out[where])
            part.keep_smooth_reaction(share, out[where])
    return ok
