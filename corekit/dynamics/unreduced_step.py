"""The step as one problem for solvers that eliminate for themselves: nothing is factorised here.

An unreduced solver gets the matrix of one body, its constraints and its contacts as they were built, sparse, and
returns Δ and all impulses at once. That keeps a chain's structure, which W = J·G·Jᵀ has lost. Where the matrix alone
is not positive definite (massless links held by constraints) the step is reduced instead.
"""

from __future__ import annotations

from typing import Self, final

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.data.contacts import ContactSet
from corekit.data.status import SolveInfo
from corekit.dynamics.contact_impulses import ContactImpulses
from corekit.dynamics.world_terms import WorldTerms
from corekit.linalg.matrices import Dense
from corekit.roles.contact import UnreducedStepProblem, UnreducedStepSolver

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
            matrix=self._terms.matrix, right=self._terms.rhs, dofs=own.rows.dofs, values=own.rows.values,
            compliance=own.compliance, target=own.target, lower=self._lower, upper=self._upper,
            width=world.jacobian.width,
        )  # fmt: skip
        # of which contacts the problem holds views: they stay as long as the number of contacts does
        self._id: IntArray = np.zeros(0, dtype=np.int64)
        self._problem.frictional = world.pipeline is not None and world.pipeline.frictional

    @classmethod
    def if_supported(cls, world: WorldTerms, impulses: ContactImpulses) -> Self | None:
        """The unreduced form of a world of one body with constraints and a structured matrix; else None.

        Bodies with prescribed motion are reduced.
        """
        if len(world.bodies) != 1 or not isinstance(world.solver, UnreducedStepSolver):
            return None
        (terms,) = world.bodies
        if terms.rows is None or len(terms.prescribed) or isinstance(terms.matrix, Dense):
            return None
        return cls(world.solver, world, impulses)

    def solve(
        self, about: Array, step: float, contacts: ContactSet | None, bias: Array, velocity: Array
    ) -> SolveInfo:
        """Write v⁺ and the impulses of the current linearisation; SINGULAR where the step must be reduced.

        Args:
            about: v_k of the linearisation, shape (nv,).
            step: h [s].
            contacts: those of the linearisation, with their bias (m, width), or None.
        """
        terms, own, problem, jacobian = self._terms, self._constraints, self._problem, self._jacobian
        if len(own.bounded):
            self._lower[own.bounded], self._upper[own.bounded] = own.bounds(step)
        problem.step, problem.contact_count = step, 0
        if contacts is not None and contacts.count:
            if contacts.count != len(problem.id) or contacts.id is not self._id:
                self._id, count = contacts.id, contacts.count
                problem.id, problem.friction = contacts.id[:count], contacts.friction[:count]
                problem.friction_record = contacts.friction_record[:count]
            problem.contact_count = contacts.count
            problem.contact_dofs, problem.contact_values = jacobian.dofs, jacobian.values
            problem.bias = bias + jacobian.multiply(about)
        info = self._solver.solve_unreduced(problem, velocity, terms.row_impulse, self._impulses.of_contacts)
        velocity += about
        return info
