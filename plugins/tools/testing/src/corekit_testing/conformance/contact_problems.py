"""Reference contact problems, from mechanics small enough to be solved on paper."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.roles.contact import StepProblem
from corekit.roles.friction import ANISOTROPIC_COULOMB, FrictionLaw

__all__ = ["DenseProblem", "crushed", "feasible", "point_mass", "random_problems"]


class DenseProblem(StepProblem):
    """One step's contact problem of a system with mass matrix M, rows J and free velocity v_f.

    Args:
        mass: M [kg], shape (n, n).
        rows: J, shape (R, n): for each contact `width` rows, then the bounded rows.
        velocity: v_f [m/s], shape (n,).
        friction: μ of all contacts, or of each, shape (m,); or records of `law`, shape (m, k).
        width: rows a contact.
        bounds: (lower, upper) impulse of each bounded row [N·s].
        stabilisation: added to w₀ [m/s], shape (R,).
        law: of the records.
    """

    step = 1e-3

    def __init__(
        self,
        mass: Array,
        rows: Array,
        velocity: Array,
        friction: float | Array = 0.0,
        *,
        width: int = 3,
        bounds: Sequence[tuple[float, float]] = (),
        stabilisation: Array | float = 0.0,
        law: FrictionLaw = ANISOTROPIC_COULOMB,
    ) -> None:
        self.mass, self.rows, self.velocity = mass, rows, velocity
        self.rows_per_contact, self.bounded_count = width, len(bounds)
        self.contact_count = (len(rows) - self.bounded_count) // width
        has_records = np.ndim(friction) == 2
        records = np.asarray(friction, dtype=float) if has_records else np.zeros((self.contact_count, 0))
        largest = (
            np.array([law.max_coefficient(record) for record in records.tolist()])
            if has_records
            else friction
        )
        self.friction_record: Array = records
        self.friction: Array = np.full(self.contact_count, largest, dtype=float)
        self.free_velocity: Array = rows @ velocity + stabilisation
        self.gap: Array = np.zeros(self.contact_count)
        self.start_impulse: Array = np.zeros(len(rows))
        limits = np.array(bounds, dtype=float).reshape(-1, 2)
        self.lower, self.upper = limits[:, 0].copy(), limits[:, 1].copy()
        self.id: IntArray = np.arange(self.contact_count)
        matrix = rows @ np.linalg.solve(mass, rows.T)
        self.matrix: Array = 0.5 * (matrix + matrix.T)

    def delassus(self) -> Array:
        """W, shape (R, R)."""
        return self.matrix

    def after(self, impulse: Array) -> Array:
        """v⁺ = v_f + M⁻¹·Jᵀ·λ."""
        return self.velocity + np.linalg.solve(self.mass, self.rows.T @ impulse)

    def relative(self, impulse: Array) -> Array:
        """w = W·λ + w₀."""
        return self.matrix @ impulse + self.free_velocity

    def normal_error(self, impulse: Array) -> float:
        """max |min(λ_n, w_n)|, and the same of bounded rows: how far λ is from (2) and (3) of the role."""
        speed, end = self.relative(impulse), self.contact_count * self.rows_per_contact
        normal = np.minimum(impulse[: end : self.rows_per_contact], speed[: end : self.rows_per_contact])
        held = impulse[end:] - np.clip(impulse[end:] - speed[end:], self.lower, self.upper)
        return float(np.max(np.abs(np.concatenate([normal, held])), initial=0.0))

    def friction_error(self, impulse: Array) -> float:
        """A lower bound of r = max |λ_t − P(λ_t − w_t)|, P onto the circular cone or a pyramid of four sides or more.

        With b = μ·λ_n such a section holds a y with −yᵀ·w_t ≥ 0.7·b·|w_t|, and P(λ_t − w_t) = p ends in it:
        (λ_t − w_t − p)ᵀ(y − p) ≤ 0, hence 0.7·b·|w_t| + w_tᵀ·λ_t ≤ r·(2·b + |w_t|).
        """
        slip, friction = self.tangential(self.relative(impulse)), self.tangential(impulse)
        bound = self.friction * np.maximum(self.normal(impulse), 0.0)
        speed, power = np.linalg.norm(slip, axis=1), np.einsum("ci,ci->c", friction, slip)
        lacking = np.maximum(0.7 * bound * speed + power, 0.0) / np.maximum(2.0 * bound + speed, 1e-300)
        return float(np.max(lacking, initial=0.0))

    def tangential(self, values: Array) -> Array:
        """The tangential part of a vector of rows, shape (m, width − 1)."""
        return values[: self.contact_count * self.rows_per_contact].reshape(
            self.contact_count, self.rows_per_contact
        )[:, 1:]

    def normal(self, values: Array) -> Array:
        """Its normal part, shape (m,)."""
        return values[: self.contact_count * self.rows_per_contact : self.rows_per_contact]


def point_mass(
    velocity: Sequence[float],
    friction: float | Array = 0.0,
    mass: float = 2.0,
    copies: int = 1,
    width: int = 3,
    law: FrictionLaw = ANISOTROPIC_COULOMB,
) -> DenseProblem:
    """A point with contact axes along its coordinates, every contact `copies` times."""
    rows, velocities = np.tile(np.eye(width), (copies, 1)), np.array(velocity, dtype=float)
    return DenseProblem(mass * np.eye(width), rows, velocities, friction, width=width, law=law)


def crushed(friction: float = 0.5) -> DenseProblem:
    """A point between two walls that both come in at 1 m/s: no velocity satisfies both."""
    one = np.eye(3)
    other = np.diag([-1.0, -1.0, 1.0])
    shift = np.array([-1.0, 0, 0, -1.0, 0, 0])
    return DenseProblem(np.eye(3), np.vstack([one, other]), np.zeros(3), friction, stabilisation=shift)


def feasible(
    random: np.random.Generator,
    contacts: int = 4,
    friction: float | Array = 0.4,
    bounds: Sequence[tuple[float, float]] = (),
) -> DenseProblem:
    """Some contacts and bounded rows of a body with enough freedom for independent rows."""
    count = 3 * contacts + len(bounds)
    coordinates = max(14, count + 2)
    root = random.normal(size=(coordinates, coordinates))
    mass = root @ root.T / coordinates + np.eye(coordinates)
    rows = random.normal(size=(count, coordinates))
    return DenseProblem(mass, rows, random.normal(size=coordinates), friction, bounds=bounds)


def random_problems() -> list[DenseProblem]:
    """Few contacts alike, and more whose friction differs."""
    random = np.random.default_rng(11)
    alike = [
        feasible(random, contacts=count, friction=mu)
        for count, mu in ((1, 0.5), (2, 0.0), (3, 0.3), (4, 0.6))
    ]
    rough, smooth = np.linspace(0.1, 0.8, 6), np.linspace(0.9, 0.05, 12)
    return [*alike, *(feasible(random, len(mu), mu) for mu in (np.array([0.05, 0.9, 0.4]), rough, smooth))]
