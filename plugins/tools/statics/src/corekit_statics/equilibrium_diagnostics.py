"""Why no equilibrium was found, in words: which coordinate, which body, what holds it."""

from __future__ import annotations

import math

import numpy as np

from corekit.data.arrays import Array
from corekit.dynamics.bodies import Body
from corekit_statics.equilibrium_scales import force_unit
from corekit_statics.equilibrium_system import EquilibriumSystem

__all__ = ["non_finite", "runs_away", "singular", "worst_of"]


def _velocity(system: EquilibriumSystem, i: int) -> tuple[str, str]:
    """Name of a velocity of the world with its body, and its unit."""
    for body, where in zip(system.bodies, system.slices, strict=True):
        if where.start <= i < where.stop:
            velocity = body.layout.velocities[i - where.start]
            return f"{velocity.name!r} of body {body.name!r}", velocity.unit
    return "", ""


def worst_of(system: EquilibriumSystem, force: Array) -> tuple[str, float, str]:
    """Where the largest unbalanced force acts, how large it is, and its unit."""
    if not np.isfinite(force).all():
        return "", math.nan, ""
    i = int(np.argmax(np.abs(force)))
    name, unit = _velocity(system, i)
    return (name, float(force[i]), force_unit(unit)) if name else ("", 0.0, "")


def non_finite(system: EquilibriumSystem, force: Array) -> str:
    """That a force (nv,) is not finite, and where."""
    i = int(np.flatnonzero(~np.isfinite(force))[0])
    return f"the force on {_velocity(system, i)[0]} became {force[i]}"


def singular(body: Body) -> str:
    """That a body's stiffness stays singular."""
    rows = ", or its rows repeat or contradict each other" if body.layout.bilateral_rows else ""
    return (
        f"the stiffness of body {body.name!r} stays singular: it has massless coordinates that nothing "
        f"holds{rows}"
    )


def runs_away(system: EquilibriumSystem, force: Array) -> str:
    """That nothing balances a force (nv,), and what would."""
    name, _, _ = worst_of(system, force)
    return (
        f"there is no equilibrium: the world moves away without end, for nothing balances the force on {name}. "
        "Hold the body: by a spring, a fixed base, or an obstacle that it comes to rest on (`[contact]`)"
    )
