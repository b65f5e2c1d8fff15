"""Masses, weight and viscous drag of the nodes and angles of a graph."""

from __future__ import annotations

import numpy as np

from corekit.data.arrays import Array
from corekit_der.graph import Graph
from corekit_der.numbering import Numbering

__all__ = ["couplings", "lump_masses"]


def couplings(graph: Graph) -> tuple[bool, bool]:
    """Whether resistive drag and a viscous material couple velocities, which decides the form of K and D."""
    return bool(graph.drag[:, 1:].any()), bool(graph.viscosity.any())


def lump_masses(graph: Graph, numbering: Numbering, gravity: Array) -> tuple[Array, Array, Array]:
    """Return the diagonals of M and of viscous drag, and the weight, each (n,): half an edge per node."""
    mass, weight, drag = (np.zeros(numbering.size) for _ in range(3))
    ends, half = graph.edge.T.ravel(), 0.5 * graph.length
    fluid = graph.fluid[:, 0] * graph.area

    def at_nodes(each: Array) -> Array:
        return np.bincount(ends, np.concatenate([each, each]), len(numbering.node)).astype(float)

    heavy, dragged = (
        at_nodes(half * each) for each in (graph.line_mass + graph.fluid[:, 1] * fluid, graph.drag[:, 0])
    )
    for k, g in enumerate(gravity.tolist()):
        x = numbering.node + k
        mass[x], drag[x], weight[x] = heavy, dragged, at_nodes(half * (graph.line_mass - fluid) * g)
    if len(gravity) == 3:
        mass[numbering.edge] += graph.length * graph.line_spin
    return mass, weight, drag
