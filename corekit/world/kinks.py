"""What happens where a prescribed rate jumps: the drives give an impulse, and momentum decides the rest.

    M·(v⁺ − v₀) = J_bᵀ·Λ + (impulses of the drives),   v⁺ = ṗ(t⁺) at prescribed entries                     (1)
    rigid position rows:  J_b·v⁺ = 0,     rigid rate rows:  J_b·v⁺ = u                                      (2)

Compliant and bounded rows are finite forces and give no impulse. Steps land on such kinks. Coupled schemes meet (1) in
the step that begins there, since they solve for the end velocity with M·(v⁺ − v₀); a scheme that integrates
accelerations asks for v⁺ first. A state already behind the kink (v₀ = ṗ(t⁺)) is left as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.world.bodies import ROUNDING
from corekit.world.body_rows import FREE_ROW
from corekit.world.body_system import BodySystem

if TYPE_CHECKING:
    from corekit.world.step_problem import StepSystem

__all__ = ["Kick", "between_kinks", "pass_kink", "rate_behind"]

_JUMP = 1e-9
"""A smaller change of a rate, relative to 1 + |ṗ|, is none."""


class Kick(NamedTuple):
    """What drives did where rates jumped: their work [J], of models that tell their energy, and v⁺, shape (nv,)."""

    work: float
    velocity: Array


def rate_behind(part: BodySystem, time: float) -> Array | None:
    """ṗ(t⁺), shape (p,), where a motion of the body has a kink at `time`; else None."""
    kinks = part.body.kinks_at(time)
    if not kinks:
        return None
    value, rate = np.zeros(len(part.prescribed)), np.zeros(len(part.prescribed))
    part.body.model.prescribed(max(time, *kinks) + 2.0 * ROUNDING * (1.0 + abs(time)), value, rate)
    return rate


def between_kinks(part: BodySystem, time: float, reach: float) -> tuple[float, float]:
    """The instants `reach` before and behind `time`, or nearer, so that no kink of a motion lies between [s].

    At a kink of the motion itself use `rate_behind`.
    """
    low, high, near = time - reach, time + reach, 2.0 * ROUNDING * (1.0 + abs(time))
    for motion in part.body.layout.motions:
        for kink in motion.breakpoints(time - reach, time + reach):
            if kink < time:
                low = max(low, kink + near)
            else:
                high = min(high, kink)
    return low, high


def pass_kink(system: StepSystem, state: State, out: State) -> Kick | None:
    """Write the state behind a kink by (1)–(2); None, with nothing written, where no prescribed rate jumps."""
    found, work = False, 0.0
    for part, own, after in zip(system.parts, state.parts, out.parts, strict=True):
        if not part.body.layout.motions:
            continue
        behind = rate_behind(part, state.time)
        if behind is None:
            continue
        before = own.v[part.prescribed]
        if (np.abs(behind - before) <= _JUMP * (1.0 + np.abs(before))).all():
            continue
        if not found:
            out.copy_from(state)
            system.factor.number += 1  # what is factorised here is no step's matrix
            found = True
        _kick(part, own, behind, after.v)
        if "energy" in part.body.abilities:
            work += part.body.model.energy(after)[0] - part.body.model.energy(own)[0]
    return Kick(work, out.v.copy()) if found else None


def _kick(part: BodySystem, state: State, behind: Array, out: Array) -> None:
    """Write v⁺ of (1)–(2) of one body; where M is singular on the rows' kernel only what is prescribed jumps."""
    model, u, rows, eliminated = part.body.model, part.body.inputs.at(state.time), part.rows, part.eliminated
    model.dynamics(state, u, part.mass, part.force)
    part.matrix.zero()
    part.matrix.add(part.mass)
    part.mass.multiply(state.v, part.right)
    if rows is not None and eliminated is not None:
        model.bilateral(state, u, rows)
        soft, kept = rows.compliance > 0, ~rows.bounded
        eliminated.dofs[:] = rows.dofs[kept]
        eliminated.values[:] = rows.values[kept]
        eliminated.compliance[:] = np.where(soft, FREE_ROW, 0.0)[kept]
        eliminated.rhs[:] = np.where(soft | ~rows.is_velocity_level, 0.0, rows.target_rate)[kept]
    part.fixed[:] = behind
    if part.factor.refactor(part.matrix, eliminated):
        part.solve(None, out)
    out[part.prescribed] = behind
