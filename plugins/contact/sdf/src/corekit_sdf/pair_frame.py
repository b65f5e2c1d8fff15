"""Pose of one shape of a pair in the frame of the other."""

from __future__ import annotations

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit.geometry.vectors import Vector, to_local

__all__ = ["relative_axes", "relative_position"]


@compiled
def relative_position(position: Array, turn: Array, shape: int, reference: int) -> Vector:
    """Return the origin [m] of `shape` in the frame of `reference`, whose rotation is `turn`."""
    offset = (
        position[shape, 0] - position[reference, 0],
        position[shape, 1] - position[reference, 1],
        position[shape, 2] - position[reference, 2],
    )
    return to_local(turn, offset)


@compiled
def relative_axes(turn: Array, other: Array) -> tuple[Vector, Vector, Vector]:
    """Return the axes of a frame with rotation `other` in one with rotation `turn`."""
    return (
        to_local(turn, (other[0, 0], other[1, 0], other[2, 0])),
        to_local(turn, (other[0, 1], other[1, 1], other[2, 1])),
        to_local(turn, (other[0, 2], other[1, 2], other[2, 2])),
    )
