"""Obstacles: shapes of the surroundings, at rest or moving on given paths."""

from __future__ import annotations

import numpy as np
from attrs import field, frozen

from corekit.data.arrays import Array
from corekit.data.signals import Signal
from corekit.geometry.frames import rotation_from_rpy
from corekit.geometry.shapes import Shape

__all__ = ["Obstacle"]


@frozen(eq=False)
class Obstacle:
    """A shape on a given path.

    Args:
        name: as in the scenario.
        shape: its shape; the shape's own offset is ignored.
        position: signal of its origin in the world [m], size 3.
        rotation_rpy: signal of its roll, pitch, yaw [rad], size 3.
        friction: coefficient μ of its surface, or None.
    """

    name: str
    shape: Shape
    position: Signal
    rotation_rpy: Signal
    friction: float | None = None
    _angles: Array = field(factory=lambda: np.zeros(3), init=False, repr=False)

    @property
    def moving(self) -> bool:
        """Whether it ever moves."""
        return not (self.position.constant and self.rotation_rpy.constant)

    def place(self, time: float, position: Array, rotation: Array) -> None:
        """Write its pose at t: (3,) [m] and (3, 3)."""
        self.position.value(time, position)
        self.rotation_rpy.value(time, self._angles)
        rotation[:] = rotation_from_rpy(self._angles)

    def breakpoints(self, t0: float, t1: float) -> list[float]:
        """Kinks of its path in (t0, t1] [s]."""
        return [*self.position.breakpoints(t0, t1), *self.rotation_rpy.breakpoints(t0, t1)]
