"""Impacts: the velocities after a step in which a contact closes, from one solve at velocity level.

At position level a step closes a gap φ₀ exactly, w_n = v_n⁺ + φ₀/h ≥ 0, and leaves the rest of the approach,
v_n = −φ₀/h, to the next step. Friction acts in both, so that an impact depends on where in a step it falls: on the
share ϑ = φ₀/(h·|v_n⁻|) at every h. Here the position level decides where the bodies are, q⁺, and which contacts have
closed. Then their impulses are solved for once more, from the velocities before any impulse, for

    v_n⁺ + e·min(v_n⁻, 0) ≥ 0  ⊥  λ_n ≥ 0,   friction(λ_t, v_t⁺; law, λ_n)                            (1)

at the same linearisation, with v⁻ the velocities at the start of the step and e Newton's coefficient of restitution.
Contacts that have not closed stay out. The result does not contain φ₀, and q⁺ has no gap that the bodies would have
to fall through once more. From the next step on the contact rests at position level, so that nothing drifts.

A step has an impact where a contact carries an impulse, had none in the step before, and approached faster than the
smooth forces change its velocity in the step:

    −v_n⁻ > |J_n·(v_f − v⁻)|                                                                         (2)

v_f the velocities without any contact. What approaches slower begins to rest, and (1) would raise its energy: as q⁺
belongs to the impulses λ_p at position level, forces do the work λ_p·J·(v_f − v⁻) less than in (1), which takes away
½·λ·J·(v_f + v⁺) at least; by (2) the latter is larger, for one contact with e = 0.

Sources: Moreau (1988), Unilateral contact and dry friction in finite freedom dynamics, for (1); Brüls, Acary, Cardona
(2014), Simultaneous enforcement of constraints at position and velocity levels in the nonsmooth generalized-α scheme,
Comput. Methods Appl. Mech. Engrg. 281, for the two levels.
"""

from __future__ import annotations

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, BoolArray
from corekit.data.status import SolveInfo
from corekit.dynamics.step_equation import StepEquation
from corekit.dynamics.world_terms import WorldTerms

__all__ = ["resolve_impacts"]

_TOUCHING = 1e-9
"""w_n below which a contact without impulse has closed too, and rounding in (2), relative to the velocities."""
_FAR = 1e3
"""Velocity with which contacts that have not closed are said to separate, relative to the others."""


def resolve_impacts(
    world: WorldTerms, equation: StepEquation, start_velocity: Array, velocity: Array
) -> SolveInfo | None:
    """Solve a step in which contacts closed once more, for (1), and write v⁺; nothing is written where that fails.

    Args:
        world, equation: after a step at position level.
        start_velocity: v⁻, shape (nv,).
        velocity: v⁺ of the step, shape (nv,).
    Returns:
        How it was solved; None where no impact is to be resolved.
    """
    pipeline, jacobian = world.pipeline, world.jacobian
    if pipeline is None or pipeline.restitution is None or not equation.contact_count:
        return None
    contacts, impulses = pipeline.contacts, equation.impulses
    new = impulses.find_new(contacts)
    if new is None:
        return None
    bias, rate = np.empty_like(equation.bias), equation.obstacle_velocity
    has_impact = _write_bias(
        new, impulses.of_contacts, jacobian.multiply(start_velocity), jacobian.multiply(equation.free_velocity()),
        jacobian.multiply(velocity), np.zeros_like(bias) if rate is None else rate, equation.bias,
        pipeline.restitution.of_contacts(contacts), bias,
    )  # fmt: skip
    return equation.solve_again(bias, velocity) if has_impact else None


@compiled
def _write_bias(
    new: BoolArray, impulse: Array, start: Array, free: Array, end: Array, rate: Array, bias: Array,
    restitution: Array, out: Array,
) -> bool:  # fmt: skip
    """Write the bias of (1) from velocities in contact axes, (m, width); whether the step has an impact by (2)."""
    count, width = end.shape
    scale = 0.0
    for c in range(count):
        scale = max(scale, abs(start[c, 0]), abs(end[c, 0]), abs(bias[c, 0]))
    is_impact = False
    for c in range(count):
        approach = start[c, 0] - rate[c, 0]
        for a in range(width):
            out[c, a] = -rate[c, a]
        if impulse[width * c] > 0.0 or end[c, 0] + bias[c, 0] <= _TOUCHING * scale:
            out[c, 0] += restitution[c] * min(approach, 0.0)
            is_impact = is_impact or (
                new[c] and -approach > abs(free[c, 0] - start[c, 0]) + _TOUCHING * scale
            )
        else:
            out[c, 0] += _FAR * scale
    return is_impact
