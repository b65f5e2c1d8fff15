"""The energy that a contact potential stores at a state of the world.

The terms of a step are those of its last evaluation, which a midpoint rule takes in the middle of the step. A balance
of energy needs them at its end. Buffers of their own leave what the step reports as it is.
"""

from __future__ import annotations

from typing import final

import numpy as np

from corekit.data.state import State
from corekit.dynamics.contact_jacobian import ContactJacobian
from corekit.dynamics.potential_forces import PotentialForces
from corekit.dynamics.world_terms import WorldTerms

__all__ = ["ContactEnergy"]


@final
class ContactEnergy:
    """Evaluates the energy of a world's contact potential.

    Args:
        world: the world's terms; without a potential the energy is 0.
    """

    def __init__(self, world: WorldTerms) -> None:
        self._world = world
        self._forces: PotentialForces | None = None
        if world.forces is not None and world.pipeline is not None:
            bodies = [terms.body for terms in world.bodies]
            self._jacobian = ContactJacobian(bodies, world.jacobian.width)
            self._forces = PotentialForces(world.forces.potential, bodies, world.pipeline, self._jacobian)

    def at(self, state: State, step: float) -> float:
        """Return Σ energy of all contacts at an accepted state after a step h [J]."""
        world, forces, pipeline = self._world, self._forces, self._world.pipeline
        if forces is None or pipeline is None or world.forces is None or not world.forces.count:
            return 0.0
        current = pipeline.contacts
        try:
            if not pipeline.detect_end(state):
                return 0.0
            pipeline.assign_tangents()
            self._jacobian.collect(state, pipeline.contacts)
            forces.evaluate(state.v, step, None)
            return float(np.sum(forces.terms.energy))
        finally:
            pipeline.contacts = current
