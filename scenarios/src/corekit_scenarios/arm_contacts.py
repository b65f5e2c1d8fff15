"""Random contact problems of CUSP's arm, and the judgement of their answers from outside.

A problem is one step of the arm at a random shape, velocity and pressure, with 3 to 21 points of its disks in
frictional contact, as the kernel would pose it:

    A·v⁺ = A·v_f + Jᵀ·λ,   A = M + h·D + h²·K,   A·v_f = M·v + h·f,   w = J·v⁺ + bias             (1)

Normals lean up to 60° off the disk's radius and are turned so that some velocity v* opens every contact. Part of
the contacts are near-duplicates of others, displaced by 1e-12 to 1e-3 m. That alone does not make a problem
solvable: impulses within the friction cones may balance, Jᵀ·λ = 0, and then those with bias·λ < 0 lead along a
ray (points wedged in while they are pushed out). By copositivity there is a solution if

    kind PRESSED   bias ≥ 0: penetration is not pushed out, whatever the friction                        (2)
    kind FREE      J_n·v* > μ·‖J_t·v*‖ for all contacts: nothing wedges, bias of any sign                (3)

while a problem of kind WEDGED, any friction and any bias, may have none.

Source of the existence: Cottle, Pang, Stone (2009), "The Linear Complementarity Problem", theorem 3.8.6.
"""

from __future__ import annotations

import enum
from typing import Any

import numpy as np
from attrs import define, field

from corekit.data.arrays import Array, IntArray
from corekit.data.state import State
from corekit.geometry.frames import Pose
from corekit.registry.resolve import load_target, resolve
from corekit.roles.component import BuildContext
from corekit.roles.contact import StepProblem

__all__ = ["ArmContactProblem", "Kind", "RandomArm", "faults"]

ARM: dict[str, Any] = {
    "sections": 3,
    "length": 0.15,
    "mass": (1.17, 0.54, 0.265),
    "stiffness": 265.0,
    "damping": 125.0,
    "chamber_radius": 0.05,
    "disks": 6,
    "disk_radius": 0.06,
    "disk_half_height": 0.005,
}
"""Options of the model `pcc`: CUSP's arm as in its Scenario A."""

RADIUS = 0.06
"""Radius of the disks on whose rims the contacts lie [m]."""


class Kind(enum.Enum):
    """Whether a solution is known to exist, and why."""

    PRESSED = "open or just touching, any friction"
    FREE = "penetration pushed out, nothing wedges"
    WEDGED = "penetration pushed out, points may wedge: a solution need not exist"


@define(eq=False)
class ArmContactProblem(StepProblem):
    """One problem (1), in the form that contact solvers read (see `corekit.roles.contact.StepProblem`).

    Args:
        matrix: A, shape (9, 9). rows: J, shape (3·m, 9), contact by contact normal and two tangents.
        free_velocity: v_f, shape (9,). bias: shape (3·m,) [m/s].
        friction, gap: shape (m,). step: h [s].
        directions: r of the friction pyramid it is to be solved with.
        free: w₀ = J·v_f + bias. weights: W = J·A⁻¹·Jᵀ.
    """

    matrix: Array
    rows: Array
    free_state_velocity: Array
    bias: Array
    friction: Array
    gap: Array
    step: float
    directions: int
    free_velocity: Array
    weights: Array

    rows_per_contact: int = 3
    bounded_count: int = 0
    lower: Array = field(factory=lambda: np.zeros(0))
    upper: Array = field(factory=lambda: np.zeros(0))
    friction_record: Array = field(factory=lambda: np.zeros((0, 0)))
    contact_count: int = field(init=False)
    id: IntArray = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.contact_count, self.id = len(self.gap), np.arange(len(self.gap))

    def delassus(self) -> Array:
        """W."""
        return self.weights

    def after(self, impulse: Array) -> Array:
        """v⁺ of (1)."""
        return self.free_state_velocity + np.linalg.solve(self.matrix, self.rows.T @ impulse)

    def with_free_velocity(self, velocity: Array) -> ArmContactProblem:
        """The same contacts at another v_f."""
        return ArmContactProblem(
            self.matrix, self.rows, velocity, self.bias, self.friction, self.gap, self.step,
            self.directions, self.rows @ velocity + self.bias, self.weights,
        )  # fmt: skip


