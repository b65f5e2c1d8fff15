"""The contact detector role: which shapes could touch, and where."""

from __future__ import annotations

from abc import ABC, abstractmethod

from corekit.data.contacts import Candidates, ContactSet
from corekit.geometry.shapes import ShapePoses, ShapeTable
from corekit.roles.component import Component

__all__ = ["ContactDetector"]


class ContactDetector(Component, ABC):
    """Finds contacts between the shapes of a world.

    Once a step `find_candidates` lists the pairs that could touch; at each iterate `compute_contacts` answers gap,
    normal, point and material points of each. Feature ids persist from step to step, for warm starts and for the gap at
    the start and at the end of a step to be recognised as one contact.
    """

    @property
    @abstractmethod
    def supported_pairs(self) -> frozenset[tuple[str, str]]:
        """Kind pairs served; (a, b) serves (b, a) too."""

    @abstractmethod
    def prepare(self, table: ShapeTable, served: frozenset[tuple[str, str]]) -> None:
        """Read the world's shapes and the kind pairs that the kernel assigns to this detector."""

    @abstractmethod
    def find_candidates(self, poses: ShapePoses, margin: float, out: Candidates) -> None:
        """Replace `out` by the pairs that may come closer than `margin` [m] (none such may be missed)."""

    @abstractmethod
    def compute_contacts(
        self, candidates: Candidates, poses: ShapePoses, margin: float, out: ContactSet
    ) -> None:
        """Append the contacts with gap < `margin` [m] of the candidates to `out` (`reserve`, then count).

        Writes id, shape, gap, point, normal, frame, local_point, weight; tangent and friction are the kernel's.
        The gap's rate is normal·(relative velocity at the point), so it is exact to first order.
        `margin = inf` measures every candidate. Ids are unique over (shape, shape, feature).
        """
