"""Frames of a graph of rods: the base if it moves, the nodes, the edges if they carry shapes, and sections at ends."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Self, final

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.data.state import State
from corekit.geometry.frames import Pose
from corekit.roles.model import Outline
from corekit_der.config import Cable
from corekit_der.elasticity import Elasticity
from corekit_der.frame_points import (
    edge_point_jacobians,
    edge_poses,
    node_point_jacobians,
    node_poses,
    place_edges,
)
from corekit_der.graph import Graph
from corekit_der.moving_base import BaseEdge
from corekit_der.numbering import Numbering
from corekit_der.outlines import cable_edges, cable_line, limb_outline
from corekit_der.planar_edges import planar_edge_axes, planar_edge_middles, planar_edge_point_jacobians

__all__ = ["GraphFrames"]


@final
class GraphFrames:
    """Poses of the frames, and Jacobians of points fixed in them.

    Args:
        graph, numbering, elasticity: of the rods.
        place: pose of the axes in which coordinates are given.
        base: the edge of a base that moves, whose frame is the first.
        with_edges: whether edges have frames.

    Attributes:
        names: of the frames. nodes, edges, ends: index of the first frame of a node, an edge and the section of an end.
        node_count: count of nodes with a frame. real_edges: edges with a frame, if any have.
        turns: whether any frame turns. jacobian_width: count of velocities that move a point.
        node_first: first index of every node with a frame. frame_edge: every frame's edge, −1 of nodes, (frames,).
        along: how far along it the frame lies, (frames,).
    """

    def __init__(
        self, graph: Graph, numbering: Numbering, elasticity: Elasticity, place: Pose, base: BaseEdge | None,
        *, with_edges: bool,
    ) -> None:  # fmt: skip
        self._elasticity, self._base, self._with_edges = elasticity, base, with_edges
        self._width = width = len(elasticity.axes)
        self._origin, self._rotation = np.array(place.position), np.array(place.rotation)
        self._axes = np.ascontiguousarray(self._rotation[:, list(elasticity.axes)])
        self.real_edges: IntArray = np.flatnonzero(graph.limb >= 0)
        self.node_count = int(graph.edge[self.real_edges].max()) + 1
        self.node_first = np.ascontiguousarray(numbering.node[: self.node_count])
        self.nodes = 0 if base is None else 1
        self.edges = self.nodes + self.node_count
        names = [*graph.node_name[: self.node_count]]
        if with_edges:
            names += [f"edge-{graph.edge_name[j]}" for j in self.real_edges]
        self.ends = self.nodes + len(names)
        names += [name for name, _, _ in graph.end_frames]
        self.names = (("base",) if base else ()) + tuple(names)
        self.turns = turning = with_edges or base is not None or bool(graph.end_frames)
        self.jacobian_width = (7 if width == 3 else 4) if turning else width
        # every frame's edge, −1 of nodes, and how far along it the frame lies
        self.frame_edge = np.full(len(self.names), -1, dtype=np.int64)
        self.along = np.full(len(self.names), 0.5)
        if with_edges:
            self.frame_edge[self.edges : self.ends] = self.real_edges
        for i, (_, node, edge) in enumerate(graph.end_frames, start=self.ends):
            self.frame_edge[i], self.along[i] = edge, float(graph.edge[edge, 1] == node)
        if base is not None:
            self.frame_edge[0], self.along[0] = base.edge, base.along

    def for_rods(self, elasticity: Elasticity) -> Self:
        """Return the frames of rods that differ in materials alone."""
        other = copy(self)
        vars(other).update(_elasticity=elasticity)
        return other

    @property
    def frame_edges(self) -> tuple[IntArray, Array]:
        """Edges of all frames of edges and sections, in order, and how far along them these lie, (k,) each."""
        return self.frame_edge[self.edges :], self.along[self.edges :]

    def joint_doubts(self, graph: Graph) -> dict[str, str]:
        """Return what a joint at the first or last edge of a limb does, by frame; see `free_ghosts`."""
        out: dict[str, str] = {}
        for number, limb in enumerate(graph.limbs if self._with_edges and self._width == 3 else ()):
            edges = np.flatnonzero(graph.limb == number)
            for which, edge in (("start", edges[0]), ("end", edges[-1])):
                if not limb.closed:
                    out[f"edge-{graph.edge_name[edge]}"] = (
                        "is a whole edge, of which half does not bend then, so that the rod is too stiff by "
                        f"1/{2 * len(edges)}: hold its section {limb.name}.{which}, named in `end_frames`"
                    )
        return out

    def write_poses(self, state: State, position: Array, rotation: Array) -> None:
        """Write positions and axes of all frames in the world."""
        nodes, edges = self.nodes, self.edges
        node_poses(
            state.q, self.node_first, self._axes, self._origin, self._rotation, position[nodes:], rotation[nodes:]
        )  # fmt: skip
        for first, last in ((0, nodes), (edges, len(self.names))):
            if first < last:
                own = slice(first, last)
                self._write_edges(state, self.frame_edge[own], self.along[own], position[own], rotation[own])
        if self._base is not None:
            rotation[0] = rotation[0] @ self._base.axes.T
            position[0] -= rotation[0] @ self._base.place

    def _write_edges(
        self, state: State, edges: IntArray, along: Array, position: Array, rotation: Array
    ) -> None:
        """Write points at `along` (k,) of edges, in a plane their middles, and their axes in the world."""
        rods = self._elasticity.rods
        if self._width == 2:
            self._elasticity.compute_edges(state.q, state.aux)
            position[:] = planar_edge_middles(rods, state.q, edges) @ self._axes.T + self._origin
            rotation[:] = self._rotation @ planar_edge_axes(rods, edges)
            return
        edge_poses(rods, state.q, state.aux, edges, along, position, rotation)
        place_edges(self._axes, self._origin, position, rotation)

    def write_point_jacobians(
        self, state: State, frame: IntArray, local: Array, dofs: IntArray, values: Array
    ) -> None:
        """Write the Jacobians of points fixed in frames."""
        nodes, width = self.nodes, self._width
        if not self.turns:
            node_point_jacobians(self.node_first, self._axes, frame, dofs, values)
            return
        edge = self.frame_edge[frame]
        on_node = edge < 0
        values[on_node] = 0.0
        dofs[on_node] = 0
        dofs[on_node, :width] = self.node_first[frame[on_node] - nodes, None] + np.arange(width)
        values[on_node, :, :width] = self._axes
        if width == 2:
            self._elasticity.compute_edges(state.q, state.aux)
            on_edge, rods = ~on_node, self._elasticity.rods
            count = int(on_edge.sum())
            edge_dofs, edge_values = np.empty((count, 4), dtype=np.int64), np.empty((count, 3, 4))
            planar_edge_point_jacobians(
                rods, edge[on_edge], local[on_edge], self._axes, edge_dofs, edge_values
            )
            dofs[on_edge], values[on_edge] = edge_dofs, edge_values
            return
        if self._base is not None:
            on_base = (frame == 0)[:, None]
            local = np.where(on_base, (local - self._base.place) @ self._base.axes, local)
        edge_point_jacobians(
            self._elasticity.rods, state.q, state.aux, edge, self.along[frame], local, self._axes, dofs, values
        )  # fmt: skip

    def outline(self, graph: Graph, cables: Sequence[Cable], state: State) -> Outline:
        """Return the limbs, see `limb_outline`, and their cables."""
        points = state.q[self.node_first[:, None] + np.arange(self._width)] @ self._axes.T + self._origin
        lines = []
        for cable in cables:
            edges = cable_edges(graph, cable.limb)
            middles, axes = np.empty((len(edges), 3)), np.empty((len(edges), 3, 3))
            self._write_edges(state, edges, np.full(len(edges), 0.5), middles, axes)
            lines.append((cable.name, cable_line(graph, cable.limb, cable.offset, points, middles, axes)))
        return limb_outline(graph, points, lines)

    def find_base_motion(self, state: State) -> tuple[Array, Array, Array, Array]:
        """Return position, axes, velocity and angular velocity of the base in the world."""
        count = len(self.names)
        position, rotation = np.zeros((count, 3)), np.zeros((count, 3, 3))
        self.write_poses(state, position, rotation)
        width = self.jacobian_width
        dofs, values = np.zeros((4, width), dtype=np.int64), np.zeros((4, 3, width))
        ends = np.vstack([np.zeros(3), np.eye(3)])
        self.write_point_jacobians(state, np.zeros(4, dtype=np.int64), ends, dofs, values)
        moved = np.einsum("cik,ck->ci", values, state.v[dofs])
        spin = 0.5 * np.cross(rotation[0].T, moved[1:] - moved[0]).sum(axis=0)
        return position[0], rotation[0], moved[0], spin
