"""A step solved before anything is eliminated, by solvers that eliminate for themselves.

They get the matrix of one body, its constraints and its contacts as they were built, sparse, and return Δ and all
impulses at once. That keeps a chain's structure, which W has lost. Where the matrix alone is not positive definite
(massless links held by constraints) the step is reduced instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self, final

import numpy as np

from corekit.data.arrays import Array, BoolArray, IntArray
from corekit.data.contacts import ContactSet
from corekit.data.status import SolveInfo
from corekit.engine.contact.contact_impulses import ContactImpulses
from corekit.engine.contact.contact_kernels import find_rowless
from corekit.linalg.matrices import Dense, Sparse
from corekit.roles.contact import UnreducedStepProblem, UnreducedStepSolver

if TYPE_CHECKING:
    from corekit.engine.world.world_terms import WorldTerms

__all__ = ["UnreducedStep"]


@final
class UnreducedStep:
    """Passes steps to an unreduced solver.

    Args:
        solver: the solver.
        world: of one body, with constraints.
        impulses: guesses and solution.
    """

    def __init__(self, solver: UnreducedStepSolver, world: WorldTerms, impulses: ContactImpulses) -> None:
        self._solver, self._impulses, self._jacobian = solver, impulses, world.jacobian
        (self._terms,) = world.bodies
        own = self._terms.constraints
        assert own is not None
        self._constraints = own
        self._lower, self._upper = np.full(own.rows.count, -np.inf), np.full(own.rows.count, np.inf)
        self._problem = UnreducedStepProblem(
            self._terms.matrix, self._terms.rhs, own.rows.dofs, own.rows.values, own.compliance, own.target,
            self._lower, self._upper, np.zeros(world.nv), self._terms.row_impulse, world.jacobian.width,
        )  # fmt: skip
        # of which contacts the problem holds views: they stay as long as the number of contacts does
        self._id: IntArray = np.zeros(0, dtype=np.int64)
        self._problem.frictional = world.pipeline is not None and world.pipeline.frictional

    @classmethod
    def if_supported(cls, world: WorldTerms, impulses: ContactImpulses) -> Self | None:
        """The unreduced form of a world of one body with constraints and a band or blocks for a matrix; else None.

        Bodies with prescribed motion or joints, and contacts that are areas, are reduced.
        """
        has_areas = world.pipeline is not None and world.pipeline.areas is not None
        if len(world.bodies) != 1 or has_areas or not isinstance(world.solver, UnreducedStepSolver):
            return None
        (terms,) = world.bodies
        of_body_alone = world.joints is None and not len(terms.prescribed)
        if terms.rows is None or not of_body_alone or isinstance(terms.matrix, (Dense, Sparse)):
            return None
        return cls(world.solver, world, impulses)

    def solve(
        self, about: Array, step: float, contacts: ContactSet | None, bias: Array, velocity: Array
    ) -> tuple[SolveInfo, BoolArray | None]:
        """Write v⁺ and the impulses of the current linearisation; SINGULAR where the step must be reduced.

        Contacts of frames that nothing moves stay open. Returns which can move too, shape (m,); None if all.

        Args:
            about: v_k of the linearisation, shape (nv,).
            step: h [s].
            contacts: those of the linearisation, with their bias (m, width), or None.
        """
        own, problem, jacobian = self._constraints, self._problem, self._jacobian
        if len(own.bounded):
            self._lower[own.bounded], self._upper[own.bounded] = own.bounds(step)
        problem.step, problem.contact_count, movable = step, 0, None
        if contacts is not None and contacts.count:
            if contacts.count != len(problem.id) or contacts.id is not self._id:
                self._id, count = contacts.id, contacts.count
                problem.id, problem.gap = contacts.id[:count], contacts.gap[:count]
                problem.friction = contacts.friction[:count]
                problem.friction_record = contacts.friction_record[:count]
            problem.contact_count = contacts.count
            problem.contact_dofs, problem.contact_values = jacobian.rows.dofs, jacobian.rows.values
            problem.bias = bias + jacobian.multiply(about)
            problem.start_impulse = self._impulses.start
            can_move = np.empty(contacts.count, dtype=np.bool_)
            if find_rowless(jacobian.width, jacobian.rows.values, can_move):
                movable = can_move
                problem.bias[:, 0] = np.where(movable, problem.bias[:, 0], 1.0)
        problem.increment = velocity
        info = self._solver.solve(problem, self._impulses.of_contacts)
        velocity += about
        return info, movable
