"""Equations, frames and results of a graph of rods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, Final

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.data.state import State
from corekit.errors import ConfigError, Mistake
from corekit.linalg.matrices import Banded, Diagonal, Matrix, Sparse
from corekit.roles.compiled_form import CompiledForm
from corekit.roles.component import BuildContext
from corekit.roles.model import Coordinate, ModelDescription, Outline
from corekit_der.applied_loads import AppliedLoads
from corekit_der.cables import Cables
from corekit_der.clamp_motion import ClampMotion
from corekit_der.collision import collision_shapes, find_shapes_at
from corekit_der.compiled_form import RodTables, form_of
from corekit_der.config import DERConfig
from corekit_der.doubts import fluid_doubts, idle_options, outline_doubts, spin_doubts
from corekit_der.elasticity import Elasticity, PlanarElasticity, SpatialElasticity, TermWeights
from corekit_der.free_ghosts import FreeGhost
from corekit_der.graph import Graph, build_graph, compliance_fractions
from corekit_der.graph_frames import GraphFrames
from corekit_der.gyroscopic import SpinInertia, spin_blocks
from corekit_der.initial_state import InitialStateWriter
from corekit_der.loads import add_drag, add_drag_derivatives
from corekit_der.lumping import couplings, lump_masses
from corekit_der.matter import is_same_but_for_matter, with_matter_of
from corekit_der.moving_base import release_clamp
from corekit_der.numbering import block_entries, block_pattern, number_coordinates
from corekit_der.plane_options import check_plane
from corekit_der.tables import block_entry_table

if TYPE_CHECKING:
    from corekit_der.symbolic import SymbolicRods

__all__ = ["RodSystem"]

_ALL: TermWeights = (1.0, 1.0, 1.0)
_NONE: Final[Array] = np.zeros(0)
_MAX_BAND: Final = 24
"""Half-width up to which a band is cheaper than sparse elimination: chains, rings and pairs of parallel rods."""


class RodSystem:
    """A graph of rods with coordinates (x, θ), or (x, z) if planar.

    Attributes:
        layout: constant description for the kernel.
        size: length of q and of v.
        mass: diagonal of M, (n,).
        clamp_motion: motion of clamped coordinates.
        initial_state_writer: writer of initial states.
    """

    def __init__(self, config: DERConfig, context: BuildContext) -> None:
        self._config, self._path = config, context.path or "der"
        graph = build_graph(config)
        self._ghosts = [FreeGhost.of(graph, edge, node) for _, node, edge in graph.end_frames]
        self._base = release_clamp(config, graph, self._path) if context.free_base else None
        if self._base is not None and self._base.ghost is not None:
            self._ghosts.append(self._base.ghost)
        if config.planar:
            check_plane(config)
        self._numbering = numbering = number_coordinates(graph, config.planar)
        elasticity_class = PlanarElasticity if config.planar else SpatialElasticity
        elasticity: Elasticity = elasticity_class(graph, numbering)
        axes = list(elasticity.axes)
        self._width = len(axes)
        self._origin = np.array(context.base.position, dtype=float)
        self._rotation = np.array(context.base.rotation, dtype=float)
        self._axes = np.ascontiguousarray(self._rotation[:, axes])
        self.size = n = numbering.size
        self._node_dofs = numbering.node[:, None] + np.arange(len(axes))
        self._frames = GraphFrames(
            graph, numbering, elasticity, context.base, self._base, with_edges=config.collision == "capsules"
        )
        self.clamp_motion = ClampMotion(graph, numbering, axes, twisting=not config.planar)
        self._gravity = self._axes.T @ context.gravity
        self._rest_q, self._rest_aux = np.zeros(n), np.zeros(elasticity.aux)
        self._set_graph(graph, elasticity)
        for ghost in self._ghosts:
            ghost.share_mass(numbering, self.mass, self._weight)
        self._rest_q[self._node_dofs] = graph.position[:, axes]
        shape = elasticity.compute_rest_strains(self._rest_q, self._rest_aux)
        straight = [limb.unloaded == "straight" for limb in config.limbs] + [False]
        shape[np.array(straight)[graph.pair_limb]] = 0.0
        self._applied = AppliedLoads(config, graph, numbering, elasticity, self._axes, shape)
        self._cables = Cables(config, graph, elasticity, self._applied.input_size)
        self._cables.set_rest(self._rest_q, self._rest_aux)
        self._has_diagonal_damping = not (any(couplings(graph)) or config.gyroscopic)
        symmetric = self._has_diagonal_damping and not self._applied.following
        blocks = [*elasticity.blocks, *self._applied.blocks, *self._cables.blocks]
        blocks += [spin_blocks(graph, numbering)] if config.gyroscopic else []
        banded = symmetric and not self._cables.blocks and numbering.width <= _MAX_BAND
        self._pattern = None if banded else block_pattern(n, blocks)
        template = self._new_stiffness()
        self._applied.find_entries(template)
        self._cables.find_entries(template)
        is_spinning = config.gyroscopic and isinstance(template, Sparse)
        self._spin = SpinInertia(numbering.edge, blocks[-1], template) if is_spinning else None
        self._edge_entries = block_entries(elasticity.blocks[0], template)
        self._block_entries = block_entry_table(
            self._edge_entries, block_entries(elasticity.blocks[1], template)
        )
        self.description = self._make_layout(config)

    def _set_graph(self, graph: Graph, elasticity: Elasticity) -> None:
        """Compute by the materials of a graph from now on, in workspace of this system alone."""
        self._graph, self._elasticity = graph, elasticity
        self.mass, self._weight, self._drag = lump_masses(graph, self._numbering, self._gravity)
        self._resistive = graph.drag[:, 1:] * (0.5 * graph.length[:, None])
        self._has_resistive_drag, self._is_viscous = couplings(graph)
        self._viscous = Diagonal(self.size)
        self._viscous.data[:] = self._drag
        self._increment, self._drag_block = np.zeros(self.size), np.zeros((2, 36))
        self.initial_state_writer = InitialStateWriter(
            self._path, graph, self._numbering, elasticity, self.clamp_motion, self._rest_q, self._rest_aux
        )

    def with_numbers(self, config: DERConfig) -> RodSystem | None:
        """Return the same rods with other materials and drag.

        None where more is different or K or D get another form, the base moves, ends have frames, or there are cables.
        """
        is_fixed = self._base is not None or self._ghosts or config.cables
        if is_fixed or not is_same_but_for_matter(self._config, config):
            return None
        graph = with_matter_of(self._graph, config)
        if couplings(graph) != couplings(self._graph):
            return None
        other, elasticity = copy(self), self._elasticity.with_matter_of(graph)
        frames, applied = self._frames.for_rods(elasticity), self._applied.for_rods(graph, elasticity)
        vars(other).update(_config=config, _frames=frames, _applied=applied)
        RodSystem._set_graph(other, graph, elasticity)
        return other

    def _new_stiffness(self) -> Banded | Sparse:
        """Return a new buffer for K: a band, or sparse if the band is wide or K unsymmetric."""
        return Banded(self.size, self._numbering.width) if self._pattern is None else Sparse(self._pattern)

    def _make_layout(self, config: DERConfig) -> ModelDescription:
        graph, numbering = self._graph, self._numbering
        names, units = [""] * self.size, ["m"] * self.size
        for first, name in zip(numbering.node.tolist(), graph.node_name, strict=True):
            for k, axis in enumerate(self._elasticity.axes):
                names[first + k] = f"{name}-{'xyz'[axis]}"
        if not config.planar:
            for index, name in zip(numbering.edge.tolist(), graph.edge_name, strict=True):
                names[index], units[index] = f"{name}-angle", "rad"
        frames = self._frames
        shapes, never = collision_shapes(graph, config, frames.real_edges, frames.nodes, frames.edges)
        pairs = list(zip(names, units, strict=True))
        held = [(frames.ends + i, node) for i, (_, node, _) in enumerate(graph.end_frames)]
        if self._base is not None:
            held.append((0, int(graph.edge[self._base.edge, int(self._base.along)])))
        joined = [
            (frame, shape)
            for frame, node in held
            for shape in find_shapes_at(graph, shapes, frames.real_edges, frames.nodes, node)
        ]
        return ModelDescription(
            coordinates=tuple(Coordinate(name, unit) for name, unit in pairs),
            velocities=tuple(Coordinate(name, unit + "/s") for name, unit in pairs),
            inputs=self._applied.channels + self._cables.channels,
            untracked_work="cables driven by length"
            if any(c.drive == "length" for c in config.cables)
            else "",
            frames=frames.names,
            shapes=shapes,
            excluded_pairs=never,
            self_contact=config.self_contact,
            joined_shapes=np.array(joined, dtype=np.int64).reshape(-1, 2),
            doubts=(*outline_doubts(config), *fluid_doubts(config), *idle_options(config)),
            joint_doubts=frames.joint_doubts(graph),
            aux=self._elasticity.aux,
            prescribed_velocity_index=self.clamp_motion.index,
            prescribed_coordinate_index=self.clamp_motion.index,
            prescribed_signals=self.clamp_motion.signals,
            jacobian_width=frames.jacobian_width,
            plane=np.vstack([self._origin, self._axes.T]) if config.planar else None,
            velocity_scale=None if config.planar else self._velocity_scale(),
        )

    def _velocity_scale(self) -> Array:
        """Return 1 for coordinates of nodes and the radius of the edge for its angle [m], (n,)."""
        scale = np.ones(self.size)
        scale[self._numbering.edge] = self._graph.radius
        return scale

    def integrate(self, start: State, velocity: Array, step: float, out: State) -> None:
        """Write q and aux of `out`."""
        np.multiply(velocity, step, out=self._increment)
        np.add(start.q, self._increment, out=out.q)
        out.aux[:] = start.aux

    def reparametrise(self, state: State) -> bool:
        """Update sources and twists if they are outdated; return whether they changed."""
        return self._elasticity.reparametrise(state)

    def compute_force(self, state: State, inputs: Array, out: Array) -> None:
        """Write f."""
        self._set_rest_strains(state, inputs)
        np.multiply(self._drag, state.v, out=out)
        np.subtract(self._weight, out, out=out)
        self._elasticity.add_forces(state.q, state.aux, _ALL, out)
        self._add_loads(state, inputs, out)

    def _set_rest_strains(self, state: State, inputs: Array) -> None:
        """Set the rest strains for these inputs, those of cables included."""
        self._applied.set_rest_strains(inputs)
        self._cables.apply(state, inputs)

    def _add_loads(self, state: State, inputs: Array, out: Array) -> None:
        """Add the material's damping, tensions, resistive drag and nodal forces; needs the edge state."""
        self._cables.add_axial_forces(out)
        if self._is_viscous:
            self._elasticity.add_viscous_terms(state, self._block_entries, out, _NONE, _NONE)
        if self._has_resistive_drag:
            add_drag(self._elasticity.rods, self._resistive, self._width, state.v, out)
        self._applied.add_forces(inputs, out)
        if self._spin is not None:
            self._spin.add_forces(self._elasticity.rods, state.aux, state.v, self.mass, out)

    def new_mass_matrix(self) -> Diagonal | Sparse:
        """Return a buffer for M: diagonal, or sparse like K where the spin couples to the nodes."""
        return Diagonal(self.size) if self._spin is None or self._pattern is None else Sparse(self._pattern)

    def write_mass(self, mass: Matrix) -> None:
        """Write M; needs the edge state."""
        if self._spin is None or not isinstance(mass, Sparse):
            mass.data[:] = self.mass
            return
        mass.zero()
        mass.data[mass.pattern.diagonal] = self.mass
        self._spin.add_mass(self._elasticity.rods, self.mass, mass)

    def new_stiffness_and_damping(self) -> tuple[Matrix, Matrix]:
        """Return buffers for K, and for D: diagonal, or like K where it couples velocities."""
        damping = Diagonal(self.size) if self._has_diagonal_damping else self._new_stiffness()
        return self._new_stiffness(), damping

    def compute_stiffness_and_damping(
        self, state: State, inputs: Array, stiffness: Matrix, damping: Matrix
    ) -> None:
        """Write K and D."""
        self._set_rest_strains(state, inputs)
        stiffness.zero()
        flat = stiffness.data.ravel(order="K")
        self._elasticity.add_stiffness(state.q, state.aux, self._block_entries, flat)
        self._cables.add_axial_stiffness(self._edge_entries, flat)
        self._cables.add_dense_stiffness(state, stiffness)
        drag = damping.data.ravel(order="K")
        if isinstance(damping, Diagonal):
            damping.data[:] = self._drag
        else:
            damping.zero()
            damping.add(self._viscous)
        if self._is_viscous:
            self._elasticity.add_viscous_terms(state, self._block_entries, np.zeros(self.size), flat, drag)
        if self._has_resistive_drag:
            rods, block = self._elasticity.rods, self._drag_block
            add_drag_derivatives(
                rods, self._resistive, self._width, state.v, self._edge_entries, block, flat, drag
            )
        self._applied.add_derivatives(state, inputs, stiffness)
        if self._spin is not None:
            self._spin.add_derivatives(self._elasticity.rods, state.aux, state.v, self.mass, flat, drag)

    def compute_input_jacobian(self, state: State, inputs: Array, out: Array) -> None:
        """Write ∂f/∂u, shape (nv, nu)."""
        self._applied.compute_input_jacobian(state, inputs, out)
        self._set_rest_strains(state, inputs)
        self._cables.write_input_jacobian(state, out)

    def compute_energies(self, state: State) -> tuple[float, float]:
        """Return kinetic and potential energy [J]."""
        self._applied.set_rest_strains(None)
        kinetic = 0.5 * float(self.mass @ (state.v * state.v))
        elastic = self._elasticity.add_forces(state.q, state.aux, _ALL, np.zeros(self.size))
        if self._spin is not None:
            kinetic += self._spin.kinetic_energy(self._elasticity.rods, state.v, self.mass)
        # the weight is in the base's axes; heights count from the world's origin
        level = float(np.sum(self._weight[self._node_dofs], axis=0) @ (self._axes.T @ self._origin))
        return kinetic, elastic - float(self._weight @ state.q) - level

    def find_state_doubts(self, state: State, inputs: Array) -> Sequence[str]:
        """Return a sentence if the momentum of spins is left out and matters."""
        if self._spin is not None or self._config.planar:
            return ()
        self.compute_force(state, inputs, self._increment)
        rods, angles = self._elasticity.rods, self._numbering.edge
        return spin_doubts(rods, self._node_dofs, angles, self.mass, state.q, state.v, self._increment)

    def compute_force_terms(self, state: State, inputs: Array) -> Mapping[str, Array]:
        """Return the named terms of f."""
        terms: dict[str, Array] = {}
        self._applied.set_rest_strains(inputs)
        elastic_terms: tuple[tuple[str, TermWeights], ...] = (
            ("stretching", (1.0, 0.0, 0.0)),
            ("bending", (0.0, 1.0, 0.0)),
            ("twisting", (0.0, 0.0, 1.0)),
        )
        for name, weights in elastic_terms:
            terms[name] = np.zeros(self.size)
            self._elasticity.add_forces(state.q, state.aux, weights, terms[name])
        if self._cables.channels:
            self._cables.apply(state, inputs)
            terms["cables"] = -sum(terms.values(), np.zeros(self.size))
            self._elasticity.add_forces(state.q, state.aux, _ALL, terms["cables"])
            self._cables.add_axial_forces(terms["cables"])
        terms["gravity"] = self._weight.copy()
        terms["drag"] = -self._drag * state.v
        if self._has_resistive_drag:
            add_drag(self._elasticity.rods, self._resistive, self._width, state.v, terms["drag"])
        if self._is_viscous:
            terms["viscosity"] = np.zeros(self.size)
            self._elasticity.add_viscous_terms(state, self._block_entries, terms["viscosity"], _NONE, _NONE)
        if self._spin is not None:
            terms["gyroscopic"] = np.zeros(self.size)
            self._spin.add_forces(self._elasticity.rods, state.aux, state.v, self.mass, terms["gyroscopic"])
        terms["applied"] = np.zeros(self.size)
        self._applied.add_forces(inputs, terms["applied"])
        return terms

    def compute_frame_poses(self, state: State, position: Array, rotation: Array) -> None:
        """Write the poses of frames in the world."""
        self._frames.write_poses(state, position, rotation)

    def compute_point_jacobians(
        self, state: State, frame: IntArray, local: Array, dofs: IntArray, values: Array
    ) -> None:
        """Write the Jacobians of points fixed in frames."""
        self._frames.write_point_jacobians(state, frame, local, dofs, values)

    def place_base(
        self, state: State, position: Array, rotation: Array, velocity: Array, angular_velocity: Array
    ) -> None:
        """Carry the rods to a pose and a twist of their base, in world axes."""
        assert self._base is not None  # the kernel moves bases of `free_base` alone
        turn, origin = self._axes.T, self._origin

        def seen(x: Array, axes: Array, v: Array, spin: Array) -> tuple[Array, Array, Array, Array]:
            return turn @ (x - origin), turn @ axes, turn @ v, turn @ spin

        before = seen(*self._frames.find_base_motion(state))
        after = seen(position, rotation, velocity, angular_velocity)
        self._base.carry(self._elasticity, self._node_dofs, self._numbering.edge, before, after, state)

    def symbolic(self) -> SymbolicRods:
        """Return the equations as CasADi expressions.

        Raises:
            ConfigError: the base moves.
        """
        if self._base is not None:
            said = "must stand for CasADi expressions"
            raise ConfigError([Mistake(f"{self._path}.base", "a base that moves", said)], self._path)
        from corekit_der.materials import limb_materials
        from corekit_der.symbolic import RodExpressionData, SymbolicRods

        graph, applied = self._graph, self._applied
        data = RodExpressionData(
            rods=self._elasticity.rods, aux=self._rest_aux, mass=self.mass, weight=self._weight, drag=self._drag,
            resistive=self._resistive, shape=applied.shape, natural=graph.natural, voronoi=graph.voronoi,
            first=applied.first, strains=self._elasticity.strains, forces=applied.forces, axes=self._axes,
            rotation=self._rotation, origin=self._origin, nodes=self._numbering.node[: self._frames.node_count],
            edges=self._frames.frame_edges[0], along=self._frames.frame_edges[1],
            compliance_fractions=compliance_fractions(graph), viscosity=graph.viscosity,
            retardation=graph.retardation, cables=self._cables.expression_data(), spinning=self._spin is not None,
            materials=limb_materials(graph, self._numbering, self._gravity, self._ghosts),
        )  # fmt: skip
        return SymbolicRods(data, self.description.input_size)

    def compiled_form(self) -> CompiledForm | str:
        """Return the tables and entries of `compiled_form`; in words what has none."""
        config, applied, frames, graph = self._config, self._applied, self._frames, self._graph
        directed = "viscosity, spin, following forces or drag that depends on direction"
        asked = {"a base that moves": self._base, "rods in a plane": config.planar, "cables": config.cables}
        for what, found in {**asked, directed: self._pattern}.items():
            if found:
                return what
        rods, prescribed = self._elasticity.rods, graph.prescribed_edge
        return form_of(RodTables(
            rods, self._block_entries, self._numbering.width + 1, graph, prescribed, self.mass, self._weight,
            self._drag, applied.shape, applied.first, applied.has_curvature_inputs, applied.input_size, applied.forces,
            frames.node_first, frames.frame_edge, frames.along, frames.turns, self._origin, self._rotation,
        ))  # fmt: skip

    def compute_outline(self, state: State) -> Outline:
        """Return polylines of the limbs, that of a ring closed, and of the cables."""
        return self._frames.outline(self._graph, self._config.cables, state)
