"""PD and PID control of coordinates.

u = k_p·(p − q) + k_d·(ṗ − v) + k_i·Σ (p − q)·Δt                                   (1)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

import numpy as np

from corekit.errors import ControlError
from corekit.roles.component import BuildContext, InternalState, Stateful
from corekit.roles.controller import ControlledWorld, Controller, Inputs
from corekit_feedback.config import PDConfig

__all__ = ["PD"]


@final
class PD(Controller, Stateful):
    """Implements (1) for models whose velocities are the rates of their coordinates, one for one."""

    def __init__(self, config: PDConfig, context: BuildContext | None = None) -> None:
        self._config, self._path = config, (context or BuildContext()).path
        self._sum = np.zeros(0)
        self._last = float("nan")

    def compute_inputs(self, world: ControlledWorld) -> Inputs:
        config = self._config
        body = world.body(config.body)
        names = [coordinate.name for coordinate in body.description.coordinates]
        size = len(body.inputs[config.channel])
        chosen = config.coordinates or tuple(names[:size])
        unknown = [name for name in chosen if name not in names]
        if unknown or len(chosen) != size or len(names) != len(body.description.velocities):
            raise ControlError(
                f"{self._path}: channel {config.channel!r} of body {config.body!r} takes {size} numbers: name as many "
                f"of its coordinates, of which each has its own rate; it has {', '.join(names)}"
            )
        if config.target.size not in (1, size):
            raise ControlError(
                f"{self._path}: the target has {config.target.size} numbers, and channel {config.channel!r} of body "
                f"{config.body!r} takes {size}: give as many, or one for all"
            )
        index = [names.index(name) for name in chosen]
        state = world.state.body_states[body.index]
        wanted, rate = np.zeros((2, config.target.size))
        config.target.value(world.time, wanted)
        config.target.rate(world.time, rate)
        error, slope = wanted - state.q[index], rate - state.v[index]
        if len(self._sum) != size:
            self._sum = np.zeros(size)
        if np.isfinite(self._last):
            self._sum += error * (world.time - self._last)
        self._last = world.time
        u = config.proportional * error + config.derivative * slope + config.integral * self._sum
        return {config.body: {config.channel: u}}

    def internal_state(self) -> InternalState:
        return {"sum": self._sum.copy(), "last": np.array(self._last)}

    def restore(self, internal_state: Mapping[str, np.ndarray[Any, Any]]) -> None:
        self._sum = np.array(internal_state.get("sum", np.zeros(0)))
        self._last = float(internal_state.get("last", np.nan))
