"""Elasticity of spatial rods with frames and of planar rods, behind one interface."""

from __future__ import annotations

from copy import copy
from typing import Any, Protocol, Self, final

import numpy as np

from corekit.data.arrays import Array, BoolArray, IntArray
from corekit.data.state import State
from corekit_der.actuation import add_curvature_derivatives
from corekit_der.elastic_forces import compute_strains, elastic_forces
from corekit_der.frames import (
    compute_edges,
    frames_outdated,
    update_reference_frames,
    update_reference_twists,
)
from corekit_der.graph import Graph
from corekit_der.numbering import Numbering, block_dofs
from corekit_der.planar import (
    add_planar_curvature_derivatives,
    compute_planar_edges,
    planar_forces,
    planar_stiffness,
    planar_strains,
)
from corekit_der.planar_viscosity import planar_viscous_terms
from corekit_der.stiffness import elastic_stiffness
from corekit_der.tables import BlockEntryTable, Rods, RodTable, empty_rods, with_stiffness
from corekit_der.viscosity import viscous_coefficients, viscous_terms

__all__ = ["Elasticity", "PlanarElasticity", "SpatialElasticity", "TermWeights"]

TermWeights = tuple[float, float, float]
"""Weights of the forces of stretching, bending and twisting."""


class Elasticity(Protocol):
    """Elasticity of a graph of rods.

    Attributes:
        rods: the kernels' tables.
        axes: base axes of a node's coordinates, (0, 1, 2) or (0, 2).
        strains: strain count of a pair, 3 or 1.
        aux: length of the state's `aux`.
        blocks: indices of the edges' and of the pairs' blocks, (E, 2d) and (P, …).
    """

    rods: Rods
    axes: tuple[int, ...]
    strains: int
    aux: int
    blocks: tuple[IntArray, IntArray]

    def with_matter_of(self, graph: Graph) -> Self:
        """Return the elasticity of a graph that differs in materials alone; it shares nothing that is written."""

    def compute_rest_strains(self, q: Array, aux: Array) -> Array:
        """Write the `aux` of the rest shape and return its strains, (P, 3)."""

    def compute_strains(self, q: Array, aux: Array, out: Array) -> None:
        """Write the strains of every pair, (P, 3), and the edge state."""

    def update_reference_twists(self, q: Array, aux: Array) -> None:
        """Update the reference twists in `aux` to q."""

    def reparametrise(self, state: State) -> bool:
        """Update sources and reference twists if they are outdated; return whether they changed."""

    def compute_edges(self, q: Array, aux: Array) -> None:
        """Write the edge state."""

    def add_forces(self, q: Array, aux: Array, weights: TermWeights, out: Array) -> float:
        """Add −∂E/∂q and return the energy [J]."""

    def add_stiffness(self, q: Array, aux: Array, block_entries: BlockEntryTable, flat: Array) -> None:
        """Add ∂²E/∂q² to the flat storage of a matrix."""

    def add_viscous_terms(
        self, state: State, block_entries: BlockEntryTable, force: Array, K: Array, D: Array
    ) -> None:
        """Add the material's damping to `force` and, if they are not empty, −∂f/∂q and −∂f/∂v to K and D."""

    def add_curvature_derivatives(
        self, state: State, graph: Graph, first: IntArray, inputs: Array, out: Array
    ) -> None:
        """Add ∂f/∂(curvature inputs) to `out`."""


def _tables(graph: Graph, numbering: Numbering) -> Rods:
    rods = empty_rods(len(graph.edge), len(graph.pair))
    rods.edge[:, :2] = numbering.node[graph.edge]
    rods.edge[:, 2] = numbering.edge
    rods.length[:], rods.axial[:] = graph.length, graph.axial
    rods.pair[:], rods.sign[:], rods.pair_stiffness[:] = graph.pair, graph.sign, graph.pair_stiffness
    rods.pair_dofs[:, [0, 2, 4]] = numbering.node[graph.pair_node]
    rods.pair_dofs[:, [1, 3]] = numbering.edge[graph.pair]
    return rods


def _parts_with_matter_of(graph: Graph, rods: Rods) -> dict[str, Any]:
    """Return what differs in the elasticity of a graph with other materials than those in `rods`."""
    rods = with_stiffness(rods, graph.axial, graph.pair_stiffness)
    viscous, block = viscous_coefficients(graph), np.zeros((3, 121))
    return {"_graph": graph, "rods": rods, "_table": tuple(rods), "_viscous": viscous, "_block": block}


