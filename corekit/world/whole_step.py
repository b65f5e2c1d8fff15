"""The step as one problem for solvers that eliminate for themselves: nothing is factorised here.

A `StepSolver` gets the matrix of one body, its rows and its contacts as they were built, sparse, and answers v⁺ and
all impulses at once. That keeps a chain's structure, which W = J·G·Jᵀ has lost. Where its matrix alone is not positive
definite (massless links held by rows) the step goes the common way.
"""

from __future__ import annotations

from typing import final

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.data.status import SolveInfo, Status
from corekit.linalg.matrices import Dense
from corekit.roles.contact import StepProgram, StepSolver
from corekit.world.body_system import BodySystem
from corekit.world.contact_stage import ContactStage
from corekit.world.impulses import Impulses

__all__ = ["WholeStep"]

_SINGULAR = Status.SINGULAR

_NOT_YET: IntArray = np.zeros(0, dtype=np.int64)


@final
class WholeStep:
    """Hands steps to a solver whole.

    Args:
        solver: who answers.
        part: the world's one body, with bilateral rows.
        stage: contacts, or None.
        impulses: where guesses come from and answers go.
    """

    def __init__(
        self, solver: StepSolver, part: BodySystem, stage: ContactStage | None, impulses: Impulses
    ) -> None:
        self._solver, self._part, self._stage, self._impulses = solver, part, stage, impulses
        assert part.joints is not None
        self.joints = joints = part.joints
        rows = joints.rows
        # what the program has views of
        self._count, self._ids, self._room = -1, _NOT_YET, _NOT_YET
        self._lower, self._upper = np.full(rows.count, -np.inf), np.full(rows.count, np.inf)
        self.program = StepProgram(
            matrix=part.matrix,
            right=part.right,
            dofs=rows.dofs,
            values=rows.values,
            compliance=joints.compliance,
            target=joints.target,
            lower=self._lower,
            upper=self._upper,
            width=impulses.problem.width,
        )
        self.program.frictional = stage is not None and stage.frictional
        self._has_bounds = len(part.bounded) > 0

    @classmethod
    def of(
        cls,
        solver: object,
        parts: tuple[BodySystem, ...],
        stage: ContactStage | None,
        impulses: Impulses,
    ) -> WholeStep | None:
        """The way past elimination, for a world of one body with rows and a matrix whose structure is worth keeping.

        Bodies with prescribed motion go the common way.
        """
        if len(parts) != 1 or not isinstance(solver, StepSolver):
            return None
        part = parts[0]
        if part.rows is None or len(part.prescribed) or isinstance(part.matrix, Dense):
            return None
        return cls(solver, part, stage, impulses)

    def solve(self, velocity: Array) -> SolveInfo | None:
        """Write v⁺ and the impulses of the current linearisation; None where it takes the common way to tell.

        A is definite on the kernel of the rows at most then, and they are ready to be eliminated.
        """
        part, impulses, program = self._part, self._impulses, self.program
        program.step = impulses.problem.step
        if self._has_bounds:
            self._lower[part.bounded], self._upper[part.bounded] = self.joints.bounds(program.step)
        program.contacts = count = impulses.count
        if count:
            assert self._stage is not None
            contacts = self._stage.contacts
            program.contact_dofs, program.contact_values = self._stage.rows.spread(contacts)
            if count != self._count or contacts.id is not self._ids or impulses.room is not self._room:
                self._count, self._ids, self._room = count, contacts.id, impulses.room
                program.id, program.friction = contacts.id[:count], contacts.friction[:count]
                program.bias = impulses.bias
        contact = impulses.contact
        info = self._solver.solve_step(program, velocity, part.row_impulse, contact)
        impulses.told(part)
        if info.status is _SINGULAR:
            self.joints.eliminate()
            impulses.carry_over()
            return None
        return info
