"""Trees of rigid and soft links, moved by products of exponentials and summed up by definition.

    M = Σ w·Jᵀ·M̄·J      c = Σ w·Jᵀ·(M̄·ψ + ad*_η·M̄·η)      G = Σ w·Jᵀ·M̄·Ad_g⁻¹·[0; gravity]           (1)

over all computational points; ψ = η̇ at q̈ = 0. What is discretised is the published scheme (Magnus steps of
order 2 or 4 between computational points); how it is evaluated shares nothing with the plugin.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .reference_series import (
    Series,
    adjoint,
    bracket,
    commutator_series,
    exponential,
    exponential_columns,
    inverse,
    pose,
)

STRAIGHT = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0])


def circle(radius):
    """Area and second moments of a full circle [m², m⁴, m⁴]."""
    return np.pi * radius**2, np.pi * radius**4 / 4, np.pi * radius**4 / 4


@dataclass
class Piece:
    """One division of a soft link: a rod whose strain is ξ*(X) + D_L·b(X, q, t)."""

    length: float
    basis: Any
    points: tuple[np.ndarray, np.ndarray]
    section: Callable[[float], tuple[float, float, float]]
    young: float = 1.0
    poisson: float = 0.5
    density: float = 0.0
    viscosity: float = 0.0
    reference: Callable[[float], np.ndarray] = lambda x: STRAIGHT
    order: int = 4
    added: Callable[[float], np.ndarray] = lambda x: np.zeros((6, 6))
    drag: Callable[[float], np.ndarray] | None = None
    after: np.ndarray = field(default_factory=pose)

    @property
    def scale(self):
        return np.diag([1 / self.length] * 3 + [1.0] * 3)

    def inertia(self, x):
        area, y, z = self.section(x)
        return self.density * np.diag([y + z, y, z, area, area, area])

    def stiffness(self, x):
        area, y, z = self.section(x)
        shear = self.young / (2 * (1 + self.poisson))
        return np.diag(
            [shear * (y + z), self.young * y, self.young * z, self.young * area, shear * area, shear * area]
        )

    def damping(self, x):
        area, y, z = self.section(x)
        return self.viscosity * np.diag([y + z, 3 * y, 3 * z, 3 * area, area, area])

    def strain(self, x, q, v, t):
        """ξ(t + τ) as Taylor coefficients, (3, 6)."""
        out = self.basis.series(x, q, v, t) @ self.scale.T
        out[0] = out[0] + self.reference(x)
        return out

    def columns(self, x, q, t):
        return self.scale @ self.basis.columns(x, q, t)

    def step(self, a, b, q, v, t):
        """Ω(t + τ) over [a, b] (3, 6), and its columns ∂Ω/∂q (6, n)."""
        h = (b - a) * self.length
        if self.order == 2:
            middle = (a + b) / 2
            return h * self.strain(middle, q, v, t), h * self.columns(middle, q, t)
        first, second = (a + (b - a) * (0.5 + side * np.sqrt(3) / 6) for side in (-1, 1))
        one, two = self.strain(first, q, v, t), self.strain(second, q, v, t)
        beta = np.sqrt(3) * h * h / 12
        omega = h / 2 * (one + two) + beta * commutator_series(one, two)
        left, right = self.columns(first, q, t), self.columns(second, q, t)
        moved = h / 2 * (left + right) + beta * (bracket(one[0]) @ right - bracket(two[0]) @ left)
        return omega, moved


@dataclass
class Rigid:
    """A rigid body: inertia about its mass centre, and where that and the tip are."""

    inertia: np.ndarray = field(default_factory=lambda: np.zeros((6, 6)))
    centre: np.ndarray = field(default_factory=pose)
    tip: np.ndarray = field(default_factory=pose)
    added: np.ndarray = field(default_factory=lambda: np.zeros((6, 6)))
    drag: np.ndarray | None = None
    buoyancy: float = 1.0


@dataclass
class Link:
    """A joint exp(B_J·q) after a fixed mount, then a rigid body or soft pieces."""

    body: Rigid | Sequence[Piece]
    parent: int = -1
    mount: np.ndarray = field(default_factory=pose)
    joint: np.ndarray = field(default_factory=lambda: np.zeros((6, 0)))
    stiffness: np.ndarray | None = None
    damping: np.ndarray | None = None
    buoyancy: float = 1.0


@dataclass
class Frame:
    """A computational point: motion series g, columns J, and (soft ones) where it lies in its piece."""

    motion: Series
    columns: np.ndarray
    weight: float = 0.0
    inertia: np.ndarray = field(default_factory=lambda: np.zeros((6, 6)))
    added: np.ndarray = field(default_factory=lambda: np.zeros((6, 6)))
    drag: np.ndarray | None = None
    buoyancy: float = 1.0
    piece: Piece | None = None
    own: slice = field(default_factory=lambda: slice(0))
    x: float = 0.0
    place: tuple[int, int] = (0, 0)

    @property
    def pose(self):
        return self.motion.at[0]

    @property
    def twist(self):
        return self.motion.body_twist()


class Tree:
    """Links in parent-first order.

    Args:
        links: of the tree.
        gravity: [m/s²].
        base: pose of the world frame the first links are mounted in.
    """

    def __init__(self, links: Sequence[Link], gravity=(0.0, 0.0, -9.81), base=None):
        self.links = list(links)
        self.gravity = np.array(gravity)
        self.base = pose() if base is None else base
        self.size = sum(link.joint.shape[1] + sum(piece.basis.size for piece in soft(link)) for link in links)

    def sweep(self, q, v, t=0.0):
        """Frames of all computational points, of mass centres, and of link tips."""
        points, tips = [], []
        used = 0
        for i, link in enumerate(self.links):
            start = tips[link.parent] if link.parent >= 0 else self._ground()
            at = shifted(start, link.mount)
            own = slice(used, used + link.joint.shape[1])
            used = own.stop
            if link.joint.shape[1]:
                path = np.array([link.joint @ q[own], link.joint @ v[own], np.zeros(6)])
                at = moved(at, path, link.joint, own)
            if isinstance(link.body, Rigid):
                body = link.body
                at = shifted(at, body.centre)
                points.append(
                    Frame(
                        at.motion, at.columns, 1.0, body.inertia, body.added, body.drag, body.buoyancy,
                        place=(i, 0),
                    )
                )  # fmt: skip
                at = shifted(at, body.tip)
            else:
                for j, piece in enumerate(link.body):
                    own = slice(used, used + piece.basis.size)
                    used = own.stop
                    at = self._along(piece, at, own, q, v, t, points, (i, j), link.buoyancy)
            tips.append(Frame(at.motion, at.columns))
        return points, tips

    def _ground(self):
        return Frame(Series.constant(self.base), np.zeros((6, self.size)))

    def _along(self, piece, at, own, q, v, t, points, place, buoyancy):
        nodes, weights = piece.points
        for k, x in enumerate(nodes):
            if k:
                omega, columns = piece.step(nodes[k - 1], x, q[own], v[own], t)
                at = moved(at, omega, columns, own)
            points.append(
                Frame(
                    at.motion, at.columns, weights[k] * piece.length, piece.inertia(x), piece.added(x),
                    piece.drag(x) if piece.drag else None, buoyancy, piece, own, x, place,
                )
            )  # fmt: skip
        return shifted(at, piece.after)

    def inertia(self, q, v=None, t=0.0):
        """M of (1)."""
        points, _ = self.sweep(q, np.zeros(self.size) if v is None else v, t)
        return self._mass(points)

    def _mass(self, points):
        out = np.zeros((self.size, self.size))
        for p in points:
            out += p.weight * p.columns.T @ (p.inertia + p.added) @ p.columns
        return out

    def terms(self, q, v, t=0.0):
        """M and the named parts of the force, without actuation: bias, weight, elastic, damping, fluid."""
        points, _ = self.sweep(q, v, t)
        zero = np.zeros(self.size)
        parts = {key: zero.copy() for key in ("bias", "weight", "elastic", "damping", "fluid")}
        for p in points:
            if p.piece is not None and p.weight:
                columns = p.piece.columns(p.x, q[p.own], t)
                strain = p.piece.strain(p.x, q[p.own], v[p.own], t)
                away = strain[0] - p.piece.reference(p.x)
                parts["elastic"][p.own] -= p.weight * columns.T @ p.piece.stiffness(p.x) @ away
                parts["damping"][p.own] -= p.weight * columns.T @ p.piece.damping(p.x) @ strain[1]
            if not p.weight:
                continue
            twist, rate = p.twist
            whole = p.inertia + p.added
            wrench = whole @ rate - bracket(twist).T @ whole @ twist
            parts["bias"] -= p.weight * p.columns.T @ wrench
            pull = np.concatenate((np.zeros(3), p.pose[:3, :3].T @ self.gravity)) * p.buoyancy
            parts["weight"] += p.weight * p.columns.T @ p.inertia @ pull
            if p.drag is not None:
                parts["fluid"] -= p.weight * np.linalg.norm(twist[3:]) * p.columns.T @ p.drag @ twist
        used = 0
        for link in self.links:
            own = slice(used, used + link.joint.shape[1])
            if link.stiffness is not None:
                parts["elastic"][own] -= link.stiffness @ q[own]
            if link.damping is not None:
                parts["damping"][own] -= link.damping @ v[own]
            used = own.stop + sum(piece.basis.size for piece in soft(link))
        return self._mass(points), parts

    def wrench_at(self, frame, wrench):
        """Jᵀ·W of a wrench in the frame's own axes (a follower)."""
        return frame.columns.T @ wrench

    def force_at(self, frame, force):
        """Jᵀ·[0; Rᵀ·F] of a force in world axes (a dead load)."""
        return frame.columns.T @ np.concatenate((np.zeros(3), frame.pose[:3, :3].T @ force))

    def cable(self, q, path, slope, pieces, t=0.0, points=None):
        """B_q = (dl/dq)ᵀ of a thread through the given pieces, by complex steps of its length; and that length.

            l = Σ w·‖l + k × d + d′‖                                                              (2)

        Args:
            path, slope: d(s) and d′(s) = dd/ds, s [m] from the start of the link.
            pieces: (link, piece, offset s of the piece's start [m]).
            points: of a sweep at q, or None.
        """
        if points is None:
            points, _ = self.sweep(q, np.zeros(self.size), t)
        out, length = np.zeros(self.size), 0.0
        for p in points:
            for link, piece, start in pieces:
                if p.piece is None or p.place != (link, piece) or not p.weight:
                    continue
                s = start + p.x * p.piece.length
                strain = p.piece.strain(p.x, q[p.own], 0 * q[p.own], t)[0]
                gradient = np.zeros(6)
                for k in range(6):
                    moved_strain = strain.astype(complex)
                    moved_strain[k] += 1e-30j
                    gradient[k] = stretch(moved_strain, path(s), slope(s)).imag / 1e-30
                length += p.weight * stretch(strain.astype(complex), path(s), slope(s)).real
                out[p.own] += p.weight * p.piece.columns(p.x, q[p.own], t).T @ gradient
        return out, length

    def internal(self, q, wrench, place, t=0.0):
        """Q = ∫ b_qᵀ·F_a(X) ds of a distributed internal wrench in one piece."""
        points, _ = self.sweep(q, np.zeros(self.size), t)
        out = np.zeros(self.size)
        for p in points:
            if p.piece is not None and p.place == place and p.weight:
                out[p.own] += p.weight * p.piece.columns(p.x, q[p.own], t).T @ wrench(p.x)
        return out

    def energy(self, q, v, t=0.0):
        """Kinetic energy, and potential energy of elasticity and weight [J]."""
        points, _ = self.sweep(q, v, t)
        kinetic, potential, used = 0.0, 0.0, 0
        for p in points:
            twist, _ = p.twist
            kinetic += p.weight * twist @ (p.inertia + p.added) @ twist / 2
            potential -= p.weight * p.buoyancy * p.inertia[3, 3] * self.gravity @ p.pose[:3, 3]
            if p.piece is not None:
                away = p.piece.strain(p.x, q[p.own], v[p.own], t)[0] - p.piece.reference(p.x)
                potential += p.weight * away @ p.piece.stiffness(p.x) @ away / 2
        for link in self.links:
            own = slice(used, used + link.joint.shape[1])
            if link.stiffness is not None:
                potential += q[own] @ link.stiffness @ q[own] / 2
            used = own.stop + sum(piece.basis.size for piece in soft(link))
        return kinetic, potential


def soft(link):
    """The soft pieces of a link."""
    return [] if isinstance(link.body, Rigid) else link.body


def stretch(strain, place, slope):
    tau = np.cross(strain[:3], place) + strain[3:] + slope
    return np.sqrt(tau @ tau)


def shifted(frame, by):
    """A frame fixed to another."""
    return Frame(frame.motion @ Series.constant(by), adjoint(inverse(by)) @ frame.columns)


def moved(frame, path, columns, own):
    """A frame behind the step exp(Ω(t)), with the step's own columns added."""
    _, own_columns = exponential_columns(path[0], columns)
    g = exponential(path)
    out = adjoint(inverse(g.at[0])) @ frame.columns
    out[:, own] += own_columns
    return Frame(frame.motion @ g, out)
