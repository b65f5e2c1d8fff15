"""One implicit step of the smooth part by Newmark's formulas with generalised-α averages, then one contact problem.

    (1 − α_m)·a₁ + α_m·a₀ = (1 − α_f)·w₁ + α_f·w₀,     M·w₁ = f(q₁, v₁, t + h) + J_bᵀλ          (1)
    q₁ = integrate(q₀, v₀ + h·((½ − β)·a₀ + β·a₁), h),   v₁ = v₀ + h·((1 − γ)·a₀ + γ·a₁)          (2)

w is the true acceleration, a the averaged one, at t + (α_m − α_f)·h; α_m = α_f = 0 is Newmark's scheme. (1)–(2) is
solved for w₁ by `alpha_newton`. Then contact about (q₁, v₁) gives v⁺, and q⁺ = integrate(q₁, ½·(v⁺ − v₁), h).

a and w are remembered for the next step, a moved with the step's length to w + (h/h_before)·(a − w); where its start is
not the end of the last one (an impulse changed the velocity, a chart changed) both are the acceleration there. Rigid
rows hold at the end of every step, in position.

With a bound e on the local error of a coordinate, a step is made again shorter where

    C·h³·|j| > e,   j = 2·(A − A_before)/(h + h_before),   A = (v₁ − v₀)/h                      (3)

C = |β + ½·(α_m − α_f) − 1/6|, and the next is as long as (3) lets it: h·∛(0.55·e/error), at most doubled. A whole
number of steps reaches the next stop, so the scenario's grid stays; none is longer than the scenario's step.

Source: Arnold and Brüls (2007), "Convergence of the generalized-α scheme for constrained mechanical systems"; for (3)
Hairer, Nørsett and Wanner (1993), "Solving Ordinary Differential Equations I", II.4.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from attrs import evolve

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.data.status import Residuals, SolveInfo, Status
from corekit.data.step import StepReport
from corekit.linalg.vectors import max_abs
from corekit.roles.component import Memory
from corekit.roles.integrator import System
from corekit_timestep.alpha_newton import AlphaNewton, Averages
from corekit_timestep.config import NewmarkOptions
from corekit_timestep.landing import step_towards

__all__ = ["AlphaStepper", "Averages"]

_SHORTEST = 2.0**-14
_AIM, _SHRINK, _GROW, _WORTH = 0.55, 0.2, 2.0, 1.1
_CONVERGED = SolveInfo(Status.CONVERGED, answered_by="factorisation")


class AlphaStepper:
    """Carries accelerations and the length of the next step from step to step.

    Args:
        averages: which scheme.
        options: of Newton's method and of the length.
        step: h [s].
    """

    def __init__(self, averages: Averages, options: NewmarkOptions, step: float) -> None:
        self._averages, self._step, self._bound = averages, step, options.local_error
        self._newton = AlphaNewton(averages, options.tolerance, options.max_iterations, options.reuse)
        self._smooth: State | None = None
        self._behind: State | None = None
        self._kept: dict[str, Array] = {}
        self._length = step

    def memory(self) -> Memory:
        """Accelerations at the end of the last step, the motion there by which it is recognised, and lengths."""
        kept: Memory = {name: array.copy() for name, array in self._kept.items()}
        return kept | {"length": np.array(self._length)} | self._newton.memory()

    def remember(self, memory: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Take over what `memory` gave; an empty one means a fresh start."""
        own = ("a", "w", "q", "v", "mean", "earlier", "lasted")
        self._kept = {name: memory[name].copy() for name in own if name in memory}
        self._length = float(memory["length"]) if "length" in memory else self._step
        self._newton.remember(memory)

    def step(self, system: System, state: State, t_stop: float, out: State) -> StepReport:
        """One step of (1)–(2) and contact."""
        smooth = self._smooth = self._smooth or system.new_state()
        behind = self._behind = self._behind or system.new_state()
        if system.split.apply_rate_jump(state, behind):
            state = behind
        start = self._start(system, state)
        if start is None:
            return StepReport(accepted=False, step=self._step, solve=SolveInfo(Status.SINGULAR))
        a, w0, mean, earlier, lasted = start
        length, iterations, bounded = self._length, 0, math.isfinite(self._bound)
        shortest = self._step * _SHORTEST
        while True:
            h, t_end = step_towards(self._step, length, state.time, t_stop)
            system.split.begin_step(state, h)
            a0 = a if not lasted or h == lasted else w0 + (h / lasted) * (a - w0)
            # what rings changes its sign from step to step: a line through it leads away
            steady = bool(lasted) and float(w0 @ earlier) > 0.0
            w1 = w0 + (h / lasted) * (w0 - earlier) if steady else w0.copy()
            with np.errstate(over="ignore", invalid="ignore"):
                status, tried, residual = self._newton.solve(system, state, smooth, h, a0, w0, w1)
                iterations += tried
                if status is not Status.CONVERGED and lasted:
                    w1[:] = w0
                    system.split.begin_step(state, h)
                    again = self._newton.solve(system, state, smooth, h, a0, w0, w1, plain=True)
                    status, tried, residual = again
                    iterations += tried
            solved = status is Status.CONVERGED
            now = (smooth.v - state.v) / h if solved and bounded else w0
            error = self._error(now, mean, h, lasted) if solved and bounded else 0.0
            if not math.isfinite(error):
                solved, status = False, Status.NON_FINITE
            if solved and (error <= self._bound or h <= shortest):
                break
            if not bounded or h <= shortest:
                found = SolveInfo(status, residuals=Residuals(equation=h * residual))
                return StepReport(accepted=False, step=h, iterations=iterations, solve=found)
            length = h * (self._factor(error) if solved else 0.25)
        smooth.time = t_end
        info = _CONVERGED
        if system.split.is_impulse_free(smooth):
            out.copy_from(smooth)
        else:
            system.split.linearise(smooth)
            info = system.split.solve(out.v)
            if info.status is Status.SINGULAR:
                return StepReport(accepted=False, step=h, iterations=iterations, solve=info)
            system.split.apply_velocity_change(smooth, out.v, out)
            out.time = t_end
        if bounded:
            # grown from the length asked for: a stop may have cut this one much shorter
            factor = self._factor(error)
            self._length = min(self._step, max(length, h) * factor) if factor >= _WORTH else max(length, h)
        # without impulses the contact problem gives v₁ back, to rounding
        tiny = 1e-10 * (1.0 + max_abs(out.v))
        if info is _CONVERGED or max_abs(out.v - smooth.v) <= tiny:
            self._kept = {
                "a": self._newton.averaged(a0, w0, w1), "w": w1, "earlier": w0, "mean": now,
                "lasted": np.array(h), "q": out.q.copy(), "v": out.v.copy(),
            }  # fmt: skip
        else:
            self._kept = {}
        if info is _CONVERGED:
            solve = SolveInfo(info.status, 0, Residuals(equation=h * residual), info.answered_by)
        else:
            residuals = evolve(info.residuals, equation=max(info.residuals.equation, h * residual))
            solve = evolve(info, residuals=residuals)
        return StepReport(accepted=True, step=h, iterations=iterations, solve=solve)

    def _start(self, system: System, state: State) -> tuple[Array, Array, Array, Array, float] | None:
        """a₀ as of the last step, w₀, A_before, w_before and h_before (0: none); None if M is singular."""
        kept = self._kept
        if kept and np.array_equal(kept["q"], state.q) and np.array_equal(kept["v"], state.v):
            return kept["a"], kept["w"], kept["mean"], kept["earlier"], float(kept["lasted"])
        found = np.zeros(system.nv)
        system.split.begin_step(state, self._step)
        return (found, found, found, found, 0.0) if system.smooth.compute_acceleration(state, found) else None

    def _error(self, mean: Array, before: Array, h: float, lasted: float) -> float:
        """The left side of (3) [m or rad]; at a fresh start A_before is the acceleration there."""
        return self._averages.error * h**3 * 2.0 * max_abs(mean - before) / (h + lasted)

    def _factor(self, error: float) -> float:
        """How much longer a step may be than one with this error."""
        if not error > 0.0:
            return _GROW
        return min(_GROW, max(_SHRINK, math.cbrt(_AIM * self._bound / error)))
