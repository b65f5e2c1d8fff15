"""SciPy's BDF: orders one to five by itself, at ease with stiff models.

Keeps its differences over grid points: a fresh start falls back to order one, so it is for motion without impacts.
Everything else is in `scipy_step`.
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

__all__ = ["ScipyBdf"]


@final
class ScipyBdf(Integrator):
    """Steps a world as `scipy_step` says.

    Args:
        config: tolerances.
        context: gives the step h of the grid.
    """

    def __init__(self, config: ScipyConfig | None = None, context: BuildContext | None = None) -> None:
        step = (context or BuildContext()).step
        self._stepper = ScipyStepper(METHODS["bdf"], config or ScipyConfig(), step)

    def step(self, system: System, state: State, t_stop: float, out: State) -> StepReport:
        return self._stepper.step(system, state, t_stop, out)

    def memory(self) -> Memory:
        return self._stepper.memory()

    def remember(self, memory: Mapping[str, np.ndarray[Any, Any]]) -> None:
        self._stepper.remember(memory)
