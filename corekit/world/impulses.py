"""The unilateral rows of a step, contacts and bounded bilateral rows: their problem, their answer, its memory.

    w = W·λ + w₀,   W = J·G·Jᵀ + diag(0, E_b),   w₀ = J·v_f + bias                          (1)

J stacks the contact rows (`width` a contact) and the bounded rows; the bias of a contact is φ̃/h less the
obstacle's velocity, that of a bounded row −r_b. A contact between parts that cannot move along its normal
(W_nn = 0: a clamped frame against an obstacle) has no answer and changes nothing: it is left out of (1).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from corekit.data.arrays import Array, BoolArray, IntArray
from corekit.data.contacts import ContactSet
from corekit.data.status import SolveInfo
from corekit.roles.component import Memory
from corekit.roles.contact import ImpulseSolver
from corekit.world.body_system import BodySystem
from corekit.world.contact_kernels import guesses, halves_product, immovable, write_bias
from corekit.world.contact_problem import StepContactProblem
from corekit.world.contact_stage import ContactStage

__all__ = ["Impulses"]

_NOTHING = np.zeros(0)
_NO_ID: IntArray = np.zeros(0, dtype=np.int64)


class _Answer:
    """Impulses of one solve, or the guess for one: contacts with their ids, then the bounded rows.

    Attributes:
        count: contacts m.
        id: whose impulses, capacity rows.
        impulse: λ, `width` numbers a contact, then those of the p bounded rows [N·s].
    """

    def __init__(self, bounded: int) -> None:
        self.bounded = bounded
        self.count = 0
        self.id: IntArray = _NO_ID
        self.impulse = np.zeros(bounded)

    def reserve(self, count: int, width: int) -> None:
        """Make room for m contacts, without keeping anything."""
        if count > len(self.id):
            self.id = np.zeros(2 * count, dtype=np.int64)
            self.impulse = np.zeros(2 * count * width + self.bounded)

    def set(self, id: IntArray, contact: Array, bounded: Array) -> None:
        """Become these impulses."""
        self.count, self.id = len(id), id.copy()
        self.impulse = np.concatenate([contact, bounded])


class Impulses:
    """Builds (1), asks the impulse solver, and carries answers from step to step as guesses.

    Attributes:
        problem: what the solver sees.
        count: contacts in the problem; 0 without an impulse solver.
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
        self._bounded = bounded = sum(len(part.bounded) for part in parts)
        self.problem.bounded = bounded
        self.problem.bounded_id = np.arange(bounded)
        self._kept, self._work, self._spare = (_Answer(bounded) for _ in range(3))
        self._now = self._kept
        self._kept_rows: list[Array] = [part.row_impulse.copy() for part in self._parts]
        pairs = zip((part.row_impulse for part in self._parts), self._kept_rows, strict=True)
        self._row_pairs = tuple(pair for pair in pairs if len(pair[0]))
        self._rows_stand = False  # whether the parts still hold what the accepted step left
        self._viewed_id = _NO_ID
        self._delassus = np.zeros((0, 0))
        self._views: tuple[IntArray, Array, Array, Array, Array, Array, Array]
        self._allocate(0)

    def _allocate(self, contacts: int) -> None:
        """Buffers for m contacts and the bounded rows."""
        rows = contacts * self.problem.width + self._bounded
        # of the bounded rows the bias stands behind that of the contacts there are
        self._flat_bias, self._free = np.zeros(rows), np.zeros(rows)
        self._bias = self._flat_bias[: rows - self._bounded].reshape(contacts, self.problem.width)
        self._viewed_count = -1
        self._stacked = np.zeros((rows if self._bounded else 0, self._velocities))
        self._half = np.zeros(self._velocities * rows)
        self._entries = np.zeros(rows * rows)
        self._movable: BoolArray = np.zeros(contacts, dtype=bool)

    @property
    def contact(self) -> Array:
        """λ_c of the last solve, or the guess for the next, shape (count·width,) [N·s]."""
        return self._now.impulse[: self.count * self.problem.width]

    @property
    def bias(self) -> Array:
        """What a contact's velocity has beside J·v: φ̃/h less the obstacle's velocity, shape (count, width) [m/s]."""
        return self._bias[: self.count]

    def told(self, part: BodySystem) -> None:
        """Take over an answer that came whole for a part: `contact` and its rows' impulses were written in place."""
        count = self.count
        self.problem.contacts = count
        self._movable[:count] = True
        if self._bounded:
            bounded = part.row_impulse[part.bounded]
            self._now.impulse[count * self.problem.width :][: self._bounded] = bounded

    # — the problem —

    def without_contact(self) -> None:
        """No contacts at this linearisation, until `take_contacts`."""
        self.count = 0

    def take_contacts(self, gap_term: Array, obstacle_rate: Array | None, step: float) -> None:
        """Take the stage's current contacts into the problem, with gap terms φ̃ (m,) [m]."""
        self._reserve(len(gap_term))
        write_bias(self.count, gap_term, step, self._bias)
        if obstacle_rate is not None:
            self._bias[: self.count] -= obstacle_rate

    def take_start(self, obstacle_rate: Array | None, step: float) -> None:
        """Take the contacts at the start of the step into the problem."""
        stage = self._stage
        assert stage is not None
        self._reserve(stage.contacts.count)
        stage.start_bias(step, self._bias)
        if obstacle_rate is not None:
            self._bias[: self.count] -= obstacle_rate

    def _reserve(self, count: int) -> None:
        """Have that many contacts."""
        self.count = count
        if count > len(self._bias):
            self._allocate(2 * count)

    def carry_over(self) -> None:
        """Make the last impulses a guess for the current contacts, matched by id."""
        if self._stage is None:
            return
        last, guess = self._now, self._work if self._now is not self._work else self._spare
        count, width, known = self.count, self.problem.width, last.count
        guess.reserve(count, width)
        ids = self._stage.contacts.id
        guesses(count, width, ids, known, last.id, last.impulse, guess.impulse, guess.id)
        guess.count = count
        if self._bounded:
            end = count * width
            guess.impulse[end : end + self._bounded] = last.impulse[known * width :][: self._bounded]
        self._now = guess

    def wanted(self) -> bool:
        """Whether there is any unilateral row to solve for."""
        self.problem.contacts = self.count
        return self.count + self._bounded > 0

    def pose(self) -> tuple[Array, Array, Array, Array]:
        """Fill the problem's vectors but for w₀.

        Returns:
            J, shape (R, nv), in the order of C; the bias and a buffer for w₀, shape (R,); a buffer of shape (nv, R).
        """
        problem, stage = self.problem, self._stage
        contacts = None if stage is None else stage.contacts
        ids = _NO_ID if contacts is None else contacts.id
        if self._viewed_count != self.count or self._viewed_id is not ids:
            self._view(contacts)
        problem.id, problem.gap, problem.friction, stacked, bias, free, half = self._views
        problem.free = free
        if self._bounded:
            contact = self.count * problem.width
            if stage is not None and contact:
                stacked[:contact] = stage.rows.stacked()
            self._pose_bounded(stacked[contact:], bias[contact:])
        elif stage is not None:
            stacked = stage.rows.stacked()
        return stacked, bias, free, half

    def _view(self, contacts: ContactSet | None) -> None:
        """Take views of the buffers for the contacts there are."""
        count, n = self.count, self._velocities
        rows = count * self.problem.width + self._bounded
        ids, gap, friction = _NO_ID, _NOTHING, _NOTHING
        if contacts is not None:
            ids, gap, friction = contacts.id[:count], contacts.gap[:count], contacts.friction[:count]
        self._views = (
            ids, gap, friction, self._stacked[:rows], self._flat_bias[:rows], self._free[:rows],
            self._half[: n * rows].reshape(n, rows),
        )  # fmt: skip
        self._delassus = self._entries[: rows * rows].reshape(rows, rows)
        self._viewed_count, self._viewed_id = count, _NO_ID if contacts is None else contacts.id

    def stack(self, free_velocity: Array) -> Array:
        """Jᵀ, shape (nv, R), Fortran order; fills the problem's vectors, w₀ from the free velocity v_f."""
        stacked, bias, free, _ = self.pose()
        np.dot(stacked, free_velocity, out=free)
        free += bias
        return stacked.T

    def _pose_bounded(self, stacked: Array, free: Array) -> None:
        stacked.fill(0.0)
        lower, upper, target, row = [], [], [], 0
        for part, where in zip(self._parts, self._slices, strict=True):
            if not len(part.bounded):
                continue
            assert part.joints is not None
            rows = part.joints.rows
            for d, value in zip(rows.dofs[part.bounded], rows.values[part.bounded], strict=True):
                np.add.at(stacked[row, where], d, value)
                row += 1
            low, high = part.joints.bounds(self.problem.step)
            lower.append(low)
            upper.append(high)
            target.append(part.joints.target[part.bounded])
        self.problem.lower, self.problem.upper = np.concatenate(lower), np.concatenate(upper)
        np.negative(np.concatenate(target), out=free)

    def solve(self, transposed: Array, response: Array) -> tuple[SolveInfo, Array]:
        """Answer (1) for Jᵀ and G·Jᵀ; the second value is λ of all rows, shape (R,)."""
        return self.answer(transposed.T, response)

    def answer(self, left: Array | None, right: Array) -> tuple[SolveInfo, Array]:
        """Answer (1) for W = left·right, or rightᵀ·right; the second value is λ of all rows, shape (R,)."""
        problem = self.problem
        count, width, delassus = self.count, problem.width, self._delassus
        if left is None:
            stuck = halves_product(count, width, right, delassus, self._movable)
        else:
            np.dot(left, right, out=delassus)
            stuck = immovable(count, width, delassus, self._movable)
        if self._bounded:
            corner = delassus[-self._bounded :, -self._bounded :]
            corner[np.diag_indices(self._bounded)] += np.concatenate(
                [part.joints.compliance[part.bounded] for part in self._parts if part.joints is not None]
            )
        problem.set_delassus(delassus)
        assert self._solver is not None
        impulse = self._now.impulse[: len(delassus)]
        if stuck:
            info = self._solve_movable(impulse)
        else:
            info = self._solver.solve(problem, impulse)
        if self._bounded:
            column = len(delassus) - self._bounded
            for part in self._parts:
                part.row_impulse[part.bounded] = impulse[column : column + len(part.bounded)]
                column += len(part.bounded)
        return info, impulse

    def _solve_movable(self, impulse: Array) -> SolveInfo:
        """Solve without the contacts that cannot move; their impulses are zero."""
        assert self._solver is not None
        problem, width = self.problem, self.problem.width
        kept = np.flatnonzero(self._movable[: self.count])
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
        pressing = normal_velocity + self._bias[: self.count, 0]
        worst = np.abs(np.minimum(self.contact[:: self.problem.width], pressing))
        return np.where(self._movable[: self.count], worst, 0.0)

    # — memory —

    def of_rows(self) -> Array:
        """λ_b of all bodies as they stand, a copy."""
        return np.concatenate([_NOTHING, *(current for current, _ in self._row_pairs)])

    def take_rows(self, impulse: Array) -> None:
        """Set λ_b of all bodies."""
        first = 0
        for current, _ in self._row_pairs:
            current[:] = impulse[first : first + len(current)]
            first += len(current)
        self._rows_stand = False

    def begin(self) -> None:
        """Go back to the last accepted step's impulses, so a repeated or a resumed step is the same."""
        self._now = self._kept
        if not self._rows_stand:
            for current, kept in self._row_pairs:
                current[:] = kept
        self._rows_stand = False

    def accept(self) -> None:
        """Keep the impulses of an accepted step."""
        if self._now is not self._kept:
            if self._now is self._work:
                self._kept, self._work = self._work, self._kept
            else:
                self._kept, self._spare = self._spare, self._kept
        for current, kept in self._row_pairs:
            kept[:] = current
        self._rows_stand = True

    def memory(self) -> Memory:
        """The accepted step's impulses, as named arrays."""
        own = self._kept
        end = own.count * self.problem.width
        kept: Memory = {"impulse": own.impulse[:end].copy(), "impulse_id": own.id[: own.count].copy()}
        kept["bounded_impulse"] = own.impulse[end : end + self._bounded].copy()
        if not self.has_rows:
            return kept
        return kept | {f"row_impulse.{i}": impulse.copy() for i, impulse in enumerate(self._kept_rows)}

    def remember(self, memory: Memory) -> None:
        """Take over what `memory` gave; an empty one means a fresh start."""
        self._kept.set(
            memory.get("impulse_id", _NO_ID),
            memory.get("impulse", _NOTHING),
            memory.get("bounded_impulse", np.zeros(self._bounded)),
        )
        for i, impulse in enumerate(self._kept_rows):
            impulse[:] = memory.get(f"row_impulse.{i}", 0.0)
        self._rows_stand = False
        self.begin()
