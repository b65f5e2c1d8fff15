"""Directions of the friction pyramid."""

from __future__ import annotations

import numpy as np

from corekit.data.arrays import Array

__all__ = ["pyramid_directions"]


def pyramid_directions(width: int, count: int) -> Array:
    """Unit columns in the order of their angle, shape (width − 1, r); in a plane r = 2, forth and back."""
    if width == 2:
        return np.array([[1.0, -1.0]])
    angle = 2.0 * np.pi * np.arange(count) / count
    directions = np.vstack([np.cos(angle), np.sin(angle)])
    # opposite directions exactly opposite
    half = count // 2
    directions[:, half:] = -directions[:, :half]
    return np.ascontiguousarray(directions)
