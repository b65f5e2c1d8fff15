"""Ends of rods whose section has a frame: a ghost edge behind the end node that is free.

An edge of a rod is rigid, and the half edge between its middle and the end of the rod bends at no node. What is held by
the edge would therefore hold half an edge too much: a cantilever of n edges is stiffer by 1/(2·n). As behind a clamp
(see `graph`) a ghost edge continues the rod straight, and the half edge bends against it, EI/V = EI/(L/2). The section
at the end of the rod, the node with the axes of the ghost, is held or holds to order 1/n².

The ghost edge has no mass of its own, so it has that of the half edge before it. Rigid about the end, the mass
m = ½·ρ·A·L has the moment of inertia m·L²/12, and of the spin about the tangent a quarter edge is nearer to the end
than to the middle of the edge:

    m_ghost = m/12 at −L,   ρ·J·L/4 of the edge's spin,   E·A_ghost = E·A/6                  (1)

All of it comes from the rod: the mass stays, its moments change by order L², as those of lumped masses do. The
stiffness gives the ghost the frequency 2·√(E/ρ)/L of the rod's own highest mode.
"""

from __future__ import annotations

from typing import NamedTuple, final

import numpy as np

from corekit.data.arrays import Array
from corekit_der.graph import Graph
from corekit_der.numbering import Numbering

__all__ = ["FreeGhost"]

_MASS, _SPIN, _AXIAL = 1.0 / 12.0, 0.25, 1.0 / 6.0


@final
class FreeGhost(NamedTuple):
    """A ghost edge with its ends: the node behind, and the end node of the rod; and the edge that it continues."""

    edge: int
    behind: int
    end: int
    first: int

    @classmethod
    def of(cls, graph: Graph, edge: int, end: int) -> FreeGhost:
        """The ghost `edge` at the node `end`; it gets its axial stiffness."""
        (first,) = np.flatnonzero((graph.edge == end).any(axis=1) & (np.arange(len(graph.edge)) != edge))
        graph.axial[edge] = _AXIAL * graph.axial[first]
        return cls(edge, int(graph.edge[edge].sum()) - end, end, int(first))

    def share_mass(self, numbering: Numbering, mass: Array, weight: Array) -> None:
        """Give the ghost its mass and weight by (1), those of the rod, in (n,) each."""
        behind, end = (numbering.node[each] + np.arange(3) for each in (self.behind, self.end))
        for values in (mass, weight):
            values[behind] = _MASS * values[end]
            values[end] -= values[behind]
        ghost, own = numbering.edge[self.edge], numbering.edge[self.first]
        mass[ghost] = _SPIN * mass[own]
        mass[own] -= mass[ghost]
