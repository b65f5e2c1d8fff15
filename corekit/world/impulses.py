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
from corekit.data.state import State
from corekit.data.status import SolveInfo
from corekit.linalg.array_table import ArrayTable
from corekit.linalg.delassus_assembly import (
    DelassusAssembly,
    add_impulse_response,
    compute_delassus,
    forward_substitute,
)
from corekit.roles.component import Memory
from corekit.roles.contact import ImpulseSolver
from corekit.world.body_system import BodySystem
from corekit.world.contact_answer import ContactAnswer
from corekit.world.contact_calls import dress_at_start, guess_again, respond
from corekit.world.contact_kernels import immovable, write_bias
from corekit.world.contact_problem import StepContactProblem
from corekit.world.contact_stage import ContactStage

__all__ = ["Impulses"]

_NOTHING = np.zeros(0)
_NO_ID: IntArray = np.zeros(0, dtype=np.int64)


class Impulses:
    """Builds (1), asks the impulse solver, and carries answers from step to step as guesses.

    Attributes:
        problem: what the solver sees.
        count: contacts in the problem; 0 without an impulse solver.
        bounded: bounded rows.
        stand: whether what the accepted step left is still at hand.
    """

    __slots__ = (
        "_arrays", "_bias", "_capacity", "_delassus", "_entries", "_flat_bias", "_free", "_half", "_kept", "_kept_rows",
        "_movable", "_now", "_parts", "_plain", "_row_pairs", "_rows", "_slices", "_solver", "_stacked", "_stage",
        "_stuck", "_velocities", "_viewed", "_viewed_count", "bounded", "count", "has_rows", "problem", "room", "stand",
    )  # fmt: skip

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
        self.bounded = bounded = sum(len(part.bounded) for part in parts)
        self.problem.bounded = bounded
        self.problem.bounded_id = np.arange(bounded)
        # the accepted step's answer, the last one, and room for a guess
        self._kept = self._now = ContactAnswer.ring(3, self.problem.width, bounded)
        self._kept_rows: list[Array] = [part.row_impulse.copy() for part in self._parts]
        pairs = zip((part.row_impulse for part in self._parts), self._kept_rows, strict=True)
        self._row_pairs = tuple(pair for pair in pairs if len(pair[0]))
        self.stand = False
        # whether the rows are those of contacts alone, their J dense
        self._plain = solver is not None and stage is not None and stage.rows.dense and not bounded
        self._viewed: ArrayTable | None = None
        self._stuck = False  # whether the last problem had contacts that cannot move
        self._rows, self._delassus = 0, np.zeros((0, 0))
        self._allocate(0)

    def _allocate(self, contacts: int) -> None:
        """Buffers for m contacts and the bounded rows."""
        self._capacity = contacts
        self._kept.reserve(contacts)
        rows = contacts * self.problem.width + self.bounded
        # of the bounded rows the bias stands behind that of the contacts there are
        self._flat_bias, self._free = np.zeros(rows), np.zeros(rows)
        self._bias = self._flat_bias[: rows - self.bounded].reshape(contacts, self.problem.width)
        self._viewed_count = -1
        self._stacked = np.zeros((rows if self.bounded else 0, self._velocities))
        self._half = np.zeros(self._velocities * rows)
        self._entries = np.zeros(rows * rows)
        self._movable: BoolArray = np.ones(contacts, dtype=bool)
        self._arrays = ArrayTable(self._bias, self._free, self._half, self._entries)
        self.room = self._arrays.table

    @property
    def contact(self) -> Array:
        """λ_c of the last solve, or the guess for the next, shape (count·width,) [N·s]."""
        return self._now.first(self.count * self.problem.width)

    @property
    def bias(self) -> Array:
        """What a contact's velocity has beside J·v: φ̃/h less the obstacle's velocity, shape (count, width) [m/s]."""
        return self._bias[: self.count]

    def told(self, part: BodySystem) -> None:
        """Take over an answer that came whole for a part: `contact` and its rows' impulses were written in place."""
        count = self.count
        self.problem.contacts, self._stuck = count, False
        if self.bounded:
            bounded = part.row_impulse[part.bounded]
            self._now.impulse[count * self.problem.width :][: self.bounded] = bounded

    # — the problem —

    def without_contact(self) -> None:
        """No contacts at this linearisation, until `take_contacts`."""
        self.count = 0

    def take_contacts(self, gap_term: Array, obstacle_rate: Array | None, step: float) -> None:
        """Take the stage's current contacts into the problem, with gap terms φ̃ (m,) [m]."""
        self.count = count = len(gap_term)
        if count > self._capacity:
            self._reserve(count)
        write_bias(self.count, gap_term, step, self._bias)
        if obstacle_rate is not None:
            self._bias[: self.count] -= obstacle_rate

    def build_start(self, start: State, step: float) -> tuple[int, Array | None]:
        """Take the contacts at the start of the step into the problem, with their rows and a guess; see `StepContacts`.

        Returns how many there are, and the obstacles' velocities at them, or None where all rest.
        """
        stage, last = self._stage, self._now
        assert stage is not None
        contacts = stage.take_start()
        self.count = count = contacts.count
        if not count:
            return 0, None
        if count > self._capacity:
            self._reserve(count)
        rows, known, coming = stage.rows, stage.known, stage.coming
        guess = last.next
        if guess is self._kept:
            guess = guess.next
        guess.count = coming.count = count
        carriers = dress_at_start(
            count, stage.width, step, contacts.arrays.table, stage.dressing, known.count, known.table, coming.table,
            rows.table, last.count, last.table, guess.table, self.room,
        )  # fmt: skip
        if not rows.collect(start, contacts, carriers):
            stage.build_rows(start)
        if self.bounded:
            self._carry_bounded(last, guess)
        self._now = guess
        if not stage.scene.moving:
            return count, None
        rate = stage.obstacle_velocity(start.time, start.time, start.time + step, instant=False)
        if rate is not None:
            self._bias[:count] -= rate
        return count, rate

    def _reserve(self, count: int) -> None:
        """Have room for that many contacts, as the stage has."""
        stage = self._stage
        assert stage is not None
        if count > stage.room:
            stage.reserve(2 * count)
        self._allocate(stage.room)

    def carry_over(self) -> None:
        """Make the last impulses a guess for the current contacts, matched by id."""
        stage = self._stage
        if stage is None:
            return
        # neither the last answer nor the accepted step's
        last, guess = self._now, self._now.next
        if guess is self._kept:
            guess = guess.next
        guess.count = self.count
        if self.count:
            guess_again(
                self.count, self.problem.width, stage.contacts.id, last.count, last.table, guess.table
            )  # fmt: skip
        if self.bounded:
            self._carry_bounded(last, guess)
        self._now = guess

    def _carry_bounded(self, last: ContactAnswer, guess: ContactAnswer) -> None:
        """Carry the impulses of the bounded rows over."""
        width = self.problem.width
        end, known = guess.count * width, last.count * width
        guess.impulse[end : end + self.bounded] = last.impulse[known:][: self.bounded]

    def _pose(self) -> tuple[Array, Array, Array]:
        """Fill the problem's vectors but for w₀: J, (R, nv), in the order of C; the bias and room for w₀, (R,)."""
        problem, stage = self.problem, self._stage
        problem.contacts = self.count
        contacts = None if stage is None else stage.contacts
        arrays = None if contacts is None else contacts.arrays
        if self._viewed_count != self.count or self._viewed is not arrays:
            self._view(contacts)
        stacked = self._stacked[: problem.rows]
        bias = self._flat_bias[: problem.rows]
        if self.bounded:
            contact = self.count * problem.width
            if stage is not None and contact:
                stacked[:contact] = stage.rows.stacked()
            self._pose_bounded(stacked[contact:], bias[contact:])
        elif stage is not None:
            stacked = stage.rows.stacked()
        return stacked, bias, problem.free

    def _view(self, contacts: ContactSet | None) -> None:
        """Give the problem views of the buffers for the contacts there are."""
        problem, count = self.problem, self.count
        problem.contacts = count
        rows = problem.rows
        problem.id, problem.gap, problem.friction = _NO_ID, _NOTHING, _NOTHING
        if contacts is not None:
            problem.id, problem.gap = contacts.id[:count], contacts.gap[:count]
            problem.friction = contacts.friction[:count]
        problem.free = self._free[:rows]
        self._rows, self._delassus = rows, self._entries[: rows * rows].reshape(rows, rows)
        problem.set_delassus(self._delassus)
        self._viewed_count, self._viewed = count, None if contacts is None else contacts.arrays

    def stack(self, free_velocity: Array) -> Array:
        """Jᵀ, shape (nv, R), Fortran order; fills the problem's vectors, w₀ from the free velocity v_f."""
        stacked, bias, free = self._pose()
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
        np.dot(transposed.T, response, out=self._delassus)
        return self._answer(0.0)

    def push(self, halves: DelassusAssembly, velocity: Array) -> SolveInfo:
        """Answer (1) by the halves of the bodies' factorisations, and write v⁺."""
        stage, count = self._stage, self.count
        assert self._solver is not None
        if self._plain and stage is not None:
            rows, arrays = stage.rows, stage.contacts.arrays
            if count != self._viewed_count or arrays is not self._viewed:
                self._view(stage.contacts)
            least = respond(
                rows.wanting, count, rows.width, arrays.table, rows.table, halves.table, self.room, velocity
            )  # fmt: skip
            rows.wanting, rows.count = False, count
        else:
            stacked, bias, free = self._pose()
            np.copyto(free, bias)
            halves.solve_free_velocity(velocity)
            half = self._half[: self._velocities * len(free)].reshape(-1, len(free))
            forward_substitute(halves.table, stacked, velocity, free, half)
            least = compute_delassus(half, self._delassus)
        if least > 0.0 and not self.bounded:
            self._stuck, impulse = False, self._now.first(self._rows)
            info = self._solver.solve(self.problem, impulse)
        else:
            info, impulse = self._answer(least)
        add_impulse_response(halves.table, self._half, impulse, velocity)
        return info

    def _answer(self, least: float) -> tuple[SolveInfo, Array]:
        """Answer (1) for W as it is at hand, no diagonal entry of which is below `least`."""
        problem, delassus = self.problem, self._delassus
        if self.bounded:
            corner = delassus[-self.bounded :, -self.bounded :]
            corner[np.diag_indices(self.bounded)] += np.concatenate(
                [part.joints.compliance[part.bounded] for part in self._parts if part.joints is not None]
            )
        impulse = self._now.first(len(delassus))
        self._stuck = not least > 0.0 and immovable(self.count, problem.width, delassus, self._movable) > 0
        assert self._solver is not None
        if self._stuck:
            info = self._solve_movable(impulse)
        else:
            info = self._solver.solve(problem, impulse)
        if self.bounded:
            column = len(delassus) - self.bounded
            for part in self._parts:
                part.row_impulse[part.bounded] = impulse[column : column + len(part.bounded)]
                column += len(part.bounded)
        return info, impulse

    def _solve_movable(self, impulse: Array) -> SolveInfo:
        """Solve without the contacts that cannot move; their impulses are zero."""
        assert self._solver is not None
        self._viewed_count = -1  # the problem loses its views
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
        return np.where(self._movable[: self.count], worst, 0.0) if self._stuck else worst

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
        self.stand = False

    def begin(self) -> None:
        """Go back to the last accepted step's impulses, so a repeated or a resumed step is the same."""
        if not self.stand:
            self._now = self._kept
            for current, kept in self._row_pairs:
                current[:] = kept
        self.stand = False

    def accept(self) -> None:
        """Keep the impulses of an accepted step."""
        self._kept = self._now
        for current, kept in self._row_pairs:
            kept[:] = current
        self.stand = True

    def memory(self) -> Memory:
        """The accepted step's impulses, as named arrays."""
        own = self._kept
        end = own.count * self.problem.width
        kept: Memory = {"impulse": own.impulse[:end].copy(), "impulse_id": own.id[: own.count].copy()}
        kept["bounded_impulse"] = own.impulse[end : end + self.bounded].copy()
        if not self.has_rows:
            return kept
        return kept | {f"row_impulse.{i}": impulse.copy() for i, impulse in enumerate(self._kept_rows)}

    def remember(self, memory: Memory) -> None:
        """Take over what `memory` gave, contacts alone where there is contact; an empty one means a fresh start."""
        known: Memory = {} if self._stage is None else memory
        self._kept.set(
            known.get("impulse_id", _NO_ID),
            known.get("impulse", _NOTHING),
            memory.get("bounded_impulse", np.zeros(self.bounded)),
        )
        for i, impulse in enumerate(self._kept_rows):
            impulse[:] = memory.get(f"row_impulse.{i}", 0.0)
        self.stand = False
        self.begin()
