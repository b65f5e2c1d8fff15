"""Newmark's scheme: implicit, for the smooth part, then one contact problem a step.

    q₁ = advance(q₀, v₀ + h·((½ − β)·a₀ + β·a₁), h),   v₁ = v₀ + h·((1 − γ)·a₀ + γ·a₁),   M·a₁ = f(q₁, v₁)   (1)

β = ¼, γ = ½, the average acceleration, is of order two, undamped and stable for every h of a linear model; γ > ½ damps
and is of order one, best with β = ¼·(γ + ½)². Rigid rows ring without that damping: take `generalized-alpha` there.

Source: Newmark (1959), "A method of computation for structural dynamics", J. Eng. Mech. Div. 85(3).
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
from corekit_timestep.config import NewmarkConfig

__all__ = ["Newmark"]


@final
class Newmark(Integrator):
    """Steps a world by (1), solved as in `alpha_step`.

    Args:
        config: β, γ and Newton's method.
        context: gives the step h.
    """

    def __init__(self, config: NewmarkConfig | None = None, context: BuildContext | None = None) -> None:
        own = config or NewmarkConfig()
        step = (context or BuildContext()).step
        averages = Averages(beta=own.beta, gamma=own.gamma)
        self._stepper = AlphaStepper(averages, own, step)

    def step(self, system: System, state: State, t_stop: float, out: State) -> StepReport:
        return self._stepper.step(system, state, t_stop, out)

    def memory(self) -> Memory:
        return self._stepper.memory()

    def remember(self, memory: Mapping[str, np.ndarray[Any, Any]]) -> None:
        self._stepper.remember(memory)
