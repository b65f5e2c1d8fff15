"""Reference contact potential: a power of the penetration, with regularised Coulomb friction.

With d = thickness − φ the depth into the contact's layer, n the normal, u = Σ w_i·ẋ_i the relative
velocity of the carriers and u_t its part across n,

    E = k/(p + 1)·d^{p+1},   N = k·d^p·(1 − c·u·n)        for d > 0, else 0             (1)
    f = N·n + T,             T = −μ·k·d^p·u_t/√(|u_t|² + ε²)                             (2)
    f_i = w_i·f,   K_ij = −w_i·w_j·∂f/∂(relative displacement),   D_ij likewise            (3)

K is exact for flat obstacles; where a normal turns, its turning is left out.
"""

from __future__ import annotations

from typing import final

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array
from corekit.data.contacts import ContactSet
from corekit.data.status import SolveInfo
from corekit.roles.component import BuildContext
from corekit.roles.contact import ContactMotion, ContactPotential, PotentialTerms
from corekit.roles.options import option

__all__ = ["Penalty", "PenaltyConfig"]


@frozen(kw_only=True)
class PenaltyConfig:
    """Options of the reference penalty."""

    stiffness: float = option(1e6, "k", unit="N/m^power", above=0)
    power: int = option(2, "p; 1 is a linear spring, from 2 on the force is smooth", low=1, high=5)
    thickness: float = option(1e-3, "gap at which the force begins", unit="m", low=0)
    dissipation: float = option(0.0, "c: more force while approaching, less while parting", unit="s/m", low=0)
    slip_scale: float = option(1e-3, "ε: slip below which friction sticks like honey", unit="m/s", above=0)


@final
class Penalty(ContactPotential):
    """Implements (1)–(3)."""

    def __init__(self, config: PenaltyConfig | None = None, context: BuildContext | None = None) -> None:
        self._config = config or PenaltyConfig()

    @property
    def activation_distance(self) -> float:
        return self._config.thickness

    def on_step_accepted(self, contacts: ContactSet, motion: ContactMotion, step: float) -> None:
        pass

    def evaluate(
        self, contacts: ContactSet, position: Array, velocity: Array, step: float, out: PotentialTerms
    ) -> SolveInfo:
        for c in range(contacts.count):
            if contacts.gap[c] < self._config.thickness:
                self._one(contacts, c, velocity[c], out)
        return SolveInfo(answered_by="penalty")

    def _one(self, contacts: ContactSet, c: int, velocity: Array, out: PotentialTerms) -> None:
        config, p = self._config, self._config.power
        n, weight, mu = contacts.normal[c], contacts.weight[c], contacts.friction[c]
        depth = config.thickness - contacts.gap[c]
        elastic, slope = config.stiffness * depth**p, config.stiffness * p * depth ** (p - 1)
        u = weight @ velocity
        across = np.eye(3) - np.outer(n, n)
        slip = across @ u
        size = np.sqrt(slip @ slip + config.slip_scale**2)
        damped = 1.0 - config.dissipation * (u @ n)
        drag = -mu * slip / size
        force = elastic * (damped * n + drag)
        # dφ = n·δ and depth = thickness − φ, so ∂f/∂δ = −slope·(…)⊗n
        stiffness = slope * np.outer(damped * n + drag, n)
        damping = elastic * (
            config.dissipation * np.outer(n, n) + mu * (across / size - np.outer(slip, slip) / size**3)
        )
        out.energy[c] = config.stiffness * depth ** (p + 1) / (p + 1)
        out.force[c] = np.outer(weight, force).ravel()
        shared = np.outer(weight, weight)
        out.stiffness[c] = np.einsum("ij,ab->iajb", shared, stiffness).reshape(12, 12)
        out.damping[c] = np.einsum("ij,ab->iajb", shared, damping).reshape(12, 12)
        out.normal_force[c] = elastic * damped
        tangent = contacts.tangent[c]
        out.tangential_force[c] = force @ tangent, force @ np.cross(n, tangent)
