"""The contact problem of a step: reduced to impulses, or whole for solvers that eliminate for themselves.

Few contacts are reduced to one dense W, many of several clusters of bodies to islands:

    w = W·λ + w₀,   W = J·G·Jᵀ + diag(0, E_b),   w₀ = J·v_f + bias,   v⁺ = v_f + G·Jᵀ·λ               (1)

J stacks the contact rows and the bounded constraints, whose w_b = J_b·v⁺ + E·λ_b − r.

An unreduced solver gets the matrix of one body, its constraints and its contacts as they were built, sparse, and
returns Δ and all impulses at once. That keeps a chain's structure, which W has lost. Where the matrix alone is not
positive definite (massless links held by constraints) the step is reduced instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self, final

import numpy as np

from corekit.data.arrays import Array, BoolArray, IntArray
from corekit.data.contacts import ContactSet
from corekit.data.status import SolveInfo
from corekit.engine.contact.contact_impulses import ContactImpulses
from corekit.engine.contact.contact_kernels import (
    find_rowless,
    has_immovable,
    isolate_immovable,
    least_mobility,
)
from corekit.engine.step.bounded_rows import BoundedRows
from corekit.engine.step.delassus import DelassusOperator
from corekit.engine.step.reduced_problem import ReducedContactProblem
from corekit.engine.step.two_levels import Separation
from corekit.linalg.matrices import Dense, Sparse
from corekit.roles.contact import ImpulseSolver, UnreducedStepProblem, UnreducedStepSolver

if TYPE_CHECKING:
    from corekit.engine.world.world_terms import WorldTerms

__all__ = ["ReducedStep", "UnreducedStep"]

_NOTHING = np.zeros(0)


@final
class ReducedStep:
    """Solves (1) with an impulse solver.

    Args:
        world: the world's terms, linearised and factorised before every solve.
        impulses: of contacts and constraints; guesses, then solutions.
    """

    def __init__(self, world: WorldTerms, solver: ImpulseSolver, impulses: ContactImpulses) -> None:
        self._world, self._solver, self._impulses = world, solver, impulses
        self._delassus = DelassusOperator(world.factorisation)

    def solve(
        self, contact_count: int, bias: Array, about: Array, step: float, extra: Array | None, velocity: Array
    ) -> tuple[SolveInfo, BoolArray | None]:
        """Solve (1) at v_f = `velocity` and write v⁺ there; return the report and which contacts can move.

        Args:
            contact_count: how many of the pipeline's current contacts there are.
            bias: of the contacts, shape (m, width).
            about: v_k, about which the step was linearised.
            step: h [s], by which bounds of forces become bounds of impulses.
            extra: added to the right-hand side of the step equation, shape (nv,), or None.
        Returns:
            The report, and which contacts an impulse can move along their normal, shape (m,); None if all.
        """
        world, impulse = self._world, self._impulses.impulse
        if world.islands is not None and world.has_many_contacts(contact_count):
            bounded = self._bounded_rows(about, step) if world.has_bounded else None
            islands = world.islands(world, contact_count, bounded)
            info = islands.solve(self._solver, velocity, bias, step, impulse, self._impulses.start)
            movable = islands.movable
            if not world.has_constraints:
                islands.add_response(impulse, velocity)
                return info, movable
            total = world.jacobian.multiply_transposed(self._impulses.of_contacts)
            if bounded is not None:
                bounded.add_transpose_product(impulse[-bounded.count :], total)
        else:
            rows, problem = self._reduce(contact_count, bias, about, step, velocity)
            movable = _isolate_immovable(problem)
            info = self._solver.solve(problem, impulse)
            if not world.has_constraints:
                self._delassus.add_response(impulse, velocity)
                return info, movable
            total = rows.T @ impulse
        # the eliminated constraints' impulses depend on those of contacts
        if extra is not None:
            total += extra
        world.factorisation.solve(total, velocity)
        velocity += about
        self._impulses.update_bounded()
        return info, movable

    def separate(
        self, contact_count: int, gap: Array, about: Array, step: float, velocity: Array
    ) -> tuple[SolveInfo, Separation]:
        """Solve for δ = G·(J_nᵀ·ν + J_bᵀ·ν_b) with 0 ≤ ν ⊥ gap + J_n·δ ≥ 0, without friction; return δ/h and ν/h.

        Args:
            contact_count, about, step: as of `solve`, at whose answer bounded constraints go on: ν_b is what they give
                more, up to their bounds.
            gap: of the contacts, shape (m,) [m].
            velocity: v⁺ of that answer.
        """
        world, count = self._world, contact_count
        bias = -world.jacobian.multiply(velocity)
        bias[:, 0] += gap / step
        end, known = velocity.copy(), self._impulses.impulse
        impulse = np.zeros(len(known))
        if world.islands is not None and world.has_many_contacts(count):
            bounded = self._bounded_rows(about, step) if world.has_bounded else None
            islands = world.islands(
                world, count, None if bounded is None else bounded.after(known[-bounded.count :])
            )
            info = islands.solve(self._solver, end, bias, step, impulse, impulse, has_friction=False)
            islands.add_response(impulse, end)
        else:
            _, problem = self._reduce(count, bias, about, step, velocity, known)
            problem.friction = np.zeros(count)
            problem.friction_record = np.zeros_like(problem.friction_record)
            _isolate_immovable(problem)
            info = self._solver.solve(problem, impulse)
            self._delassus.add_response(impulse, end)
        return info, Separation(end - velocity, impulse)

    def pose(
        self,
        contact_count: int,
        bias: Array,
        about: Array,
        step: float,
        velocity: Array,
        start_impulse: Array,
    ) -> ReducedContactProblem:
        """The problem at a velocity v_f, (nv,), of a step that began with `start_impulse` (m, width); see `solve`."""
        _, problem = self._reduce(contact_count, bias, about, step, velocity)
        problem.start_impulse = np.zeros(len(problem.free_velocity))
        problem.start_impulse[: start_impulse.size] = start_impulse.ravel()
        _isolate_immovable(problem)
        return problem

    def _reduce(
        self,
        contact_count: int,
        bias: Array,
        about: Array,
        step: float,
        velocity: Array,
        given: Array | None = None,
    ) -> tuple[Array, ReducedContactProblem]:
        """J, shape (R, nv), and the problem at a velocity v_f, to which impulses (R,) may have led already."""
        world, m = self._world, contact_count
        rows = world.jacobian.to_dense() if m else np.zeros((0, world.nv))
        free, compliance = bias[:m].flatten(), _NOTHING
        lower = upper = _NOTHING
        if world.has_bounded:
            bounded = self._bounded_rows(about, step)
            bounded = bounded if given is None else bounded.after(given[-bounded.count :])
            compliance, lower, upper = bounded.compliance, bounded.lower, bounded.upper
            rows, free = (
                np.concatenate([rows, bounded.to_dense(world.nv)]),
                np.concatenate([free, bounded.offset]),
            )
        count = len(free)
        problem = ReducedContactProblem(
            world.jacobian.width, step, free, np.empty((count, count)), contact_count=m,
            bounded_count=len(lower), lower=lower, upper=upper, start_impulse=self._impulses.start,
        )  # fmt: skip
        if m and world.pipeline is not None:
            contacts = world.pipeline.contacts
            problem.id, problem.gap = contacts.id[:m], contacts.gap[:m]
            problem.friction = contacts.friction[:m]
            if world.pipeline.record_width:
                problem.friction_record = contacts.friction_record[:m]
        self._delassus.assemble(rows, velocity, free, problem.matrix)
        if m and world.pipeline is not None and world.pipeline.areas is not None:
            world.pipeline.areas.add_mobility(world.pipeline.contacts, problem.matrix)
        if len(compliance):
            corner = np.arange(count - len(compliance), count)
            problem.matrix[corner, corner] += compliance
        return rows, problem

    def _bounded_rows(self, about: Array, step: float) -> BoundedRows:
        """The bounded rows of all bodies, one body after the other."""
        world, parts = self._world, []
        for b, (terms, where) in enumerate(zip(world.bodies, world.slices, strict=True)):
            own, index = terms.constraints, terms.bounded
            if own is not None and len(index):
                rows = own.rows.to_dense(terms.body.nv, index)
                offset = -own.target[index] - rows @ about[where]
                parts.append((b, where, rows, offset, own.compliance[index], *own.bounds(step)))
        bodies, slices, rows, *others = zip(*parts, strict=True)
        return BoundedRows(bodies, slices, rows, *map(np.concatenate, others))


def _isolate_immovable(problem: ReducedContactProblem) -> BoolArray | None:
    """Open the contacts that no impulse can move along their normal; return which can, shape (m,), or None if all."""
    count, width, delassus = problem.contact_count, problem.rows_per_contact, problem.matrix
    if not has_immovable(count, width, delassus):
        return None
    movable = ~(delassus.diagonal()[: count * width : width] <= least_mobility(count, width, delassus))
    problem.friction = problem.friction.copy()
    isolate_immovable(width, movable, delassus, problem.free_velocity, problem.friction)
    return movable


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
            self._lower, self._upper, world.jacobian.width,
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
        terms, own, problem, jacobian = self._terms, self._constraints, self._problem, self._jacobian
        if len(own.bounded):
            self._lower[own.bounded], self._upper[own.bounded] = own.bounds(step)
        problem.step, problem.contact_count, movable = step, 0, None
        if contacts is not None and contacts.count:
            if contacts.count != len(problem.id) or contacts.id is not self._id:
                self._id, count = contacts.id, contacts.count
                problem.id, problem.friction = contacts.id[:count], contacts.friction[:count]
                problem.friction_record = contacts.friction_record[:count]
            problem.contact_count = contacts.count
            problem.contact_dofs, problem.contact_values = jacobian.rows.dofs, jacobian.rows.values
            problem.bias = bias + jacobian.multiply(about)
            problem.start_impulse = self._impulses.start
            can_move = np.empty(contacts.count, dtype=np.bool_)
            if find_rowless(jacobian.width, jacobian.rows.values, can_move):
                movable = can_move
                problem.bias[:, 0] = np.where(movable, problem.bias[:, 0], 1.0)
        info = self._solver.solve_unreduced(problem, velocity, terms.row_impulse, self._impulses.of_contacts)
        velocity += about
        return info, movable
