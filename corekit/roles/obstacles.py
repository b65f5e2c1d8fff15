"""Given motions, and obstacles: shapes of the surroundings, at rest or moving on such a path."""

from __future__ import annotations

import numpy as np
from attrs import field, frozen

from corekit.data.arrays import Array
from corekit.data.instants import same_instant
from corekit.data.signals import Signal
from corekit.geometry.frames import rotation_from_rpy
from corekit.geometry.shapes import Shape
from corekit.roles.friction import SurfaceFriction, surface_friction

__all__ = ["GivenMotion", "Obstacle"]


@frozen(eq=False)
class GivenMotion:
    """A pose that follows signals.

    Args:
        position: signal of its origin in the world [m], size 3.
        rotation_rpy: signal of its roll, pitch, yaw [rad], size 3.
    """

    position: Signal
    rotation_rpy: Signal

    @property
    def moving(self) -> bool:
        """Whether it ever moves."""
        return not (self.position.constant and self.rotation_rpy.constant)

    def place(self, time: float, position: Array, rotation: Array) -> None:
        """Write the pose at t: (3,) [m] and (3, 3)."""
        self.position.value(time, position)
        angles = np.zeros(3)
        self.rotation_rpy.value(time, angles)
        rotation[:] = rotation_from_rpy(angles)

    def twist(self, time: float) -> tuple[Array, Array]:
        """Velocity of the origin [m/s] and angular velocity [rad/s] at t, in world axes.

        With R = R_z(γ)·R_y(β)·R_x(α):   ω = γ̇·e_z + β̇·R_z·e_y + α̇·R_z·R_y·e_x              (1)

        At a breakpoint they are those of the interval that ends there; an instant that rounding puts behind one, as the
        end of a step, t + h, counts as the breakpoint.
        """
        time = min((time, *self.breakpoints(time - same_instant(time), time)))
        velocity, rates = np.zeros(3), np.zeros(3)
        self.position.rate(time, velocity)
        self.rotation_rpy.rate(time, rates)
        if not rates.any():
            return velocity, np.zeros(3)
        angles = np.zeros(3)
        self.rotation_rpy.value(time, angles)
        _, pitch, yaw = angles
        turned = rotation_from_rpy((0.0, 0.0, yaw))
        along_x = rotation_from_rpy((0.0, pitch, yaw))[:, 0]
        return velocity, rates[0] * along_x + rates[1] * turned[:, 1] + np.array([0.0, 0.0, rates[2]])

    def breakpoints(self, t0: float, t1: float) -> list[float]:
        """Kinks of the path in (t0, t1] [s]."""
        return [*self.position.breakpoints(t0, t1), *self.rotation_rpy.breakpoints(t0, t1)]


@frozen(eq=False, kw_only=True)
class Obstacle(GivenMotion):
    """A shape on a given path.

    Args:
        name: as in the scenario.
        shape: its shape; the shape's own offset is ignored.
        friction: of its surface, or None.
    """

    name: str
    shape: Shape
    friction: SurfaceFriction | None = field(default=None, converter=surface_friction)
