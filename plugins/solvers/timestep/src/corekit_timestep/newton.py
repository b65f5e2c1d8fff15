"""Newton's method for one step of the coupled family: the end velocity v with ρ(v) = Jᵀλ.

    A_k·Δ = −(ρ(v_k) − J_bᵀλ_b − J_cᵀλ_c),    v_{k+1} = v_k + s·Δ                          (1)

s from a line search. Without impulses (contact potentials, or no contact) the matrix is kept while the
chord steps δ = −A_k⁻¹·ρ(v_{k+1}) contract by `reuse` and two of them are enough, which saves its assembly and
factorisation. |δ| is how far v_{k+1} is off, and v_{k+1} + δ is off by less than 2·κ·|δ| where the steps contract by
κ < ½. So the last δ is taken too, and the step ends when

    min(1, 2·κ)·max|δ| ≤ tolerance·(1 + max|v|)/(1 + σ)                                  (2)

A Newton step of an earlier time step with κ′ tells what the next are worth: up to 16 in a row end their steps by

    max(1, 4·κ′)·max|Δ| ≤ right side of (2)                                              (3)

without a look at where they lead. With impulses every iterate solves a new contact problem, and it ends when Δ itself
is that small. Where A_k is not positive definite, σ·M·Δ is added on the left of (1) with the first σ = 1, 4, 16, …
that makes it so. max|·| and norms count every entry times the model's `reach`, which makes surface speeds of angles
that spin.

Source for the chord and its estimate: Deuflhard (2011), "Newton Methods for Nonlinear Problems", 3.3; for (3): Hairer
and Wanner (1996), "Solving Ordinary Differential Equations II", IV.8, where the contraction is remembered too.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from attrs import evolve, frozen

from corekit.data.arrays import Array
from corekit.data.status import Residuals, SolveInfo, Status
from corekit.roles.integrator import System
from corekit.roles.steps import ThetaStep
from corekit_timestep.line_search import natural_search, residual_search
from corekit_timestep.sizes import sizes

__all__ = ["UNSOLVED", "NewtonSettings", "NewtonWork", "Solved", "chord_steps", "solve_end_velocity"]

_LARGEST_SHIFT = 1e12
_CHORD_STEPS = 5
_TRUSTED = 16


@frozen
class NewtonSettings:
    """tolerance [-] and reuse [-] of the equations above; the most linear solves a step."""

    tolerance: float = 1e-8
    max_iterations: int = 30
    reuse: float = 0.25


class NewtonWork:
    """Vectors of one system, shape (nv,): v, v⁺ of the linear solve, Δ, δ, trial velocity, v_k of A_k; its `reach`.

    And `trust`: κ of the last Newton step whose end was looked at, and how many were trusted since.
    """

    __slots__ = ("about", "after", "change", "correction", "reach", "trial", "trust", "velocity")

    def __init__(self, system: System) -> None:
        n = system.nv
        self.trust = math.inf, 0
        self.velocity, self.after, self.change, self.correction, self.trial, self.about = np.zeros((6, n))
        self.reach = np.ones(n) if system.velocity_scale is None else system.velocity_scale

    def sizes(self, vector: Array) -> tuple[float, float]:
        """|·| and max|·| of a velocity; the first is not finite where an entry is not."""
        return sizes(vector, self.reach)

    def trusts(self, largest: float, small: float) -> bool:
        """Whether a Newton step with max|Δ| = `largest` is as good as (3) tells; counts it."""
        contraction, count = self.trust
        good = count < _TRUSTED and max(1.0, 4.0 * contraction) * largest <= small
        self.trust = contraction, count + good
        return good


class Solved(NamedTuple):
    """How the iteration ended: whether it converged, the last solve with its residuals, linear solves, σ."""

    converged: bool
    info: SolveInfo
    iterations: int
    shift: float


UNSOLVED = Solved(False, SolveInfo(), 0, 0.0)


def solve_end_velocity(step: ThetaStep, theta: float, settings: NewtonSettings, work: NewtonWork) -> Solved:
    """Improve the guess in `work.velocity` until it solves the step that was begun.

    Args:
        step: begun.
        theta: θ [-].
        settings: when to end.
        work: its `velocity` holds the guess and then the answer.
    """
    change = work.change
    iterations, shift, info = 0, 0.0, UNSOLVED.info
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        while iterations < settings.max_iterations:
            info, shift, has_impulses = _solve_linear(step, theta, shift, work)
            iterations += 1
            if info.status is Status.SINGULAR:
                return Solved(False, info, iterations, shift)
            size, largest = work.sizes(change)
            if not math.isfinite(size):
                return Solved(False, evolve(info, status=Status.NON_FINITE), iterations, shift)
            ended = _follow(step, theta, shift, settings, work, size, largest, has_impulses)
            if ended is not None:
                return Solved(ended, _measured(info, step, ended), iterations, shift)
    return Solved(False, _measured(info, step, False), iterations, shift)


def chord_steps(step: ThetaStep, theta: float, settings: NewtonSettings, work: NewtonWork) -> Solved | None:
    """Solve the step by chord steps with the factorisation at hand, an earlier step's; None where that does not pay.

    They go on while each is at most `reuse` times the one before and two more would be enough. `work.velocity` holds
    the answer, or is left where they came to, which is nearer to it than the guess.
    """
    v, change, correction = work.velocity, work.change, work.correction
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        step.update_residual(v, theta)
        if step.compute_newton_increment(change) is None:
            return None
        before = work.sizes(change)[0]
        for _ in range(_CHORD_STEPS):
            v += change
            step.update_residual(v, theta)
            info = step.compute_newton_increment(correction)
            if info is None:
                return None
            size, largest = work.sizes(correction)
            if not size < before:
                v -= change
                return None
            rate = size / before
            small = _small(settings, work, 0.0)
            if largest * min(1.0, 2.0 * rate) <= small:
                info = _measured(info, step, True)
                # chord steps stop short on the same side in every step: without the last one that adds up
                v += correction
                return Solved(True, info, 0, 0.0)
            if rate > settings.reuse or 2.0 * size * rate**3 > small:
                return None
            change[:], before = correction, size
    return None


def _small(settings: NewtonSettings, work: NewtonWork, shift: float) -> float:
    """The right side of (2)."""
    return settings.tolerance * (1.0 + work.sizes(work.velocity)[1]) / (1.0 + shift)


def _solve_linear(
    step: ThetaStep, theta: float, shift: float, work: NewtonWork
) -> tuple[SolveInfo, float, bool]:
    """Linearise at v and solve (1) for `work.change` with the first σ that is enough; σ, whether impulses act."""
    v = work.velocity
    while True:
        step.linearise(v, theta, shift=shift)
        info = step.compute_newton_increment(work.change)
        has_impulses = info is None
        if info is None:
            info = step.solve(work.after)
            np.subtract(work.after, v, out=work.change)
        if info.status is not Status.SINGULAR or shift >= _LARGEST_SHIFT or not np.isfinite(v).all():
            work.about[:] = v
            return info, shift, has_impulses
        shift = max(1.0, 4.0 * shift)


def _measured(info: SolveInfo, step: ThetaStep, converged: bool) -> SolveInfo:
    """The last solve's outcome with the measured residual of the step equation."""
    status = info.status
    if not converged and status.solved:
        status = Status.ITERATION_LIMIT
    told = info.residuals
    residuals = Residuals(told.normal, told.friction, told.cone, step.momentum_residual(), told.compliance)
    return SolveInfo(status, info.iterations, residuals, info.answered_by)


