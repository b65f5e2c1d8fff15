"""How contacts move and what mass they feel at the end of a step, for potentials that choose their stiffness by it.

    1/m_c = J_n·M⁻¹·J_nᵀ                                                                 (1)

J_n is the normal row of a contact, M the mass matrix with prescribed velocities held. Constraints are left out: they
only add to m_c. M⁻¹ is applied by conjugate gradients, which need products with M alone: a contact needs its mass
when it closes, so seldom that nothing is factorised for it. The quotient rises to 1/m_c from below.

Source for the iteration: Hestenes and Stiefel (1952), Methods of conjugate gradients for solving linear systems.
"""

from __future__ import annotations

from functools import cached_property
from typing import final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.engine.world.world_terms import WorldTerms

__all__ = ["ContactMotion"]

_ITERATIONS = 50
_TOLERANCE = 1e-2
"""Relative change of 1/m_c in one iteration at which it is known well enough."""


@final
class ContactMotion:
    """Implements `corekit.roles.contact.ContactMotion` for the contacts that were collected last.

    Args:
        world: the world's terms.
        state: at the end of the step.
        start_velocity: at its start, shape (nv,).
        step: h [s].
    """

    def __init__(self, world: WorldTerms, state: State, start_velocity: Array, step: float) -> None:
        self._world, self._state, self._start_velocity, self._step = world, state, start_velocity, step

    @cached_property
    def normal_velocity(self) -> Array:
        """Rate of every gap, shape (m,) [m/s]."""
        world, pipeline = self._world, self._world.pipeline
        assert pipeline is not None
        if not pipeline.contacts.count:
            return np.zeros(0)
        world.jacobian.assemble(pipeline.contacts)
        velocity = world.jacobian.normal_velocity(self._state.v)
        now = self._state.time
        moving = pipeline.obstacle_velocity(pipeline.contacts, now, now - self._step, now, instant=False)
        return velocity if moving is None else velocity - moving[:, 0]

    @cached_property
    def normal_acceleration(self) -> Array:
        """Mean change of `normal_velocity` in the step, obstacles counted as unaccelerated, shape (m,) [m/s²]."""
        if not len(self.normal_velocity):
            return np.zeros(0)
        return self._world.jacobian.normal_velocity((self._state.v - self._start_velocity) / self._step)

    def effective_mass(self, contact: int) -> float:
        """m_c of (1) [kg]; infinite where no motion changes the gap."""
        world = self._world
        if not len(self.normal_velocity):
            return np.inf
        impulse = np.zeros(len(self.normal_velocity) * world.jacobian.width)
        impulse[contact * world.jacobian.width] = 1.0
        row = world.jacobian.multiply_transposed(impulse)
        mobility = 0.0
        for i, (terms, where) in enumerate(zip(world.bodies, world.slices, strict=True)):
            own = row[where].copy()
            own[terms.prescribed] = 0.0
            if own.any():
                mobility += self._mobility(i, own)
        return 1.0 / mobility if mobility > 0.0 else np.inf

    def _mobility(self, index: int, row: Array) -> float:
        """J·M⁻¹·Jᵀ of a body's part of a row, preconditioned by M's diagonal."""
        terms, state = self._world.bodies[index], self._state.body_states[index]
        model, n = terms.body.model, len(row)
        mass, force, product = model.new_mass_matrix(), np.zeros(n), np.zeros(n)
        model.compute_mass_and_force(state, terms.body.inputs.value_at(state.time), mass, force)
        rows, columns, places = mass.entries()
        on_diagonal = rows == columns
        diagonal = np.ones(n)
        diagonal[rows[on_diagonal]] = mass.data.ravel(order="K")[places[on_diagonal]]
        diagonal = np.where(diagonal > 0.0, diagonal, 1.0)
        residual, found = row.copy(), 0.0
        scaled = residual / diagonal
        direction, product_before = scaled.copy(), float(residual @ scaled)
        for _ in range(min(_ITERATIONS, n)):
            mass.multiply(direction, product)
            product[terms.prescribed] = 0.0
            curvature = float(direction @ product)
            if not curvature > 0.0:
                break
            length = product_before / curvature
            gained = length * product_before
            found += gained
            residual -= length * product
            scaled = residual / diagonal
            product_now = float(residual @ scaled)
            if gained <= _TOLERANCE * found or product_now <= 0.0:
                break
            direction = scaled + (product_now / product_before) * direction
            product_before = product_now
        return found
