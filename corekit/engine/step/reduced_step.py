"""A step reduced to its impulses, and solved for them island by island; see `dense_rows`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, final

import numpy as np

from corekit.data.arrays import Array, BoolArray
from corekit.data.status import SOLVED, Residuals, SolveInfo
from corekit.engine.contact.contact_impulses import ContactImpulses
from corekit.engine.step.bounded_rows import BoundedRows, bounded_rows
from corekit.engine.step.delassus import DelassusOperator
from corekit.engine.step.dense_rows import DenseRows, Island, ReducedRows
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
        bounded = bounded_rows(world, about, step)
        rows = self._rows(contact_count, bounded)
        info = _solve(self._solver, rows.islands(velocity, bias, step, self._impulses.start), impulse)
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
        islands = rows.islands(end, bias, step, np.zeros(len(known)), has_friction=False)
        info = _solve(self._solver, islands, impulse)
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
        rows = DenseRows(self._world, self._delassus, contact_count, bounded)
        ((problem, _),) = rows.islands(velocity, bias, step, start)
        return problem

    def _rows(self, contact_count: int, bounded: BoundedRows | None) -> ReducedRows:
        """The one place where it is decided how a step is reduced."""
        world = self._world
        if world.islands is not None and world.has_many_contacts(contact_count):
            return world.islands(world, contact_count, bounded)
        return DenseRows(world, self._delassus, contact_count, bounded)


def _solve(solver: ImpulseSolver, islands: Sequence[Island], impulse: Array) -> SolveInfo:
    """Solve every island; `impulse` (R,) holds the guess and receives λ, 0 of what is in no island.

    Returns:
        The worst status, with the largest residuals and the sum of iterations.
    """
    if len(islands) == 1 and isinstance(islands[0].rows, slice):
        return solver.solve(islands[0].problem, impulse)
    guess, infos = impulse.copy(), list[SolveInfo]()
    impulse.fill(0.0)
    for problem, rows in islands:
        own = guess[rows]
        infos.append(solver.solve(problem, own))
        impulse[rows] = own
    return _merged(infos)


def _merged(infos: list[SolveInfo]) -> SolveInfo:
    if len(infos) == 1:
        return infos[0]
    if not infos:
        return SolveInfo(answered_by="no contact moves")
    failed = [info for info in infos if not info.status.solved]
    # a fallback is reported even where most islands had none
    worst = failed[0] if failed else max(infos, key=lambda info: (SOLVED.index(info.status), info.iterations))
    by_name = {
        name: max(getattr(info.residuals, name) for info in infos)
        for name in ("normal", "friction", "cone", "equation", "compliance")
    }
    return SolveInfo(
        worst.status, sum(info.iterations for info in infos), Residuals(**by_name), worst.answered_by
    )
