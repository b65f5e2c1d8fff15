"""Coefficients of restitution of every two bodies or obstacles of a world."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.data.contacts import ContactSet
from corekit.dynamics.bodies import Body
from corekit.dynamics.obstacles import Obstacle
from corekit.geometry.shapes import ShapeTable

__all__ = ["RestitutionTable"]


class RestitutionTable(NamedTuple):
    """e of every two owners: the bodies and obstacles that an entry names, and all others as one, the first.

    Attributes:
        owner: of every shape, (n,).
        coefficient: e of every two owners, (k, k).
    """

    owner: IntArray
    coefficient: Array

    @classmethod
    def of_world(
        cls,
        table: ShapeTable,
        bodies: Sequence[Body],
        obstacles: Sequence[Obstacle],
        otherwise: float,
        pairs: Mapping[tuple[str, str], float],
    ) -> RestitutionTable:
        """The table of a world's shapes.

        Args:
            table: of the shapes.
            bodies, obstacles: of the world.
            otherwise: e of a pair without an entry.
            pairs: e of named pairs.
        """
        names = [body.name for body in bodies] + [obstacle.name for obstacle in obstacles]
        named = {name: k + 1 for k, name in enumerate(dict.fromkeys(name for pair in pairs for name in pair))}
        coefficient = np.full((len(named) + 1, len(named) + 1), otherwise)
        for (one, other), value in pairs.items():
            i, j = named[one], named[other]
            coefficient[i, j] = coefficient[j, i] = value
        own: IntArray = np.array([named.get(name, 0) for name in names], dtype=np.int64)
        return cls(own[np.where(table.body >= 0, table.body, len(bodies) + table.obstacle)], coefficient)

    def of_contacts(self, contacts: ContactSet) -> Array:
        """e of every contact, shape (m,)."""
        first, second = self.owner[contacts.shape[: contacts.count]].T
        return self.coefficient[first, second]