class RandomArm:
    """Draws problems, the same for the same seed.

    Args:
        seed: of the random numbers. spread: deviation of the chambers' elongations [m]; small: a nearly straight arm.
    """

    def __init__(self, seed: int = 0, spread: float = 0.03) -> None:
        self._random, self._spread = np.random.default_rng(seed), spread
        spec = resolve("models", "pcc")
        base = Pose(rotation=np.diag([1.0, -1.0, -1.0]))  # it hangs
        self._model: Any = load_target(spec.target)(
            load_target(spec.config)(**ARM), BuildContext(path="arm", base=base)
        )
        self._state = State.zeros(9, 9)
        self._mass = self._model.new_mass_matrix()
        self._stiffness, self._damping = self._model.new_stiffness_and_damping()

    def draw(
        self, kind: Kind, contacts: int | None = None, directions: int | None = None
    ) -> ArmContactProblem:
        """A problem with so many contacts (3 to 21 if None) and directions (4, 6, 8 or 10 if None)."""
        random, state = self._random, self._state
        m = int(random.integers(3, 22)) if contacts is None else contacts
        r = 2 * int(random.integers(2, 6)) if directions is None else directions
        step = float(random.choice([1e-4, 1e-3, 5e-3]))
        state.q[:] = 0.03 + random.normal(scale=self._spread, size=9)
        state.v[:] = random.normal(scale=0.3, size=9)
        inputs = random.uniform(0.0, 40.0, self._model.description.input_size)
        force = np.zeros(9)
        self._model.compute_mass_and_force(state, inputs, self._mass, force)
        self._model.compute_stiffness_and_damping(state, inputs, self._stiffness, self._damping)
        mass = self._mass.dense()
        matrix = mass + step * self._damping.dense() + step**2 * self._stiffness.dense()
        free_state_velocity = np.linalg.solve(
            matrix, mass @ state.v + step * (force + self._damping.dense() @ state.v)
        )
        opening = random.normal(size=9)
        rows = self._rows(m, opening)
        gap = random.uniform(-2e-3, 2e-3, m)
        friction = np.where(random.random(m) < 0.1, 0.0, random.uniform(0.05, 1.2, m))
        push_out = np.maximum(0.1 * gap / step, -0.5)
        if kind is Kind.PRESSED:
            push_out[:] = 0.0
        elif kind is Kind.FREE:
            away = (rows @ opening).reshape(-1, 3)
            friction = np.minimum(friction, 0.95 * away[:, 0] / np.linalg.norm(away[:, 1:], axis=1))
        bias = np.zeros(3 * m)
        bias[::3] = np.where(gap > 0.0, gap / step, push_out)
        half = np.linalg.solve(np.linalg.cholesky(matrix), rows.T)
        return ArmContactProblem(
            matrix, rows, free_state_velocity, bias, friction, gap, step, r, rows @ free_state_velocity + bias,
            half.T @ half,
        )  # fmt: skip

    def _rows(self, contacts: int, opening: Array) -> Array:
        """J of random points of the disks: normal, two tangents, contact by contact; v* opens them."""
        random, state, description = self._random, self._state, self._model.description
        count = len(description.frames)
        position, rotation = np.zeros((count, 3)), np.zeros((count, 3, 3))
        self._model.compute_frame_poses(state, position, rotation)
        frame = np.zeros(1, dtype=np.int64)
        dofs, values = (
            np.zeros((1, description.jacobian_width), dtype=np.int64),
            np.zeros((1, 3, description.jacobian_width)),
        )
        chosen: list[tuple[int, Array, Array]] = []
        rows = np.zeros((contacts, 3, 9))
        while len(chosen) < contacts:
            if chosen and random.random() < 0.3:  # nearly one that is there already
                disk, local, normal = chosen[int(random.integers(len(chosen)))]
                size = 10.0 ** random.uniform(-12, -3)
                local = local + size * random.normal(size=3)
                normal = normal + size / RADIUS * random.normal(size=3)
            else:
                disk, angle = int(random.integers(count // 2, count)), random.uniform(0, 2 * np.pi)
                local = RADIUS * np.array([np.cos(angle), np.sin(angle), 0.0])
                lean = np.tan(random.uniform(-np.pi / 3, np.pi / 3)) * np.array([0.0, 0.0, 1.0])
                normal = rotation[disk] @ (-local / RADIUS + lean)
            normal = normal / np.linalg.norm(normal)
            frame[0] = disk
            self._model.compute_point_jacobians(state, frame, local[None], dofs, values)
            block = np.zeros((3, 9))
            for j, dof in enumerate(dofs[0]):
                block[:, dof] += values[0, :, j]
            speed = float(normal @ block @ opening)
            if abs(speed) < 0.02 * float(np.linalg.norm(normal @ block)):
                continue
            normal = normal if speed > 0.0 else -normal
            first = np.cross(normal, np.eye(3)[int(np.argmin(np.abs(normal)))])
            first /= np.linalg.norm(first)
            rows[len(chosen)] = np.array([normal, first, np.cross(normal, first)]) @ block
            chosen.append((disk, local, normal))
        return rows.reshape(-1, 9)


def faults(problem: ArmContactProblem, impulse: Array) -> tuple[float, float, float]:
    """How far λ is from obeying the contact laws, from v⁺ of (1) and the definition of the pyramid alone.

    λ counts as the velocity m·λ, m the mean mobility of its contact, and all is relative to the largest free velocity.

    Returns:
        normal: max |min(λ_n, w_n)|.
        friction: of |min(β_k, d_k·w_t + γ)| and |min(γ, μ·λ_n − Σβ)|, β the two neighbouring directions that
            span λ_t and γ = max(0, −min d_k·w_t).
        cone: max(0, Σβ − μ·λ_n).
    """
    r, free = problem.directions, problem.free_velocity.reshape(-1, 3)
    fastest = max(float(np.abs(free[:, 1:]).max()), float(-free[:, 0].min()))
    w = (problem.rows @ problem.after(impulse) + problem.bias).reshape(-1, 3) / fastest
    mobility = np.diag(problem.weights).reshape(-1, 3).mean(axis=1)
    pushes = impulse.reshape(-1, 3) * mobility[:, None] / fastest
    normal = float(np.abs(np.minimum(pushes[:, 0], w[:, 0])).max())
    angle = 2 * np.pi * np.arange(r) / r
    pyramid = np.column_stack([np.cos(angle), np.sin(angle)])
    friction = cone = 0.0
    for push, speed, bound in zip(pushes, w, problem.friction * pushes[:, 0], strict=True):
        sector = int(np.arctan2(push[2], push[1]) % (2 * np.pi) / (2 * np.pi / r)) % r
        both = [sector, (sector + 1) % r]
        share = np.zeros(r)
        share[both] = np.linalg.solve(pyramid[both].T, push[1:])
        along = pyramid @ speed[1:]
        slack = max(0.0, -float(along.min()))
        friction = max(friction, float(np.abs(np.minimum(share, along + slack)).max()))
        friction = max(friction, abs(min(slack, float(bound - share.sum()))))
        cone = max(cone, float(share.sum() - bound))
    return normal, friction, cone
