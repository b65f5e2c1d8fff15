"""The unilateral rows of a step, contacts and bounded bilateral rows: their problem, their answer, its memory.

    w = W·λ + w₀,   W = J·G·Jᵀ + diag(0, E_b),   w₀ = J·v_f + bias                          (1)

J stacks the contact rows (`width` a contact) and the bounded rows; the bias of a contact is φ̃/h less the
obstacle's velocity, that of a bounded row −r_b. A contact between parts that cannot move along its normal
(W_nn = 0: a clamped frame against an obstacle) has no answer and changes nothing: it is left out of (1).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from corekit.data.arrays import Array, BoolArray, IntArray
from corekit.data.status import SolveInfo
from corekit.roles.component import Memory
from corekit.roles.contact import ImpulseSolver
from corekit.world.body_system import BodySystem
from corekit.world.contact_problem import StepContactProblem
from corekit.world.contact_stage import ContactStage, match

__all__ = ["Impulses"]

_NOTHING = np.zeros(0)
_NO_ID: IntArray = np.zeros(0, dtype=np.int64)


class _WarmStart(NamedTuple):
    """Impulses of an accepted step: of contacts with their ids, of bounded rows, of every body's rows."""

    contact: Array
    id: IntArray
    bounded: Array
    rows: list[Array]


