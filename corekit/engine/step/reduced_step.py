"""A step reduced to its impulses, and solved for them island by island; see `dense_rows`."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import numpy as np

from corekit.data.arrays import Array, BoolArray
from corekit.data.status import SolveInfo
from corekit.engine.contact.contact_impulses import ContactImpulses
from corekit.engine.step.bounded_rows import BoundedRows, bounded_rows
from corekit.engine.step.dense_rows import DenseRows, ReducedRows
from corekit.engine.step.two_levels import Separation
from corekit.roles.contact import ImpulseSolver
from corekit.roles.contact_blocks import ReducedStepProblem

if TYPE_CHECKING:
    from corekit.engine.world.world_terms import WorldTerms

__all__ = ["ReducedStep"]


@final
class ReducedStep:
    """Solves (1) of `dense_rows` with an impulse solver.

    Args:
        world: the world's terms, linearised and factorised before every solve.
        impulses: of contacts and constraints; guesses, then solutions.
    """

    def __init__(self, world: WorldTerms, solver: ImpulseSolver, impulses: ContactImpulses) -> None:
        self._world, self._solver, self._impulses = world, solver, impulses
        self._dense = DenseRows(world)

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
        bounded = bounded_rows(world, about, step)
        rows = self._rows(contact_count, bounded)
        info = rows.solve(self._solver, velocity, bias, step, self._impulses.start, impulse)
        if not world.has_constraints:
            rows.add_response(impulse, velocity)
            return info, rows.movable
        # the eliminated constraints' impulses depend on those of contacts
        of_contacts = self._impulses.of_contacts
        total = world.jacobian.multiply_transposed(of_contacts) if contact_count else np.zeros(world.nv)
        if bounded is not None:
            bounded.add_transpose_product(impulse[-bounded.count :], total)
        if extra is not None:
            total += extra
        world.factorisation.solve(total, velocity)
        velocity += about
        self._impulses.update_bounded()
        return info, rows.movable

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
        world, known = self._world, self._impulses.impulse
        bias = -world.jacobian.multiply(velocity)
        bias[:, 0] += gap / step
        end, impulse = velocity.copy(), np.zeros(len(known))
        bounded = bounded_rows(world, about, step)
        if bounded is not None:
            bounded = bounded.after(known[-bounded.count :])
        rows = self._rows(contact_count, bounded)
        nothing = np.zeros(len(known))
        info = rows.solve(self._solver, end, bias, step, nothing, impulse, has_friction=False)
        rows.add_response(impulse, end)
        return info, Separation(end - velocity, impulse)

    def pose(
        self,
        contact_count: int,
        bias: Array,
        about: Array,
        step: float,
        velocity: Array,
        start_impulse: Array,
    ) -> ReducedStepProblem:
        """The undivided problem of a step that began with `start_impulse` (m, width); see `solve`."""
        bounded = bounded_rows(self._world, about, step)
        start = np.zeros(start_impulse.size + (0 if bounded is None else bounded.count))
        start[: start_impulse.size] = start_impulse.ravel()
        return self._dense.of(contact_count, bounded).problem(velocity, bias, step, start)

    def _rows(self, contact_count: int, bounded: BoundedRows | None) -> ReducedRows:
        """The one place where it is decided how a step is reduced."""
        world = self._world
        if world.islands is not None and world.has_many_contacts(contact_count):
            return world.islands(world, contact_count, bounded)
        return self._dense.of(contact_count, bounded)
