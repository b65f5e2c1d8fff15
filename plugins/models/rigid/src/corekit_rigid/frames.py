"""Motion along a velocity, the pose of the body's frame, and the rows of its material points.

The frame has the shape's origin and axes. A point fixed in it at `local` is, with reference point c and x_c its place,

    x = x_c + R·d,   d = local − c,     ẋ = ẋ_c + R·(ω × d)                                    (1)
"""

from __future__ import annotations

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.geometry.vectors import cross
from corekit_rigid.rotation import into_world, rotation_of, turned
from corekit_rigid.solid import Solid

__all__ = ["compute_point_jacobians", "frame_pose", "integrate_pose"]


@compiled
def integrate_pose(solid: Solid, q: Array, velocity: Array, step: float, out: Array) -> None:
    """Write the coordinates after a time with constant velocity and angular velocity; `out` may be `q`."""
    at = 3 if solid.free else 0
    for i in range(at):
        out[i] = q[i] + step * velocity[i]
    angle = (step * velocity[at], step * velocity[at + 1], step * velocity[at + 2])
    turned(q, at, angle, out)


@compiled
def frame_pose(solid: Solid, q: Array, position: Array, rotation: Array) -> None:
    """Write the frame's origin [m], shape (3,), and rotation, shape (3, 3)."""
    at = 3 if solid.free else 0
    R = rotation_of(q, at)
    c = into_world(R, (solid.reference[0], solid.reference[1], solid.reference[2]))
    for i in range(3):
        position[i] = (q[i] if solid.free else solid.anchor[i]) - c[i]
        for j in range(3):
            rotation[i, j] = R[i][j]


@compiled
def compute_point_jacobians(solid: Solid, q: Array, local: Array, dofs: IntArray, values: Array) -> None:
    """Write the rows (1) of points `local` (c, 3) [m]: dofs (c, k) and values (c, 3, k), k = 6 or 3."""
    at = 3 if solid.free else 0
    R = rotation_of(q, at)
    for point in range(len(local)):
        d = (
            local[point, 0] - solid.reference[0],
            local[point, 1] - solid.reference[1],
            local[point, 2] - solid.reference[2],
        )
        for j in range(at + 3):
            dofs[point, j] = j
        for j in range(at):
            for i in range(3):
                values[point, i, j] = 1.0 if i == j else 0.0
        for j in range(3):
            axis = (1.0 if j == 0 else 0.0, 1.0 if j == 1 else 0.0, 1.0 if j == 2 else 0.0)
            column = into_world(R, cross(axis, d))
            for i in range(3):
                values[point, i, at + j] = column[i]
