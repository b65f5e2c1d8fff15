"""A base that moves: its pose stands before the coordinates of the system, world axes.

    q = (x [m], φ, the system's q),      v = q̇                                              (1)

From its axes R₀, which aux holds, the base turned by Cayley's map

    R = C(φ)·R₀,   C = 1 + 4/(4 + φ²)·(φ^ + ½·φ^·φ^),   ω = 4/(4 + φ²)·(φ̇ + ½·φ × φ̇)        (2)

which is rational, and regular for turns below π: φ are coordinates as any others, so Lagrange's equations hold as they
stand. A turn by more than 0.93 rad (|φ| > 1) makes R the new R₀, with φ = 0 and φ̇ = ω.

What a system knows of the motion is its twist in the axes of the base, once, so that expressions stay short:

    Rᵀ·ẋ,     Rᵀ·ω = 4/(4 + φ²)·R₀ᵀ·(φ̇ − ½·φ × φ̇)                                         (3)

Source: Cayley (1846); Bauchau and Trainelli (2003), "The vectorial parameterization of rotation", section 4.
"""

from __future__ import annotations

from typing import Any, Final, final

import casadi as ca
import numpy as np

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.geometry.frames import Pose
from corekit.roles.model import Coordinate

__all__ = ["AXES", "BASE", "MovingBase"]

BASE: Final = 6
"""Coordinates of the base."""
AXES: Final = 9
"""Numbers of R₀ in aux, row by row."""


def _cross(a: Any) -> Any:
    """The matrix a^."""
    return ca.vertcat(ca.horzcat(0, -a[2], a[1]), ca.horzcat(a[2], 0, -a[0]), ca.horzcat(-a[1], a[0], 0))


@final
class MovingBase:
    """Symbols of a base, and its pose as expressions.

    Attributes:
        q, v: columns (6, 1). axes: R₀, a column (9, 1).
        origin, turn: x and R, (3, 1) and (3, 3). velocity, spin: the twist (3), (3, 1) each.
        coordinates, rates: names and units of q and v.
    """

    def __init__(self) -> None:
        names = [f"base-{kind}-{axis}" for kind in ("position", "turn") for axis in "xyz"]
        self.q, self.v = (ca.vertcat(*[ca.SX.sym(f"{name}{end}") for name in names]) for end in ("", "-rate"))
        self.axes = ca.SX.sym("base-axes", AXES)
        phi = self.q[3:]
        skew = _cross(phi)
        start = ca.reshape(self.axes, 3, 3).T
        self.origin = self.q[:3]
        self.turn = (ca.SX.eye(3) + 4.0 / (4.0 + ca.dot(phi, phi)) * (skew + 0.5 * skew @ skew)) @ start
        rate = self.v[3:]
        self.velocity = self.turn.T @ self.v[:3]
        self.spin = 4.0 / (4.0 + ca.dot(phi, phi)) * (start.T @ (rate - 0.5 * ca.cross(phi, rate)))
        units = ["m"] * 3 + ["rad"] * 3
        self.coordinates = [Coordinate(name, unit) for name, unit in zip(names, units, strict=True)]
        self.rates = [
            Coordinate(f"{name}-rate", f"{unit}/s") for name, unit in zip(names, units, strict=True)
        ]

    @staticmethod
    def place(state: State, pose: Pose, velocity: Array, angular_velocity: Array) -> None:
        """Write a pose and a twist in world axes into q, v and aux."""
        state.q[:3], state.q[3:BASE] = pose.position, 0.0
        state.v[:3], state.v[3:BASE] = velocity, angular_velocity
        state.aux[:] = pose.rotation.ravel()

    @staticmethod
    def recentre(state: State) -> bool:
        """Make R the axes R₀ if the base turned far from them; return whether it did."""
        phi = state.q[3:BASE]
        square = float(phi @ phi)
        if square <= 1.0:
            return False
        rate, factor = state.v[3:BASE], 4.0 / (4.0 + square)
        skew = np.cross(phi, np.eye(3)).T
        turned = (np.eye(3) + factor * (skew + 0.5 * skew @ skew)) @ state.aux.reshape(3, 3)
        left, _, right = np.linalg.svd(turned)  # the nearest rotation: rounding does not add up
        state.aux[:] = (left @ right).ravel()
        rate[:] = factor * (rate + 0.5 * np.cross(phi, rate))
        phi[:] = 0.0
        return True
