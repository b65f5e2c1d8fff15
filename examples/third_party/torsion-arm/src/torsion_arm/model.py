"""A planar arm of rigid links on torsion springs, in its joint angles.

Link i has length l_i, mass m_i (a thin rod) and points along e_i = (sin θ_i, cos θ_i) in the base's (x, z) axes;
θ = T·q with T the lower triangle of ones, q the joint angles, ω = T·v. With the mass beyond link i,
n_i = Σ_{k>i} m_k, and c_i = m_i/2 + n_i,

    A_ij = l_i·l_j·c_max(i,j),  i ≠ j,     A_ii = l_i²·(m_i/3 + n_i)                     (1)
    M = Tᵀ·(A_ij·cos(θ_i − θ_j))·T                                                       (2)
    f = Tᵀ·(c_i·l_i·e′_i·g − Σ_j A_ij·sin(θ_i − θ_j)·ω_j²) − k∘(q − q̄) − d∘v + u         (3)
    K = Tᵀ·(diag(c_i·l_i·e_i·g + Σ_j P_ij) − P)·T + diag(k),  P_ij = A_ij·cos(θ_i − θ_j)·ω_j²   (4)
    D = Tᵀ·(2·A_ij·sin(θ_i − θ_j)·ω_j)·T + diag(d)                                       (5)

with e′ = ∂e/∂θ, and for a point x of link i:  ẋ = Σ_{j≤i} (ŷ × (x − x_j))·v_j, x_j the joints.     (6)

Source: Lagrange's equations of the kinetic energy ½·Σ_ij A_ij·cos(θ_i − θ_j)·ω_i·ω_j.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.data.state import State
from corekit.geometry.frames import Pose, rotation_from_rpy
from corekit.geometry.shapes import Shape
from corekit.linalg.matrices import Dense, Matrix
from corekit.roles.component import BuildContext
from corekit.roles.model import Channel, Coordinate, Model, ModelDescription, Outline
from torsion_arm.config import TorsionArmConfig, TorsionArmInitial

__all__ = ["TorsionArm"]


@final
class TorsionArm(Model):
    """Implements (1)–(6); a straight arm lies along the z axis of its base."""

    def __init__(self, config: TorsionArmConfig, context: BuildContext | None = None) -> None:
        context = context or BuildContext()
        n = self._links = config.links
        self._base = context.base
        self._axes = context.base.rotation[:, [0, 2]].T.copy()
        self._gravity = self._axes @ context.gravity
        self._stiffness, self._damping = config.spread("stiffness"), config.spread("damping")
        self._natural, self._radius = config.spread("natural_angle"), config.spread("radius")
        length, mass = config.spread("length"), config.spread("mass")
        self._length = length
        beyond = np.cumsum(mass[::-1])[::-1] - mass
        carried = 0.5 * mass + beyond
        self._lever = carried * length
        self._inertia = np.outer(length, length) * carried[np.maximum.outer(range(n), range(n))]
        np.fill_diagonal(self._inertia, length**2 * (mass / 3 + beyond))
        self._layout = ModelDescription(
            coordinates=tuple(Coordinate(f"angle{i}", "rad") for i in range(n)),
            velocities=tuple(Coordinate(f"rate{i}", "rad/s") for i in range(n)),
            inputs=(Channel("torque", "N·m", n),),
            frames=tuple(f"link{i}" for i in range(n)),
            shapes=tuple(self._capsule(i, config.friction) for i in range(n)),
            jacobian_width=n,
            plane=np.vstack([context.base.position, self._axes]),
        )

    def _capsule(self, i: int, friction: float | None) -> Shape:
        half, middle = 0.5 * self._length[i], Pose(np.array([0.0, 0.0, 0.5 * self._length[i]]))
        return Shape("capsule", (self._radius[i], half), frame=i, offset=middle, friction=friction)

    @property
    def description(self) -> ModelDescription:
        return self._layout

    def compute_initial_state(self, initial: TorsionArmInitial | None, out: State) -> None:
        out.q[:] = self._natural if initial is None else initial.angle
        out.v[:] = 0.0 if initial is None else initial.rate

    def integrate(self, start: State, velocity: Array, step: float, previous: State, out: State) -> None:
        np.multiply(velocity, step, out=out.q)
        out.q += start.q

    def new_mass_matrix(self) -> Matrix:
        return Dense(self._links)

    def compute_mass_and_force(self, state: State, inputs: Array, mass: Matrix, force: Array) -> None:
        theta = np.cumsum(state.q)
        mass.data[:] = _pulled_back(self._inertia * np.cos(np.subtract.outer(theta, theta)))
        force.fill(0.0)
        for term in self.compute_force_terms(state, inputs).values():
            force += term

    def compute_force_terms(self, state: State, inputs: Array) -> Mapping[str, Array]:
        theta, omega = np.cumsum(state.q), np.cumsum(state.v)
        swing = np.sin(np.subtract.outer(theta, theta))
        weight = self._lever * (np.cos(theta) * self._gravity[0] - np.sin(theta) * self._gravity[1])
        return {
            "gravity": _outward_sums(weight),
            "coriolis": -_outward_sums((self._inertia * swing) @ omega**2),
            "spring": -self._stiffness * (state.q - self._natural),
            "damping": -self._damping * state.v,
            "torque": inputs.copy(),
        }

    def new_stiffness_and_damping(self) -> tuple[Matrix, Matrix]:
        return Dense(self._links), Dense(self._links)

    def compute_stiffness_and_damping(
        self, state: State, inputs: Array, stiffness: Matrix, damping: Matrix
    ) -> None:
        theta, omega = np.cumsum(state.q), np.cumsum(state.v)
        between = np.subtract.outer(theta, theta)
        pull = self._inertia * np.cos(between) * omega**2
        weight = self._lever * (np.sin(theta) * self._gravity[0] + np.cos(theta) * self._gravity[1])
        bend = np.diag(weight + pull.sum(axis=1)) - pull
        stiffness.data[:] = _pulled_back(bend) + np.diag(self._stiffness)
        turn = 2.0 * self._inertia * np.sin(between) * omega
        damping.data[:] = _pulled_back(turn) + np.diag(self._damping)

    def compute_energies(self, state: State) -> tuple[float, float]:
        theta, omega = np.cumsum(state.q), np.cumsum(state.v)
        inertia = self._inertia * np.cos(np.subtract.outer(theta, theta))
        fall = np.sin(theta) * self._gravity[0] + np.cos(theta) * self._gravity[1]
        springs = 0.5 * float(self._stiffness @ (state.q - self._natural) ** 2)
        return 0.5 * float(omega @ inertia @ omega), springs - float(self._lever @ fall)

    def _joints(self, theta: Array) -> Array:
        """The joints and the arm's end in the world, shape (n + 1, 3) [m]."""
        along = np.stack([np.sin(theta), np.cos(theta)], axis=1) * self._length[:, None]
        ends = np.vstack([np.zeros(2), np.cumsum(along, axis=0)])
        return self._base.position + ends @ self._axes

    def compute_frame_poses(self, state: State, position: Array, rotation: Array) -> None:
        theta = np.cumsum(state.q)
        position[:] = self._joints(theta)[:-1]
        rotation[:] = [self._base.rotation @ rotation_from_rpy((0.0, angle, 0.0)) for angle in theta]

    def compute_point_jacobians(
        self, state: State, frame: IntArray, local: Array, dofs: IntArray, values: Array
    ) -> None:
        n = self._links
        position, rotation = np.empty((n, 3)), np.empty((n, 3, 3))
        self.compute_frame_poses(state, position, rotation)
        point = position[frame] + np.einsum("cij,cj->ci", rotation[frame], local)
        arm = point[:, None] - position  # to every joint, (c, n, 3)
        moves = np.cross(self._base.rotation[:, 1], arm) * (np.arange(n) <= frame[:, None])[:, :, None]
        dofs[:] = np.arange(n)
        values[:] = moves.transpose(0, 2, 1)

    def compute_outline(self, state: State) -> Outline:
        radius = np.append(self._radius, self._radius[-1])
        return Outline(points=self._joints(np.cumsum(state.q)), radius=radius)


def _outward_sums(x: Array) -> Array:
    """Tᵀ·x: what acts on the links beyond a joint acts on the joint."""
    return np.cumsum(x[::-1], axis=0)[::-1]


def _pulled_back(matrix: Array) -> Array:
    """Tᵀ·X·T."""
    return _outward_sums(_outward_sums(matrix).T).T
