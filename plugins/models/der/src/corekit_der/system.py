"""Everything the model answers, from the arrays behind it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.data.state import State
from corekit.errors import ConfigError, Mistake
from corekit.linalg.matrices import Banded, Diagonal, Matrix
from corekit.linalg.sparse import Sparse
from corekit.roles.component import BuildContext
from corekit.roles.model import Coordinate, Layout, Outline
from corekit_der.applied import Applied
from corekit_der.carriers import edge_poses, edge_rows, node_poses, node_rows
from corekit_der.collision import collision_shapes
from corekit_der.config import DERConfig
from corekit_der.forms import Plane, Share, Space
from corekit_der.graph import Graph, build_graph
from corekit_der.loads import add_drag, add_drag_slopes
from corekit_der.motion import HeldMotion
from corekit_der.numbering import Numbering, number, pattern_of, places
from corekit_der.planar_edges import planar_edge_axes, planar_edge_middles, planar_edge_rows
from corekit_der.starts import Starter
from corekit_der.tables import place_table

if TYPE_CHECKING:
    from corekit_der.symbolic import SymbolicRods

__all__ = ["RodSystem"]

_ALL: Share = (1.0, 1.0, 1.0)
_WIDEST: Final = 24
"""Half-width up to which a band is cheaper than sparse elimination: chains, rings and pairs of parallel rods."""


class RodSystem:
    """A graph of rods with coordinates (x, θ), or (x, z) if planar.

    Attributes:
        layout: what the kernel reads.
        size: length of q and of v.
        mass: diagonal of M, (n,).
        held: motion of clamped coordinates.
        starter: writes initial states.
    """

    def __init__(self, config: DERConfig, context: BuildContext) -> None:
        self._graph = graph = build_graph(config)
        if config.planar:
            _refuse_planar(config)
        self._numbering = numbering = number(graph, config.planar)
        self._form = form = (Plane if config.planar else Space)(graph, numbering)
        axes = list(form.axes)
        self._width = len(axes)
        self._origin = np.array(context.base.position, dtype=float)
        self._rotation = np.array(context.base.rotation, dtype=float)
        self._axes = np.ascontiguousarray(self._rotation[:, axes])
        self.size = n = numbering.size
        self._real: IntArray = np.flatnonzero(graph.limb >= 0)
        self._nodes = int(graph.edge[self._real].max()) + 1
        self._x = numbering.node[:, None] + np.arange(len(axes))
        self._node = np.ascontiguousarray(numbering.node[: self._nodes])
        self.held = HeldMotion(graph, numbering, axes, twisting=not config.planar)
        self._gravity = self._axes.T @ context.gravity
        self.mass, self._weight, self._drag = _lumped(graph, numbering, self._gravity)
        self._moved = np.zeros(n)
        self._with_edges = config.collision == "capsules"
        self._rest_q, self._rest_aux = np.zeros(n), np.zeros(form.aux)
        self._rest_q[self._x] = graph.position[:, axes]
        shape = form.rest(self._rest_q, self._rest_aux)
        straight = [limb.unloaded == "straight" for limb in config.limbs] + [False]
        shape[np.array(straight)[graph.pair_limb]] = 0.0
        self._resistive = graph.drag[:, 1:] * (0.5 * graph.length[:, None])
        self._resisted = bool(self._resistive.any())
        self._applied = Applied(config, graph, numbering, form, self._axes, shape)
        symmetric = not (self._resisted or self._applied.following)
        blocks = [*form.blocks, *self._applied.blocks]
        banded = symmetric and numbering.width <= _WIDEST
        self._pattern = None if banded else pattern_of(n, blocks)
        template = self._storage()
        self._applied.find_places(template)
        self._edge_places = places(form.blocks[0], template)
        self._places = place_table(self._edge_places, places(form.blocks[1], template))
        self._viscous = Diagonal(n)
        self._viscous.data[:] = self._drag
        self._drag_block = np.zeros((2, 36))
        self.layout = self._make_layout(config)
        path = context.path or "der"
        self.starter = Starter(path, graph, numbering, form, self.held, self._rest_q, self._rest_aux)

    def _storage(self) -> Banded | Sparse:
        """A new buffer for K: a band; sparse where it would be wide or loads without a potential unbalance it."""
        return Banded(self.size, self._numbering.width) if self._pattern is None else Sparse(self._pattern)

    def _make_layout(self, config: DERConfig) -> Layout:
        graph, numbering = self._graph, self._numbering
        names, units = [""] * self.size, ["m"] * self.size
        for first, name in zip(numbering.node.tolist(), graph.node_name, strict=True):
            for k, axis in enumerate(self._form.axes):
                names[first + k] = f"{name}-{'xyz'[axis]}"
        if not config.planar:
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
            aux=self._form.aux,
            prescribed=self.held.index,
            prescribed_coordinates=self.held.index,
            motions=self.held.signals,
            row_width=(7 if self._width == 3 else 4) if self._with_edges else self._width,
            plane=np.vstack([self._origin, self._axes.T]) if config.planar else None,
            reach=None if config.planar else self._reach(),
        )

    def _reach(self) -> Array:
        """1 for coordinates of nodes, the radius of the edge for its angle [m], (n,)."""
        reach = np.ones(self.size)
        reach[self._numbering.edge] = self._graph.radius
        return reach

    # — motion —

    def advance(self, start: State, velocity: Array, step: float, out: State) -> None:
        """Write q and aux of `out`."""
        np.multiply(velocity, step, out=self._moved)
        np.add(start.q, self._moved, out=out.q)
        out.aux[:] = start.aux

    def rechart(self, state: State) -> bool:
        """Renew sources and twists if the shape has left them far behind."""
        return self._form.rechart(state)

    # — forces —

    def force(self, state: State, inputs: Array, out: Array) -> None:
        """Write f."""
        self._applied.set_natural(inputs)
        np.multiply(self._drag, state.v, out=out)
        np.subtract(self._weight, out, out=out)
        self._form.forces(state.q, state.aux, _ALL, out)
        self._loads(state, inputs, out)

    def _loads(self, state: State, inputs: Array, out: Array) -> None:
        """Add resistive drag and forces at nodes; the edges must be placed."""
        if self._resisted:
            add_drag(self._form.rods, self._resistive, self._width, state.v, out)
        self._applied.add_forces(inputs, out)

    def tangent_matrices(self) -> tuple[Matrix, Matrix]:
        """K as `_storage` says, D diagonal or like K."""
        return self._storage(), self._storage() if self._resisted else Diagonal(self.size)

    def tangent(self, state: State, inputs: Array, stiffness: Matrix, damping: Matrix) -> None:
        """Write K and D."""
        self._applied.set_natural(inputs)
        stiffness.zero()
        flat = stiffness.data.ravel(order="K")
        self._form.stiffness(state.q, state.aux, self._places, flat)
        if self._resisted:
            damping.zero()
            damping.add(self._viscous)
            drag = damping.data.ravel(order="K")
            add_drag_slopes(
                self._form.rods,
                self._resistive,
                self._width,
                state.v,
                self._edge_places,
                self._drag_block,
                flat,
                drag,
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
        elastic = self._form.forces(state.q, state.aux, _ALL, np.zeros(self.size))
        # the weight is given in the base's axes; the level is that of the world's origin
        level = float(np.sum(self._weight[self._x], axis=0) @ (self._axes.T @ self._origin))
        return kinetic, elastic - float(self._weight @ state.q) - level

    def force_terms(self, state: State, inputs: Array) -> Mapping[str, Array]:
        """The named parts of f."""
        terms: dict[str, Array] = {}
        self._applied.set_natural(inputs)
        parts: tuple[tuple[str, Share], ...] = (
            ("stretching", (1.0, 0.0, 0.0)),
            ("bending", (0.0, 1.0, 0.0)),
            ("twisting", (0.0, 0.0, 1.0)),
        )
        for name, share in parts:
            terms[name] = np.zeros(self.size)
            self._form.forces(state.q, state.aux, share, terms[name])
        terms["gravity"] = self._weight.copy()
        terms["drag"] = -self._drag * state.v
        if self._resisted:
            add_drag(self._form.rods, self._resistive, self._width, state.v, terms["drag"])
        terms["applied"] = np.zeros(self.size)
        self._applied.add_forces(inputs, terms["applied"])
        return terms

    # — places —

    def poses(self, state: State, position: Array, rotation: Array) -> None:
        """Write frames' poses in the world."""
        nodes = self._nodes
        node_poses(state.q, self._node, self._axes, self._origin, self._rotation, position, rotation)
        if self._with_edges and self._width == 2:
            self._form.place(state.q, state.aux)
            middles = planar_edge_middles(self._form.rods, state.q, self._real)
            position[nodes:] = middles @ self._axes.T + self._origin
            rotation[nodes:] = self._rotation @ planar_edge_axes(self._form.rods, self._real)
        elif self._with_edges:
            edge_poses(self._form.rods, state.q, state.aux, self._real, position[nodes:], rotation[nodes:])
            position[nodes:] = position[nodes:] @ self._axes.T + self._origin
            rotation[nodes:] = np.matmul(self._axes, rotation[nodes:])

    def carrier_rows(
        self, state: State, frame: IntArray, local: Array, dofs: IntArray, values: Array
    ) -> None:
        """Write rows of points fixed in frames."""
        if not self._with_edges:
            node_rows(self._node, self._axes, frame, dofs, values)
            return
        on_node = frame < self._nodes
        values[on_node] = 0.0
        dofs[on_node] = 0
        width = self._width
        dofs[on_node, :width] = self._x[frame[on_node]]
        values[on_node, :, :width] = self._axes
        if width == 2:
            self._form.place(state.q, state.aux)
            own, part = ~on_node, self._form.rods
            some_dofs, some = np.empty((own.sum(), 4), dtype=np.int64), np.empty((own.sum(), 3, 4))
            edge = self._real[frame[own] - self._nodes]
            planar_edge_rows(part, edge, local[own], self._axes, some_dofs, some)
            dofs[own], values[own] = some_dofs, some
            return
        edge = np.where(on_node, -1, self._real[np.maximum(frame - self._nodes, 0)])
        edge_rows(self._form.rods, state.q, state.aux, edge, local, self._axes, dofs, values)

    def symbolic(self) -> SymbolicRods:
        """The equations as CasADi expressions."""
        from corekit_der.materials import compliance_shares, materials_of
        from corekit_der.symbolic import Parts, SymbolicRods

        graph, applied = self._graph, self._applied
        parts = Parts(
            rods=self._form.rods,
            aux=self._rest_aux,
            mass=self.mass,
            weight=self._weight,
            drag=self._drag,
            resistive=self._resistive,
            shape=applied.shape,
            natural=graph.natural,
            voronoi=graph.voronoi,
            first=applied.first,
            strains=self._form.strains,
            forces=applied.forces,
            axes=self._axes,
            rotation=self._rotation,
            origin=self._origin,
            nodes=self._numbering.node[: self._nodes],
            edges=self._real if self._with_edges else self._real[:0],
            shares=compliance_shares(graph),
            materials=materials_of(graph, self._numbering, self._gravity),
        )
        return SymbolicRods(parts, self.layout.input_size)

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


