"""The search of `search` for many contacts, whose W is given by blocks: nothing here is quadratic in their number.

Newton's method goes first; where modes change little, it is the shortest way. Accelerated Gauss–Seidel sweeps
(`anderson`) go on from the best impulses where it makes no progress: they change many modes at once. Then patches of a
few contacts whose errors are the largest are solved (`contact_patch`): all others have converged long before; and a
small compliance of the contacts is removed (`compliant_path`), which shares loads among redundant contacts. Where such
a turn leaves most of the error, the path of compliant contacts is followed from nothing: it needs no modes. Large
patches that jam are left till then: for 60 contacts their interior points take 0.1 to 0.2 s, the path 6 ms.

Where the bodies are too many for linear equations, sweeps and patches take turns alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final, final

import numpy as np

from corekit.data.arrays import Array, BoolArray
from corekit.roles.contact import StepProblem
from corekit.roles.contact_blocks import ContactBlocks
from corekit_cone.anderson import AndersonHistory
from corekit_cone.block_newton import expand_step, linearise_contacts, respond
from corekit_cone.block_sweeps import (
    block_merit,
    split_contacts,
    sweep_touches,
    write_diagonal,
)
from corekit_cone.body_factor import BodyEquations
from corekit_cone.compliant import CompliantProblem
from corekit_cone.compliant_path import follow_path, remove_compliance
from corekit_cone.contact_patch import grow_patch, solve_patch
from corekit_cone.gauss_seidel import project_impulses
from corekit_cone.iteration import first_release, release
from corekit_cone.residuals import measure_errors, set_scales
from corekit_cone.touches import multiply_touches, new_touches

__all__ = ["BlockSearch"]

_NOTHING = np.zeros(0)
_NEWTON_STEPS: Final = 12
_HALVINGS: Final = 5
_LEAST_SHIFT, _FIRST_SHIFT, _MOST_SHIFT = 1e-8, 1e-6, 1.0
_SHIFT_FACTOR: Final = 1e-3
_PLATEAU: Final = 1e-6
"""As in `iteration`; ε is larger, since the matrix has entries of 1/ε."""
_PATIENCE, _SLOW = 3, 0.3
"""Newton's method pauses if so many steps have not decreased the error by this factor."""
_COMPLIANCE: Final = 1e-4
"""ε with which multiplier steps begin at the best impulses."""
_RELAXATION: Final = 60
"""Double sweeps over compliant contacts."""
_DIRECT: Final = 2000
"""Velocities up to which linear equations cost less than sweeps."""
_FIRST_ROUNDS, _MOST_ROUNDS, _IDLE = 32, 256, 3
"""Sweeps at first and at most, and after how many turns that do not halve the error the search ends."""
_PATCHES, _LEFT = 3, 0.1
"""Patches a turn; the path of compliant contacts is followed after the first turn that left more of the error."""
_SMALL_PATCH, _SWEEPS_BEFORE, _SWEEPS = 32, 16, 100
"""Contacts of a small patch; sweeps over a larger one before the path, and over others. Interior points follow 20."""
_LARGE_ROUNDS, _BETWEEN, _LARGE_IDLE = 20, 10, 16
"""The same with patches: sweeps before the first and between others, and turns."""
_SEEDS, _BAD = (8, 4, 16), 0.1
"""A patch grows from so many contacts in turn, whose errors are no smaller than this part of the largest."""
_MOST_AT_FIRST, _RING, _MOST_IN_PATCH = 80, 2, 200
"""Contacts of a patch; after so many idle turns each, it grows by one more ring of neighbours, up to so many."""
_PROGRESS, _STALLED, _LEAP = 0.8, 10, 3.0
"""Sweeps stall if the norm has not decreased by this factor for so many; it may grow by the last factor then."""


