"""Implicit Euler: forces, contacts and rows at the end of the step.

    M·(v⁺ − v₀) = h·f(q⁺, v⁺, t + h) + J_bᵀλ_b + J_cᵀλ_c,     q⁺ = advance(q₀, v⁺, h)       (1)

First order; damps what is fast (a mode ω loses exp(−½·h·ω²·t) of its amplitude), so it is at ease with stiff
models and with contact. M and the rows are those of the end state. Solved as in `coupled_step`, θ = 1.
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

__all__ = ["ImplicitEuler"]


@final
class ImplicitEuler(Integrator):
    """Steps a world by (1).

    Args:
        config: of Newton's method and of the length of the step.
        context: gives the step h.
    """

    def __init__(self, config: NewtonConfig | None = None, context: BuildContext | None = None) -> None:
        self._stepper = CoupledStepper(config or NewtonConfig(), (context or BuildContext()).step, 1.0)

    def step(self, system: System, state: State, t_stop: float, out: State) -> StepReport:
        return self._stepper.step(system, state, t_stop, out)

    def memory(self) -> Memory:
        return self._stepper.memory()

    def remember(self, memory: Mapping[str, np.ndarray[Any, Any]]) -> None:
        self._stepper.remember(memory)
