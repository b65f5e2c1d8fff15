"""Reference model: n point masses on massless rods, in the angles of the rods.

With θ_i the angle of rod i from the base's −z axis in its x–z plane, e_i = l_i·(sin θ_i, −cos θ_i) and
μ_ij = Σ_{k ≥ max(i, j)} m_k,

    M_ij = μ_ij·l_i·l_j·cos(θ_i − θ_j)                                                 (1)
    f_i  = μ_ii·g·∂e_i/∂θ_i − Σ_j μ_ij·l_i·l_j·sin(θ_i − θ_j)·θ̇_j² − (joint damping)     (2)

Its tangent is unsymmetric as soon as it spins: a test of how solvers treat that.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array, IntArray
from corekit.data.state import State
from corekit.geometry.shapes import Shape
from corekit.linalg.matrices import Dense, Matrix
from corekit.roles.component import BuildContext
from corekit.roles.model import Channel, Coordinate, Model, ModelDescription, Outline
from corekit.roles.options import option

__all__ = ["Pendulum", "PendulumConfig"]


@frozen(kw_only=True)
class PendulumConfig:
    """A pendulum of one or more rods; every list has one entry a rod."""

    lengths: tuple[float, ...] = option((1.0,), "of the rods", unit="m", above=0, converter=tuple)
    masses: tuple[float, ...] = option((1.0,), "at the rods' ends", unit="kg", above=0, converter=tuple)
    angles: tuple[float, ...] = option(
        (0.5,), "from the base's −z axis at the start", unit="rad", converter=tuple
    )
    rates: tuple[float, ...] = option((0.0,), "of the angles at the start", unit="rad/s", converter=tuple)
    damping: float = option(0.0, "of every joint", unit="N·m·s/rad", low=0)
    radius: float = option(0.0, "of a collision sphere at every mass, 0: none", unit="m", low=0)

    def __attrs_post_init__(self) -> None:
        if len({len(self.lengths), len(self.masses), len(self.angles), len(self.rates)}) != 1:
            raise ValueError("lengths, masses, angles, rates: one entry a rod in each")


@final
class Pendulum(Model):
    """Implements (1)–(2)."""

    def __init__(self, config: PendulumConfig, context: BuildContext | None = None) -> None:
        context = context or BuildContext()
        self._config = config
        self._base = context.base
        self._gravity = (context.base.rotation.T @ context.gravity)[[0, 2]]
        self._length = np.array(config.lengths)
        self._count = n = len(self._length)
        carried = np.cumsum(np.array(config.masses)[::-1])[::-1]
        index = np.arange(n)
        self._carried = carried
        self._inertia = carried[np.maximum.outer(index, index)] * np.outer(self._length, self._length)
        joints = np.eye(n) - np.eye(n, k=-1)
        self._joint_damping = config.damping * joints.T @ joints
        shapes = [Shape("sphere", (config.radius,), frame=i) for i in range(n)] if config.radius else []
        self._layout = ModelDescription(
            coordinates=tuple(Coordinate(f"angle{i}", "rad") for i in range(n)),
            velocities=tuple(Coordinate(f"rate{i}", "rad/s") for i in range(n)),
            inputs=(Channel("torque", "N·m", n),),
            frames=tuple(f"mass{i}" for i in range(n)),
            shapes=tuple(shapes),
            jacobian_width=n,
        )

    @property
    def description(self) -> ModelDescription:
        return self._layout

    def compute_initial_state(self, initial: Any, out: State) -> None:
        out.q[:] = self._config.angles
        out.v[:] = self._config.rates

    def new_mass_matrix(self) -> Matrix:
        return Dense(self._count)

    def compute_mass_and_force(self, state: State, inputs: Array, mass: Matrix, force: Array) -> None:
        between = np.subtract.outer(state.q, state.q)
        np.multiply(self._inertia, np.cos(between), out=mass.data)
        force.fill(0.0)
        for term in self.compute_force_terms(state, inputs).values():
            force += term

    def compute_force_terms(self, state: State, inputs: Array) -> Mapping[str, Array]:
        between = np.subtract.outer(state.q, state.q)
        lever = np.stack([np.cos(state.q), np.sin(state.q)], axis=1) * (self._carried * self._length)[:, None]
        return {
            "gravity": lever @ self._gravity,
            "centrifugal": -(self._inertia * np.sin(between)) @ (state.v * state.v),
            "damping": -self._joint_damping @ state.v,
            "torque": inputs.copy(),
        }

    def new_stiffness_and_damping(self) -> tuple[Matrix, Matrix]:
        return Dense(self._count), Dense(self._count)

    def compute_stiffness_and_damping(
        self, state: State, inputs: Array, stiffness: Matrix, damping: Matrix
    ) -> None:
        between = np.subtract.outer(state.q, state.q)
        fall = np.stack([-np.sin(state.q), np.cos(state.q)], axis=1) * (self._carried * self._length)[:, None]
        pull = self._inertia * np.cos(between) * state.v**2
        stiffness.data[:] = np.diag(pull.sum(axis=1) - fall @ self._gravity) - pull
        damping.data[:] = 2 * self._inertia * np.sin(between) * state.v + self._joint_damping

    def compute_dynamics_residual(
        self, state: State, inputs: Array, acceleration: Array, out: Array, mass: Matrix | None = None
    ) -> None:
        used = self.new_mass_matrix() if mass is None else mass
        self.compute_mass_and_force(state, inputs, used, out)
        out -= used.dense() @ acceleration

    def compute_residual_derivatives(
        self,
        state: State,
        inputs: Array,
        acceleration: Array,
        stiffness: Matrix,
        damping: Matrix,
        impulse: Array | None = None,
    ) -> None:
        self.compute_stiffness_and_damping(state, inputs, stiffness, damping)
        pull = self._inertia * np.sin(np.subtract.outer(state.q, state.q)) * acceleration
        stiffness.data += pull - np.diag(pull.sum(axis=1))

    def compute_mass_gradient(self, state: State, w: Array, x: Array, out: Array) -> None:
        turned = self._inertia * np.sin(np.subtract.outer(state.q, state.q))
        out[:] = -w * (turned @ x) - x * (turned @ w)

    def compute_input_jacobian(self, state: State, inputs: Array, out: Array) -> None:
        out[:] = np.eye(self._count)

    def compute_energies(self, state: State) -> tuple[float, float]:
        mass = self._inertia * np.cos(np.subtract.outer(state.q, state.q))
        reach = np.stack([np.sin(state.q), -np.cos(state.q)], axis=1)
        potential = -float(np.sum((self._carried * self._length)[:, None] * reach * self._gravity))
        return 0.5 * float(state.v @ mass @ state.v), potential

    def integrate(self, start: State, velocity: Array, step: float, previous: State, out: State) -> None:
        np.multiply(velocity, step, out=out.q)
        out.q += start.q

    def _ends(self, q: Array) -> Array:
        reach = np.stack([np.sin(q), np.zeros_like(q), -np.cos(q)], axis=1) * self._length[:, None]
        return np.cumsum(reach, axis=0) @ self._base.rotation.T + self._base.position

    def _turns(self, q: Array) -> Array:
        turn = np.zeros((len(q), 3, 3))
        turn[:, 0, 0] = turn[:, 2, 2] = np.cos(q)
        turn[:, 0, 2], turn[:, 2, 0] = -np.sin(q), np.sin(q)
        turn[:, 1, 1] = 1.0
        return self._base.rotation @ turn

    def compute_frame_poses(self, state: State, position: Array, rotation: Array) -> None:
        position[:] = self._ends(state.q)
        rotation[:] = self._turns(state.q)

    def compute_point_jacobians(
        self, state: State, frame: IntArray, local: Array, dofs: IntArray, values: Array
    ) -> None:
        q = state.q
        dofs[:] = np.arange(self._count)
        swing = np.stack([np.cos(q), np.zeros_like(q), np.sin(q)], axis=1) * self._length[:, None]
        below = np.arange(self._count) <= frame[:, None]
        values[:] = (self._base.rotation @ swing.T) * below[:, None, :]
        # a point off the frame's origin turns with its own rod, about the base's −y axis
        arm = np.einsum("cij,cj->ci", self._turns(q)[frame], local)
        values[np.arange(len(frame)), :, frame] += np.cross(-self._base.rotation[:, 1], arm)

    def compute_outline(self, state: State) -> Outline:
        points = np.vstack([self._base.position, self._ends(state.q)])
        return Outline(points=points, radius=np.full(len(points), 0.02))
