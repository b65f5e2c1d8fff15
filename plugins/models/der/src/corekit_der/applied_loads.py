"""Input channels of rods and the loads that they apply."""

from __future__ import annotations

from copy import copy
from typing import Self

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.data.state import State
from corekit.errors import ConfigError, Mistake
from corekit.linalg.matrices import Matrix, Sparse
from corekit.roles.model import Channel, ChannelKind
from corekit_der.actuation import set_rest_strains
from corekit_der.config import DERConfig
from corekit_der.elasticity import Elasticity
from corekit_der.graph import Graph
from corekit_der.loads import add_following, add_world_force, following_derivatives
from corekit_der.numbering import Numbering
from corekit_der.planar_edges import planar_follower, planar_follower_derivatives

__all__ = ["AppliedLoads"]


class AppliedLoads:
    """Natural curvature and nodal forces from the stacked input vector.

    Attributes:
        channels: `curvature-LIMB` for the limb or for every inner node, then `force-NAME`. A curvature has the
            components κ₁, κ₂ and twist; only κ₁ if planar.
        input_size: count of inputs.
        following: whether a force turns with the rod. has_curvature_inputs: whether any pair has.
        shape: strains of the rest shape, (P, 3).
        first: first curvature input of every pair, or −1, (P,).
        forces: first index of the node, edge (−1: world axes) and first input of every nodal force.
        blocks: edge indices of every following force, (1, d).
    """

    def __init__(
        self,
        config: DERConfig,
        graph: Graph,
        numbering: Numbering,
        elasticity: Elasticity,
        axes: Array,
        shape: Array,
    ) -> None:
        self._elasticity, self._rods, self._axes, self._graph = elasticity, elasticity.rods, axes, graph
        self.shape, self._natural, self._voronoi = shape, graph.natural, graph.voronoi
        self.first: IntArray = np.full(len(graph.pair), -1, dtype=np.int64)
        channels: list[Channel] = []
        size, components = 0, elasticity.strains
        for i, limb in enumerate(config.limbs):
            if limb.curvature_input == "none":
                continue
            selected = graph.pair_limb == i
            if limb.curvature_input == "nodes":
                without_ghosts = (graph.limb[graph.pair] >= 0).all(axis=1)
                selected = np.flatnonzero(selected & without_ghosts)
                self.first[selected] = size + components * np.arange(len(selected))
                count = components * len(selected)
            else:
                self.first[selected] = size
                count = components
            if count:
                unit = "1/m, 1/m, rad/m" if components == 3 else "1/m"
                channels.append(Channel(f"curvature-{limb.name}", unit, count, ChannelKind.POSITION))
            size += count
        self.forces: list[tuple[int, int, int]] = []
        mistakes: list[Mistake] = []
        for i, force in enumerate(config.forces):
            node = graph.find_node(force.at, f"forces[{i}].at", mistakes)
            if node < 0:
                continue
            edge = -1
            if force.follows:
                number = [limb.name for limb in config.limbs].index(force.at.partition(".")[0])
                edges = np.flatnonzero(graph.limb == number)
                k = int(np.flatnonzero(graph.nodes_of[number] == node)[0])
                edge = int(edges[min(k, len(edges) - 1)])
            channels.append(Channel(f"force-{force.name}", "N", 3, sign="along its axes"))
            self.forces.append((int(numbering.node[node]), edge, size))
            size += 3
        if mistakes:
            raise ConfigError(mistakes, "the list of forces")
        self.channels = tuple(channels)
        self._zero_inputs = np.zeros(size)
        self.input_size = size
        self._changes_rest_strains = bool((self.first >= 0).any()) or bool(config.cables)
        self.has_curvature_inputs = bool((self.first >= 0).any())
        self.following = any(edge >= 0 for _, edge, _ in self.forces)
        self._width = axes.shape[1]
        self._slope = np.zeros((3, 7))
        self.blocks = [self._edge_dofs(edge)[None, :] for _, edge, _ in self.forces if edge >= 0]
        self._block_entries: list[IntArray] = []
        self._set_rest_strains(self._zero_inputs)

    def for_rods(self, graph: Graph, elasticity: Elasticity) -> Self:
        """Return the same loads on rods that differ in materials alone."""
        other = copy(self)
        vars(other).update(
            _graph=graph, _elasticity=elasticity, _rods=elasticity.rods, _slope=np.zeros((3, 7))
        )
        return other

    def _set_rest_strains(self, inputs: Array) -> None:
        set_rest_strains(
            self._rods, self.shape, self._natural, self._voronoi, self.first, self._elasticity.strains, inputs
        )

    def set_rest_strains(self, inputs: Array | None) -> None:
        """Set the natural curvature of the rods for these inputs; None means zero inputs."""
        if self._changes_rest_strains:
            self._set_rest_strains(self._zero_inputs if inputs is None else inputs)

    def add_forces(self, inputs: Array, force: Array) -> None:
        """Add the nodal forces; needs the edge state."""
        for node, edge, first in self.forces:
            if edge >= 0 and self._width == 2:
                force[node : node + 2] += planar_follower(self._rods, edge) @ inputs[first : first + 3]
            elif edge >= 0:
                add_following(self._rods, node, edge, inputs[first : first + 3], force)
            elif self._width == 3:
                add_world_force(self._axes, node, inputs[first : first + 3], force)
            else:
                world_force = inputs[first : first + 3] @ self._axes
                force[node : node + len(world_force)] += world_force

    def add_derivatives(self, state: State, inputs: Array, stiffness: Matrix) -> None:
        """Add −∂(following forces)/∂q to K."""
        block_entries = iter(self._block_entries)
        for _, edge, first in self.forces:
            if edge >= 0:
                u, slope = inputs[first : first + 3], self._slope
                if self._width == 2:
                    slope = planar_follower_derivatives(self._rods, edge, u)
                else:
                    following_derivatives(self._rods, state.q, state.aux, edge, u, slope)
                stiffness.data[next(block_entries)] -= slope

    def find_entries(self, matrix: Matrix) -> None:
        """Find the entries of K for the derivatives of following forces."""
        if self.following and isinstance(matrix, Sparse):
            for node, edge, _ in self.forces:
                if edge >= 0:
                    selected = node + np.arange(self._width)
                    rows, columns = np.meshgrid(selected, self._edge_dofs(edge), indexing="ij")
                    entry = matrix.pattern.where(rows.ravel(), columns.ravel())
                    self._block_entries.append(entry.reshape(rows.shape))

    def _edge_dofs(self, edge: int) -> IntArray:
        start, end, angle = self._rods.edge[edge]
        if self._width == 2:
            return np.array([start, start + 1, end, end + 1])
        return np.concatenate([start + np.arange(3), [angle], end + np.arange(3)])

    def compute_input_jacobian(self, state: State, inputs: Array, out: Array) -> None:
        """Write ∂f/∂u, shape (nv, nu)."""
        out.fill(0.0)
        self._elasticity.compute_edges(state.q, state.aux)
        if self.has_curvature_inputs:
            self._elasticity.add_curvature_derivatives(state, self._graph, self.first, inputs, out)
        for node, edge, first in self.forces:
            rows = slice(node, node + self._axes.shape[1])
            if edge >= 0 and self._width == 2:
                out[rows, first : first + 3] = planar_follower(self._rods, edge)
            elif edge >= 0:
                out[rows, first : first + 3] = self._rods.edge_state[edge][[[4, 7, 0], [5, 8, 1], [6, 9, 2]]]
            else:
                out[rows, first : first + 3] = self._axes.T