def _follow(
    step: ThetaStep,
    theta: float,
    shift: float,
    settings: NewtonSettings,
    work: NewtonWork,
    size: float,
    largest: float,
    has_impulses: bool,
) -> bool | None:
    """Take Δ of these sizes, and chord steps after it; True: converged, False: no progress, None: linearise anew."""
    v, change, correction, trial = work.velocity, work.change, work.correction, work.trial
    small = _small(settings, work, shift)

    def corrected(velocity: Array) -> bool:
        step.update_residual(velocity, theta)
        return step.compute_newton_increment(correction) is not None

    def residual(velocity: Array) -> float:
        step.update_residual(velocity, theta)
        return step.momentum_residual()

    if has_impulses:
        before = step.momentum_residual()
        if largest <= small:
            v[:] = work.after
            return True
        residual_search(residual, v, change, before, trial)
        v[:] = trial
        return None
    if not shift and work.trusts(largest, small):
        v += change
        return True
    fresh = True
    while True:
        found = natural_search(corrected, v, change, size, correction, trial, work.sizes, enough=small)
        if not found.share:
            return False if fresh else None
        v[:] = trial
        if not found.available:
            return None
        rate = found.size / size if found.share == 1.0 and size else 1.0
        if fresh and found.share == 1.0:
            work.trust = rate, 0
        if found.largest * min(1.0, 2.0 * rate) <= small:
            v += correction
            return True
        # a chord step is worth its force where two of them are enough; else the next matrix gains more
        if found.share < 1.0 or rate > settings.reuse or 2.0 * found.size * rate**3 > small:
            return None
        change[:], size = correction, found.size
        fresh = False
