"""All rows of a step reduced to one dense W; and what a division into islands offers in its place.

    w = W·λ + w₀,   W = J·G·Jᵀ + diag(0, E_b),   w₀ = J·v_f + bias,   v⁺ = v_f + G·Jᵀ·λ               (1)

J stacks the contact rows and the bounded constraints, whose w_b = J_b·v⁺ + E·λ_b − r.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, final

import numpy as np

from corekit.data.arrays import Array, BoolArray
from corekit.data.status import SolveInfo
from corekit.engine.contact.contact_kernels import has_immovable, isolate_immovable, least_mobility
from corekit.engine.step.bounded_rows import BoundedRows
from corekit.engine.step.delassus import DelassusOperator
from corekit.roles.contact import ImpulseSolver
from corekit.roles.contact_blocks import ReducedStepProblem

if TYPE_CHECKING:
    from corekit.engine.world.world_terms import WorldTerms

__all__ = ["DenseRows", "ReducedRows"]


class ReducedRows(Protocol):
    """Rows of one linearisation, factorised: the contacts', then those with bounds."""

    @property
    def movable(self) -> BoolArray | None:
        """Which contacts an impulse can move along their normal, shape (m,); None if all. Known once solved."""

    def solve(
        self,
        solver: ImpulseSolver,
        velocity: Array,
        bias: Array,
        step: float,
        start: Array,
        impulse: Array,
        *,
        has_friction: bool = True,
    ) -> SolveInfo:
        """Solve for λ at a velocity v_f.

        Args:
            velocity: v_f, shape (nv,).
            bias: of the contacts, shape (m, width) [m/s].
            step: h [s].
            start: `start_impulse` of all rows, shape (R,).
            impulse: a guess of λ, shape (R,), which is overwritten.
            has_friction: whether contacts have any.
        """

    def add_response(self, impulse: Array, velocity: Array) -> None:
        """Add G·Jᵀ·λ to the velocities of the world."""


@final
class DenseRows:
    """Implements `ReducedRows` by one problem.

    Args:
        world: terms of bodies and contacts, linearised and factorised where it solves.

    Attributes:
        movable: as of `ReducedRows`.
    """

    def __init__(self, world: WorldTerms) -> None:
        self._world, self._delassus = world, DelassusOperator(world.factorisation)
        self._count = 0
        self._bounded: BoundedRows | None = None
        self.movable: BoolArray | None = None

    def of(self, contact_count: int, bounded: BoundedRows | None) -> DenseRows:
        """The rows of so many of the pipeline's current contacts, and of those with bounds, or None without any."""
        self._count, self._bounded = contact_count, bounded
        return self

    def solve(
        self,
        solver: ImpulseSolver,
        velocity: Array,
        bias: Array,
        step: float,
        start: Array,
        impulse: Array,
        *,
        has_friction: bool = True,
    ) -> SolveInfo:
        """Solve for λ at a velocity v_f; see `ReducedRows`."""
        return solver.solve(self.problem(velocity, bias, step, start, has_friction), impulse)

    def problem(
        self, velocity: Array, bias: Array, step: float, start: Array, has_friction: bool = True
    ) -> ReducedStepProblem:
        """All rows as one problem; arguments as of `ReducedRows.solve`."""
        world, m, bounded = self._world, self._count, self._bounded
        rows = world.jacobian.to_dense() if m else np.zeros((0, world.nv))
        free = bias[:m].flatten()
        if bounded is not None:
            rows = np.concatenate([rows, bounded.to_dense(world.nv)])
            free = np.concatenate([free, bounded.offset])
        count = len(free)
        matrix = np.empty((count, count))
        problem = ReducedStepProblem(
            world.jacobian.width, step, free, matrix, contact_count=m, start_impulse=start
        )
        if bounded is not None:
            problem.bounded_count, problem.lower, problem.upper = bounded.count, bounded.lower, bounded.upper
        if m and world.pipeline is not None:
            contacts = world.pipeline.contacts
            problem.id, problem.gap = contacts.id[:m], contacts.gap[:m]
            problem.friction = contacts.friction[:m] if has_friction else np.zeros(m)
            if world.pipeline.record_width:
                record = contacts.friction_record[:m]
                problem.friction_record = record if has_friction else np.zeros_like(record)
        self._delassus.assemble(rows, velocity, free, matrix)
        if m and world.pipeline is not None and world.pipeline.areas is not None:
            world.pipeline.areas.add_mobility(world.pipeline.contacts, matrix)
        if bounded is not None:
            corner = np.arange(count - bounded.count, count)
            matrix[corner, corner] += bounded.compliance
        self.movable = _isolate_immovable(problem, matrix)
        return problem

    def add_response(self, impulse: Array, velocity: Array) -> None:
        """Add G·Jᵀ·λ to the velocities of the world."""
        self._delassus.add_response(impulse, velocity)


def _isolate_immovable(problem: ReducedStepProblem, delassus: Array) -> BoolArray | None:
    """Open the contacts that no impulse can move along their normal; return which can, shape (m,), or None if all."""
    count, width = problem.contact_count, problem.rows_per_contact
    if not has_immovable(count, width, delassus):
        return None
    movable = ~(delassus.diagonal()[: count * width : width] <= least_mobility(count, width, delassus))
    problem.friction = problem.friction.copy()
    isolate_immovable(width, movable, delassus, problem.free_velocity, problem.friction)
    return movable
