"""What forces and lengths of a world at rest are measured by, and in which units."""

from __future__ import annotations

import numpy as np

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit_statics.equilibrium_system import EquilibriumSystem

__all__ = ["by_unit", "force_unit", "largest_term", "size_of_world"]


def force_unit(velocity_unit: str) -> str:
    """Unit of the force that does work on a velocity of a unit."""
    return {"m/s": "N", "rad/s": "N·m"}.get(velocity_unit, f"J/({velocity_unit}·s)")


def by_unit(system: EquilibriumSystem, force: Array) -> dict[str, float]:
    """Largest entry of a generalised force (nv,) by its unit."""
    found: dict[str, float] = {}
    for body, where in zip(system.bodies, system.slices, strict=True):
        for velocity, value in zip(body.layout.velocities, force[where], strict=True):
            unit = force_unit(velocity.unit)
            found[unit] = max(found.get(unit, 0.0), abs(float(value)))
    return found


def size_of_world(system: EquilibriumSystem, start: State) -> float:
    """How large the bodies are [m]: the largest box around a body's probes."""
    system.scene.update_poses(start)
    probes = system.scene.new_probes()
    if not len(probes):
        return 1.0
    size = float(np.max(np.ptp(probes, axis=0)))
    return size if size > 1e-9 else 1.0


def largest_term(system: EquilibriumSystem, state: State) -> float:
    """Largest force term on any coordinate [N or N·m]; of models without named terms, the largest force."""
    worst = 0.0
    for body, part, own in zip(system.bodies, system.parts, state.parts, strict=True):
        terms = [part.rhs]
        if "force-terms" in body.abilities:
            terms = [*terms, *body.model.force_terms(own, body.inputs.at(system.time)).values()]
        worst = max(worst, *(float(np.max(np.abs(term), initial=0.0)) for term in terms))
    return worst
