"""Cache of the cosines and sines of the bodies' angles.

A step computes poses and constraints at one state, and most of their cost is the sines. The key of an entry
is the bit pattern of the angle, so no result depends on earlier calls.
"""

from __future__ import annotations

import math

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array

__all__ = ["new_angle_cache", "update_angle_cache"]


def new_angle_cache(bodies: int) -> Array:
    """Return an empty cache: angle, cosine and sine of every body, shape (n, 3)."""
    return np.full((bodies, 3), np.nan)


@compiled
def update_angle_cache(q: Array, cache: Array) -> None:
    """Update the cosines and sines to the angles in q."""
    angles, known = q.view(np.int64), cache.view(np.int64)
    for i in range(len(cache)):
        if known[i, 0] != angles[3 * i + 2]:
            angle = q[3 * i + 2]
            cache[i, 0], cache[i, 1], cache[i, 2] = angle, math.cos(angle), math.sin(angle)
