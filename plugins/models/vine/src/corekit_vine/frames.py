"""Poses of frames at the base and at every body's far end, and Jacobians of their points.

Frame 0 is the base with its axes, frame i + 1 stands at r_i + g_i·a_i, with the axes a, b and a × b: the frame of a
link's second body at its pin, g = d, that of the first as far from its pin as at the start, wherever its centre is. In
the world, with the base's origin o and the plane's axes e₁, e₂ (the base's x and z),

    x = o + (r + (g + l_a)·a + l_b·b)·(e₁, e₂) + l_c·e₁ × e₂                                     (1)
"""

from __future__ import annotations

import math

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit_vine.angle_cache import update_angle_cache
from corekit_vine.chain import END_OFFSET, half_length

__all__ = ["compute_point_jacobians", "compute_poses", "frame_offset"]


@compiled
def frame_offset(scalars: Array, lengths: Array, body: int) -> float:
    """Return g of a body [m]."""
    d = half_length(lengths, body // 2)
    return d if body % 2 == 1 else scalars[END_OFFSET] - d


@compiled
def compute_poses(
    scalars: Array, lengths: Array, plane: Array, q: Array, angle_cache: Array, position: Array,
    rotation: Array,
) -> None:  # fmt: skip
    """Write the frames' positions (n + 1, 3) [m] and rotations (n + 1, 3, 3); `plane` is o, e₁, e₂, e₁ × e₂."""
    update_angle_cache(q, angle_cache)
    for frame in range(len(position)):
        if frame == 0:
            for k in range(3):
                position[0, k] = plane[0, k]
                rotation[0, k, 0], rotation[0, k, 1], rotation[0, k, 2] = (
                    plane[1, k],
                    -plane[3, k],
                    plane[2, k],
                )
            continue
        i = 3 * (frame - 1)
        d = frame_offset(scalars, lengths, frame - 1)
        c, s = angle_cache[frame - 1, 1], angle_cache[frame - 1, 2]
        x, y = q[i] + d * c, q[i + 1] + d * s
        for k in range(3):
            position[frame, k] = plane[0, k] + x * plane[1, k] + y * plane[2, k]
            rotation[frame, k, 0] = c * plane[1, k] + s * plane[2, k]
            rotation[frame, k, 1] = c * plane[2, k] - s * plane[1, k]
            rotation[frame, k, 2] = plane[3, k]


@compiled
def compute_point_jacobians(
    scalars: Array, lengths: Array, plane: Array, q: Array, frame: IntArray, local: Array, dofs: IntArray,
    values: Array,
) -> None:  # fmt: skip
    """Write the Jacobians of points `local` (c, 3) [m] in frames: dofs (c, 3) and values (c, 3, 3)."""
    for point in range(len(frame)):
        body = frame[point] - 1
        first = 3 * max(body, 0)
        is_body = 1.0 if body >= 0 else 0.0
        axial = frame_offset(scalars, lengths, max(body, 0)) + local[point, 0]
        lateral = local[point, 1]
        c, s = math.cos(q[first + 2]), math.sin(q[first + 2])
        x, y = -axial * s - lateral * c, axial * c - lateral * s
        for k in range(3):
            dofs[point, k] = first + k
            values[point, k, 0] = is_body * plane[1, k]
            values[point, k, 1] = is_body * plane[2, k]
            values[point, k, 2] = is_body * (x * plane[1, k] + y * plane[2, k])