@final
class BlockSearch:
    """Searches the impulses of one problem.

    Args:
        problem, blocks: whose W is given by blocks.
        tolerance: largest relative error of a solution.
        limit: largest number of double sweeps, and of Newton's iterations.

    Attributes:
        impulse: λ with the least error so far, shape (R,). error: that.
        velocity: w of the impulses that were measured last, shape (R,).
        iterations: of Newton's method, also for compliant contacts, and double sweeps.
        method: the name of the last one that was needed.
    """

    def __init__(self, problem: StepProblem, blocks: ContactBlocks, tolerance: float, limit: int) -> None:
        self._problem, self._tolerance, self._limit = problem, tolerance, limit
        self._blocks = blocks
        self._equations: BodyEquations | None = None
        contacts, width = problem.contact_count, problem.rows_per_contact
        self._diagonal = np.empty((contacts, 3, 3))
        write_diagonal(self._blocks, width, self._diagonal)
        self._rho, self._reference, self._errors = np.empty((3, contacts))
        self._norm = math.inf
        set_scales(
            self._diagonal[:, range(width), range(width)].ravel(), problem.free_velocity, _NOTHING, _NOTHING, width,
            self._rho, self._reference,
        )  # fmt: skip
        self.velocity = np.empty(contacts * width)
        self._touches = new_touches(blocks, width)
        self._axes = np.empty((contacts, 7))
        split_contacts(self._diagonal, self._axes)
        self.impulse, self.error = np.zeros(contacts * width), math.inf
        self._now = self.impulse  # from which sweeps go on
        self.iterations = self._turn = self._idle = 0
        self._is_direct = self._leaves_jams = blocks.velocity_count <= _DIRECT
        self.method = "guess"

    def _measure(self, impulse: Array) -> float:
        """Write w of λ and the errors of its contacts; keep λ if the largest is the least; return the largest.

        Where a number is not finite the error is infinite.
        """
        problem, width = self._problem, self._problem.rows_per_contact
        multiply_touches(self._touches, width, problem.free_velocity, impulse, self.velocity)
        error, squares = measure_errors(
            width, problem.friction, self._rho, self._reference, impulse, self.velocity, self._errors
        )
        self._norm = math.sqrt(squares)
        if error < self.error:
            self.impulse[:], self.error = impulse, error
        return error

    def _merit(self, impulse: Array) -> float:
        problem, width = self._problem, self._problem.rows_per_contact
        multiply_touches(self._touches, width, problem.free_velocity, impulse, self.velocity)
        return block_merit(self._diagonal, width, problem.friction, self._reference, impulse, self.velocity)

    def _project(self, impulse: Array) -> None:
        problem = self._problem
        project_impulses(problem.rows_per_contact, problem.friction, _NOTHING, _NOTHING, impulse)

    def search(self, guess: Array) -> bool:
        """Search from a guess; return whether the tolerance is met."""
        self._measure(self.impulse.copy())
        start = guess.copy()
        self._project(start)
        self._measure(start)
        if self.error <= 1e-3 * self._tolerance:
            return True
        self._now = self.impulse.copy()
        return self._search_directly() if self._is_direct else self._search_by_sweeps()

    def _search_directly(self) -> bool:
        """Alternate from the best impulses, in which linear equations in the velocities of all bodies are solved."""
        newton, sweeps = ("newton", self._newton), ("gauss-seidel", self._sweep)
        multipliers, patch = ("compliant", self._remove_compliance), ("patches", self.solve_patch)
        turn = newton, sweeps, *(patch,) * _PATCHES, multipliers
        self._rounds = _FIRST_ROUNDS
        while self.iterations < self._limit and self._idle < _IDLE:
            before = self.error
            if self._is_solved_by(*turn):
                return True
            if self._leaves_jams and self.error > _LEFT * before:
                if self._is_solved_by(("compliant", self._follow_path)):
                    return True
                self._leaves_jams = False
            self._idle = self._idle + 1 if self.error > 0.5 * before else 0
            self._rounds = min(2 * self._rounds, _MOST_ROUNDS)
        return False

    def _search_by_sweeps(self) -> bool:
        """Alternate between sweeps and a patch, each from where the one before ended."""
        self._rounds = _LARGE_ROUNDS
        while self.iterations < self._limit and self._idle < _LARGE_IDLE:
            before = self.error
            if self._is_solved_by(("gauss-seidel", self._sweep), ("patches", self.solve_patch)):
                return True
            self._idle = self._idle + 1 if self.error > 0.5 * before else 0
            self._rounds = _BETWEEN
        return False

    def _is_solved_by(self, *methods: tuple[str, Callable[[], None]]) -> bool:
        """Go through methods, by name, until one meets the tolerance; return whether one does."""
        for self.method, method in methods:
            if self._is_direct:
                self._now = self.impulse.copy()
            method()
            if self.error <= self._tolerance:
                return True
        return False

    def solve_patch(self) -> None:
        """Solve the contacts with the largest errors and their neighbours, while the others keep their impulses.

        Where sweeps around a patch undo what it solved, its contacts lean on more than their neighbours: it grows.
        """
        problem, width = self._problem, self._problem.rows_per_contact
        now = self._now.copy()
        self._measure(now)
        patch = self._patch_of_largest_errors(_SEEDS[self._turn % len(_SEEDS)])
        self._turn += 1
        for _ in range(self._idle // _RING):
            grown = grow_patch(self._blocks, patch)
            if np.count_nonzero(grown) > _MOST_IN_PATCH:
                break
            patch = grown
        is_left = self._leaves_jams and np.count_nonzero(patch) > _SMALL_PATCH
        sweeps = _SWEEPS_BEFORE if is_left else _SWEEPS
        solved = solve_patch(problem, self._blocks, patch, now, self.velocity, 0.1 * self._tolerance, sweeps)
        now.reshape(-1, width)[patch] = solved
        self._measure(now)
        self._now = now

    def _patch_of_largest_errors(self, seeds: int) -> BoolArray:
        """Grow a patch from so many contacts, or from fewer where it would hold too many, shape (m,)."""
        errors = self._errors
        order = np.argsort(errors)
        while True:
            worst, is_seed = order[-seeds:], np.zeros(len(errors), dtype=bool)
            is_seed[worst] = errors[worst] > max(_BAD * errors[order[-1]], self._tolerance)
            patch = grow_patch(self._blocks, is_seed)
            if seeds == 1 or np.count_nonzero(patch) <= _MOST_AT_FIRST:
                return patch
            seeds //= 2

    def _sweep(self) -> None:
        """Apply double sweeps from the best impulses, accelerated, until they meet the tolerance or the rounds end.

        A step of the acceleration is accepted if it leaves no larger norm than the sweeps. Loads that move between
        redundant contacts change the norm by little until one of them lets go or begins to slide: where the norm
        stalls, a step leads there, even if the norm grows.
        """
        problem, width = self._problem, self._problem.rows_per_contact
        now, history = self._now, AndersonHistory(len(self._now))
        self._measure(now)
        norm = least = self._norm
        stalled = 0
        for _ in range(self._rounds):
            after = now.copy()
            # the bodies' velocities are those of `now`
            sweep_touches(
                self._touches,
                width,
                self._diagonal,
                self._axes,
                problem.friction,
                problem.free_velocity,
                after,
                1,
            )
            self.iterations += 1
            if self._measure(after) <= self._tolerance or self.iterations >= self._limit:
                return
            swept = self._norm
            step, bar = history.step(after, after - now), max(swept, norm)
            now, norm = after, swept
            least, stalled = (norm, 0) if norm < _PROGRESS * least else (least, stalled + 1)
            if step is None:
                continue
            for is_whole in (True, False):
                fraction = 1.0 if is_whole else first_release(width, problem.friction, after, step)
                trial = after + fraction * step
                self._project(trial)
                if self._measure(trial) <= self._tolerance:
                    return
                if self._norm < bar:
                    now, norm = trial, self._norm
                    break
                bar = _LEAP * swept if stalled > _STALLED else swept
            else:
                self._measure(after)
            if stalled > _STALLED:
                stalled = 0
        self._now = now

    def _newton(self) -> None:
        """Iterate Newton's method from the best impulses."""
        problem, width, blocks = self._problem, self._problem.rows_per_contact, self._blocks
        equations, friction = self._body_equations(), problem.friction
        impulse = self.impulse.copy()
        now = self._merit(impulse)
        earlier = [now] * 4
        shift = min(max(_SHIFT_FACTOR * math.sqrt(now), _LEAST_SHIFT), _FIRST_SHIFT)
        rhs = np.empty(blocks.velocity_count)
        slope, constant = np.empty((problem.contact_count, width, width)), np.empty(len(impulse))
        step = np.empty(len(impulse))
        errors = [self.error]
        for _ in range(_NEWTON_STEPS):
            if len(errors) > _PATIENCE and errors[-1] > _SLOW * errors[-1 - _PATIENCE]:
                return
            self.iterations += 1
            linearise_contacts(
                width, self._diagonal, friction, shift, impulse, self.velocity, slope, constant
            )
            respond(blocks, width, constant, rhs)
            if not equations.factorise(slope):
                return
            expand_step(blocks, width, slope, constant, equations.solve(rhs), step)
            if not np.isfinite(step).all():
                return
            bar = max(now, *earlier)
            smallest, fraction, kept = self._line_search(impulse, step, bar)
            earlier = [now, *earlier[:3]]
            if not smallest < (1.0 + _PLATEAU) * bar:
                if shift >= _MOST_SHIFT:
                    return
                shift *= 100.0
                self._merit(impulse)
                errors.append(self.error)
                continue
            shift = max(0.1 * shift, _LEAST_SHIFT) if fraction == 1.0 else min(4.0 * shift, _MOST_SHIFT)
            now, before = smallest, self.error
            impulse = kept.copy()
            self._project(kept)
            self._measure(kept)
            errors.append(self.error)
            if self.error <= self._tolerance and (
                self.error <= 1e-5 * self._tolerance or not self.error < 0.1 * before
            ):
                return
            self._merit(impulse)

    def _body_equations(self) -> BodyEquations:
        if self._equations is None:
            self._equations = BodyEquations(self._blocks, self._problem.rows_per_contact)
        return self._equations

    def _compliant_problem(self) -> CompliantProblem:
        return CompliantProblem(
            self._problem, self._blocks, self._body_equations(), self._rho, float(self._reference[0])
        )

    def _remove_compliance(self) -> None:
        """Remove the effect of a small compliance by multiplier steps from the best impulses."""
        start = self.impulse.copy()
        count, _ = remove_compliance(
            self._compliant_problem(), _COMPLIANCE, start, start, self._measure, self._tolerance
        )
        self.iterations += count

    def _follow_path(self) -> None:
        """Follow the path of contacts whose compliance vanishes, from nothing."""
        self.iterations += follow_path(
            self._compliant_problem(), self.impulse.copy(), self._relax, self._measure, self._tolerance,
            self._limit - self.iterations,
        )  # fmt: skip

    def _relax(self, impulse: Array, compliance: float) -> Array:
        """Return impulses after sweeps over contacts with the compliance ε·D of `compliant`."""
        problem, width, after = self._problem, self._problem.rows_per_contact, impulse.copy()
        diagonal, axes = self._diagonal.copy(), np.empty_like(self._axes)
        diagonal[:, range(3), range(3)] += (compliance / self._rho)[:, None]
        split_contacts(diagonal, axes)
        multiply_touches(self._touches, width, problem.free_velocity, after, self.velocity)
        sweep_touches(
            self._touches, width, self._diagonal, axes, problem.friction, problem.free_velocity, after, _RELAXATION
        )  # fmt: skip
        return after

    def _line_search(self, impulse: Array, step: Array, bar: float) -> tuple[float, float, Array]:
        """Return the least squared norm of some fractions of a step, its fraction and its impulses."""
        problem, width = self._problem, self._problem.rows_per_contact
        fraction, smallest, smallest_fraction, kept = 1.0, math.inf, 0.0, impulse
        for halving in range(_HALVINGS + 1):
            if halving == _HALVINGS:
                fraction = first_release(width, problem.friction, impulse, step)
                if fraction == 0.0:
                    break
            trial = impulse + fraction * step
            for is_projected in (False, True):
                if is_projected:
                    self._project(trial)
                else:
                    release(width, problem.friction, _NOTHING, _NOTHING, trial)
                value = self._merit(trial)
                if value < smallest:
                    smallest, smallest_fraction, kept = value, fraction, trial.copy()
                if value <= (1.0 - 1e-4 * fraction) * bar:
                    return smallest, smallest_fraction, kept
            fraction *= 0.5
        return smallest, smallest_fraction, kept
