"""Implicit contact: a contact force that rises smoothly with penetration, solved inside Newton's method.

The terms are those of `evaluate`. Between steps, never inside one, the stiffness k may adapt to the load. λ̄
is the mean of the largest normal force over about a hundred steps. It includes zeros in the air, so that a
bouncing body counts with its weight. The penetration of a spring of 2·k is δ/5 if

    k_target = max(k₀, 2.5·λ̄/δ)                                                                     (1)
    |gap| < δ:  k ← k + (k_target − k)/100,     gap < −δ and still falling:  k ← 2·k                          (2)

k adapts slowly, does not change in the air, and does not rise under a body that moves out: each would feed
the bounce.

Source: Choi et al. (2024), "DisMech", section on contact stiffness; (1) with the contact's own force instead
of the forces on the nodes near it, which it balances at rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.contacts import ContactSet
from corekit.data.status import SolveInfo
from corekit.roles.component import BuildContext, InternalState, Stateful
from corekit.roles.contact import ContactPotential, PotentialTerms
from corekit_imc.barrier import barrier
from corekit_imc.config import ImplicitContactConfig
from corekit_imc.evaluate import evaluate_contacts

__all__ = ["ImplicitContact"]

_SOLVE_INFO = SolveInfo(answered_by="imc")
_TARGET_PENETRATION = 0.2
"""Penetration at equilibrium of a spring of 2·k, relative to δ."""
_FOLLOW_RATE = 0.01
"""Weight of the last step in the means of (1) and (2)."""


@final
class ImplicitContact(ContactPotential, Stateful):
    """Energy k·φ(gap) with regularised Coulomb friction, for any contacts and any models.

    Args:
        config: δ, k, ν and whether k adapts.
        context: not needed.
    """

    def __init__(
        self, config: ImplicitContactConfig | None = None, context: BuildContext | None = None
    ) -> None:
        self._config = config or ImplicitContactConfig()
        self._stiffness = self._config.stiffness
        self._load, self._min_gap = 0.0, self._config.distance_tolerance

    @property
    def activation_distance(self) -> float:
        """δ [m]."""
        return self._config.distance_tolerance

    @property
    def stiffness(self) -> float:
        """Current k [N/m]."""
        return self._stiffness

    def evaluate(
        self, contacts: ContactSet, position: Array, velocity: Array, step: float, out: PotentialTerms
    ) -> SolveInfo:
        """Write the terms of every contact, in one compiled call."""
        evaluate_contacts(
            contacts.count, contacts.gap, contacts.normal, contacts.tangent, contacts.friction,
            contacts.frame, contacts.weight, position, velocity, self._config.distance_tolerance,
            self._stiffness, self._config.slip_tolerance, self._config.damping, out.energy, out.force,
            out.stiffness, out.damping, out.normal_force, out.tangential_force,
        )  # fmt: skip
        return _SOLVE_INFO

    def on_step_accepted(self, contacts: ContactSet, step: float) -> None:
        """Adapt the stiffness to the load by (2)."""
        if not self._config.adapt:
            return
        layer = self._config.distance_tolerance
        min_gap = float(np.min(contacts.gap[: contacts.count], initial=layer))
        last_gap, self._min_gap = self._min_gap, min_gap
        load = -self._stiffness * barrier(min_gap, layer)[1]
        self._load += _FOLLOW_RATE * (load - self._load)
        if min_gap < -layer:
            self._stiffness *= 2.0 if min_gap < last_gap else 1.0
        elif min_gap < layer:
            target = max(self._config.stiffness, self._load / (2.0 * _TARGET_PENETRATION * layer))
            self._stiffness += _FOLLOW_RATE * (target - self._stiffness)

    def internal_state(self) -> InternalState:
        """Return the stiffness [N/m], the mean load [N] and the least gap of the last step [m]."""
        return {"now": np.array([self._stiffness, self._load, self._min_gap])}

    def restore(self, internal_state: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Restore the output of `internal_state`; an empty one means k₀."""
        initial = self._config.stiffness, 0.0, self._config.distance_tolerance
        self._stiffness, self._load, self._min_gap = (
            (float(x) for x in internal_state["now"]) if internal_state else initial
        )
