"""On which branch of its gap term every contact of a recorded step is, and the slips of its contacts; compiled."""

from __future__ import annotations

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray

__all__ = ["APART", "CAPPED", "INSIDE", "add_slips", "write_branches"]

APART, INSIDE, CAPPED = range(3)
"""Branches of (1) of `frozen_contacts`, in its order."""


@compiled
def add_slips(rows: Array, velocity: Array, largest: Array, slip: Array) -> float:
    """Add J·v to the bias in `slip`, (m, width); return the largest of biases and of speeds by velocities' sizes."""
    speed = np.finfo(np.float64).tiny
    for c in range(rows.shape[0]):
        for a in range(rows.shape[1]):
            moved, size = 0.0, 0.0
            for j in range(rows.shape[2]):
                moved += rows[c, a, j] * velocity[j]
                size += abs(rows[c, a, j]) * largest[j]
            speed = max(speed, size, abs(slip[c, a]))
            slip[c, a] += moved
    return speed


@compiled
def write_branches(
    place: IntArray, gap: Array, push: float, deepest: float, impulse: Array, bias: Array, found: Array, least: float,
    out: IntArray,
) -> bool:  # fmt: skip
    """Write the branch of every contact of a record; return whether the push-out of a closed one was limited."""
    is_limited = False
    for c in range(len(place)):
        first = gap[place[c]] if place[c] >= 0 else 0.0
        out[c] = APART if first > 0.0 else (INSIDE if push * first > -deepest else CAPPED)
        if place[c] >= 0 and impulse[c, 0] > 0.0:
            own, here = bias[c, 0], found[place[c], 0]
            is_limited = is_limited or abs(own - here) > 1e-9 * (abs(own) + abs(here) + least)
    return is_limited
