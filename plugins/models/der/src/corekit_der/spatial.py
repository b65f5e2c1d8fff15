"""Rods in space: the arrays behind the model, and every answer computed from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from corekit.data.arrays import Array, BoolArray, IntArray
from corekit.data.state import State
from corekit.errors import ConfigError, Mistake
from corekit.linalg.matrices import Banded, Dense, Diagonal, Matrix
from corekit.roles.component import BuildContext
from corekit.roles.model import Coordinate, Layout, Outline
from corekit_der.applied import Applied
from corekit_der.carriers import edge_poses, edge_rows
from corekit_der.collision import collision_shapes
from corekit_der.config import DERConfig
from corekit_der.elastic import elastic_forces, strains
from corekit_der.frames import directors_along, follow_twist, move_sources, turned_least
from corekit_der.graph import Graph, build_graph
from corekit_der.initial import DERInitial, bending_mode
from corekit_der.loads import add_drag, add_drag_slopes
from corekit_der.motion import HeldMotion
from corekit_der.numbering import Numbering, dofs_of, number, places
from corekit_der.stiffness import elastic_stiffness
from corekit_der.tables import Rods, empty_rods

__all__ = ["SpatialRods"]

_FAR: Final = 0.5
"""cos 60°: edges turned farther from their sources get new ones."""
_ALL = (1.0, 1.0, 1.0)


class SpatialRods:
    """A graph of rods with coordinates (x, θ).

    Attributes:
        layout: what the kernel reads.
        size: length of q and of v.
        mass: diagonal of M, (n,).
        held: motion of clamped coordinates.
    """

    def __init__(self, config: DERConfig, context: BuildContext) -> None:
        self._path = context.path or "der"
        self._graph = graph = build_graph(config)
        self._numbering = numbering = number(graph, planar=False)
        self._origin, self._axes = context.base.position, context.base.rotation
        self._gravity = self._axes.T @ context.gravity
        self.size = n = numbering.size
        self.rods = rods = _tables(graph, numbering)
        self._aux = 6 * len(graph.length) + len(graph.pair)
        self._real: IntArray = np.flatnonzero(graph.limb >= 0)
        self._nodes = int(graph.edge[self._real].max()) + 1
        self.held = HeldMotion(graph, numbering, (0, 1, 2), twisting=True)
        self._held_edge: BoolArray = graph.held_edge
        self.mass, self._weight, self._drag = _lumped(graph, numbering, self._gravity)
        self._x = numbering.node[:, None] + np.arange(3)
        self._moved = np.zeros(n)
        self._with_edges = config.collision == "capsules"
        stretch = dofs_of(numbering.node[graph.edge], (3, 3))
        pair = dofs_of(rods.where, (3, 1, 3, 1, 3))
        self._resistive = graph.drag[:, 1:] * (0.5 * graph.length[:, None])
        self._resisted = bool(self._resistive.any())
        self._applied = Applied(config, graph, numbering, rods, self._axes, self._rest_state())
        self._symmetric = not (self._resisted or self._applied.following)
        template = self._storage()
        self._places = (*places(stretch, template), *places(pair, template))
        self._drag_block = np.zeros((2, 36))
        self.layout = self._make_layout(config)

    def _rest_state(self) -> Array:
        """Sources at the rest shape; its strains."""
        graph, rods = self._graph, self.rods
        self._rest_q = np.zeros(self.size)
        self._rest_q[self._x] = graph.position
        self._rest_aux = np.zeros(self._aux)
        self._rest_aux[: 6 * len(graph.length)] = np.column_stack([graph.tangent, graph.director]).ravel()
        follow_twist(rods, self._rest_q, self._rest_aux, self._rest_aux)
        shape = np.zeros((len(graph.pair), 3))
        strains(rods, self._rest_q, self._rest_aux, shape)
        return shape

    def _storage(self) -> Matrix:
        """A new buffer for K: a band, or a full matrix where loads without a potential make it unsymmetric."""
        return Banded(self.size, self._numbering.width) if self._symmetric else Dense(self.size)

    def _make_layout(self, config: DERConfig) -> Layout:
        graph, numbering = self._graph, self._numbering
        names, units = [""] * self.size, ["m"] * self.size
        for first, name in zip(numbering.node.tolist(), graph.node_name, strict=True):
            names[first : first + 3] = [f"{name}-x", f"{name}-y", f"{name}-z"]
        for index, name in zip(numbering.edge.tolist(), graph.edge_name, strict=True):
            names[index], units[index] = f"{name}-angle", "rad"
        frames = tuple(graph.node_name[: self._nodes])
        if self._with_edges:
            frames += tuple(f"edge-{graph.edge_name[j]}" for j in self._real)
        shapes, never = collision_shapes(graph, config, self._real, self._nodes)
        pairs = list(zip(names, units, strict=True))
        return Layout(
            coordinates=tuple(Coordinate(name, unit) for name, unit in pairs),
            velocities=tuple(Coordinate(name, unit + "/s") for name, unit in pairs),
            inputs=self._applied.channels,
            frames=frames,
            shapes=shapes,
            never=never,
            self_contact=config.self_contact,
            aux=self._aux,
            prescribed=self.held.index,
            prescribed_coordinates=self.held.index,
            row_width=7 if self._with_edges else 3,
        )

    # — states —

    def initial_state(self, initial: DERInitial, out: State) -> None:
        """Write q, v, aux and time."""
        graph, wrong = self._graph, list[Mistake]()
        names = [limb.name for limb in graph.limbs]
        out.time = 0.0
        out.q[:], out.v[:], out.aux[:] = self._rest_q, 0.0, self._rest_aux
        for i, start in enumerate(initial.limbs):
            where = f"{self._path}.initial.limbs[{i}]"
            if start.limb not in names:
                wrong.append(Mistake(f"{where}.limb", start.limb, f"limbs are {', '.join(names)}"))
                continue
            number = names.index(start.limb)
            nodes, edges = graph.nodes_of[number], np.flatnonzero(graph.limb == number)
            for word in ("points", "velocities"):
                given = getattr(start, word)
                if given and len(given) != len(nodes):
                    said = f"one for each of the {len(nodes)} nodes"
                    wrong.append(Mistake(f"{where}.{word}", f"{len(given)} entries", said))
            if wrong:
                continue
            out.v[self._x[nodes]] += np.array(start.velocity)
            if start.velocities:
                out.v[self._x[nodes]] += np.array(start.velocities)
            if start.points:
                out.q[self._x[nodes]] = np.array(start.points)
                self._follow_shape(edges, out)
            middle = np.cumsum(graph.length[edges]) - 0.5 * graph.length[edges]
            out.q[self._numbering.edge[edges]] += start.twist * (middle - middle[0])
        for i, mode in enumerate(initial.modes):
            if mode.limb not in names:
                said = f"limbs are {', '.join(names)}"
                wrong.append(Mistake(f"{self._path}.initial.modes[{i}].limb", mode.limb, said))
                continue
            number = names.index(mode.limb)
            nodes, edges = graph.nodes_of[number], np.flatnonzero(graph.limb == number)
            arc = np.concatenate([[0.0], np.cumsum(graph.length[edges])])[: len(nodes)]
            out.v[self._x[nodes]] += np.outer(bending_mode(mode.number, arc / arc[-1]), mode.tip)
        wrong.extend(self._held_elsewhere(out))
        if wrong:
            raise ConfigError(wrong, "the initial state")
        follow_twist(self.rods, out.q, out.aux, out.aux)

    def _follow_shape(self, edges: IntArray, out: State) -> None:
        """Sources of a limb's edges at its present shape, free of twist from its first edge on."""
        edges = edges[~self._held_edge[edges]]
        if not len(edges):
            return
        ends = self._graph.edge[edges]
        vector = out.q[self._x[ends[:, 1]]] - out.q[self._x[ends[:, 0]]]
        length = np.linalg.norm(vector, axis=1)
        tangent = vector / np.where(length > 0.0, length, 1.0)[:, None]
        before, director = self._graph.tangent[edges[0]], self._graph.director[edges[0]]
        if before @ tangent[0] > -1.0 + 1e-9:  # else it is orthogonal to both
            director = directors_along(np.vstack([before, tangent[0]]), director)[1]
        source = np.column_stack([tangent, directors_along(tangent, director)])
        out.aux[(6 * edges)[:, None] + np.arange(6)] = source

    def _held_elsewhere(self, state: State) -> list[Mistake]:
        """Held coordinates whose start is not where they are held."""
        value, rate = np.zeros(len(self.held.index)), np.zeros(len(self.held.index))
        self.held.at(state.time, value, rate)
        apart = np.abs(state.q[self.held.index] - value)
        size = 1e-6 * float(np.max(self._graph.length))
        where = [self.layout.coordinates[k].name for k in self.held.index[apart > size]]
        moved = np.any(state.q[self.held.index] != self._rest_q[self.held.index])
        if not moved or not where:
            return []
        said = "is held elsewhere: start it where its clamp is, or change the rest shape"
        return [Mistake(f"{self._path}.initial", ", ".join(where[:4]), said)]

    def advance(self, start: State, velocity: Array, step: float, near: State, out: State) -> None:
        """Write q and aux of `out`."""
        np.multiply(velocity, step, out=self._moved)
        np.add(start.q, self._moved, out=out.q)
        split = 6 * len(self.rods.length)
        if near is not out:
            out.aux[split:] = near.aux[split:]
        out.aux[:split] = start.aux[:split]
        follow_twist(self.rods, out.q, out.aux, out.aux)

    def rechart(self, state: State) -> bool:
        """Move sources if an edge has turned far."""
        if not turned_least(self.rods, self._held_edge, state.q, state.aux) < _FAR:
            return False
        move_sources(self.rods, self._held_edge, state.q, state.v, state.aux)
        follow_twist(self.rods, state.q, state.aux, state.aux)
        return True

    # — forces —

    def force(self, state: State, inputs: Array, out: Array) -> None:
        """Write f."""
        self._applied.set_natural(inputs)
        np.multiply(self._drag, state.v, out=out)
        np.subtract(self._weight, out, out=out)
        elastic_forces(self.rods, state.q, state.aux, _ALL, out)
        self._loads(state, inputs, out)

    def _loads(self, state: State, inputs: Array, out: Array) -> None:
        """Add resistive drag and forces at nodes; the edges must be placed."""
        if self._resisted:
            add_drag(self.rods, self._resistive, state.v, out)
        self._applied.add_forces(inputs, out)

    def tangent_matrices(self) -> tuple[Matrix, Matrix]:
        """K as `_storage` says, D diagonal or like K."""
        return self._storage(), self._storage() if self._resisted else Diagonal(self.size)

    def tangent(self, state: State, inputs: Array, stiffness: Matrix, damping: Matrix) -> None:
        """Write K and D."""
        self._applied.set_natural(inputs)
        stiffness.zero()
        flat = stiffness.data.ravel(order="K")
        elastic_stiffness(self.rods, state.q, state.aux, *self._places, flat)
        if self._resisted:
            damping.zero()
            damping.data[np.arange(self.size), np.arange(self.size)] = self._drag
            drag = damping.data.ravel(order="K")
            add_drag_slopes(
                self.rods, self._resistive, state.v, *self._places[:2], self._drag_block, flat, drag
            )
        else:
            damping.data[:] = self._drag
        self._applied.add_slopes(state, inputs, stiffness)

    def input_jacobian(self, state: State, inputs: Array, out: Array) -> None:
        """Write ∂f/∂u, shape (nv, nu)."""
        self._applied.jacobian(state, inputs, out)

    def energy(self, state: State) -> tuple[float, float]:
        """Kinetic and potential energy [J]."""
        self._applied.set_natural(None)
        kinetic = 0.5 * float(self.mass @ (state.v * state.v))
        elastic = elastic_forces(self.rods, state.q, state.aux, _ALL, np.zeros(self.size))
        # the weight is given in the base's axes; the level is that of the world's origin
        level = float(np.sum(self._weight[self._x], axis=0) @ (self._axes.T @ self._origin))
        return kinetic, sum(elastic) - float(self._weight @ state.q) - level

    def force_terms(self, state: State, inputs: Array) -> Mapping[str, Array]:
        """The named parts of f."""
        terms: dict[str, Array] = {}
        self._applied.set_natural(inputs)
        parts = (("stretching", (1.0, 0.0, 0.0)), ("bending", (0.0, 1.0, 0.0)), ("twisting", (0.0, 0.0, 1.0)))
        for name, share in parts:
            terms[name] = np.zeros(self.size)
            elastic_forces(self.rods, state.q, state.aux, share, terms[name])
        terms["gravity"] = self._weight.copy()
        terms["drag"] = -self._drag * state.v
        if self._resisted:
            add_drag(self.rods, self._resistive, state.v, terms["drag"])
        terms["applied"] = np.zeros(self.size)
        self._applied.add_forces(inputs, terms["applied"])
        return terms

    # — places —

    def poses(self, state: State, position: Array, rotation: Array) -> None:
        """Write frames' poses in the world."""
        nodes = self._nodes
        np.matmul(state.q[self._x[:nodes]], self._axes.T, out=position[:nodes])
        position[:nodes] += self._origin
        rotation[:nodes] = self._axes
        if self._with_edges:
            edge_poses(self.rods, state.q, state.aux, self._real, position[nodes:], rotation[nodes:])
            position[nodes:] = position[nodes:] @ self._axes.T + self._origin
            rotation[nodes:] = np.matmul(self._axes, rotation[nodes:])

    def carrier_rows(
        self, state: State, frame: IntArray, local: Array, dofs: IntArray, values: Array
    ) -> None:
        """Write rows of points fixed in frames."""
        if not self._with_edges:
            np.add(self._numbering.node[frame][:, None], np.arange(3), out=dofs)
            values[:] = self._axes
            return
        on_node = frame < self._nodes
        values[on_node] = 0.0
        dofs[on_node] = 0
        dofs[on_node, :3] = self._x[frame[on_node]]
        values[on_node, :, :3] = self._axes
        edge = np.where(on_node, -1, self._real[np.maximum(frame - self._nodes, 0)])
        edge_rows(self.rods, state.q, state.aux, edge, local, self._axes, dofs, values)

    def outline(self, state: State) -> Outline:
        """Polylines of the limbs, a ring's closed."""
        graph, chains, radii = self._graph, list[IntArray](), list[Array]()
        for i, limb in enumerate(graph.limbs):
            nodes, own = graph.nodes_of[i], graph.radius[graph.limb == i]
            around = np.concatenate([own, own[:1]]) if limb.closed else own
            chains.append(np.append(nodes, nodes[0]) if limb.closed else nodes)
            radii.append(np.concatenate([own[:1], 0.5 * (around[1:] + around[:-1]), own[-1:]]))
        starts = np.concatenate([[0], np.cumsum([len(chain) for chain in chains])[:-1]])
        points = state.q[self._x[np.concatenate(chains)]] @ self._axes.T + self._origin
        return Outline(points=points, radius=np.concatenate(radii), starts=starts.astype(np.int64))


