"""One shape of a pair in the frame of the other."""

from __future__ import annotations

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit.geometry.vectors import Vector, into_frame

__all__ = ["relative_axes", "relative_position"]


@compiled
def relative_position(position: Array, turn: Array, guest: int, home: int) -> Vector:
    """Origin of the shape `guest` in the frame of the shape `home` [m], whose rotation is `turn`."""
    return into_frame(
        turn,
        (
            position[guest, 0] - position[home, 0],
            position[guest, 1] - position[home, 1],
            position[guest, 2] - position[home, 2],
        ),
    )


@compiled
def relative_axes(turn: Array, other: Array) -> tuple[Vector, Vector, Vector]:
    """Axes of a frame with rotation `other` in one with rotation `turn`."""
    return (
        into_frame(turn, (other[0, 0], other[1, 0], other[2, 0])),
        into_frame(turn, (other[0, 1], other[1, 1], other[2, 1])),
        into_frame(turn, (other[0, 2], other[1, 2], other[2, 2])),
    )