def _refuse_planar(config: DERConfig) -> None:
    """Raise ConfigError for what has no meaning in a plane."""
    wrong: list[Mistake] = []
    for i, limb in enumerate(config.limbs):
        if np.any(limb.positions()[:, 1] != 0.0):
            wrong.append(
                Mistake(f"limbs[{i}]", "a y coordinate", "a planar rod lies in the base's x–z plane")
            )
        if limb.director is not None:
            said = "must be left out: director 1 of a planar rod lies in its plane"
            wrong.append(Mistake(f"limbs[{i}].director", list(limb.director), said))
        if limb.natural_twist or limb.natural_curvature[1]:
            said = "a planar rod has κ₁ alone: no κ₂ and no twist"
            wrong.append(Mistake(f"limbs[{i}].natural_curvature", list(limb.natural_curvature), said))
    if wrong:
        raise ConfigError(wrong, "the planar rods")


def _lumped(graph: Graph, numbering: Numbering, gravity: Array) -> tuple[Array, Array, Array]:
    """Diagonals of M and of viscous drag, and the weight, each (n,): half an edge to either node."""
    n = numbering.size
    mass, weight, drag = np.zeros(n), np.zeros(n), np.zeros(n)
    half = 0.5 * graph.length
    fluid = graph.fluid[:, 0] * graph.area
    for end in (0, 1):
        x = numbering.node[graph.edge[:, end], None] + np.arange(len(gravity))
        np.add.at(mass, x, (half * (graph.line_mass + graph.fluid[:, 1] * fluid))[:, None])
        np.add.at(weight, x, (half * (graph.line_mass - fluid))[:, None] * gravity)
        np.add.at(drag, x, (half * graph.drag[:, 0])[:, None])
    if len(gravity) == 3:
        mass[numbering.edge] += graph.length * graph.line_spin
    return mass, weight, drag
