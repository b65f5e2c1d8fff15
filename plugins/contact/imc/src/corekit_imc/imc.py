"""Implicit contact: a contact force that rises smoothly with penetration, solved inside Newton's method.

The terms are those of `evaluate`, the spring and the dashpot of every contact those of `contact_springs`, or one spring
and one dashpot for all.

Source: Choi et al. (2024), "DisMech", section on contact stiffness; theirs adapts to the forces on nodes nearby.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.contacts import ContactSet
from corekit.data.status import SolveInfo
from corekit.roles.component import BuildContext, InternalState, Rehearsed, Stateful
from corekit.roles.contact import ContactMotion, ContactPotential, PotentialTerms
from corekit_imc.config import ImplicitContactConfig
from corekit_imc.contact_springs import ContactSprings
from corekit_imc.evaluate import evaluate_contacts

__all__ = ["ImplicitContact"]

_RESOLUTION = 0.1
"""δ/√2 is the depth of an impact, so that h·ω ≤ 0.14·√2: Newmark's and Verlet's schemes keep its energy within 1 %."""
_SOLVE_INFO = SolveInfo(answered_by="imc")


@final
class ImplicitContact(ContactPotential, Stateful, Rehearsed):
    """Energy k·φ(gap) with regularised Coulomb friction, for any contacts and any models.

    Args:
        config: δ, k, ν, restitution, and whether every contact has a k of its own.
        context: supplies the step of the scenario.
    """

    def __init__(
        self, config: ImplicitContactConfig | None = None, context: BuildContext | None = None
    ) -> None:
        self._config = own = config or ImplicitContactConfig()
        self._springs: ContactSprings | None = None
        self._same = np.zeros((0, 3))
        # a dashpot of one number is left out of account where springs are chosen
        restitution = (own.restitution or 0.0) if own.damping is None else 1.0
        if own.adapt or restitution < 1.0:
            h = (context or BuildContext()).step
            self._springs = ContactSprings(own.stiffness, own.adapt, restitution, own.distance_tolerance, h)

    @property
    def activation_distance(self) -> float:
        """δ [m]."""
        return self._config.distance_tolerance

    @property
    def resolution(self) -> float:
        """A share of δ that conserves the energy of an impact whose stiffness fits δ; half of δ with a fixed k [m]."""
        return (_RESOLUTION if self._config.adapt else 0.5) * self._config.distance_tolerance

    def springs(self, contacts: ContactSet) -> Array:
        """k [N/m], s [m] and b [N·s/m] of every contact, the first columns of an array of m rows."""
        own = self._config
        if self._springs is not None:
            found = self._springs.of_contacts(contacts)
            if own.damping is not None:
                found[:, 2] = own.damping
            return found
        if len(self._same) != contacts.count:
            self._same = np.tile((own.stiffness, 0.0, own.damping or 0.0), (contacts.count, 1))
        return self._same

    def evaluate(
        self, contacts: ContactSet, position: Array, velocity: Array, step: float, out: PotentialTerms
    ) -> SolveInfo:
        """Write the terms of every contact, in one compiled call."""
        evaluate_contacts(
            contacts.count, contacts.gap, contacts.normal, contacts.tangent, contacts.friction,
            contacts.frame, contacts.weight, position, velocity, self._config.distance_tolerance,
            self.springs(contacts), self._config.slip_tolerance, self._config.damping is not None, out.energy,
            out.force, out.stiffness, out.damping, out.normal_force, out.tangential_force,
        )  # fmt: skip
        return _SOLVE_INFO

    def on_step_accepted(self, contacts: ContactSet, motion: ContactMotion, step: float) -> None:
        """Choose the springs of contacts that close or are hit, and follow slow loads."""
        if self._springs is not None:
            self._springs.update(contacts, motion, step)

    def rehearse(self, width: int, *, many_contacts: bool) -> None:
        """Load what chooses springs."""
        if self._springs is not None:
            self._springs.rehearse()

    def internal_state(self) -> InternalState:
        """Return the springs of every contact; empty if they are one for all."""
        return {} if self._springs is None else self._springs.internal_state()

    def restore(self, internal_state: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Restore the output of `internal_state`; an empty one means k₀."""
        if self._springs is not None:
            self._springs.restore(dict(internal_state))
