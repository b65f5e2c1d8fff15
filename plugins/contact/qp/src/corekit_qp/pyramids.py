"""The friction pyramids of the contacts of a step, turned to slip or not."""

from __future__ import annotations

from typing import final

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.roles.contact import StepProblem, UnreducedStepProblem
from corekit.roles.friction import FrictionLaw
from corekit.roles.friction_edge import FrictionEdges
from corekit.roles.pyramid import pyramid_directions, turn_directions

__all__ = ["Pyramids"]

_MAX_SIZES = 16
"""Numbers of contacts for which directions are kept."""
_NO_MATRIX: Array = np.zeros((0, 0))


@compiled
def least_mass(diagonal: Array, dofs: IntArray, values: Array) -> float:
    """A ρ that is small enough for any load of the contacts: 1/Σ J²/A_jj of their tangential rows [kg]."""
    total = 0.0
    for i in range(len(dofs)):
        for k in range(dofs.shape[1]):
            pivot = diagonal[dofs[i, k]]
            total += values[i, k] ** 2 / pivot if i % 3 > 0 and pivot > 0.0 else 0.0
    return 1.0 / total if total > 0.0 else 0.0


@final
class Pyramids:
    """D as in `contact_rows`, by the number of contacts, in memory that is kept from step to step.

    Args:
        count: r. aligned: whether directions turn (`corekit.roles.pyramid`). law: of all contacts.
    """

    def __init__(self, count: int, aligned: bool, law: FrictionLaw) -> None:
        self._count, self._aligned, self._edges = count, aligned, FrictionEdges(law)
        self._unit: dict[int, Array] = {}
        self._directions: dict[tuple[int, int], Array] = {}

    @property
    def follows_law(self) -> bool:
        """Whether directions are those of another law than Coulomb's."""
        return bool(self._edges.exist)

    def of_problem(self, problem: StepProblem, impulse: Array) -> Array:
        """The directions of its contacts; the friction of a guess that is at its bound turns with them."""
        delassus = np.ascontiguousarray(problem.delassus())
        return self._turned(problem, problem.free_velocity, delassus, 0.0, impulse)

    def of_step(self, step: UnreducedStepProblem, diagonal: Array, impulse: Array) -> Array:
        """The same by the velocities where it was linearised and the A_jj, as W and w₀ are not known."""
        softness = 0.0
        if self._aligned and step.rows_per_contact == 3:
            softness = least_mass(diagonal, step.contact_dofs, step.contact_values)
        return self._turned(step, step.bias.ravel(), _NO_MATRIX, softness, impulse)

    def _turned(
        self, problem: StepProblem | UnreducedStepProblem, free: Array, delassus: Array, softness: float,
        impulse: Array,
    ) -> Array:  # fmt: skip
        width, contacts = problem.rows_per_contact, problem.contact_count
        aligned = self._aligned and width == 3
        differ = aligned or self._edges.exist
        directions = self._of_size(width, contacts if differ else 1)
        if differ:
            turn_directions(
                self._unit[width],
                problem.friction,
                *self._edges.of_records(problem.friction_record[:contacts]),
                delassus,
                softness,
                free,
                problem.start_impulse,
                aligned,
                directions,
                impulse,
            )
        return directions

    def _of_size(self, width: int, size: int) -> Array:
        directions = self._directions.get((width, size))
        if directions is None:
            if width not in self._unit:
                self._unit[width] = pyramid_directions(width, self._count)
            if len(self._directions) > _MAX_SIZES:
                self._directions.clear()
            directions = np.repeat(self._unit[width][None], size, axis=0)
            self._directions[width, size] = directions
        return directions
