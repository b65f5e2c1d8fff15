"""Implicit midpoint: forces, contacts' directions and rows in the middle of the step.

    M·(v⁺ − v₀) = h·f(q_m, v̄, t + h/2) + J_bᵀλ_b + J_cᵀλ_c
    v̄ = ½·(v₀ + v⁺),   q_m = advance(q₀, v̄, h/2),   q⁺ = advance(q₀, v̄, h)                 (1)

Second order, symplectic, without damping of its own: a linear mode keeps its amplitude for every h and is
late by (ω·h)²/12 of its period. Gaps and bilateral constraints hold at the end of the step.

A mode with h·ω ≫ 1 has the frequency (2/h)·atan(½·h·ω) ≈ π/h: it rings, changing sign from step to step, and never
dies. All such modes have nearly one frequency, so a slow motion of a non-linear model couples them in resonance and
feeds them, faster for longer steps: watch the energy. `generalized-alpha` damps what rings and loses (h·ω)³ of what
is slow; `implicit-euler` damps all.

Source: Hairer, Lubich and Wanner (2006), "Geometric Numerical Integration", II.1, VI.4. Mandziuk and Schlick (1995),
"Resonance in the dynamics of chemical systems simulated by the implicit-midpoint scheme".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

import numpy as np

from corekit.data.state import State
from corekit.data.step import StepReport
from corekit.roles.component import BuildContext, Memory
from corekit.roles.integrator import Integrator, System
from corekit_timestep.config import NewtonConfig
from corekit_timestep.coupled_step import CoupledStepper

__all__ = ["ImplicitMidpoint"]


@final
class ImplicitMidpoint(Integrator):
    """Steps a world by (1), solved as in `coupled_step` with θ = ½.

    Args:
        config: of Newton's method and of the length of the step.
        context: gives the step h.
    """

    def __init__(self, config: NewtonConfig | None = None, context: BuildContext | None = None) -> None:
        self._stepper = CoupledStepper(config or NewtonConfig(), (context or BuildContext()).step, 0.5)

    def step(self, system: System, state: State, t_stop: float, out: State) -> StepReport:
        return self._stepper.step(system, state, t_stop, out)

    def memory(self) -> Memory:
        return self._stepper.memory()

    def remember(self, memory: Mapping[str, np.ndarray[Any, Any]]) -> None:
        self._stepper.remember(memory)
