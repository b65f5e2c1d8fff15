"""SciPy's Radau: the implicit Runge–Kutta method Radau IIA of order five, at ease with stiff models.

Its dense output, which is what the grid sees, is of order three. Everything else is in `scipy_step`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

import numpy as np

from corekit.data.state import State
from corekit.data.step import StepReport
from corekit.roles.component import BuildContext, Memory
from corekit.roles.integrator import Integrator, System
from corekit_timestep.config import ScipyConfig
from corekit_timestep.scipy_solvers import METHODS
from corekit_timestep.scipy_step import ScipyStepper

__all__ = ["ScipyRadau"]


@final
class ScipyRadau(Integrator):
    """Steps a world as `scipy_step` says.

    Args:
        config: tolerances.
        context: gives the step h of the grid.
    """

    def __init__(self, config: ScipyConfig | None = None, context: BuildContext | None = None) -> None:
        step = (context or BuildContext()).step
        self._stepper = ScipyStepper(METHODS["radau"], config or ScipyConfig(), step)

    def step(self, system: System, state: State, t_stop: float, out: State) -> StepReport:
        return self._stepper.step(system, state, t_stop, out)

    def memory(self) -> Memory:
        return self._stepper.memory()

    def remember(self, memory: Mapping[str, np.ndarray[Any, Any]]) -> None:
        self._stepper.remember(memory)
