"""Cosines and sines of the bodies' angles, kept as long as an angle stays what it is.

A step asks for places, rows and carriers at one state, and sines are most of what those cost. What is kept is found
by the bits of the angle, so that no answer depends on what was asked before.
"""

from __future__ import annotations

import math

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array

__all__ = ["take_turns", "turns_of"]


def turns_of(bodies: int) -> Array:
    """Angle, cosine and sine of every body, shape (n, 3), of none yet."""
    return np.full((bodies, 3), np.nan)


@compiled
def take_turns(q: Array, turns: Array) -> None:
    """Have the cosines and sines of the angles in q at hand."""
    angles, known = q.view(np.int64), turns.view(np.int64)
    for i in range(len(turns)):
        if known[i, 0] != angles[3 * i + 2]:
            angle = q[3 * i + 2]
            turns[i, 0], turns[i, 1], turns[i, 2] = angle, math.cos(angle), math.sin(angle)
