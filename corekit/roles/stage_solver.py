"""Newton's method for one implicit stage, for any integrator: the end velocity v of a θ step with ρ(v) = Jᵀλ.

    A_k·Δ = −(ρ(v_k) − J_bᵀλ_b − J_cᵀλ_c),    v_{k+1} = v_k + s·Δ                          (1)

Where A_k is not positive definite, σ·M·Δ is added on the left with the first σ = 1, 4, 16, … that makes it so. All
norms weigh every entry by the `velocity_scale` of the world, so that spinning angles count as surface speeds.

Line search. Natural monotonicity, with the same matrix for all s = 1, ½, ¼, …:

    |A⁻¹·ρ(v + s·Δ)| ≤ (1 − s/4)·|Δ|                                                       (2)

Unlike the residual, (2) does not change when equations are scaled: the stiff stretch of a rod, whose residual is
large while the velocity is nearly right, does not slow it down. Impulses leave no such A⁻¹; there the residual must
fall with the impulses fixed,

    |ρ(v + s·Δ) − Jᵀλ| ≤ (1 − s/10)·|ρ(v) − Jᵀλ|                                           (3)

Chord steps. Without impulses the matrix is kept while the increments δ = −A_k⁻¹·ρ(v_{k+1}) contract by `reuse` and
two of them are enough, which saves assembly and factorisation. v_{k+1} + δ is off by less than 2·κ·|δ| where they
contract by κ < ½. So the last δ is added too, and the stage is solved when

    min(1, 2·κ)·max|δ| ≤ ε(v)/(1 + σ)                                                      (4)

with ε the `error_bound` of the world: the tolerance times the largest speed of the step, or what rounding leaves.

The κ′ of an earlier stage predicts the next ones: up to 16 stages in a row end after their first increment, without a
look at the residual there, by

    max(1, 4·κ′)·max|Δ| ≤ right side of (4)                                                (5)

With impulses δ is the step to the solution F(v) of the contact problem about v, with A_k for all v and gaps, rows and
ρ of v. Its fixed point solves the stage, whatever A_k is. Where F contracts by κ there, |v* − F(v)| ≤ κ/(1 − κ)·|δ|, so
(4) holds for it as well. But contacts stop some directions and leave others, and one quotient of increments gives the
contraction along one of them. The κ of (4) is therefore the largest of this stage and of those before it, the latter
halved from stage to stage. Rows of constraints and joints stand in the factorised matrix and would be those of v_k:
with them every iterate is linearised anew, and the stage is solved when Δ itself is that small.

Gaps are known to rounding of places, which a contact near a clamp passes on to the far end many times as large: Δ does
not fall below that. Where it stops falling while impulses act, ε is the `error_bound` of the world `in_contact`.

Source for (2) and the chord's estimate: Deuflhard (2011), "Newton Methods for Nonlinear Problems", 3.3; for (5):
Hairer and Wanner (1996), "Solving Ordinary Differential Equations II", IV.8, which keeps the contraction too.
"""

from __future__ import annotations

import math
from typing import NamedTuple, final

import numpy as np
from attrs import evolve, frozen

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit.data.status import Residuals, SolveInfo, Status
from corekit.roles.integrator import System

__all__ = [
    "FIRST_CONTRACTION",
    "UNCHANGED",
    "StageSettings",
    "StageSolution",
    "StageSolver",
    "surface_speed",
    "velocity_norms",
]

_LARGEST_SHIFT = 1e12
_CHORD_STEPS = 5
_TRUSTED = 16
FIRST_CONTRACTION = math.inf, 0, 1.0
"""`StageSolver.contraction` before any stage: nothing is relied on."""
UNCHANGED = 1e-10
"""Tolerance within which a problem without impulses returns the velocity of the smooth motion."""
_SMALLEST_FRACTION = 2.0**-10
"""Below this fraction of an increment no progress is possible: the step size is too large."""
_SMALLEST_FRACTION_WITH_IMPULSES = 2.0**-6
_STANDS_STILL = 0.5
"""Increments fall no more from this share of the smallest one before."""


