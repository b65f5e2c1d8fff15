"""Penetration of a ball into an obstacle, by closed forms.

With x the ball's centre in the shape's axes and d(x) its signed distance to the shape, > 0 outside, the penetration of
a ball of radius r is max(0, r − d(x)).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from corekit.data.arrays import Array
from corekit.roles.planner import StaticObstacle

__all__ = ["compute_penetration"]


def _box(x: Array, size: tuple[float, ...]) -> float:
    excess = np.abs(x) - np.array(size)
    return float(np.linalg.norm(np.maximum(excess, 0.0)) + min(excess.max(), 0.0))


def _cylinder(x: Array, size: tuple[float, ...]) -> float:
    excess = np.array([np.hypot(x[0], x[1]) - size[0], abs(x[2]) - size[1]])
    return float(np.linalg.norm(np.maximum(excess, 0.0)) + min(excess.max(), 0.0))


def _capsule(x: Array, size: tuple[float, ...]) -> float:
    excess = max(abs(float(x[2])) - size[1], 0.0)
    return float(np.linalg.norm([x[0], x[1], excess])) - size[0]


_DISTANCE: Mapping[str, Callable[[Array, tuple[float, ...]], float]] = MappingProxyType(
    {
        "half-space": lambda x, _size: float(x[2]),
        "half-plane": lambda x, _size: float(x[2]),
        "sphere": lambda x, size: float(np.linalg.norm(x)) - size[0],
        "box": _box,
        "cylinder": _cylinder,
        "capsule": _capsule,
        "circle": lambda x, size: float(np.hypot(x[0], x[2])) - size[0],
        "ring": lambda x, size: size[0] - float(np.hypot(x[0], x[2])),
    }
)


def compute_penetration(obstacle: StaticObstacle, centre: Array, radius: float) -> float:
    """Return the penetration [m] of a ball into an obstacle; 0 for shapes by vertices, which have no closed form.

    Args:
        obstacle: shape and pose.
        centre: centre of the ball in the world [m], shape (3,).
        radius: radius of the ball [m].
    """
    distance = _DISTANCE.get(obstacle.shape.kind)
    if distance is None:
        return 0.0
    x = obstacle.pose.rotation.T @ (centre - obstacle.pose.position)
    return max(0.0, radius - distance(x, obstacle.shape.size))
