"""Edges, the capsules between the origins of two frames: their poses and the material points of their contacts.

The detector measures an edge from a to b as a capsule. Its contact moves with the axis point

    x = (1 − s)·a + s·b,                                                                        (1)

so its material points are both frames' origins, with weights 1 − s and s, or one of them at an end: an edge does not
rotate about itself.
"""

from __future__ import annotations

from typing import Final

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.geometry.vectors import Vector, add_scaled, cross, norm, scaled, unit_axis

__all__ = ["update_edge_poses", "write_edge_points"]

_ROUNDING: Final = 1e-12
"""Distance from an end, relative to the length."""


@compiled
def update_edge_poses(edges: IntArray, end: Array, size: Array, position: Array, rotation: Array) -> None:
    """Convert the poses of edges from their first ends to those of capsules; write their half lengths into `size`.

    Args:
        edges: indices of the shapes.
        end: second ends, (n, 3) [m].
        size, position, rotation: of all shapes, (n, 3), (n, 3) and (n, 3, 3); rewritten for edges.
    """
    for i in edges:
        d = (end[i, 0] - position[i, 0], end[i, 1] - position[i, 1], end[i, 2] - position[i, 2])
        length = norm(d)
        size[i, 1] = 0.5 * length
        u = scaled(d, 1.0 / length) if length > 0.0 else (0.0, 0.0, 1.0)
        least = 0
        for k in range(1, 3):
            if abs(u[k]) < abs(u[least]):
                least = k
        x = cross(unit_axis(least, 1.0), u)
        x = scaled(x, 1.0 / norm(x))
        y = cross(u, x)
        for k in range(3):
            position[i, k] += 0.5 * d[k]
            rotation[i, k, 0], rotation[i, k, 1], rotation[i, k, 2] = x[k], y[k], u[k]


@compiled
def _axis_fraction(x: Vector, i: int, size: Array, position: Array, rotation: Array) -> float:
    """Return s of (1) for an axis point x; at an end it is that end's, or rounding would move what is clamped there."""
    t = 0.0
    for k in range(3):
        t += (x[k] - position[i, k]) * rotation[i, k, 2]
    h = size[i, 1]
    if h == 0.0:
        return 0.5
    s = 0.5 + 0.5 * t / h
    return 0.0 if s < _ROUNDING else 1.0 if s > 1.0 - _ROUNDING else s


@compiled
def write_edge_points(
    first: int, count: int, second_frame: IntArray, table_frame: IntArray, size: Array, position: Array,
    rotation: Array, shape: IntArray, gap: Array, point: Array, normal: Array, frame: IntArray, local: Array,
    weight: Array,
) -> None:  # fmt: skip
    """Rewrite the material points of rows first…count − 1 of the contact set that have an edge.

    Args:
        second_frame, table_frame: of all shapes, (n,); second_frame −1 for all but edges.
        size, position, rotation: as `update_edge_poses` left them.
        shape, gap, point, normal, frame, local, weight: columns of the contact set.
    """
    for c in range(first, count):
        if second_frame[shape[c, 0]] < 0 and second_frame[shape[c, 1]] < 0:
            continue
        middle, n = (point[c, 0], point[c, 1], point[c, 2]), (normal[c, 0], normal[c, 1], normal[c, 2])
        # frame and local point of the second shape, before this row changes
        other_frame, other = frame[c, 1], (local[c, 1, 0], local[c, 1, 1], local[c, 1, 2])
        slot = 0
        for side in range(2):
            i, sign = shape[c, side], 1.0 - 2.0 * side
            if second_frame[i] >= 0:
                axis_point = add_scaled(middle, sign * (size[i, 0] + 0.5 * gap[c]), n)
                s = _axis_fraction(axis_point, i, size, position, rotation)
                for end in range(2):
                    share = s if end else 1.0 - s
                    if share != 0.0:
                        frame[c, slot] = second_frame[i] if end else table_frame[i]
                        weight[c, slot] = sign * share
                        local[c, slot, :] = 0.0
                        slot += 1
            elif side == 0:
                slot = 1
            elif other_frame >= 0:
                frame[c, slot], weight[c, slot] = other_frame, -1.0
                local[c, slot, 0], local[c, slot, 1], local[c, slot, 2] = other
                slot += 1
        for unused in range(slot, frame.shape[1]):
            frame[c, unused], weight[c, unused] = -1, 0.0
            local[c, unused, :] = 0.0
