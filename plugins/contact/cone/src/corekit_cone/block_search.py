"""The search of `search` for many contacts, whose W is given by blocks: nothing here is quadratic in their number.

Newton's method goes first. Where it stops without a solution, or where the bodies are too many for its linear
equations, Gauss–Seidel sweeps go on from the best impulses, accelerated (`anderson`).
"""

from __future__ import annotations

import math
from typing import Final, final

import numpy as np

from corekit.data.arrays import Array
from corekit.roles.contact_blocks import BlockContactProblem, multiply_blocks
from corekit_cone.anderson import AndersonHistory
from corekit_cone.block_newton import assemble_bodies, count_entries, expand_step, linearise_contacts
from corekit_cone.block_sweeps import block_merit, set_block_scales, sweep_blocks, write_diagonal
from corekit_cone.body_order import order_bodies
from corekit_cone.gauss_seidel import project_impulses
from corekit_cone.iteration import first_release, release
from corekit_cone.residuals import measure_error

__all__ = ["BlockSearch"]

_NOTHING = np.zeros(0)
_NEWTON_STEPS: Final = 30
_HALVINGS: Final = 5
_LEAST_SHIFT, _FIRST_SHIFT, _MOST_SHIFT = 1e-8, 1e-6, 1.0
_SHIFT_FACTOR: Final = 1e-3
_PLATEAU: Final = 1e-6
"""As in `iteration`; ε is larger, since the matrix has entries of 1/ε."""
_DIRECT: Final = 2000
"""Velocities up to which the linear equations of Newton's method cost less than sweeps."""
_FIRST_ROUNDS, _MOST_ROUNDS = 8, 256
_PROGRESS, _STALLED, _LEAP = 0.8, 10, 3.0
"""Sweeps stall if the norm has not decreased by this factor for so many; it may grow by the last factor then."""


