"""Units and scales of forces and lengths at an equilibrium, and the reasons why none was found."""

from __future__ import annotations

import math

import numpy as np

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.roles.body import Body
from corekit_statics.equilibrium_system import EquilibriumSystem

__all__ = [
    "body_size",
    "largest_by_unit",
    "largest_force",
    "largest_term",
    "no_balance",
    "non_finite",
    "not_found",
    "singular",
    "unsolved",
]


def body_size(system: EquilibriumSystem, start: State) -> float:
    """Largest extent of the bodies' probe points [m]; 1 m where they have none."""
    probes = system.probes(start)
    size = float(np.max(np.ptp(probes, axis=0))) if len(probes) else 0.0
    return size if size > 1e-9 else 1.0


def largest_term(system: EquilibriumSystem, state: State) -> float:
    """Largest force term on any coordinate [N or N·m]; the largest force, for models without named terms."""
    worst = system.largest_body_force()
    for body, own in zip(system.bodies, state.body_states, strict=True):
        if body.abilities.force_terms is not None:
            terms = body.abilities.force_terms.compute_force_terms(
                own, body.inputs.value_at(system.time)
            ).values()
            worst = max(worst, *(float(np.max(np.abs(term), initial=0.0)) for term in terms))
    return worst


def largest_by_unit(system: EquilibriumSystem, force: Array) -> dict[str, float]:
    """Largest entry of a generalized force (nv,) in each unit."""
    found: dict[str, float] = {}
    for body, where in zip(system.bodies, system.slices, strict=True):
        for velocity, value in zip(body.description.velocities, force[where], strict=True):
            unit = _force_unit(velocity.unit)
            found[unit] = max(found.get(unit, 0.0), abs(float(value)))
    return found


def largest_force(system: EquilibriumSystem, force: Array) -> tuple[str, float, str]:
    """Name of the velocity on which the largest entry of a force (nv,) acts, the entry and its unit."""
    if not len(force) or not np.isfinite(force).all():
        return "", math.nan, ""
    i = int(np.argmax(np.abs(force)))
    name, unit = _velocity(system, i)
    return name, float(force[i]), _force_unit(unit)


def non_finite(system: EquilibriumSystem, force: Array) -> str:
    """Report the first entry of a force (nv,) that is not finite."""
    i = int(np.flatnonzero(~np.isfinite(force))[0])
    return f"the force on {_velocity(system, i)[0]} became {force[i]}"


def singular(body: Body) -> str:
    """Report that a body's stiffness stays singular."""
    rows = ", or its rows repeat or contradict each other" if body.description.constraint_count else ""
    return (
        f"the stiffness of body {body.name!r} stays singular: it has massless coordinates that nothing "
        f"holds{rows}"
    )


def no_balance(system: EquilibriumSystem, force: Array) -> str:
    """Report that nothing balances a force (nv,), and what would."""
    return (
        "there is no equilibrium: the world moves away without end, for nothing balances the force on "
        f"{largest_force(system, force)[0]}. "
        "Hold the body: by a spring, a fixed base, or an obstacle that it comes to rest on (`[contact]`)"
    )


def not_found(iterations: int, load_factor: float) -> str:
    """Report that a search ended, and what else may lead to a balance."""
    return (
        f"no equilibrium within {iterations} iterations at load factor {load_factor:g}, nor by viscous flow. "
        "Try more load steps (--load-steps 20), or follow the inputs from time 0 (--sweep 20), or begin nearer to "
        "it: another [bodies.initial], or run it with damping"
    )


def unsolved() -> str:
    """Report that the contact solver fails again and again, and what else may serve."""
    return (
        "the contact solver failed again and again, and nothing came nearer to balance. Look at coefficients of "
        "friction that are very large or very different, or take another contact.solver: cone, imc"
    )


def _force_unit(velocity_unit: str) -> str:
    """Unit of the force that does work on a velocity of a unit."""
    return {"m/s": "N", "rad/s": "N·m"}.get(velocity_unit, f"J/({velocity_unit}·s)")


def _velocity(system: EquilibriumSystem, i: int) -> tuple[str, str]:
    """Name of a velocity of the world with its body, and its unit."""
    body, where = next(
        (body, where) for body, where in zip(system.bodies, system.slices, strict=True) if i < where.stop
    )
    velocity = body.description.velocities[i - where.start]
    return f"{velocity.name!r} of body {body.name!r}", velocity.unit
