"""The generalised-α scheme: second order, with damping of the fast modes alone.

With ρ the amplitude that a mode with h·ω → ∞ keeps in a step, 1 nothing lost and 0 everything,

    α_m = (2·ρ − 1)/(ρ + 1),   α_f = ρ/(ρ + 1),   γ = ½ + α_f − α_m,   β = ¼·(γ + ½)²                      (1)

in the formulas of `alpha_step`; ρ = 1 keeps the energy of linear models as the midpoint rule does.

Source: Chung and Hulbert (1993), "A time integration algorithm for structural dynamics with improved numerical
dissipation: the generalized-α method", J. Appl. Mech. 60(2).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

import numpy as np

from corekit.data.state import State
from corekit.data.step import StepReport
from corekit.roles.component import BuildContext, Memory
from corekit.roles.integrator import Integrator, System
from corekit_timestep.alpha_step import AlphaStepper, Averages
from corekit_timestep.config import GeneralizedAlphaConfig

__all__ = ["GeneralizedAlpha"]


@final
class GeneralizedAlpha(Integrator):
    """Steps a world with the averages of (1), solved as in `alpha_step`.

    Args:
        config: ρ and Newton's method.
        context: gives the step h.
    """

    def __init__(
        self, config: GeneralizedAlphaConfig | None = None, context: BuildContext | None = None
    ) -> None:
        own = config or GeneralizedAlphaConfig()
        step = (context or BuildContext()).step
        rho = own.spectral_radius
        mass, force = (2.0 * rho - 1.0) / (rho + 1.0), rho / (rho + 1.0)
        gamma = 0.5 + force - mass
        averages = Averages(beta=0.25 * (gamma + 0.5) ** 2, gamma=gamma, mass=mass, force=force)
        self._stepper = AlphaStepper(averages, own, step)

    def step(self, system: System, state: State, t_stop: float, out: State) -> StepReport:
        return self._stepper.step(system, state, t_stop, out)

    def memory(self) -> Memory:
        return self._stepper.memory()

    def remember(self, memory: Mapping[str, np.ndarray[Any, Any]]) -> None:
        self._stepper.remember(memory)
