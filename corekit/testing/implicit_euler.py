"""Reference integrator: implicit Euler (θ = 1) and implicit midpoint (θ = ½) by Newton's method.

Repeats   linearise at v_k,   solve for v_{k+1}                                        (1)
until |v_{k+1} − v_k| and the residual of the step equation at v_{k+1} are small; then

    q⁺ = advance(q₀, θ·v⁺ + (1 − θ)·v₀, h)                                              (2)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

import numpy as np
from attrs import evolve, frozen

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.data.status import SolveInfo, Status
from corekit.data.step import StepReport
from corekit.roles.component import BuildContext, Memory
from corekit.roles.integrator import Integrator, System
from corekit.roles.options import option
from corekit.testing.landing import next_step

__all__ = ["ImplicitEuler", "ImplicitEulerConfig"]


@frozen(kw_only=True)
class ImplicitEulerConfig:
    """Options of the reference implicit Euler and midpoint."""

    theta: float = option(1.0, "1: Euler, ½: midpoint", low=0.5, high=1.0)
    tolerance: float = option(1e-10, "of the velocity change, relative to 1 + |v|", above=0)
    residual: float = option(1e-9, "of the step equation, relative to its largest residual", above=0)
    max_iterations: int = option(30, "of Newton's method", low=1)


@final
class ImplicitEuler(Integrator):
    """Implements (1)–(2); where A is not positive definite it drops K for the rest of the step and says so."""

    def __init__(
        self, config: ImplicitEulerConfig | None = None, context: BuildContext | None = None
    ) -> None:
        self._config = config or ImplicitEulerConfig()
        self._step = (context or BuildContext()).step
        self._next: Array = np.zeros(0)

    def memory(self) -> Memory:
        return {}

    def remember(self, memory: Mapping[str, np.ndarray[Any, Any]]) -> None:
        pass

    def step(self, system: System, state: State, t_stop: float, out: State) -> StepReport:
        h, t_end = next_step(self._step, state.time, t_stop)
        config, theta = self._config, self._config.theta
        system.begin(state, h)
        v = out.v
        v[:] = state.v
        fresh = self._next = np.resize(self._next, len(v))
        tangent, note, change, largest = 1.0, "", np.inf, 0.0
        info, iteration = SolveInfo(), 0
        for iteration in range(config.max_iterations + 1):  # noqa: B007 - reported below
            system.linearise(state, v, h, theta, tangent)
            remaining = system.residual()
            largest = max(largest, remaining)
            if change <= config.tolerance * (1.0 + float(np.max(np.abs(v)))) and (
                remaining <= config.residual * largest
            ):
                break
            info = system.solve(fresh)
            if info.status is Status.SINGULAR and tangent:
                tangent, note = 0.0, "stiffness dropped"
                continue
            if info.status is Status.SINGULAR:
                break
            change = float(np.max(np.abs(fresh - v)))
            v[:] = fresh
        else:
            if info.status.solved:
                info = evolve(info, status=Status.ITERATION_LIMIT)
        mean = theta * v + (1.0 - theta) * state.v
        system.advance(state, mean, h, state, out)
        out.time = t_end
        return StepReport(accepted=info.status.solved, step=h, iterations=iteration, solve=info, note=note)