@compiled
def velocity_norms(vector: Array, scale: Array) -> tuple[float, float]:
    """Return √(Σ(rᵢ·vᵢ)²) and max|rᵢ·vᵢ| of a velocity with the weights r, both (n,); nan where one is nan."""
    square, largest = 0.0, 0.0
    for i in range(len(vector)):
        value = abs(vector[i] * scale[i])
        square += value * value
        largest = max(largest, value)
    return math.sqrt(square), largest if square == square else math.nan


def surface_speed(system: System, velocity: Array) -> float:
    """max|rᵢ·vᵢ| of a velocity of a world, (nv,), with its `velocity_scale` r [m/s]."""
    scale = system.velocity_scale
    return velocity_norms(velocity, np.ones(len(velocity)) if scale is None else scale)[1]


@frozen
class StageSettings:
    """When a stage is solved.

    Args:
        tolerance: of (4) [-].
        max_iterations: most linear solves of a stage.
        reuse: largest contraction at which a factorisation is kept [-]; 0 factorises every time.
    """

    tolerance: float = 1e-8
    max_iterations: int = 30
    reuse: float = 0.25


class StageSolution(NamedTuple):
    """Whether the stage converged, its last solve with the residuals, the number of linear solves, and σ.

    `chord_steps` is how many steps with the factorisation of an earlier stage solved it. Where a stage ran out of
    iterations, `had_impulses` says whether impulses acted; `last_change` is then the last increment of v⁺, a buffer.
    """

    converged: bool
    info: SolveInfo
    iterations: int
    shift: float
    chord_steps: int = 0
    had_impulses: bool = False
    last_change: Array | None = None


class _Fraction(NamedTuple):
    """Fraction of an increment that the line search accepted (0: none), and the norms of (2) there."""

    fraction: float
    norm: float
    largest: float = 0.0


