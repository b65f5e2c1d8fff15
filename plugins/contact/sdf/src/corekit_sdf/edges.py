"""Edges, the capsules between the origins of two frames: where they are, and what carries their contacts.

An edge from a to b is measured as a capsule. Its contact moves with the axis point

    x = (1 − s)·a + s·b,                                                                        (1)

so it is carried by both frames' origins, with weights 1 − s and s: an edge does not turn about itself.
"""

from __future__ import annotations

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.geometry.vectors import Vector, along, cross, norm, scaled, unit_axis

__all__ = ["carry_edges", "place_edges"]


@compiled
def place_edges(edges: IntArray, end: Array, size: Array, position: Array, rotation: Array) -> None:
    """Turn the poses of edges from their first ends into those of capsules; their half lengths go into `size`.

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
def _share(x: Vector, i: int, size: Array, position: Array, rotation: Array) -> float:
    """s of (1) for an axis point x."""
    t = 0.0
    for k in range(3):
        t += (x[k] - position[i, k]) * rotation[i, k, 2]
    h = size[i, 1]
    return min(max(0.5 + 0.5 * t / h, 0.0), 1.0) if h > 0.0 else 0.5


@compiled
def carry_edges(
    first: int, count: int, second_frame: IntArray, table_frame: IntArray, size: Array, position: Array,
    rotation: Array, shape: IntArray, gap: Array, point: Array, normal: Array, frame: IntArray, local: Array,
    weight: Array,
) -> None:  # fmt: skip
    """Rewrite the carriers of rows first…count − 1 of the contact set that have an edge.

    Args:
        second_frame, table_frame: of all shapes, (n,); second_frame −1 for all but edges.
        size, position, rotation: as `place_edges` left them.
        shape, gap, point, normal, frame, local, weight: columns of the contact set.
    """
    for c in range(first, count):
        if second_frame[shape[c, 0]] < 0 and second_frame[shape[c, 1]] < 0:
            continue
        middle, n = (point[c, 0], point[c, 1], point[c, 2]), (normal[c, 0], normal[c, 1], normal[c, 2])
        # the other side's frame and local point, as they were written
        other_frame, other = frame[c, 1], (local[c, 1, 0], local[c, 1, 1], local[c, 1, 2])
        slot = 0
        for side in range(2):
            i, sign = shape[c, side], 1.0 - 2.0 * side
            if second_frame[i] >= 0:
                axis_point = along(middle, sign * (size[i, 0] + 0.5 * gap[c]), n)
                s = _share(axis_point, i, size, position, rotation)
                for end in range(2):
                    frame[c, slot] = second_frame[i] if end else table_frame[i]
                    weight[c, slot] = sign * (s if end else 1.0 - s)
                    local[c, slot, :] = 0.0
                    slot += 1
            elif side == 0:
                slot = 1
            elif other_frame >= 0:
                frame[c, slot], weight[c, slot] = other_frame, -1.0
                local[c, slot, 0], local[c, slot, 1], local[c, slot, 2] = other
                slot += 1
        for rest in range(slot, frame.shape[1]):
            frame[c, rest], weight[c, rest] = -1, 0.0
            local[c, rest, :] = 0.0
