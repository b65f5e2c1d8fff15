"""The two forms of elasticity behind one face: rods in space with frames, and rods in a plane."""

from __future__ import annotations

from typing import Protocol, final

import numpy as np

from corekit.data.arrays import Array, BoolArray, IntArray
from corekit.data.state import State
from corekit_der.actuation import curvature_slopes
from corekit_der.elastic import elastic_forces, strains
from corekit_der.frames import follow_twist, has_left, move_sources, place_edges
from corekit_der.graph import Graph
from corekit_der.numbering import Numbering, dofs_of
from corekit_der.planar import place_planar, planar_forces, planar_slopes, planar_stiffness, planar_strains
from corekit_der.stiffness import elastic_stiffness
from corekit_der.tables import PlaceTable, Rods, RodTable, empty_rods

__all__ = ["Form", "Plane", "Share", "Space"]

Share = tuple[float, float, float]
"""Weights of stretching, bending and twisting."""


class Form(Protocol):
    """Elasticity of a graph of rods.

    Attributes:
        rods: the kernels' tables.
        axes: base axes that a node's coordinates count, (0, 1, 2) or (0, 2).
        strains: how many a pair has, 3 or 1.
        aux: length of the auxiliary memory.
        blocks: indices of the edges' and of the pairs' blocks, (E, 2d) and (P, …).
    """

    rods: Rods
    axes: tuple[int, ...]
    strains: int
    aux: int
    blocks: tuple[IntArray, IntArray]

    def rest(self, q: Array, aux: Array) -> Array:
        """Write the aux of the rest shape; its strains, (P, 3)."""
        ...

    def follow(self, q: Array, aux: Array) -> None:
        """Continue the twists in `aux` to q."""
        ...

    def rechart(self, state: State) -> bool:
        """Renew sources and twists if the shape has left them far behind."""
        ...

    def place(self, q: Array, aux: Array) -> None:
        """Write the edges' work space."""
        ...

    def forces(self, q: Array, aux: Array, share: Share, out: Array) -> float:
        """Add −∂E/∂q; the energy [J]."""
        ...

    def stiffness(self, q: Array, aux: Array, places: PlaceTable, flat: Array) -> None:
        """Add ∂²E/∂q² to a matrix's flat storage."""
        ...

    def curvature_slopes(
        self, state: State, graph: Graph, first: IntArray, inputs: Array, out: Array
    ) -> None:
        """Add ∂f/∂(curvature inputs) to `out`."""
        ...


def _tables(graph: Graph, numbering: Numbering) -> Rods:
    rods = empty_rods(len(graph.edge), len(graph.pair))
    rods.edge[:, :2] = numbering.node[graph.edge]
    rods.edge[:, 2] = numbering.edge
    rods.length[:], rods.axial[:] = graph.length, graph.axial
    rods.pair[:], rods.sign[:], rods.bend[:] = graph.pair, graph.sign, graph.pair_bend
    rods.where[:, [0, 2, 4]] = numbering.node[graph.pair_node]
    rods.where[:, [1, 3]] = numbering.edge[graph.pair]
    return rods


@final
class Space(Form):
    """(x, θ) with reference directors, see `frames`, `elastic` and `stiffness`."""

    def __init__(self, graph: Graph, numbering: Numbering) -> None:
        self._graph = graph
        self.rods = rods = _tables(graph, numbering)
        self._table: RodTable = tuple(rods)
        self.axes, self.strains = (0, 1, 2), 3
        self.aux = 6 * len(graph.length) + len(graph.pair)
        self._held: BoolArray = graph.held_edge
        self.blocks = (
            dofs_of(numbering.node[graph.edge], (3, 3)),
            dofs_of(rods.where, (3, 1, 3, 1, 3)),
        )

    def rest(self, q: Array, aux: Array) -> Array:
        graph, out = self._graph, np.zeros((len(self._graph.pair), 3))
        aux[: 6 * len(graph.length)] = np.column_stack([graph.tangent, graph.director]).ravel()
        strains(self.rods, q, aux, out)
        self.rods.phase[:] = np.column_stack([np.cos(out[:, 2]), -np.sin(out[:, 2])])
        self.follow(q, aux)
        strains(self.rods, q, aux, out)
        return out

    def follow(self, q: Array, aux: Array) -> None:
        follow_twist(self.rods, q, aux)

    def rechart(self, state: State) -> bool:
        if not has_left(self._table, self._held, state.q, state.aux):
            return False
        move_sources(self.rods, self._held, state.q, state.v, state.aux)
        self.follow(state.q, state.aux)
        return True

    def place(self, q: Array, aux: Array) -> None:
        place_edges(self.rods, q, aux)

    def forces(self, q: Array, aux: Array, share: Share, out: Array) -> float:
        return sum(elastic_forces(self._table, q, aux, share, out))

    def stiffness(self, q: Array, aux: Array, places: PlaceTable, flat: Array) -> None:
        elastic_stiffness(self._table, q, aux, places, flat)

    def curvature_slopes(
        self, state: State, graph: Graph, first: IntArray, inputs: Array, out: Array
    ) -> None:
        curvature_slopes(self.rods, state.q, state.aux, graph.natural, graph.voronoi, first, inputs, out)


@final
class Plane(Form):
    """(x, z) alone, see `planar`."""

    def __init__(self, graph: Graph, numbering: Numbering) -> None:
        self._graph = graph
        self.rods = rods = _tables(graph, numbering)
        self._table: RodTable = tuple(rods)
        self.axes, self.strains, self.aux = (0, 2), 1, 0
        self.blocks = (
            dofs_of(numbering.node[graph.edge], (2, 2)),
            dofs_of(rods.where[:, [0, 2, 4]], (2, 2, 2)),
        )

    def rest(self, q: Array, aux: Array) -> Array:
        out = np.zeros((len(self._graph.pair), 3))
        planar_strains(self.rods, q, out)
        return out

    def follow(self, q: Array, aux: Array) -> None:
        pass

    def rechart(self, state: State) -> bool:
        return False

    def place(self, q: Array, aux: Array) -> None:
        place_planar(self.rods, q)

    def forces(self, q: Array, aux: Array, share: Share, out: Array) -> float:
        return sum(planar_forces(self._table, q, share, out))

    def stiffness(self, q: Array, aux: Array, places: PlaceTable, flat: Array) -> None:
        planar_stiffness(self._table, q, places, flat)

    def curvature_slopes(
        self, state: State, graph: Graph, first: IntArray, inputs: Array, out: Array
    ) -> None:
        planar_slopes(self.rods, state.q, graph.natural, graph.voronoi, first, inputs, out)
