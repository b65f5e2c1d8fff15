"""How deep a ball stands in an obstacle, by closed forms: what no motion can begin from or end at.

With x the ball's centre in the shape's axes and d(x) its signed distance to the shape, > 0 outside, a ball of radius r
is max(0, r − d(x)) deep in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from corekit.data.arrays import Array
from corekit.roles.planner import StaticObstacle

__all__ = ["depth_in"]


def _box(x: Array, size: tuple[float, ...]) -> float:
    beyond = np.abs(x) - np.array(size)
    return float(np.linalg.norm(np.maximum(beyond, 0.0)) + min(beyond.max(), 0.0))


def _cylinder(x: Array, size: tuple[float, ...]) -> float:
    beyond = np.array([np.hypot(x[0], x[1]) - size[0], abs(x[2]) - size[1]])
    return float(np.linalg.norm(np.maximum(beyond, 0.0)) + min(beyond.max(), 0.0))


def _capsule(x: Array, size: tuple[float, ...]) -> float:
    beyond = max(abs(float(x[2])) - size[1], 0.0)
    return float(np.linalg.norm([x[0], x[1], beyond])) - size[0]


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


def depth_in(obstacle: StaticObstacle, centre: Array, radius: float) -> float:
    """How deep [m] a ball is in an obstacle, 0 outside; 0 too for shapes by vertices, which have no closed form.

    Args:
        obstacle: where it stands. centre: of the ball, world [m], shape (3,). radius: of the ball [m].
    """
    distance = _DISTANCE.get(obstacle.shape.kind)
    if distance is None:
        return 0.0
    x = obstacle.pose.rotation.T @ (centre - obstacle.pose.position)
    return max(0.0, radius - distance(x, obstacle.shape.size))
