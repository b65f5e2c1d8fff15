"""Reference integrator: implicit Euler (θ = 1) and implicit midpoint (θ = ½) by Newton's method.

Repeats   linearise at v_k,   solve for v_{k+1}                                        (1)
until |v_{k+1} − v_k| and the residual of the step equation at v_{k+1} are small; where the residual does
not decrease the step is halved, with the impulses held (regularised friction needs it). Then

    q⁺ = integrate(q₀, θ·v⁺ + (1 − θ)·v₀, h)                                              (2)
"""

from __future__ import annotations

from typing import final

import numpy as np
from attrs import evolve, frozen

from corekit.data.state import State
from corekit.data.status import SolveInfo, Status, StepReport
from corekit.roles.component import BuildContext
from corekit.roles.integrator import Integrator, System, next_step
from corekit.roles.options import option
from corekit.roles.stage_solver import surface_speed

__all__ = ["ImplicitEuler", "ImplicitEulerConfig"]


@frozen(kw_only=True)
class ImplicitEulerConfig:
    """Options of the reference implicit Euler and midpoint."""

    theta: float = option(1.0, "1: Euler, ½: midpoint", low=0.5, high=1.0)
    tolerance: float = option(1e-10, "of the velocity change, relative to 1 + |v|", above=0)
    residual: float = option(1e-10, "of the step equation", unit="N·s or N·m·s", above=0)
    max_iterations: int = option(30, "of Newton's method", low=1)


@final
class ImplicitEuler(Integrator):
    """Implements (1)–(2); where A is not positive definite it drops K for the rest of the step and says so."""

    def __init__(
        self, config: ImplicitEulerConfig | None = None, context: BuildContext | None = None
    ) -> None:
        self._config = config or ImplicitEulerConfig()
        self._step = (context or BuildContext()).step
        self._after_jump: State | None = None

    def step(self, system: System, state: State, t_stop: float, out: State) -> StepReport:
        h, t_end = next_step(self._step, state.time, t_stop)
        if self._config.theta < 1.0:  # else v₀ has no part in the rates of the rows
            self._after_jump = self._after_jump or system.new_state()
            if system.split.apply_rate_jump(state, self._after_jump):
                state = self._after_jump
        config, theta, step = self._config, self._config.theta, system.theta
        step.begin_step(state, h)
        v, before, after = state.v.copy(), state.v.copy(), np.zeros_like(state.v)
        stiffness_factor, note, change, share, model = 1.0, "", np.inf, 1.0, np.inf
        info = SolveInfo()
        iteration = 0
        while iteration < config.max_iterations:
            step.linearise(v, theta, stiffness_factor)
            remaining = step.momentum_residual()
            if change <= system.error_bound(v, config.tolerance) and remaining <= config.residual:
                break
            if remaining > (1.0 - 0.1 * share) * model and share > 1e-3:
                share *= 0.5
                v = before + share * (after - before)
                continue
            info = step.solve(after)
            iteration += 1
            if info.status is Status.SINGULAR and stiffness_factor:
                stiffness_factor, note, model = 0.0, "stiffness dropped", np.inf
                continue
            if info.status is Status.SINGULAR:
                break
            # at v_k with the new impulses the residual is that of the linear model before its step
            model, share = step.momentum_residual(), 1.0
            change = surface_speed(system, after - v)
            if not np.isfinite(change):
                info = evolve(info, status=Status.NON_FINITE)
                break
            before, v = v, after.copy()
        else:
            info = evolve(info, status=Status.ITERATION_LIMIT) if info.status.solved else info
        out.v[:] = v
        system.integrate(state, theta * v + (1.0 - theta) * state.v, h, state, out)
        out.time = t_end
        return StepReport(
            accepted=info.status.solved, step_size=h, iterations=iteration, solve_info=info, note=note
        )
