"""Reference integrator of stages: the L-stable scheme of two stages and order two, then one contact problem.

With γ = 1 − 1/√2, accelerations w of the smooth dynamics and displacements δ,

    v₁ = v₀ + γh·w₁,                  δ₁ = γh·v₁,                       at t₀ + γh                (1)
    v₂ = v₀ + (1 − γ)h·w₁ + γh·w₂,    δ₂ = (1 − γ)h·v₁ + γh·v₂,         at t₀ + h                 (2)

Each stage is solved by `corekit.roles.smooth_stage`; (q₂, v₂) is the free state, and contact about it gives the end.

Source: Alexander (1977), "Diagonally implicit Runge–Kutta methods for stiff O.D.E.'s", SIAM J. Numer. Anal. 14(6).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import final

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.data.status import SolveInfo, StepReport
from corekit.roles.component import BuildContext
from corekit.roles.integrator import Integrator, System, next_step
from corekit.roles.options import option
from corekit.roles.smooth_stage import solve_smooth_stage

__all__ = ["Sdirk", "SdirkConfig"]

_GAMMA = 1.0 - math.sqrt(0.5)
_SETTLING = 10.0
"""Steps in which constraints settle, where a record is evaluated."""


@frozen(kw_only=True)
class SdirkConfig:
    """Options of the reference scheme of two stages."""

    tolerance: float = option(1e-10, "of the last change of a stage's velocity, relative to 1 + |v|", above=0)
    max_iterations: int = option(30, "linear solves a stage", low=1)


@final
class Sdirk(Integrator):
    """Implements (1)–(2)."""

    def __init__(self, config: SdirkConfig | None = None, context: BuildContext | None = None) -> None:
        self._config = config or SdirkConfig()
        self._step = (context or BuildContext()).step
        self._states: tuple[State, State, State] | None = None

    def step(self, system: System, state: State, t_stop: float, out: State) -> StepReport:
        h, t_end = next_step(self._step, state.time, t_stop)
        if self._states is None:
            self._states = system.new_state(), system.new_state(), system.new_state()
        first, free, after_jump = self._states
        start = after_jump if system.split.apply_rate_jump(state, after_jump) else state
        system.split.begin_step(start, h)
        w, part, other = np.zeros(system.nv), _GAMMA * h, (1.0 - _GAMMA) * h

        def place_first(acceleration: Array, trial: State) -> None:
            trial.v[:] = start.v + part * acceleration
            system.integrate(start, trial.v, part, start, trial)

        info = self._solve(system, place_first, first, w, part)
        count = info.iterations
        if info.status.solved:
            halfway = start.v + other * w

            def place_second(acceleration: Array, trial: State) -> None:
                trial.v[:] = halfway + part * acceleration
                system.integrate(start, (other * first.v + part * trial.v) / h, h, first, trial)

            info = self._solve(system, place_second, free, w, part)
            count += info.iterations
        if not info.status.solved:
            return StepReport(accepted=False, step_size=h, iterations=count, solve_info=info)
        free.time = t_end
        system.smooth.end_step(free, None, _SETTLING * h)
        if system.split.is_impulse_free(free):
            out.copy_from(free)
        else:
            system.split.linearise(free)
            info = system.split.solve(out.v)
            system.split.apply_velocity_change(free, out.v, out)
        out.time = t_end
        return StepReport(accepted=info.status.solved, step_size=h, iterations=count, solve_info=info)

    def _solve(
        self, system: System, place: Callable[[Array, State], None], trial: State, w: Array, part: float
    ) -> SolveInfo:
        own = self._config
        return solve_smooth_stage(
            system,
            place,
            trial,
            w,
            part,
            part * part,
            tolerance=own.tolerance,
            max_iterations=own.max_iterations,
        )
