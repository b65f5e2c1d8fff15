"""Inputs of rods: which channels there are, and what they do."""

from __future__ import annotations

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.data.state import State
from corekit.errors import ConfigError, Mistake
from corekit.linalg.matrices import Matrix
from corekit.linalg.sparse import Sparse
from corekit.roles.model import Channel, ChannelKind
from corekit_der.actuation import set_natural
from corekit_der.config import DERConfig
from corekit_der.forms import Form
from corekit_der.graph import Graph
from corekit_der.loads import add_following, following_slopes
from corekit_der.numbering import Numbering
from corekit_der.planar_edges import planar_follower, planar_follower_slopes

__all__ = ["Applied"]


class Applied:
    """Natural curvature and forces at nodes, from the stacked input vector.

    Attributes:
        channels: `curvature-LIMB` (κ₁, κ₂, twist, if planar κ₁; of the limb or of every inner node), then `force-NAME`.
        following: whether a force turns with the rod.
        shape: strains of the rest shape, (P, 3).
        first: first curvature input of every pair, −1 without, (P,).
        forces: first index of the node, edge (−1: world axes) and first input of every force at a node.
        blocks: indices that each such force and its edge couple, (1, d).
    """

    def __init__(
        self, config: DERConfig, graph: Graph, numbering: Numbering, form: Form, axes: Array, shape: Array
    ) -> None:
        self._form, self._rods, self._axes, self._graph = form, form.rods, axes, graph
        self.shape, self._natural, self._voronoi = shape, graph.natural, graph.voronoi
        self.first: IntArray = np.full(len(graph.pair), -1, dtype=np.int64)
        channels: list[Channel] = []
        size, each = 0, form.strains
        for i, limb in enumerate(config.limbs):
            if limb.curvature_input == "none":
                continue
            own = graph.pair_limb == i
            if limb.curvature_input == "nodes":
                own = np.flatnonzero(own & (graph.limb[graph.pair] >= 0).all(axis=1))  # ghosts have no say
                self.first[own] = size + each * np.arange(len(own))
                count = each * len(own)
            else:
                self.first[own] = size
                count = each
            if count:
                unit = "1/m, 1/m, rad/m" if each == 3 else "1/m"
                channels.append(Channel(f"curvature-{limb.name}", unit, count, ChannelKind.POSITION))
            size += count
        self.forces: list[tuple[int, int, int]] = []
        wrong: list[Mistake] = []
        for i, force in enumerate(config.forces):
            node = graph.place(force.at, f"forces[{i}].at", wrong)
            if node < 0:
                continue
            edge = -1
            if force.follows:
                number = [limb.name for limb in config.limbs].index(force.at.partition(".")[0])
                edges = np.flatnonzero(graph.limb == number)
                k = int(np.flatnonzero(graph.nodes_of[number] == node)[0])
                edge = int(edges[min(k, len(edges) - 1)])
            channels.append(Channel(f"force-{force.name}", "N", 3))
            self.forces.append((int(numbering.node[node]), edge, size))
            size += 3
        if wrong:
            raise ConfigError(wrong, "the forces")
        self.channels = tuple(channels)
        self._none = np.zeros(size)
        self._curved = bool((self.first >= 0).any())
        self.following = any(edge >= 0 for _, edge, _ in self.forces)
        self._width = axes.shape[1]
        self._slope = np.zeros((3, 7))
        self.blocks = [self._edge_dofs(edge)[None, :] for _, edge, _ in self.forces if edge >= 0]
        self._places: list[IntArray] = []
        self._set(self._none)

    def _set(self, inputs: Array) -> None:
        set_natural(
            self._rods, self.shape, self._natural, self._voronoi, self.first, self._form.strains, inputs
        )

    def set_natural(self, inputs: Array | None) -> None:
        """Let the rods have the natural curvature that the inputs give; None: that without inputs."""
        if self._curved:
            self._set(self._none if inputs is None else inputs)

    def add_forces(self, inputs: Array, force: Array) -> None:
        """Add the forces at nodes; the edges must be placed."""
        for node, edge, first in self.forces:
            if edge >= 0 and self._width == 2:
                force[node : node + 2] += planar_follower(self._rods, edge) @ inputs[first : first + 3]
            elif edge >= 0:
                add_following(self._rods, node, edge, inputs[first : first + 3], force)
            else:
                pull = inputs[first : first + 3] @ self._axes
                force[node : node + len(pull)] += pull

    def add_slopes(self, state: State, inputs: Array, stiffness: Matrix) -> None:
        """Add −∂(following forces)/∂q to K."""
        places = iter(self._places)
        for _, edge, first in self.forces:
            if edge >= 0:
                u, slope = inputs[first : first + 3], self._slope
                if self._width == 2:
                    slope = planar_follower_slopes(self._rods, edge, u)
                else:
                    following_slopes(self._rods, state.q, state.aux, edge, u, slope)
                stiffness.data[next(places)] -= slope

    def find_places(self, matrix: Matrix) -> None:
        """Work out where the slopes of following forces stand in K."""
        if self.following and isinstance(matrix, Sparse):
            for node, edge, _ in self.forces:
                if edge >= 0:
                    own = node + np.arange(self._width)
                    rows, columns = np.meshgrid(own, self._edge_dofs(edge), indexing="ij")
                    place = matrix.pattern.where(rows.ravel(), columns.ravel())
                    self._places.append(place.reshape(rows.shape))

    def _edge_dofs(self, edge: int) -> IntArray:
        start, end, angle = self._rods.edge[edge]
        if self._width == 2:
            return np.array([start, start + 1, end, end + 1])
        return np.concatenate([start + np.arange(3), [angle], end + np.arange(3)])

    def jacobian(self, state: State, inputs: Array, out: Array) -> None:
        """Write ∂f/∂u, shape (nv, nu)."""
        out.fill(0.0)
        self._form.place(state.q, state.aux)
        if self._curved:
            self._form.curvature_slopes(state, self._graph, self.first, inputs, out)
        for node, edge, first in self.forces:
            rows = slice(node, node + self._axes.shape[1])
            if edge >= 0 and self._width == 2:
                out[rows, first : first + 3] = planar_follower(self._rods, edge)
            elif edge >= 0:
                out[rows, first : first + 3] = self._rods.at[edge][[[4, 7, 0], [5, 8, 1], [6, 9, 2]]]
            else:
                out[rows, first : first + 3] = self._axes.T