class Impulses:
    """Builds (1), asks the impulse solver, and carries answers from step to step as guesses.

    Attributes:
        problem: what the solver sees.
        count: contacts in the problem; 0 without an impulse solver.
        contact: λ_c of the last solve, or the guess for the next, shape (count·width,) [N·s].
    """

    def __init__(
        self,
        solver: ImpulseSolver | None,
        parts: Sequence[BodySystem],
        slices: Sequence[slice],
        stage: ContactStage | None,
    ) -> None:
        self._solver = solver
        self._parts, self._slices, self._stage = tuple(parts), tuple(slices), stage
        self._velocities = slices[-1].stop
        self.problem = StepContactProblem(stage.width if stage is not None else 3)
        self.has_rows = any(part.rows is not None for part in parts)
        self.count = 0
        self.contact, self._id, self._bias = _NOTHING, _NO_ID, _NOTHING
        self._bounded = np.zeros(sum(len(part.bounded) for part in parts))
        self._movable: BoolArray = np.zeros(0, dtype=bool)
        self._kept = self._now()

    # — the problem —

    def without_contact(self) -> None:
        """No contacts at this linearisation, until `take_contacts`."""
        self.count = 0

    def take_contacts(self, gap_term: Array, obstacle_rate: Array | None, step: float) -> None:
        """Take the stage's current contacts into the problem, with gap terms φ̃ (m,) [m]."""
        self.count = count = len(gap_term)
        bias = np.zeros((count, self.problem.width))
        np.divide(gap_term, step, out=bias[:, 0])
        if obstacle_rate is not None:
            bias -= obstacle_rate
        self._bias = bias.ravel()

    def carry_over(self) -> None:
        """Make the last impulses a guess for the current contacts, matched by id."""
        if not self.count:
            self.contact, self._id = _NOTHING, _NO_ID
            return
        assert self._stage is not None
        ids = self._stage.contacts.id[: self.count]
        if len(ids) == len(self._id) and not np.count_nonzero(ids != self._id):
            return
        position, found = match(ids, self._id)
        old = self.contact.reshape(-1, self.problem.width)
        fresh = np.zeros((len(ids), self.problem.width))
        fresh[found] = old[position[found]]
        self.contact, self._id = fresh.ravel(), ids.copy()

    def wanted(self) -> bool:
        """Whether there is any unilateral row to solve for."""
        self.problem.contacts = self.count
        self.problem.bounded = len(self._bounded)
        return self.problem.rows > 0

    def stack(self, free_velocity: Array) -> Array:
        """Jᵀ, shape (nv, R), Fortran order; fills the problem's vectors, w₀ from the free velocity v_f."""
        problem, count = self.problem, self.count
        if count:
            assert self._stage is not None
            contacts = self._stage.contacts
            transposed = self._stage.rows.transposed()
            problem.id, problem.gap = contacts.id[:count], contacts.gap[:count]
            problem.friction = contacts.friction[:count]
            problem.free = transposed.T @ free_velocity + self._bias
        else:
            transposed = np.zeros((self._velocities, 0), order="F")
            problem.id = _NO_ID
            problem.gap = problem.friction = problem.free = _NOTHING
        if problem.bounded:
            return np.concatenate([transposed, self._stack_bounded(free_velocity)], axis=1)
        problem.lower = problem.upper = _NOTHING
        problem.bounded_id = _NO_ID
        return transposed

    def _stack_bounded(self, free_velocity: Array) -> Array:
        problem = self.problem
        stacked = np.zeros((self._velocities, problem.bounded), order="F")
        lower, upper, target, column = [], [], [], 0
        for part, where in zip(self._parts, self._slices, strict=True):
            if not len(part.bounded):
                continue
            dofs, values = part.bounded_rows()
            for d, value in zip(dofs, values, strict=True):
                np.add.at(stacked[where, column], d, value)
                column += 1
            low, high = part.bounds(problem.step)
            lower.append(low)
            upper.append(high)
            target.append(part.bounded_target)
        problem.lower, problem.upper = np.concatenate(lower), np.concatenate(upper)
        problem.bounded_id = np.arange(problem.bounded)
        own = stacked.T @ free_velocity - np.concatenate(target)
        problem.free = np.concatenate([problem.free, own])
        return stacked

    def solve(self, transposed: Array, response: Array) -> tuple[SolveInfo, Array]:
        """Answer (1) for Jᵀ and G·Jᵀ; the second value is λ of all rows, shape (R,)."""
        problem = self.problem
        delassus = transposed.T @ response
        if problem.bounded:
            corner = delassus[-problem.bounded :, -problem.bounded :]
            corner[np.diag_indices(problem.bounded)] += np.concatenate(
                [part.bounded_compliance for part in self._parts]
            )
        problem.set_delassus(delassus)
        assert self._solver is not None
        impulse = np.concatenate([self.contact, self._bounded])
        self._movable = delassus.diagonal()[: self.count * problem.width : problem.width] > 0.0
        if np.count_nonzero(self._movable) == self.count:
            info = self._solver.solve(problem, impulse)
        else:
            info = self._solve_movable(impulse)
        split = len(impulse) - problem.bounded
        self.contact, self._bounded = impulse[:split], impulse[split:]
        column = 0
        if problem.bounded:
            for part in self._parts:
                part.take_bounded(self._bounded[column : column + len(part.bounded)])
                column += len(part.bounded)
        return info, impulse

    def _solve_movable(self, impulse: Array) -> SolveInfo:
        """Solve without the contacts that cannot move; their impulses are zero."""
        assert self._solver is not None
        problem, width = self.problem, self.problem.width
        kept = np.flatnonzero(self._movable)
        contact_rows = (kept[:, None] * width + np.arange(width)).ravel()
        rows = np.concatenate([contact_rows, np.arange(self.count * width, problem.rows)])
        problem.set_delassus(problem.delassus()[np.ix_(rows, rows)])
        problem.free = problem.free[rows]
        problem.id, problem.gap = problem.id[kept], problem.gap[kept]
        problem.friction = problem.friction[kept]
        problem.contacts = len(kept)
        part = impulse[rows]
        impulse[:] = 0.0
        if not problem.rows:
            return SolveInfo(answered_by="factorisation")
        info = self._solver.solve(problem, part)
        impulse[rows] = part
        return info

    def generalised(self) -> Array:
        """J_cᵀ·λ_c, shape (nv,)."""
        if not self.count or self._stage is None:
            return np.zeros(self._velocities)
        return self._stage.rows.matrix.T @ self.contact

    def residual(self, normal_velocity: Array) -> Array:
        """|min(λ_n, w_n)| of the contacts for absolute normal velocities u_n (m,); 0 for those left out."""
        width = self.problem.width
        pressing = normal_velocity + self._bias.reshape(-1, width)[:, 0]
        return np.where(self._movable, np.abs(np.minimum(self.contact[::width], pressing)), 0.0)

    # — memory —

    def _now(self) -> _WarmStart:
        """The impulses now; contact impulses are replaced by every solve, row impulses are rewritten."""
        rows = [part.row_impulse.copy() for part in self._parts] if self.has_rows else []
        return _WarmStart(self.contact, self._id, self._bounded, rows)

    def begin(self) -> None:
        """Go back to the last accepted step's impulses, so a repeated or a resumed step is the same."""
        kept = self._kept
        self.contact, self._id, self._bounded = kept.contact, kept.id, kept.bounded
        if self.has_rows:
            for part, impulse in zip(self._parts, kept.rows, strict=True):
                part.row_impulse[:] = impulse

    def accept(self) -> None:
        """Keep the impulses of an accepted step."""
        if self.contact is not self._kept.contact or self.has_rows:
            self._kept = self._now()

    def memory(self) -> Memory:
        """The accepted step's impulses, as named arrays."""
        own = self._kept
        kept: Memory = {"impulse": own.contact.copy(), "impulse_id": own.id.copy()}
        kept["bounded_impulse"] = own.bounded.copy()
        return kept | {f"row_impulse.{i}": impulse.copy() for i, impulse in enumerate(own.rows)}

    def remember(self, memory: Memory) -> None:
        """Take over what `memory` gave; an empty one means a fresh start."""
        rows = [
            memory.get(f"row_impulse.{i}", np.zeros(len(part.row_impulse))).copy()
            for i, part in enumerate(self._parts)
        ]
        self._kept = _WarmStart(
            memory.get("impulse", _NOTHING).copy(),
            memory.get("impulse_id", _NO_ID).copy(),
            memory.get("bounded_impulse", np.zeros(len(self._bounded))).copy(),
            rows if self.has_rows else [],
        )
        self.begin()
