"""Contacts at equilibrium: 0 ≤ λ_n ⊥ φ(q) ≥ 0 with friction, or the force of a contact potential."""

from __future__ import annotations

from typing import final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.contacts import ContactRecord
from corekit.data.state import State
from corekit.roles.world import ContactStage
from corekit.roles.world_terms import EquilibriumTerms

__all__ = ["EquilibriumContacts"]

_PRESSES = 1e-6
"""Normal force from which a contact counts as pressing, relative to the largest one."""


@final
class EquilibriumContacts:
    """The contacts of a world, and how far their forces are from those of an equilibrium.

    Args:
        world: the balance of forces, which finds contacts and solves for their forces.
        stage: the contacts of the world, or None.
        step: h of the scenario [s], which a contact potential is given.

    Attributes:
        potential: terms of a contact potential, or None.
        record: what every contact carries; see `EquilibriumTerms.record`.
        jacobian: J_c of the contacts; see `EquilibriumTerms.rows`.
    """

    def __init__(self, world: EquilibriumTerms, stage: ContactStage | None, step: float) -> None:
        self._world, self._stage, self._step = world, stage, step
        self.potential, self.record, self.jacobian = world.forces, world.record, world.rows

    @property
    def exist(self) -> bool:
        """Whether contacts are detected at all."""
        return self._stage is not None

    @property
    def count(self) -> int:
        """Contacts at the last state."""
        return self._world.count

    @property
    def width(self) -> int:
        """Rows per contact."""
        return 0 if self._stage is None else self._stage.width

    def evaluate(self, state: State, margin: float) -> None:
        """Find the contacts with a gap below `margin` [m] at a state, and their forces as far as they are known."""
        self._world.find_contacts(state, margin, self._step)

    def gap_error(self) -> float:
        """Largest |φ| of contacts that press, and penetration of the others [m]; 0 with a potential."""
        if not self.count or self._stage is None or self.potential is not None:
            return 0.0
        gap = self._stage.contacts.gap[: self.count]
        normal = self._world.contact_forces[:: self.width]
        presses = normal > _PRESSES * max(float(np.max(normal)), 1e-12)
        return float(np.max(np.where(presses, np.abs(gap), np.maximum(-gap, 0.0))))

    def friction_use(self, record: ContactRecord) -> Array:
        """The share of its admissible friction that each contact uses, shape (m,); 1 without friction."""
        assert self._stage is not None
        contacts, law = self._stage.contacts, self._stage.friction.law
        numbers = contacts.friction_record if law.record_width else contacts.friction[:, None]
        rows = zip(numbers[: record.count], record.tangential_impulse, strict=True)
        needed = [law.gauge(row, *impulse) for row, impulse in rows]
        use = np.array(needed) / np.maximum(record.normal_impulse, np.finfo(float).tiny)
        return np.where(contacts.friction[: len(use)] > 0.0, use, 1.0)
