"""Implicit contact: a contact force that grows smoothly with nearness, answered inside Newton's method.

The terms are those of `evaluate`. Between steps, never inside one, the stiffness k may follow the load. With λ̄ the
mean over about a hundred steps of the largest normal force, zero in the air, so that a bouncing body counts with its
weight, a spring of 2·k carries it at a depth of δ/5 if

    k_wanted = max(k₀, 2.5·λ̄/δ)                                                                     (1)
    |gap| < δ:  k ← k + (k_wanted − k)/100,     gap < −δ and still falling:  k ← 2·k                          (2)

k follows slowly, is not forgotten in the air and not raised under a body that moves out: each would feed the bounce.

Source: Choi et al. (2024), "DisMech", section on contact stiffness; (1) with the contact's own force for the
forces on the nodes near it, which it balances at rest.
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
_SHARE = 0.01
"""How much of a step's news is taken into the means of (1) and (2)."""


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
        self._load, self._lowest = 0.0, self._config.tolerance

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
            self._config.damping,
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
        layer = self._config.tolerance
        lowest = float(np.min(contacts.gap[: contacts.count], initial=layer))
        before, self._lowest = self._lowest, lowest
        load = -self._stiffness * barrier(lowest, layer)[1]
        self._load += _SHARE * (load - self._load)
        if lowest < -layer:
            self._stiffness *= 2.0 if lowest < before else 1.0
        elif lowest < layer:
            wanted = max(self._config.stiffness, self._load / (2.0 * _DEPTH * layer))
            self._stiffness += _SHARE * (wanted - self._stiffness)

    def memory(self) -> Memory:
        """The stiffness [N/m], the mean load [N] and the least gap of the last step [m]."""
        return {"now": np.array([self._stiffness, self._load, self._lowest])}

    def remember(self, memory: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Take over what `memory` gave; an empty one means k₀."""
        fresh = self._config.stiffness, 0.0, self._config.tolerance
        self._stiffness, self._load, self._lowest = (float(x) for x in memory["now"]) if memory else fresh
