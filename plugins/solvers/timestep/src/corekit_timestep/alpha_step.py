"""One implicit step of the smooth part by Newmark's formulas with generalised-α averages, then one contact problem.

    (1 − α_m)·a₁ + α_m·a₀ = (1 − α_f)·w₁ + α_f·w₀,     M·w₁ = f(q₁, v₁, t + h) + J_bᵀλ          (1)
    q₁ = advance(q₀, v₀ + h·((½ − β)·a₀ + β·a₁), h),   v₁ = v₀ + h·((1 − γ)·a₀ + γ·a₁)          (2)

w is the true acceleration, a the averaged one; α_m = α_f = 0 is Newmark's scheme. (1)–(2) is solved for w₁ by Newton's
method with the matrix (1 + σ)·M + c_v·D + c_q·K, c_v = γ·h·κ, c_q = β·h²·κ, κ = (1 − α_f)/(1 − α_m), where σ > 0 only
if the matrix is not positive definite without it, until

    (1 + σ)·c_v·max|Δw| ≤ tolerance·(1 + max|v₁|)                                              (3)

Then contact about (q₁, v₁) gives v⁺, and q⁺ = advance(q₁, ½·(v⁺ − v₁), h). a and w are remembered for the next step;
where its start is not the end of the last one (an impulse changed the velocity, a chart changed) both are the
acceleration there. Rigid rows hold at the end of every step, in position.

Source: Arnold and Brüls (2007), "Convergence of the generalized-α scheme for constrained mechanical systems".
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from attrs import evolve, frozen

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.data.status import Residuals, SolveInfo, Status
from corekit.data.step import StepReport
from corekit.roles.component import Memory
from corekit.roles.integrator import System
from corekit_timestep.landing import next_step

__all__ = ["AlphaStepper", "Averages"]

_LARGEST_SHIFT = 1e12


@frozen
class Averages:
    """β, γ, α_m and α_f of (1)–(2)."""

    beta: float = 0.25
    gamma: float = 0.5
    mass: float = 0.0
    force: float = 0.0

    @property
    def share(self) -> float:
        """κ = ∂a₁/∂w₁."""
        return (1.0 - self.force) / (1.0 - self.mass)


class AlphaStepper:
    """Carries accelerations from step to step.

    Args:
        averages: which scheme.
        tolerance, max_iterations: of Newton's method.
        step: h [s].
    """

    def __init__(self, averages: Averages, tolerance: float, max_iterations: int, step: float) -> None:
        self._averages, self._tolerance, self._limit, self._step = averages, tolerance, max_iterations, step
        self._smooth: State | None = None
        self._kept: dict[str, Array] = {}

    def memory(self) -> Memory:
        """Accelerations a and w at the end of the last step, and the motion there by which it is recognised."""
        return {name: array.copy() for name, array in self._kept.items()}

    def remember(self, memory: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Take over what `memory` gave; an empty one means a fresh start."""
        self._kept = {name: array.copy() for name, array in memory.items()}

    def step(self, system: System, state: State, t_stop: float, out: State) -> StepReport:
        """One step of (1)–(2) and contact."""
        h, t_end = next_step(self._step, state.time, t_stop)
        smooth = self._smooth = self._smooth or system.new_state()
        system.begin(state, h)
        start = self._start(system, state)
        if start is None:
            return StepReport(accepted=False, step=h, solve=SolveInfo(Status.SINGULAR))
        a0, w0 = start
        w1 = w0.copy()
        with np.errstate(over="ignore", invalid="ignore"):
            status, iterations, residual = self._newton(system, state, smooth, h, a0, w0, w1)
        if status is not Status.CONVERGED:
            found = SolveInfo(status, residuals=Residuals(equation=h * residual))
            return StepReport(accepted=False, step=h, iterations=iterations, solve=found)
        smooth.time = t_end
        system.linearise_split(state, smooth, h)
        info = system.solve(out.v)
        if info.status is Status.SINGULAR:
            return StepReport(accepted=False, step=h, iterations=iterations, solve=info)
        system.correct(smooth, out.v, h, out)
        out.time = t_end
        residuals = evolve(info.residuals, equation=max(info.residuals.equation, h * residual))
        # without impulses the contact problem gives v₁ back, to rounding
        if np.allclose(
            out.v, smooth.v, rtol=0.0, atol=1e-10 * (1.0 + float(np.max(np.abs(out.v), initial=0.0)))
        ):
            self._kept = {"a": self._average(a0, w0, w1), "w": w1, "q": out.q.copy(), "v": out.v.copy()}
        else:
            self._kept = {}
        return StepReport(
            accepted=True, step=h, iterations=iterations, solve=evolve(info, residuals=residuals)
        )

    def _start(self, system: System, state: State) -> tuple[Array, Array] | None:
        """a₀ and w₀; None if the mass matrix is singular."""
        kept = self._kept
        if kept and np.array_equal(kept["q"], state.q) and np.array_equal(kept["v"], state.v):
            return kept["a"], kept["w"]
        found = np.zeros(system.velocities)
        return (found, found) if system.acceleration(state, found) else None

    def _average(self, a0: Array, w0: Array, w1: Array) -> Array:
        """a₁ of (1)."""
        own = self._averages
        return ((1.0 - own.force) * w1 + own.force * w0 - own.mass * a0) / (1.0 - own.mass)

    def _newton(
        self, system: System, state: State, smooth: State, h: float, a0: Array, w0: Array, w1: Array
    ) -> tuple[Status, int, float]:
        """Improve w₁ and leave the end of the smooth motion in `smooth`; the residual is in N or N·m."""
        own, change, best, shift = self._averages, np.zeros(len(w1)), math.inf, 0.0
        damping, stiffness = own.gamma * h * own.share, own.beta * h * h * own.share
        near = state
        for iteration in range(1, self._limit + 1):
            a1 = self._average(a0, w0, w1)
            system.advance(state, state.v + h * ((0.5 - own.beta) * a0 + own.beta * a1), h, near, smooth)
            near = smooth
            np.multiply(h, (1.0 - own.gamma) * a0 + own.gamma * a1, out=smooth.v)
            smooth.v += state.v
            residual = system.smooth_correction(smooth, w1, damping, stiffness, change, shift)
            while residual is None and shift < _LARGEST_SHIFT:
                shift = max(1.0, 4.0 * shift)
                residual = system.smooth_correction(smooth, w1, damping, stiffness, change, shift)
            if residual is None:
                return Status.SINGULAR, iteration, best
            size = damping * (1.0 + shift) * float(np.max(np.abs(change), initial=0.0))
            if not math.isfinite(size):
                return Status.NON_FINITE, iteration, residual
            best = residual
            if size <= self._tolerance * (1.0 + float(np.max(np.abs(smooth.v), initial=0.0))):
                return Status.CONVERGED, iteration, best
            w1 += change
        return Status.ITERATION_LIMIT, self._limit, best