def _tables(graph: Graph, numbering: Numbering) -> Rods:
    """The kernels' tables."""
    rods = empty_rods(len(graph.edge), len(graph.pair))
    rods.edge[:, :2] = numbering.node[graph.edge]
    rods.edge[:, 2] = numbering.edge
    rods.length[:], rods.axial[:] = graph.length, graph.axial
    rods.pair[:], rods.sign[:], rods.bend[:] = graph.pair, graph.sign, graph.pair_bend
    rods.where[:, [0, 2, 4]] = numbering.node[graph.pair_node]
    rods.where[:, [1, 3]] = numbering.edge[graph.pair]
    return rods


def _lumped(graph: Graph, numbering: Numbering, gravity: Array) -> tuple[Array, Array, Array]:
    """Diagonals of M and of viscous drag, and the weight, each (n,): half an edge to either node."""
    n = numbering.size
    mass, weight, drag = np.zeros(n), np.zeros(n), np.zeros(n)
    half = 0.5 * graph.length
    fluid = graph.fluid[:, 0] * graph.area
    for end in (0, 1):
        x = numbering.node[graph.edge[:, end], None] + np.arange(3)
        np.add.at(mass, x, (half * (graph.line_mass + graph.fluid[:, 1] * fluid))[:, None])
        np.add.at(weight, x, (half * (graph.line_mass - fluid))[:, None] * gravity)
        np.add.at(drag, x, (half * graph.drag[:, 0])[:, None])
    mass[numbering.edge] += graph.length * graph.line_spin
    return mass, weight, drag