@final
class SpatialElasticity(Elasticity):
    """Elasticity in (x, θ) with reference directors, see `frames`, `elastic_forces` and `stiffness`."""

    def __init__(self, graph: Graph, numbering: Numbering) -> None:
        self._graph = graph
        self.rods = rods = _tables(graph, numbering)
        self._table: RodTable = tuple(rods)
        self.axes, self.strains = (0, 1, 2), 3
        self.aux = 6 * len(graph.length) + len(graph.pair)
        self._prescribed_edge: BoolArray = graph.prescribed_edge
        self._viscous, self._block = viscous_coefficients(graph), np.zeros((3, 121))
        self.blocks = (
            block_dofs(numbering.node[graph.edge], (3, 3)),
            block_dofs(rods.pair_dofs, (3, 1, 3, 1, 3)),
        )

    def with_matter_of(self, graph: Graph) -> Self:
        other = copy(self)
        vars(other).update(_parts_with_matter_of(graph, self.rods))
        return other

    def compute_rest_strains(self, q: Array, aux: Array) -> Array:
        graph, out = self._graph, np.zeros((len(self._graph.pair), 3))
        aux[: 6 * len(graph.length)] = np.column_stack([graph.tangent, graph.director]).ravel()
        compute_strains(self.rods, q, aux, out)
        self.rods.phase[:] = np.column_stack([np.cos(out[:, 2]), -np.sin(out[:, 2])])
        self.update_reference_twists(q, aux)
        compute_strains(self.rods, q, aux, out)
        # an edge turns far in the middle of a run first: load the kernel for that now
        update_reference_frames(self.rods, self._prescribed_edge, q.copy(), np.zeros(len(q)), aux.copy())
        return out

    def compute_strains(self, q: Array, aux: Array, out: Array) -> None:
        compute_strains(self.rods, q, aux, out)

    def update_reference_twists(self, q: Array, aux: Array) -> None:
        update_reference_twists(self.rods, q, aux)

    def reparametrise(self, state: State) -> bool:
        if not frames_outdated(self._table, self._prescribed_edge, state.q, state.aux):
            return False
        update_reference_frames(self.rods, self._prescribed_edge, state.q, state.v, state.aux)
        self.update_reference_twists(state.q, state.aux)
        return True

    def compute_edges(self, q: Array, aux: Array) -> None:
        compute_edges(self.rods, q, aux)

    def add_forces(self, q: Array, aux: Array, weights: TermWeights, out: Array) -> float:
        return sum(elastic_forces(self._table, q, aux, weights, out))

    def add_stiffness(self, q: Array, aux: Array, block_entries: BlockEntryTable, flat: Array) -> None:
        elastic_stiffness(self._table, q, aux, block_entries, flat)

    def add_viscous_terms(
        self, state: State, block_entries: BlockEntryTable, force: Array, K: Array, D: Array
    ) -> None:
        viscous_terms(
            self._table, state.q, state.aux, state.v, *self._viscous, force, block_entries, self._block, K, D
        )

    def add_curvature_derivatives(
        self, state: State, graph: Graph, first: IntArray, inputs: Array, out: Array
    ) -> None:
        add_curvature_derivatives(
            self.rods, state.q, state.aux, graph.natural, graph.voronoi, first, inputs, out
        )


@final
class PlanarElasticity(Elasticity):
    """Elasticity in (x, z), see `planar`."""

    def __init__(self, graph: Graph, numbering: Numbering) -> None:
        self._graph = graph
        self.rods = rods = _tables(graph, numbering)
        self._table: RodTable = tuple(rods)
        self.axes, self.strains, self.aux = (0, 2), 1, 0
        self._viscous, self._block = viscous_coefficients(graph), np.zeros((3, 121))
        self.blocks = (
            block_dofs(numbering.node[graph.edge], (2, 2)),
            block_dofs(rods.pair_dofs[:, [0, 2, 4]], (2, 2, 2)),
        )

    def with_matter_of(self, graph: Graph) -> Self:
        other = copy(self)
        vars(other).update(_parts_with_matter_of(graph, self.rods))
        return other

    def compute_rest_strains(self, q: Array, aux: Array) -> Array:
        out = np.zeros((len(self._graph.pair), 3))
        planar_strains(self.rods, q, out)
        return out

    def compute_strains(self, q: Array, aux: Array, out: Array) -> None:
        planar_strains(self.rods, q, out)

    def update_reference_twists(self, q: Array, aux: Array) -> None:
        pass

    def reparametrise(self, state: State) -> bool:
        return False

    def compute_edges(self, q: Array, aux: Array) -> None:
        compute_planar_edges(self.rods, q)

    def add_forces(self, q: Array, aux: Array, weights: TermWeights, out: Array) -> float:
        return sum(planar_forces(self._table, q, weights, out))

    def add_stiffness(self, q: Array, aux: Array, block_entries: BlockEntryTable, flat: Array) -> None:
        planar_stiffness(self._table, q, block_entries, flat)

    def add_viscous_terms(
        self, state: State, block_entries: BlockEntryTable, force: Array, K: Array, D: Array
    ) -> None:
        planar_viscous_terms(
            self._table, state.q, state.v, *self._viscous, force, block_entries, self._block, K, D
        )

    def add_curvature_derivatives(
        self, state: State, graph: Graph, first: IntArray, inputs: Array, out: Array
    ) -> None:
        add_planar_curvature_derivatives(self.rods, state.q, graph.natural, graph.voronoi, first, inputs, out)