@final
class BlockSearch:
    """Searches the impulses of one problem.

    Args:
        problem: whose W is given by blocks.
        tolerance: largest relative error of a solution.
        limit: largest number of double sweeps, and of Newton's iterations.

    Attributes:
        impulse: λ with the least error so far, shape (R,). error: that.
        velocity: w of the impulses that were measured last, shape (R,).
        iterations: Newton's iterations and double sweeps. method: as `search` returns it.
    """

    def __init__(self, problem: BlockContactProblem, tolerance: float, limit: int) -> None:
        self._problem, self._tolerance, self._limit = problem, tolerance, limit
        self._blocks, self._is_ordered = problem.blocks, False
        contacts, width = problem.contact_count, problem.rows_per_contact
        self._diagonal = np.empty((contacts, 3, 3))
        write_diagonal(self._blocks, width, self._diagonal)
        self._rho, self._reference = np.empty((2, contacts))
        set_block_scales(self._diagonal, width, problem.free_velocity, self._rho, self._reference)
        self.velocity = np.empty(contacts * width)
        self._body_velocity = np.empty(problem.velocity_count)
        self.impulse, self.error = np.zeros(contacts * width), math.inf
        self.iterations = self.method = 0

    def _measure(self, impulse: Array) -> float:
        """Write w of λ; keep λ if its error is the least; return its error."""
        problem = self._problem
        multiply_blocks(
            self._blocks, problem.rows_per_contact, problem.free_velocity, impulse, self._body_velocity,
            self.velocity,
        )  # fmt: skip
        error = measure_error(
            problem.rows_per_contact, problem.friction, _NOTHING, _NOTHING, self._rho, self._reference, impulse,
            self.velocity,
        )  # fmt: skip
        if error < self.error:
            self.impulse[:], self.error = impulse, error
        return error

    def _merit(self, impulse: Array) -> float:
        problem, width = self._problem, self._problem.rows_per_contact
        multiply_blocks(
            self._blocks, width, problem.free_velocity, impulse, self._body_velocity, self.velocity
        )
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
        is_direct = self._problem.velocity_count <= _DIRECT
        rounds = _FIRST_ROUNDS if is_direct else self._limit
        while True:
            if is_direct:
                self.method = max(self.method, 1)
                self._newton()
                if self.error <= self._tolerance:
                    return True
            if self.iterations >= self._limit:
                return False
            self.method = 2
            self._sweep(rounds)
            if self.error <= self._tolerance:
                return True
            rounds = min(2 * rounds, _MOST_ROUNDS)

    def _sweep(self, rounds: int) -> None:
        """Apply double sweeps from the best impulses, accelerated, until they meet the tolerance or the rounds end.

        A step of the acceleration is taken if it leaves no larger norm than the sweeps. Loads that move between
        redundant contacts change the norm by little until one of them lets go or begins to slide: where the norm
        stalls, a step leads there, even if the norm grows.
        """
        problem, width = self._problem, self._problem.rows_per_contact
        now, history = self.impulse.copy(), AndersonHistory(len(self.impulse))
        self._measure(now)
        norm = least = self._norm(now)
        stalled = 0
        for _ in range(rounds):
            after = now.copy()
            # the bodies' velocities are those of `now`
            sweep_blocks(
                self._blocks, width, self._diagonal, problem.friction, problem.free_velocity, after,
                self._body_velocity, 1,
            )  # fmt: skip
            self.iterations += 1
            if self._measure(after) <= self._tolerance or self.iterations >= self._limit:
                return
            swept = self._norm(after)
            step, bar = history.step(now, after - now), max(swept, norm)
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
                if (accelerated := self._norm(trial)) < bar:
                    now, norm = trial, accelerated
                    break
                bar = _LEAP * swept if stalled > _STALLED else swept
            else:
                self._measure(after)
            if stalled > _STALLED:
                stalled = 0

    def _norm(self, impulse: Array) -> float:
        """The norm of the natural map of impulses whose w was written last, relative to the reference."""
        problem = self._problem
        return math.sqrt(
            block_merit(
                self._diagonal,
                problem.rows_per_contact,
                problem.friction,
                self._reference,
                impulse,
                self.velocity,
            )
        )

    def _newton(self) -> None:
        """Iterate Newton's method from the best impulses."""
        from scipy.sparse import coo_array
        from scipy.sparse.linalg import splu

        problem, width = self._problem, self._problem.rows_per_contact
        if not self._is_ordered:
            self._blocks, self._is_ordered = order_bodies(problem.blocks), True
        blocks, friction, n = self._blocks, problem.friction, problem.velocity_count
        impulse = self.impulse.copy()
        now = self._merit(impulse)
        earlier = [now] * 4
        shift = min(max(_SHIFT_FACTOR * math.sqrt(now), _LEAST_SHIFT), _FIRST_SHIFT)
        entries = count_entries(blocks) + n
        row, column = np.empty((2, entries), dtype=np.int64)
        value, rhs = np.empty(entries), np.empty(n)
        slope, constant = np.empty((problem.contact_count, width, width)), np.empty(len(impulse))
        step = np.empty(len(impulse))
        for _ in range(_NEWTON_STEPS):
            self.iterations += 1
            linearise_contacts(
                width, self._diagonal, friction, shift, impulse, self.velocity, slope, constant
            )
            count = assemble_bodies(blocks, width, slope, constant, row, column, value, rhs)
            row[count : count + n] = column[count : count + n] = np.arange(n)
            value[count : count + n] = 1.0
            used = slice(count + n)
            matrix = coo_array((value[used], (row[used], column[used])), shape=(n, n)).tocsc()
            try:
                factor = splu(
                    matrix, permc_spec="NATURAL", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
                )
            except RuntimeError:  # exactly singular
                return
            expand_step(blocks, width, slope, constant, factor.solve(rhs), step)
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
                continue
            shift = max(0.1 * shift, _LEAST_SHIFT) if fraction == 1.0 else min(4.0 * shift, _MOST_SHIFT)
            now, before = smallest, self.error
            impulse = kept.copy()
            self._project(kept)
            self._measure(kept)
            if self.error <= self._tolerance and (
                self.error <= 1e-5 * self._tolerance or not self.error < 0.1 * before
            ):
                return
            self._merit(impulse)

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
