"""One step of the coupled family with θ: Newton's method, and a shorter step where it does not converge.

    ρ(v⁺) = J_bᵀλ_b + J_cᵀλ_c,    q⁺ = integrate(q₀, θ·v⁺ + (1 − θ)·v₀, h)                    (1)

A step that fails from the guesses of `mean_velocities` is halved, down to h/2¹⁰; after five easy
steps the length doubles again up to h. Lengths are such that a whole number of them reaches the next stop,
so the scenario's grid stays. With a bound e on the local error, a step is also cut where

    ½·h·|v⁺ − v₀| > e   (θ = 1),        (h²/12)·|a − a_before|·2h/(h + h_before) > e   (θ = ½)      (2)

a = (v⁺ − v₀)/h: the leading terms ½h²·q̈ and h³/12·q⃛ of the error of one step, in metres or radians.
Source for (2): Hairer, Nørsett and Wanner (1993), "Solving Ordinary Differential Equations I", II.4.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.data.step import StepReport
from corekit.roles.component import Memory
from corekit.roles.integrator import System
from corekit_timestep.config import NewtonConfig
from corekit_timestep.kept_matrix import KeptMatrix
from corekit_timestep.landing import step_towards
from corekit_timestep.mean_velocities import MeanVelocities
from corekit_timestep.newton import (
    UNSOLVED,
    NewtonSettings,
    NewtonWork,
    Solved,
    chord_steps,
    solve_end_velocity,
)

__all__ = ["CoupledStepper"]

_EASY_ITERATIONS = 3
_EASY_STEPS = 5
_SHORTEST = 2.0**-10


class CoupledStepper:
    """Carries the length of the next step, and for (2) the last acceleration, from step to step.

    Args:
        config: Newton's options and those of the length.
        step: h [s].
        theta: θ, 1 or ½.
    """

    def __init__(self, config: NewtonConfig, step: float, theta: float) -> None:
        self._config, self._step, self._theta = config, step, theta
        self._settings = NewtonSettings(
            tolerance=config.tolerance, max_iterations=config.max_iterations, reuse=config.reuse
        )
        self._bounded = math.isfinite(config.local_error)
        self._length, self._easy = step, 0
        self._acceleration: Array | None = None
        self._lasted = step
        self._history = MeanVelocities(theta)
        self._kept = KeptMatrix(theta)
        self._work: NewtonWork | None = None
        self._trust = math.inf, 0

    def memory(self) -> Memory:
        """Length of the next step [s], easy steps so far, and the acceleration of the last step."""
        kept: Memory = {"length": np.array([self._length, self._lasted]), "easy": np.array(self._easy)}
        if self._acceleration is not None:
            kept["acceleration"] = self._acceleration.copy()
        kept["contraction"] = np.array(self._trust if self._work is None else self._work.trust)
        return kept | self._history.memory() | self._kept.memory()

    def remember(self, memory: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Take over what `memory` gave; an empty one means a fresh start."""
        self._length, self._easy, self._acceleration, self._lasted = self._step, 0, None, self._step
        if memory:
            self._length, self._lasted = (float(value) for value in memory["length"])
            self._easy = int(memory["easy"])
            if "acceleration" in memory:
                self._acceleration = memory["acceleration"].copy()
        known, count = memory.get("contraction", (math.inf, 0))
        self._trust = float(known), int(count)
        if self._work is not None:
            self._work.trust = self._trust
        self._history.remember(memory)
        self._kept.remember(memory)

    def step(self, system: System, state: State, t_stop: float, out: State) -> StepReport:
        """One step of (1), never past `t_stop`."""
        work = self._work
        if work is None or len(work.velocity) != system.nv:
            work = self._work = NewtonWork(system)
            work.trust = self._trust
        theta, adaptive = self._theta, self._config.adaptive
        shortest = self._step * _SHORTEST
        # kept only with an accepted step, so that a step that failed can be repeated
        length, easy = self._length, self._easy
        while True:
            h, t_end = step_towards(self._step, length, state.time, t_stop)
            solved = self._solve(system, state, h, work)
            error = self._local_error(state, work.velocity, h) if solved.converged else 0.0
            short = h <= shortest * (1.0 + 1e-9)
            if solved.converged and (error <= self._config.local_error or short or not adaptive):
                break
            if not adaptive or short:
                return StepReport(
                    accepted=False,
                    step=h,
                    iterations=solved.iterations,
                    solve=solved.info,
                    note=_note(solved, cut=False),
                )
            length, easy = max(shortest, 0.5 * h), 0
        v = work.velocity
        self._adapt(length, easy, solved, error)
        if self._bounded:
            self._acceleration, self._lasted = (v - state.v) / h, h
        out.v[:] = v
        np.multiply(v, theta, out=work.trial)
        work.trial += (1.0 - theta) * state.v
        self._history.take(work.trial, v, h)
        system.integrate(state, work.trial, h, state, out)
        out.time = t_end
        return StepReport(
            accepted=True, step=h, iterations=solved.iterations, solve=solved.info,
            note=_note(solved, cut=length < self._step),
        )  # fmt: skip

    def _solve(self, system: System, state: State, h: float, work: NewtonWork) -> Solved:
        """Newton's method from every guess in turn until one converges."""
        iterations, step = 0, system.theta
        usable = self._settings.reuse > 0.0 and self._kept.usable(system, h)
        solved = UNSOLVED
        for guess in self._history.guesses(state.v, h):
            step.begin_step(state, h)
            work.velocity[:] = guess
            if usable:
                usable = False
                chord = chord_steps(step, self._theta, self._settings, work)
                if chord is not None:
                    return chord
                self._kept.failed()
            solved = solve_end_velocity(step, self._theta, self._settings, work)
            iterations += solved.iterations
            if solved.converged:
                self._kept.take(system, state, work.about, h, solved.shift)
                break
        return solved._replace(iterations=iterations)

    def _local_error(self, state: State, velocity: Array, h: float) -> float:
        """The left side of (2) [m or rad]; 0 where it is not asked for."""
        if not self._bounded:
            return 0.0
        change = velocity - state.v
        before = self._acceleration
        # without a step before, the bound of first order is the cautious one
        if self._theta == 1.0 or before is None:
            return 0.5 * h * float(np.max(np.abs(change), initial=0.0))
        jerk = (change / h - before) * (2.0 / (h + self._lasted))
        return h**3 / 12.0 * float(np.max(np.abs(jerk), initial=0.0))

    def _adapt(self, length: float, easy: int, solved: Solved, error: float) -> None:
        """Keep the length of the next step; a cut one doubles after five easy steps in a row."""
        if length < self._step:
            simple = solved.iterations <= _EASY_ITERATIONS and error <= 0.25 * self._config.local_error
            easy = easy + 1 if simple else 0
            if easy >= _EASY_STEPS:
                length, easy = min(self._step, 2.0 * length), 0
        self._length, self._easy = length, easy


def _note(solved: Solved, *, cut: bool) -> str:
    if solved.shift:
        return f"step matrix not positive definite: shifted by {solved.shift:g} times the mass"
    return "steps cut, so that they converge and keep any bound on their error" if cut else ""
