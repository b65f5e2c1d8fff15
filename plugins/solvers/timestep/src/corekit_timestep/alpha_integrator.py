"""Newmark's scheme and generalised α: one implicit step of the smooth dynamics, then one contact problem.

    (1 − α_m)·a₁ + α_m·a₀ = (1 − α_f)·w₁ + α_f·w₀,     M·w₁ = f(q₁, v₁, t + h) + J_bᵀλ          (1)
    q₁ = integrate(q₀, v₀ + h·((½ − β)·a₀ + β·a₁), h),   v₁ = v₀ + h·((1 − γ)·a₀ + γ·a₁)        (2)

w is the true acceleration, a the averaged one, at t + (α_m − α_f)·h; α_m = α_f = 0 is Newmark's scheme.
`alpha_newton` solves (1)–(2) for w₁. Then contact about (q₁, v₁) gives v⁺, and q⁺ = integrate(q₁, ½·(v⁺ −
v₁), h).

No scheme of this family keeps the energy of large motions: α_m = α_f = 0, β = ¼ is the trapezoidal rule, and what it
keeps is the energy of a linear mode. Where modes with h·ω ≫ 1 carry much of the energy, stretching waves of a
rod that bends far for example, (1) has several solutions, and the energy grows without bound, though each step is
solved. The energy watch says so; implicit Euler damps these modes, and far shorter steps resolve them.

The integrator stores a and w for the next step and rescales a with the step size to w + (h/h_before)·(a − w).
If the start is not the end of the last step (an impulse changed the velocity, or the model its coordinates), or the
step is more than four times as long, both are the acceleration there. Rigid constraints hold at the end of every
step, in position.

A step in which Newton's method fails is repeated with a quarter of its size. With a bound e on the local error of a
place, so is one, with a smaller size, if

    C·h³·|j| > e,   j = 2·(A − A_before)/(h + h_before),   A = (v₁ − v₀)/h                      (3)

|j| weighs every entry by the `velocity_scale`, as a motion of the surface. C = |β + ½·(α_m − α_f) − 1/6|, and the
next is as large as (3) permits: h·∛(0.55·e/error), at most doubled. An integer number of steps ends at the next stop,
so the scenario's grid stays; none is longer than the scenario's step.

Source: Arnold and Brüls (2007), "Convergence of the generalized-α scheme for constrained mechanical systems"; for
the energy Simo and Tarnow (1992), "The discrete energy-momentum method";
for (3) Hairer, Nørsett and Wanner (1993), "Solving Ordinary Differential Equations I", II.4.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple, final

import numpy as np
from attrs import evolve

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.data.status import Residuals, SolveInfo, Status, StepReport
from corekit.roles.component import BuildContext, InternalState, Rehearsed, Stateful
from corekit.roles.integrator import Integrator, System, step_towards
from corekit.roles.stage_solver import UNCHANGED, surface_speed
from corekit_timestep.alpha_newton import AlphaNewton, rehearse_acceleration
from corekit_timestep.config import GeneralizedAlphaConfig, NewmarkConfig

__all__ = ["AlphaIntegrator"]

_SHORTEST = 2.0**-14
_LONGER = 4.0
"""Of the last step, beyond which a step starts anew: rescaled by as much, what a differs from w by would be a force."""
_AIM, _SHRINK, _GROW, _WORTH = 0.55, 0.2, 2.0, 1.1
_CONVERGED = SolveInfo(Status.CONVERGED, answered_by="factorisation")


class _Start(NamedTuple):
    """Start of a step: a₀ of the last step, w₀, A_before, w_before, and h_before, 0 after a new start."""

    averaged: Array
    acceleration: Array
    mean: Array
    earlier: Array
    last_step_size: float


@final
class AlphaIntegrator(Integrator, Stateful, Rehearsed):
    """Steps a world by (1)–(2); stores accelerations and the size of the next step.

    Args:
        config: the averages, and the options of Newton's method and of the step size.
        context: supplies the step size h.
    """

    def __init__(
        self, config: NewmarkConfig | GeneralizedAlphaConfig | None = None,
        context: BuildContext | None = None,
    ) -> None:  # fmt: skip
        config = config or GeneralizedAlphaConfig()
        self._averages, self._bound = config.averages, config.local_error
        self._step = (context or BuildContext()).step
        self._newton = AlphaNewton(self._averages, config.tolerance, config.max_iterations, config.reuse)
        self._states: tuple[State, State] | None = None
        self._last_step: dict[str, Array] = {}
        self._step_size = self._step

    def internal_state(self) -> InternalState:
        """Return the accelerations of the last step, q and v at its end that identify it, and step sizes."""
        last_step: InternalState = {name: array.copy() for name, array in self._last_step.items()}
        return last_step | {"step_size": np.array(self._step_size)} | self._newton.internal_state()

    def restore(self, internal_state: Mapping[str, np.ndarray[Any, Any]]) -> None:
        names = ("a", "w", "q", "v", "mean", "earlier", "last_step_size")
        self._last_step = {name: internal_state[name].copy() for name in names if name in internal_state}
        self._step_size = float(internal_state["step_size"]) if "step_size" in internal_state else self._step
        self._newton.restore(internal_state)

    def rehearse(self, width: int, *, many_contacts: bool) -> None:
        """Load what slow convergence calls."""
        rehearse_acceleration()

    def step(self, system: System, state: State, t_stop: float, out: State) -> StepReport:
        if self._states is None:
            self._states = system.new_state(), system.new_state()
        free_state, after_jump = self._states
        if system.split.apply_rate_jump(state, after_jump):
            state = after_jump
            self._newton.drop_matrix()
        start = self._start(system, state, step_towards(self._step, self._step_size, state.time, t_stop)[0])
        if start is None:
            return StepReport(accepted=False, step_size=self._step, solve_info=SolveInfo(Status.SINGULAR))
        w0, last = start.acceleration, start.last_step_size
        wanted_size, iterations, bounded = self._step_size, 0, math.isfinite(self._bound)
        shortest = min(self._step, t_stop - state.time) * _SHORTEST
        while True:
            h, t_end = step_towards(self._step, wanted_size, state.time, t_stop)
            a0 = start.averaged if not last or h == last else w0 + (h / last) * (start.averaged - w0)
            w1 = _predict(start, h)
            status, solve_count, residual = self._solve(
                system, state, free_state, h, a0, w0, w1, retry=bool(last)
            )
            iterations += solve_count
            solved = status is Status.CONVERGED
            mean = (free_state.v - state.v) / h if solved and bounded else w0
            error = self._error(system, mean - start.mean, h, last) if solved and bounded else 0.0
            if not math.isfinite(error):
                solved, status = False, Status.NON_FINITE
            if solved and (error <= self._bound or h <= shortest):
                break
            if h <= shortest:
                info = SolveInfo(status, residuals=Residuals(equation=h * residual))
                return StepReport(accepted=False, step_size=h, iterations=iterations, solve_info=info)
            wanted_size = h * (self._factor(error) if solved else 0.25)
        free_state.time = t_end
        info = _CONVERGED
        if system.split.is_impulse_free(free_state):
            out.copy_from(free_state)
        else:
            system.split.linearise(free_state)
            self._newton.drop_matrix()
            info = system.split.solve(out.v)
            if info.status is Status.SINGULAR:
                return StepReport(accepted=False, step_size=h, iterations=iterations, solve_info=info)
            system.split.apply_velocity_change(free_state, out.v, out)
            out.time = t_end
        # grow from the requested size: a stop may have cut this step much shorter
        factor = self._factor(error)
        self._step_size = (
            min(self._step, max(wanted_size, h) * factor) if factor >= _WORTH else max(wanted_size, h)
        )
        # without impulses the contact problem returns v₁ to rounding
        rounding = system.error_bound(out.v, UNCHANGED)
        self._last_step = {}
        if info is _CONVERGED or surface_speed(system, out.v - free_state.v) <= rounding:
            self._last_step = {
                "a": self._newton.averaged(a0, w0, w1), "w": w1, "earlier": w0, "mean": mean,
                "last_step_size": np.array(h), "q": out.q.copy(), "v": out.v.copy(),
            }  # fmt: skip
        if info is _CONVERGED:
            solve = SolveInfo(info.status, 0, Residuals(equation=h * residual), info.answered_by)
        else:
            residuals = evolve(info.residuals, equation=max(info.residuals.equation, h * residual))
            solve = evolve(info, residuals=residuals)
        return StepReport(accepted=True, step_size=h, iterations=iterations, solve_info=solve)

    def _start(self, system: System, state: State, h: float) -> _Start | None:
        """Return the start of a step h; None if M is singular."""
        last_step = self._last_step
        is_longer = bool(last_step) and h > _LONGER * float(last_step["last_step_size"])
        if (
            last_step
            and not is_longer
            and np.array_equal(last_step["q"], state.q)
            and np.array_equal(last_step["v"], state.v)
        ):
            return _Start(
                last_step["a"],
                last_step["w"],
                last_step["mean"],
                last_step["earlier"],
                float(last_step["last_step_size"]),
            )
        acceleration = np.zeros(system.nv)
        system.split.begin_step(state, self._step)
        self._newton.drop_matrix()
        if not system.smooth.compute_acceleration(state, acceleration):
            return None
        return _Start(acceleration, acceleration, acceleration, acceleration, 0.0)

    def _solve(
        self, system: System, state: State, free_state: State, h: float, a0: Array, w0: Array, w1: Array, *,
        retry: bool,
    ) -> tuple[Status, int, float]:  # fmt: skip
        """Solve (1)–(2) for w₁; if that fails and `retry`, start from w₀ with a new matrix at every iterate.

        Returns the status, linear solves, and the last residual [N or N·m].
        """
        system.split.begin_step(state, h)
        with np.errstate(over="ignore", invalid="ignore"):
            status, solve_count, residual = self._newton.solve(system, state, free_state, h, a0, w0, w1)
            if status is not Status.CONVERGED and retry:
                w1[:] = w0
                system.split.begin_step(state, h)
                status, retry_count, residual = self._newton.solve(
                    system, state, free_state, h, a0, w0, w1, plain=True
                )
                solve_count += retry_count
        return status, solve_count, residual

    def _error(self, system: System, change: Array, h: float, last: float) -> float:
        """Return the left side of (3) [m] for A − A_before; after a new start A_before is the acceleration there."""
        return self._averages.error * h**3 * 2.0 * surface_speed(system, change) / (h + last)

    def _factor(self, error: float) -> float:
        """Return the factor by which a step may be longer than one with this error."""
        if not error > 0.0:
            return _GROW
        return min(_GROW, max(_SHRINK, math.cbrt(_AIM * self._bound / error)))


def _predict(start: _Start, h: float) -> Array:
    """Return the initial guess for w₁: the line through the last two w, or w₀."""
    w0, earlier, last = start.acceleration, start.earlier, start.last_step_size
    # a ringing w changes its sign from step to step, so a line through it is a bad guess
    is_steady = bool(last) and float(w0 @ earlier) > 0.0
    return w0 + (h / last) * (w0 - earlier) if is_steady else w0.copy()
