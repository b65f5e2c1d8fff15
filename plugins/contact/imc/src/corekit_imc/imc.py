"""Implicit contact: a contact force that grows smoothly with nearness, answered inside Newton's method.

The terms are those of `evaluate`. Between steps, never inside one, the stiffness k may follow the load: with the
largest normal force λ of the step, a spring of 2·k carries it at a depth of δ/5 if

    k_wanted = 2.5·λ/δ                                                                              (1)
    k ← max(k₀, 0.9·k + 0.1·k_wanted),   and k ← max(that, 2·k) where the gap fell below −δ            (2)

Source: Choi et al. (2024), "DisMech", section on contact stiffness; (1) with the contact's own force for the
forces on the nodes near it, which it balances.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.contacts import ContactSet
from corekit.data.status import SolveInfo
from corekit.roles.component import BuildContext, Memory
from corekit.roles.contact import ContactPotential, PotentialTerms
from corekit_imc.barrier import barrier
from corekit_imc.config import ImplicitContactConfig
from corekit_imc.evaluate import evaluate_contacts

__all__ = ["ImplicitContact"]

_ANSWERED = SolveInfo(answered_by="imc")
_DEPTH = 0.2
"""Depth a spring of 2·k is allowed, as a share of δ."""


@final
class ImplicitContact(ContactPotential):
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

    @property
    def reach(self) -> float:
        """δ [m]."""
        return self._config.tolerance

    @property
    def stiffness(self) -> float:
        """k now [N/m]."""
        return self._stiffness

    def evaluate(
        self, contacts: ContactSet, position: Array, velocity: Array, step: float, out: PotentialTerms
    ) -> SolveInfo:
        """Write the terms of every contact, in one compiled call."""
        evaluate_contacts(
            contacts.count,
            contacts.gap,
            contacts.normal,
            contacts.tangent,
            contacts.friction,
            contacts.frame,
            contacts.weight,
            position,
            velocity,
            self._config.tolerance,
            self._stiffness,
            self._config.slip_tolerance,
            out.energy,
            out.force,
            out.stiffness,
            out.damping,
            out.normal_force,
            out.tangential_force,
        )
        return _ANSWERED

    def accepted(self, contacts: ContactSet, step: float) -> None:
        """Let the stiffness follow the load by (2)."""
        if not self._config.adapt:
            return
        least, layer = self._config.stiffness, self._config.tolerance
        lowest = float(np.min(contacts.gap[: contacts.count], initial=layer))
        if lowest >= layer and self._stiffness == least:
            return
        load = -self._stiffness * barrier(lowest, layer)[1]
        wanted = max(least, 0.9 * self._stiffness + 0.1 * load / (2.0 * _DEPTH * layer))
        self._stiffness = max(wanted, 2.0 * self._stiffness) if lowest < -layer else wanted

    def memory(self) -> Memory:
        """The stiffness."""
        return {"stiffness": np.array(self._stiffness)}

    def remember(self, memory: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Take over what `memory` gave; an empty one means k₀."""
        self._stiffness = float(memory["stiffness"]) if memory else self._config.stiffness
