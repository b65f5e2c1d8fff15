"""Vectors of generalized coordinates or velocities."""

from __future__ import annotations

import math

from corekit.compiled import compiled
from corekit.data.arrays import Array

__all__ = ["max_abs"]


@compiled
def max_abs(vector: Array) -> float:
    """max|x_i|, 0 of an empty vector; nan where an entry is nan."""
    found = 0.0
    for value in vector:
        size = abs(value)
        if not size <= found:
            if math.isnan(size):
                return size
            found = size
    return found
