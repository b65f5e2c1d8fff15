"""A step solved for its impulses alone: few contacts by one dense W, many of several bodies island by island.

w = W·λ + w₀,   W = J·G·Jᵀ,   w₀ = J·v_f + bias,   v⁺ = v_f + G·Jᵀ·λ                      (1)
"""

from __future__ import annotations

from typing import final

from corekit.data.arrays import Array, BoolArray
from corekit.data.status import SolveInfo
from corekit.dynamics.contact_impulses import ContactImpulses
from corekit.dynamics.contact_islands import ContactIslands, has_many_contacts
from corekit.dynamics.contact_problem import ContactReduction
from corekit.dynamics.delassus import delassus_operator
from corekit.dynamics.world_terms import WorldTerms
from corekit.roles.contact import ImpulseSolver

__all__ = ["ReducedStep"]


@final
class ReducedStep:
    """Solves (1) with an impulse solver.

    Args:
        world: the world's terms, linearised and factorised before every solve.
        impulses: of contacts and constraints; guesses, then solutions.
    """

    def __init__(self, world: WorldTerms, solver: ImpulseSolver, impulses: ContactImpulses) -> None:
        self._world, self._solver, self._impulses = world, solver, impulses
        self._delassus = delassus_operator(world)

    def solve(
        self, contact_count: int, bias: Array, about: Array, step: float, extra: Array | None, velocity: Array
    ) -> tuple[SolveInfo, BoolArray | None]:
        """Solve (1) at v_f = `velocity` and write v⁺ there; return the report and which contacts can move.

        Args:
            contact_count: how many of the pipeline's current contacts there are.
            bias: of the contacts, shape (m, width).
            about: v_k, about which the step was linearised.
            step: h [s].
            extra: added to the right-hand side of the step equation, shape (nv,), or None.
        """
        world, impulse = self._world, self._impulses.impulse
        if has_many_contacts(world, contact_count):
            islands = ContactIslands(world, contact_count)
            info, movable = islands.solve(self._solver, velocity, bias, step, impulse), islands.movable
            if not world.has_constraints:
                islands.add_response(impulse, velocity)
                return info, movable
            total = world.jacobian.multiply_transposed(impulse)
        else:
            reduction = ContactReduction(world, contact_count, bias, about, step)
            problem, rows = reduction.problem, reduction.rows
            self._delassus.assemble(rows, velocity, problem.free_velocity, problem.delassus())
            info, movable = reduction.solve(self._solver, impulse), reduction.movable
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
