"""Reference model: point masses joined by springs, rods, winches, brakes or tendons.

With node coordinates x_i in the base's axes, d_i the unit vector and l_i the length of link i,

    m_i·ẍ_i = m_i·g + spring, dashpot, drag, spiral and input forces                   (1)
    spring:  −k·(l − L)·d on the later node,      dashpot: −c·(relative velocity)       (2)
    spiral:  −κ·ψ·∂ψ/∂x,   ψ = angle of a node about the base's y axis, counted over all turns   (3)

Rows of a link: rod, tendon c = l − L; weld c = x_i − x_{i−1} − start; winch, brake J_b·v = l̇ = u.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, final

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.data.state import State
from corekit.geometry.shapes import Shape
from corekit.linalg.constraint_rows import ConstraintRows
from corekit.linalg.matrices import Matrix
from corekit.roles.component import BuildContext
from corekit.roles.model import Channel, ChannelKind, Coordinate, Model, ModelDescription, Outline
from corekit_testing.blocks import add_differences, add_nodes, new_matrix
from corekit_testing.point_chain_config import PointChainConfig

__all__ = ["PointChain"]

_ROWS = {"rod": 1, "tendon": 1, "winch": 1, "brake": 1}


@final
class PointChain(Model):
    """Implements (1)–(3); see `PointChainConfig` for its options."""

    def __init__(self, config: PointChainConfig, context: BuildContext | None = None) -> None:
        context = context or BuildContext()
        self._config = config
        self._size = d = 2 if config.planar else 3
        self._origin = context.base.position
        axes = context.base.rotation.T
        self._axes = axes[[0, 2]] if config.planar else axes
        self._upright = np.eye(3)
        self._gravity = self._axes @ context.gravity
        self._mass = np.array(config.masses)
        self._inertia = new_matrix(config.structure, d * len(self._mass), d, 2 * d - 1)
        add_nodes(self._inertia, self._mass[:, None, None] * np.eye(d))
        self._start = np.array(config.positions)
        self._nodes = len(self._mass)
        kinds = config.links or ("none",) * self._nodes
        self._links = [(i, kind) for i, kind in enumerate(kinds) if kind != "none"]
        self._springs = [i for i, kind in self._links if kind == "spring"]
        self._spring: IntArray = np.array(self._springs, dtype=np.int64)
        self._elastic = bool(self._springs) or config.winding_stiffness != 0.0
        self._coupled = any(kind != "weld" for _, kind in self._links)
        before = np.vstack([np.zeros(d), self._start[:-1]])
        self._span = self._start - before
        self._length = np.array(config.lengths) if config.lengths else np.linalg.norm(self._span, axis=1)
        self._row_link = [
            (i, kind, axis)
            for i, kind in self._links
            for axis in range(d if kind == "weld" else _ROWS.get(kind, 0))
        ]
        self._driven: IntArray = np.array(
            [d * node + axis for node in config.driven for axis in range(d)], dtype=np.int64
        )
        self._place: IntArray = np.arange(d)
        # D of (1) and (2) is the same everywhere
        self._resistance = self.new_stiffness_and_damping()[1]
        add_nodes(self._resistance, np.tile(config.drag * np.eye(d), (self._nodes, 1, 1)))
        damping = np.tile(config.damping * np.eye(d), (len(self._springs), 1, 1))
        add_differences(self._resistance, self._spring, damping)
        self._layout = self._make_layout(np.vstack([self._origin, self._axes]) if config.planar else None)

    def _make_layout(self, plane: Array | None) -> ModelDescription:
        config, names = self._config, "xz" if self._config.planar else "xyz"
        nodes = range(self._nodes)
        channels = [Channel("pull", "N", self._size)]
        if any(kind == "winch" for _, kind in self._links):
            channels.append(Channel("reel", "m/s", 1, ChannelKind.VELOCITY))
        shapes: list[Shape] = []
        if config.shape == "sphere":
            shapes = [Shape("sphere", (config.radius,), frame=i) for i in nodes]
        elif config.shape == "edge":
            shapes = [Shape("edge", (config.radius,), frame=i, second_frame=i + 1) for i in nodes[:-1]]
        pairs = [(i, i + 1) for i in range(len(shapes) - 1)]
        return ModelDescription(
            coordinates=tuple(Coordinate(f"{axis}{i}", "m") for i in nodes for axis in names),
            velocities=tuple(Coordinate(f"v{axis}{i}", "m/s") for i in nodes for axis in names),
            inputs=tuple(channels),
            frames=tuple(f"node{i}" for i in nodes),
            shapes=tuple(shapes),
            excluded_pairs=np.array(pairs, dtype=np.int64).reshape(-1, 2),
            self_contact=config.self_contact,
            aux=1 if config.winding >= 0 else 0,
            prescribed_velocity_index=self._driven,
            prescribed_coordinate_index=self._driven,
            constraint_count=len(self._row_link),
            jacobian_width=self._size,
            plane=plane,
        )

    @property
    def description(self) -> ModelDescription:
        return self._layout

    def compute_initial_state(self, initial: Any, out: State) -> None:
        out.q[:] = self._start.ravel()
        out.v[:] = np.array(self._config.velocities).ravel() if self._config.velocities else 0.0
        if self._config.winding >= 0:
            out.aux[0] = self._angle(self._start)

    # — motion —

    def integrate(self, start: State, velocity: Array, step: float, previous: State, out: State) -> None:
        turns = previous.aux[0] if self._config.winding >= 0 else 0.0
        np.multiply(velocity, step, out=out.q)
        out.q += start.q
        if self._config.winding >= 0:
            angle = self._angle(out.q.reshape(-1, self._size))
            out.aux[0] = angle + 2 * math.pi * np.rint((turns - angle) / (2 * math.pi))

    def _angle(self, x: Array) -> float:
        node = x[self._config.winding]
        return math.atan2(node[-1], node[0])

    def compute_prescribed_motion(self, time: float, value: Array, rate: Array) -> None:
        config, d = self._config, self._size
        omega = 2 * math.pi * config.drive_frequency
        drift, amplitude = np.array(config.drive_rate[:d]), np.array(config.drive_amplitude[:d])
        shift = drift * time + amplitude * math.sin(omega * time)
        value[:] = (self._start[list(config.driven)] + shift).ravel()
        rate[:] = np.tile(drift + amplitude * omega * math.cos(omega * time), len(config.driven))

    def compute_frame_poses(self, state: State, position: Array, rotation: Array) -> None:
        np.matmul(state.q.reshape(-1, self._size), self._axes, out=position)
        position += self._origin
        rotation[:] = self._upright

    def compute_point_jacobians(
        self, state: State, frame: IntArray, local: Array, dofs: IntArray, values: Array
    ) -> None:
        np.add((self._size * frame)[:, None], self._place, out=dofs)
        values[:] = self._axes.T

    def compute_outline(self, state: State) -> Outline:
        points = state.q.reshape(-1, self._size) @ self._axes + self._origin
        return Outline(points=points, radius=np.full(self._nodes, self._config.radius))

    # — forces —

    def new_mass_matrix(self) -> Matrix:
        d = self._size
        return new_matrix(self._config.structure, d * self._nodes, d, 2 * d - 1)

    def compute_mass_and_force(self, state: State, inputs: Array, mass: Matrix, force: Array) -> None:
        mass.data[:] = self._inertia.data
        np.multiply(self._mass[:, None], self._gravity, out=force.reshape(-1, self._size))
        force -= self._config.drag * state.v
        force[-self._size :] += inputs[: self._size]
        if self._elastic:
            for term in self._elastic_terms(state).values():
                force += term

    def compute_force_terms(self, state: State, inputs: Array) -> Mapping[str, Array]:
        pull = np.zeros_like(state.v)
        pull[-self._size :] = inputs[: self._size]
        weight = (self._mass[:, None] * self._gravity).ravel()
        terms = {"gravity": weight, "drag": -self._config.drag * state.v, "pull": pull}
        return terms | self._elastic_terms(state)

    def _elastic_terms(self, state: State) -> dict[str, Array]:
        """The forces of springs, dashpots and the spiral."""
        config, d, terms = self._config, self._size, dict[str, Array]()
        if self._springs:
            direction, length = self._stretch(state)
            pull = config.stiffness * (length - self._length[self._spring])[:, None] * direction
            resist = config.damping * self._differences(state.v)
            for name, value in (("spring", pull), ("dashpot", resist)):
                term = np.zeros((self._nodes, d))
                term[self._spring] -= value
                later = self._spring > 0
                term[self._spring[later] - 1] += value[later]
                terms[name] = term.ravel()
        if config.winding_stiffness:
            terms["spiral"] = np.zeros_like(state.v)
            place = d * config.winding + np.array([0, d - 1])
            terms["spiral"][place] = -config.winding_stiffness * state.aux[0] * self._angle_slopes(state)[0]
        return terms

    def compute_energies(self, state: State) -> tuple[float, float]:
        config, x = self._config, state.q.reshape(-1, self._size)
        kinetic = 0.5 * float(np.sum(self._mass[:, None] * state.v.reshape(x.shape) ** 2))
        potential = -float(np.sum(self._mass[:, None] * x * self._gravity))
        if self._springs:
            longer = self._stretch(state)[1] - self._length[self._spring]
            potential += 0.5 * config.stiffness * float(longer @ longer)
        if config.winding_stiffness:
            potential += 0.5 * config.winding_stiffness * state.aux[0] ** 2
        return kinetic, potential

    def _differences(self, values: Array) -> Array:
        """Of all springs: the vectors of their nodes less those of the nodes before, shape (springs, d)."""
        nodal = values.reshape(-1, self._size)
        difference = nodal.copy()
        difference[1:] -= nodal[:-1]
        return difference[self._spring]

    def _stretch(self, state: State) -> tuple[Array, Array]:
        """Unit vectors and lengths of all springs."""
        span = self._differences(state.q)
        length = np.sqrt(np.einsum("ij,ij->i", span, span))
        return span / length[:, None], length

    def _relative(self, values: Array, i: int) -> Array:
        """The node's vector less that of the node before (of the base: zero)."""
        nodal = values.reshape(-1, self._size)
        return nodal[i] - nodal[i - 1] if i else nodal[0]

    def _along(self, state: State, i: int) -> tuple[Array, float]:
        """Unit vector and length of link i."""
        span = self._relative(state.q, i)
        length = math.sqrt(float(span @ span))
        return span / length, length

    def _angle_slopes(self, state: State) -> tuple[Array, Array]:
        """First and second derivatives of ψ in (x, z) of its node."""
        x, z = state.q.reshape(-1, self._size)[self._config.winding][[0, -1]]
        square = x * x + z * z
        second = np.array([[2 * x * z, z * z - x * x], [z * z - x * x, -2 * x * z]]) / square**2
        return np.array([-z, x]) / square, second

    # — derivatives of the force —

    def new_stiffness_and_damping(self) -> tuple[Matrix, Matrix]:
        d, structure = self._size, self._config.structure
        if self._coupled and structure != "dense":
            structure = "banded"
        elif self._config.winding_stiffness and structure == "diagonal":
            structure = "block-diagonal"
        n = d * self._nodes
        return new_matrix(structure, n, d, 2 * d - 1), new_matrix(structure, n, d, 2 * d - 1)

    def compute_stiffness_and_damping(
        self, state: State, inputs: Array, stiffness: Matrix, damping: Matrix
    ) -> None:
        config, d = self._config, self._size
        stiffness.zero()
        damping.data[:] = self._resistance.data
        if self._springs:
            direction, length = self._stretch(state)
            tension = config.stiffness * (length - self._length[self._spring])
            along = direction[:, :, None] * direction[:, None, :]
            across = (tension / length)[:, None, None] * (np.eye(d) - along)
            add_differences(stiffness, self._spring, config.stiffness * along + across)
        if config.winding_stiffness:
            first, second = self._angle_slopes(state)
            small = config.winding_stiffness * (np.outer(first, first) + state.aux[0] * second)
            block = np.zeros((self._nodes, d, d))
            block[np.ix_([config.winding], [0, d - 1], [0, d - 1])] = small
            add_nodes(stiffness, block)

    # — rows —

    def new_constraints(self) -> ConstraintRows:
        kinds = [kind for _, kind, _ in self._row_link]
        rows = ConstraintRows(
            len(kinds),
            2 * self._size,
            is_velocity_level=np.array([kind in {"winch", "brake"} for kind in kinds], dtype=bool),
            bounded=np.array([kind in {"brake", "tendon"} for kind in kinds], dtype=bool),
        )
        rows.compliance[:] = [0.0 if kind == "weld" else self._config.compliance for kind in kinds]
        rows.lower[rows.bounded] = self._config.lower
        rows.upper[rows.bounded] = self._config.upper
        return rows

    def compute_constraints(self, state: State, inputs: Array, rows: ConstraintRows) -> None:
        d = self._size
        for r, (i, kind, axis) in enumerate(self._row_link):
            if kind == "weld":
                direction = np.eye(d)[axis]
                rows.position_error[r] = direction @ (self._relative(state.q, i) - self._span[i])
            else:
                direction, length = self._along(state, i)
                rows.position_error[r] = length - self._length[i]
            rows.target_rate[r] = inputs[-1] if kind == "winch" else 0.0
            rows.dofs[r, :d] = d * i + np.arange(d)
            rows.dofs[r, d:] = d * max(i - 1, 0) + np.arange(d)
            rows.values[r, :d] = direction
            rows.values[r, d:] = -direction if i else 0.0

    def compute_constraint_force_gradient(self, state: State, impulse: Array, out: Matrix) -> None:
        out.zero()
        for r, (i, kind, _) in enumerate(self._row_link):
            if kind != "weld":
                direction, length = self._along(state, i)
                across = np.eye(self._size) - np.outer(direction, direction)
                add_differences(out, np.array([i]), impulse[r] / length * across[None])