@final
class StageSolver:
    """Solves stages of one world.

    One stage: `system.theta.begin_step`, an initial guess in `velocity`, then `solve`.

    Args:
        system: the world.
        theta: θ of the stages [-].
        settings: when a stage is solved.

    Attributes:
        theta: θ of the next stage.
        velocity: v, the initial guess and then the solution, shape (nv,).
        linearised_at: v_k of the last matrix, shape (nv,).
        contraction: κ of the last stage without impulses that measured it, the number of stages that relied on a κ
            since one was measured, and the κ of stages with impulses. It is internal state: an integrator saves and
            restores it.
    """

    def __init__(self, system: System, theta: float, settings: StageSettings | None = None) -> None:
        n = system.nv
        self._step, self.theta, self._settings = system.theta, theta, settings or StageSettings()
        self._error_bound, self._smallest = system.error_bound, math.inf
        self._scale = np.ones(n) if system.velocity_scale is None else system.velocity_scale
        self.velocity, self.linearised_at = np.zeros((2, n))
        self._solved, self._increment, self._correction, self._trial = np.zeros((4, n))
        self.contraction = FIRST_CONTRACTION

    def solve(self) -> StageSolution:
        """Improve `velocity` until it solves the stage of the step that was begun."""
        iterations, shift, info, has_impulses = 0, 0.0, SolveInfo(), False
        self._smallest = math.inf
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            while iterations < self._settings.max_iterations:
                info, shift, has_impulses = self._solve_linear(shift)
                iterations += 1
                if info.status is Status.SINGULAR:
                    return StageSolution(False, info, iterations, shift)
                norm, largest = self._norms(self._increment)
                if not math.isfinite(norm):
                    return StageSolution(False, evolve(info, status=Status.NON_FINITE), iterations, shift)
                if has_impulses:
                    found = self._follow_with_impulses(info, shift, norm, largest)
                    if found is not None:
                        return StageSolution(True, found, iterations, shift)
                    continue
                ended = self._follow(shift, norm, largest)
                if ended is not None:
                    return StageSolution(ended, self._measured(info, ended), iterations, shift)
        info, last = self._measured(info, False), self._increment if has_impulses else None
        return StageSolution(False, info, iterations, shift, had_impulses=has_impulses, last_change=last)

    def solve_by_chord_steps(self) -> StageSolution | None:
        """Solve the stage with the current factorisation, of an earlier stage; None where that does not pay.

        Chord steps go on while each is at most `reuse` times the one before and two more would be enough. Otherwise
        `velocity` is left where they led, which is nearer to the solution than the initial guess.
        """
        v, increment = self.velocity, self._increment
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            self._step.update_residual(v, self.theta)
            info, has_impulses = self._correct(increment)
            if not info.status.solved:
                return None
            norm, largest = self._norms(increment)
            if self._trusts(largest, self._small(0.0), has_impulses):
                info = self._measured(info, True)
                v[:] = self._solved
                return StageSolution(True, info, 0, 0.0, 1)
            v[:] = self._solved
            self._step.update_residual(v, self.theta)
            info, steps = self._follow_chord(norm, 0.0, takes_back=True)
        return None if info is None else StageSolution(True, info, 0, 0.0, 1 + steps)

    def _follow_chord(
        self, before: float, shift: float, *, takes_back: bool = False
    ) -> tuple[SolveInfo | None, int]:
        """Make chord steps from v while they pay; return the outcome where the stage is solved, and their number.

        Args:
            before: norm of the increment that led to v, where the residual is known.
            shift: σ of the matrix.
            takes_back: whether to undo that increment, in `_increment`, where the next one is not smaller.
        """
        v, increment, correction = self.velocity, self._increment, self._correction
        largest_rate = 0.0
        for steps in range(1, _CHORD_STEPS + 1):
            info, has_impulses = self._correct(correction)
            if not info.status.solved:
                return None, steps
            norm, largest = self._norms(correction)
            rate, small = norm / before if before else 1.0, self._small(shift)
            largest_rate = max(rate, largest_rate)
            expected = max(largest_rate, self.contraction[2]) if has_impulses else rate
            if largest * min(1.0, 2.0 * expected) <= small:
                free, _, bound = self.contraction
                if before > small:  # else both are rounding
                    bound, free = (max(largest_rate, 0.5 * bound), free) if has_impulses else (bound, rate)
                self.contraction = free, 0, bound
                info = self._measured(info, True)
                # chord steps stop short on the same side in every step: without the last one that adds up
                v[:] = self._solved
                return info, steps
            if not norm < before and takes_back:
                v -= increment
            if not rate <= self._settings.reuse or 2.0 * norm * rate**3 > small:
                return None, steps
            v[:], increment[:], before, takes_back = self._solved, correction, norm, True
            self._step.update_residual(v, self.theta)
        return None, _CHORD_STEPS

    def _correct(self, out: Array) -> tuple[SolveInfo, bool]:
        """Write Δ of a chord step at v, and v + Δ to `_solved`, if that was solved. Also whether impulses act."""
        info = self._step.compute_newton_increment(out)
        if info is not None:
            np.add(self.velocity, out, out=self._solved)
            return info, False
        info = self._step.solve(self._solved, chord=True)
        np.subtract(self._solved, self.velocity, out=out)
        return info, True

    def _norms(self, vector: Array) -> tuple[float, float]:
        """|·| and max|·| of a velocity; the first is not finite where an entry is not."""
        return velocity_norms(vector, self._scale)

    def _small(self, shift: float) -> float:
        """The right side of (4)."""
        return self._error_bound(self.velocity, self._settings.tolerance) / (1.0 + shift)

    def _measured(self, info: SolveInfo, converged: bool) -> SolveInfo:
        """The last solve's outcome with the measured residual of the step equation."""
        status = info.status
        if not converged and status.solved:
            status = Status.ITERATION_LIMIT
        own = info.residuals
        residual = self._step.momentum_residual()
        residuals = Residuals(own.normal, own.friction, own.cone, residual, own.compliance)
        return SolveInfo(status, info.iterations, residuals, info.answered_by)

    def _solve_linear(self, shift: float) -> tuple[SolveInfo, float, bool]:
        """Linearise at v and solve (1) for Δ with the first σ that is enough; also whether impulses act."""
        v = self.velocity
        while True:
            self._step.linearise(v, self.theta, shift=shift)
            info = self._step.compute_newton_increment(self._increment)
            has_impulses = info is None
            if info is None:
                info = self._step.solve(self._solved)
                np.subtract(self._solved, v, out=self._increment)
            if info.status is not Status.SINGULAR or shift >= _LARGEST_SHIFT or not np.isfinite(v).all():
                self.linearised_at[:] = v
                return info, shift, has_impulses
            shift = max(1.0, 4.0 * shift)

    def _follow_with_impulses(
        self, info: SolveInfo, shift: float, norm: float, largest: float
    ) -> SolveInfo | None:
        """Add Δ of these norms by (3), then chord steps; the outcome where the stage is solved, None: linearise again.

        Which contacts are closed may change on the way, so (3) can fail for every fraction although the whole
        increment is good; then the whole one is added and the next iteration judges it.
        """
        v, trial = self.velocity, self._trial
        before = self._step.momentum_residual()
        if largest <= self._small(shift) or self._is_rounding_of_gaps(shift, largest):
            info = self._measured(info, True)
            v[:] = self._solved
            return info
        fraction = 1.0
        while fraction >= _SMALLEST_FRACTION_WITH_IMPULSES:
            self._set_trial(fraction)
            self._step.update_residual(trial, self.theta)
            if self._step.momentum_residual() <= (1.0 - 0.1 * fraction) * before:
                break
            fraction *= 0.5
        else:
            np.add(v, self._increment, out=trial)
        v[:] = trial
        return self._follow_chord(norm, shift)[0] if fraction == 1.0 and self._settings.reuse else None

    def _is_rounding_of_gaps(self, shift: float, largest: float) -> bool:
        """Whether max|Δ| has stopped falling, at what rounding of gaps leaves."""
        stands = largest > _STANDS_STILL * self._smallest
        self._smallest = min(self._smallest, largest)
        if not stands:
            return False
        bound = self._error_bound(self.velocity, self._settings.tolerance, in_contact=True)
        return largest <= bound / (1.0 + shift)

    def _follow(self, shift: float, norm: float, largest: float) -> bool | None:
        """Add Δ of these norms and chord steps; True: converged, False: no progress, None: linearise again."""
        v, increment, correction = self.velocity, self._increment, self._correction
        small = self._small(shift)
        if not shift and self._trusts(largest, small, False):
            v += increment
            return True
        fresh = True
        while True:
            found = self._search(norm, small)
            if found is not None and not found.fraction:
                return False if fresh else None
            v[:] = self._trial
            if found is None:
                return None
            whole = found.fraction == 1.0
            rate = found.norm / norm if whole and norm else 1.0
            if fresh and whole:
                self.contraction = rate, 0, self.contraction[2]
            if found.largest * min(1.0, 2.0 * rate) <= small:
                v += correction
                return True
            # a chord step is worth its force where two of them are enough; else the next matrix gains more
            if not whole or rate > self._settings.reuse or 2.0 * found.norm * rate**3 > small:
                return None
            increment[:], norm = correction, found.norm
            fresh = False

    def _trusts(self, largest: float, small: float, has_impulses: bool) -> bool:
        """Whether (5) holds for max|Δ| = `largest`; counts the stages that rely on it."""
        free, count, bound = self.contraction
        good = count < _TRUSTED and max(1.0, 4.0 * (bound if has_impulses else free)) * largest <= small
        self.contraction = free, count + good, bound
        return good

    def _search(self, norm: float, small: float) -> _Fraction | None:
        """Find a fraction of Δ by (2); the trial ends as v + s·Δ and the correction as −A⁻¹·ρ(trial).

        A correction up to `small` is accepted in any case: it is rounding. None where impulses begin to act.
        """
        fraction = 1.0
        while fraction >= _SMALLEST_FRACTION:
            self._set_trial(fraction)
            self._step.update_residual(self._trial, self.theta)
            if self._step.compute_newton_increment(self._correction) is None:
                return None
            found, largest = self._norms(self._correction)
            if found <= (1.0 - 0.25 * fraction) * norm or largest <= small:
                return _Fraction(fraction, found, largest)
            fraction *= 0.5
        return _Fraction(0.0, norm)

    def _set_trial(self, fraction: float) -> None:
        np.multiply(self._increment, fraction, out=self._trial)
        self._trial += self.velocity
