"""Newton's method for one step of the coupled family: the end velocity v with ρ(v) = Jᵀλ.

    A_k·Δ = −(ρ(v_k) − J_bᵀλ_b − J_cᵀλ_c),    v_{k+1} = v_k + s·Δ                          (1)

s from a line search. Without impulses (contact potentials, or no contact) the matrix is kept while the
chord steps δ = −A_k⁻¹·ρ(v_{k+1}) contract by `reuse` and two of them are enough, which saves its assembly and
factorisation; and |δ| is how far v_{k+1} is off, so the step ends when

    max|δ| ≤ tolerance·(1 + max|v|)/(1 + σ)                                              (2)

With impulses every iterate solves a new contact problem, and it ends when Δ itself is that small. Where A_k
is not positive definite, σ·M·Δ is added on the left of (1) with the first σ = 1, 4, 16, … that makes it so.

Source for the chord and its estimate: Deuflhard (2011), "Newton Methods for Nonlinear Problems", 3.3.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from attrs import evolve, frozen

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.data.status import Residuals, SolveInfo, Status
from corekit.roles.integrator import System
from corekit_timestep.line_search import natural_search, residual_search

__all__ = ["NewtonSettings", "NewtonWork", "Solved", "chord_steps", "solve_end_velocity"]

_LARGEST_SHIFT = 1e12
_CHORD_STEPS = 5


@frozen
class NewtonSettings:
    """tolerance [-] and reuse [-] of the equations above; the most linear solves a step."""

    tolerance: float = 1e-8
    max_iterations: int = 30
    reuse: float = 0.25


class NewtonWork:
    """Vectors of one system, shape (nv,): v, v⁺ of the linear solve, Δ, δ, trial velocity, v_k of A_k."""

    __slots__ = ("about", "after", "change", "correction", "trial", "velocity")

    def __init__(self, velocities: int) -> None:
        self.velocity, self.after, self.change, self.correction, self.trial, self.about = np.zeros(
            (6, velocities)
        )


class Solved(NamedTuple):
    """How the iteration ended: whether it converged, the last solve with its residuals, linear solves, σ."""

    converged: bool
    info: SolveInfo
    iterations: int
    shift: float


def solve_end_velocity(
    system: System, start: State, h: float, theta: float, settings: NewtonSettings, work: NewtonWork
) -> Solved:
    """Improve the guess in `work.velocity` until it solves the step; the system has begun it.

    Args:
        system: at the begin of the step.
        start: state at the start.
        h, theta: step [s] and θ [-].
        settings: when to end.
        work: its `velocity` holds the guess and then the answer.
    """
    v, after, change = work.velocity, work.after, work.change
    iterations, shift, info = 0, 0.0, SolveInfo()
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        while iterations < settings.max_iterations:
            info, shift = _solve_linear(system, start, h, theta, shift, work)
            iterations += 1
            if info.status is Status.SINGULAR:
                return Solved(False, info, iterations, shift)
            np.subtract(after, v, out=change)
            if not np.isfinite(change).all():
                return Solved(False, evolve(info, status=Status.NON_FINITE), iterations, shift)
            ended = _follow(system, start, h, theta, shift, settings, work)
            if ended is not None:
                return Solved(ended, _measured(info, system, ended), iterations, shift)
    return Solved(False, _measured(info, system, False), iterations, shift)


def chord_steps(
    system: System, start: State, h: float, theta: float, settings: NewtonSettings, work: NewtonWork
) -> Solved | None:
    """Solve the step by chord steps with the factorisation at hand, an earlier step's; None where that does not pay.

    They go on while each is at most `reuse` times the one before and two more would be enough. `work.velocity` holds
    the answer, or is left where they came to, which is nearer to it than the guess.
    """
    v, change, correction = work.velocity, work.change, work.correction
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        system.evaluate(start, v, h, theta)
        if not system.correction(change):
            return None
        before = _norm(change)
        for _ in range(_CHORD_STEPS):
            v += change
            system.evaluate(start, v, h, theta)
            if not system.correction(correction):
                return None
            size = _norm(correction)
            if not size < before:
                v -= change
                return None
            small = _small(settings, v, 0.0)
            if size <= small or float(np.max(np.abs(correction))) <= small:
                residuals = Residuals(equation=system.residual())
                # chord steps stop short on the same side in every step: without the last one that adds up
                v += correction
                return Solved(
                    True,
                    SolveInfo(Status.CONVERGED, residuals=residuals, answered_by="factorisation"),
                    0,
                    0.0,
                )
            rate = size / before
            if rate > settings.reuse or size * rate * rate > small:
                return None
            change[:], before = correction, size
    return None


def _norm(vector: Array) -> float:
    return math.sqrt(vector @ vector)


def _small(settings: NewtonSettings, velocity: Array, shift: float) -> float:
    """The right side of (2)."""
    return settings.tolerance * (1.0 + float(np.max(np.abs(velocity), initial=0.0))) / (1.0 + shift)


def _solve_linear(
    system: System, start: State, h: float, theta: float, shift: float, work: NewtonWork
) -> tuple[SolveInfo, float]:
    """Linearise at v and solve (1) into `work.after`, lifting an indefinite matrix."""
    work.about[:] = work.velocity
    system.linearise(start, work.velocity, h, theta, shift=shift)
    info = system.solve(work.after)
    while info.status is Status.SINGULAR and shift < _LARGEST_SHIFT and np.isfinite(work.velocity).all():
        shift = max(1.0, 4.0 * shift)
        system.linearise(start, work.velocity, h, theta, shift=shift)
        info = system.solve(work.after)
    return info, shift


def _measured(info: SolveInfo, system: System, converged: bool) -> SolveInfo:
    """The last solve's outcome with the measured residual of the step equation."""
    status = info.status
    if not converged and status.solved:
        status = Status.ITERATION_LIMIT
    return evolve(info, status=status, residuals=evolve(info.residuals, equation=system.residual()))


def _follow(
    system: System,
    start: State,
    h: float,
    theta: float,
    shift: float,
    settings: NewtonSettings,
    work: NewtonWork,
) -> bool | None:
    """Take Δ, and chord steps after it; True: converged, False: no progress, None: linearise anew."""
    v, change, correction, trial = work.velocity, work.change, work.correction, work.trial
    small = _small(settings, v, shift)

    def corrected(velocity: Array) -> bool:
        system.evaluate(start, velocity, h, theta)
        return system.correction(correction)

    def residual(velocity: Array) -> float:
        system.evaluate(start, velocity, h, theta)
        return system.residual()

    if system.holds_impulses:
        before = system.residual()
        if float(np.max(np.abs(change), initial=0.0)) <= small:
            v[:] = work.after
            return True
        residual_search(residual, v, change, before, trial)
        v[:] = trial
        return None
    fresh = True
    while True:
        before = _norm(change)
        found = natural_search(corrected, v, change, correction, trial, enough=small)
        if not found.share:
            return False if fresh else None
        v[:] = trial
        if not found.available:
            return None
        if float(np.max(np.abs(correction), initial=0.0)) <= small:
            return True
        # a chord step is worth its force where two of them are enough; else the next matrix gains more
        rate = found.size / before
        if found.share < 1.0 or rate > settings.reuse or found.size * rate * rate > small:
            return None
        change[:] = correction
        fresh = False
