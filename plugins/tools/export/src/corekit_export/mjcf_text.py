"""Numbers and poses as MJCF writes them."""

from __future__ import annotations

from typing import Any

from corekit.data.arrays import Array
from corekit.geometry.frames import quat_wxyz_from_rotation

__all__ = ["numbers", "pose"]


def numbers(values: Any) -> str:
    """Return numbers with spaces between them."""
    return " ".join(f"{float(x):.9g}" for x in values)


def pose(position: Array, rotation: Array) -> str:
    """Return the attributes of a place and of axes."""
    return f'pos="{numbers(position)}" quat="{numbers(quat_wxyz_from_rotation(rotation))}"'
