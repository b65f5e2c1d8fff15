"""Implicit contact: a contact force that rises smoothly with penetration, solved inside Newton's method.

The terms are those of `evaluate`, the stiffness of every contact that of `contact_stiffness`, or one number for all.

Source: Choi et al. (2024), "DisMech", section on contact stiffness; theirs adapts to the forces on nodes nearby.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.contacts import ContactSet
from corekit.data.status import SolveInfo
from corekit.roles.component import BuildContext, InternalState, Stateful
from corekit.roles.contact import ContactMotion, ContactPotential, PotentialTerms
from corekit_imc.config import ImplicitContactConfig
from corekit_imc.contact_stiffness import ContactStiffness
from corekit_imc.evaluate import evaluate_contacts

__all__ = ["ImplicitContact"]

_RESOLUTION = 0.1
"""δ/√2 is the depth of an impact, so that h·ω ≤ 0.14·√2: Newmark's and Verlet's schemes keep its energy within 1 %."""
_SOLVE_INFO = SolveInfo(answered_by="imc")


@final
class ImplicitContact(ContactPotential, Stateful):
    """Energy k·φ(gap) with regularised Coulomb friction, for any contacts and any models.

    Args:
        config: δ, k, ν and whether every contact has a k of its own.
        context: supplies the step of the scenario.
    """

    def __init__(
        self, config: ImplicitContactConfig | None = None, context: BuildContext | None = None
    ) -> None:
        self._config = config or ImplicitContactConfig()
        self._stiffness: ContactStiffness | None = None
        self._same = np.zeros(0)
        if self._config.adapt:
            h = (context or BuildContext()).step
            self._stiffness = ContactStiffness(self._config.stiffness, self._config.distance_tolerance, h)

    @property
    def activation_distance(self) -> float:
        """δ [m]."""
        return self._config.distance_tolerance

    @property
    def resolution(self) -> float:
        """A share of δ that conserves the energy of an impact whose stiffness fits δ; half of δ with a fixed k [m]."""
        return (_RESOLUTION if self._config.adapt else 0.5) * self._config.distance_tolerance

    def stiffness(self, contacts: ContactSet) -> Array:
        """k of every contact, shape (m,) [N/m]."""
        if self._stiffness is not None:
            return self._stiffness.of_contacts(contacts)
        if len(self._same) != contacts.count:
            self._same = np.full(contacts.count, self._config.stiffness)
        return self._same

    def evaluate(
        self, contacts: ContactSet, position: Array, velocity: Array, step: float, out: PotentialTerms
    ) -> SolveInfo:
        """Write the terms of every contact, in one compiled call."""
        evaluate_contacts(
            contacts.count, contacts.gap, contacts.normal, contacts.tangent, contacts.friction,
            contacts.frame, contacts.weight, position, velocity, self._config.distance_tolerance,
            self.stiffness(contacts), self._config.slip_tolerance, self._config.damping, out.energy, out.force,
            out.stiffness, out.damping, out.normal_force, out.tangential_force,
        )  # fmt: skip
        return _SOLVE_INFO

    def on_step_accepted(self, contacts: ContactSet, motion: ContactMotion, step: float) -> None:
        """Choose the stiffness of contacts that close, and follow slow loads."""
        if self._stiffness is not None:
            self._stiffness.update(contacts, motion, step)

    def internal_state(self) -> InternalState:
        """Return the stiffness of every contact; empty if it is one number."""
        return {} if self._stiffness is None else self._stiffness.internal_state()

    def restore(self, internal_state: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Restore the output of `internal_state`; an empty one means k₀."""
        if self._stiffness is not None:
            self._stiffness.restore(dict(internal_state))
