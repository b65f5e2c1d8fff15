"""On which branch of its gap term every contact of a recorded step is, and the slips of its contacts; compiled."""

from __future__ import annotations

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray

__all__ = ["APART", "CAPPED", "INSIDE", "add_slips", "write_bias", "write_branches"]

APART, INSIDE, CAPPED = range(3)
"""Branches of (1) of `frozen_contacts`, in its order."""


@compiled
def add_slips(rows: Array, velocity: Array, before: Array, alone: Array, slip: Array) -> float:
    """Add J·v to the bias in `slip`, (m, width); return the largest of biases and of speeds by velocities' sizes.

    Sizes are those of v, of v before the step and of v that each coordinate alone would have, (nv,).
    """
    speed = np.finfo(np.float64).tiny
    for c in range(rows.shape[0]):
        for a in range(rows.shape[1]):
            moved, size = 0.0, 0.0
            for j in range(rows.shape[2]):
                moved += rows[c, a, j] * velocity[j]
                size += abs(rows[c, a, j]) * max(abs(velocity[j]), abs(before[j]), abs(alone[j]))
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


@compiled
def write_bias(
    place: IntArray, branch: IntArray, gap: Array, step: float, approach: float, push: float, deepest: float,
    bias: Array, out: Array,
) -> None:  # fmt: skip
    """Write the bias of closed contacts with s(φ₀) on their branches in place of that of their gaps.

    Args:
        place: of the contacts among those found, shape (k,). branch: of them, shape (k,). gap: φ₀ of those found.
        approach, push, deepest: of (1) of `frozen_contacts`. bias: of those found, shape (m, width).
        out: shape (k, width).
    """
    for i in range(len(place)):
        c = place[i]
        for a in range(bias.shape[1]):
            out[i, a] = bias[c, a]
        slope = approach if branch[i] == APART else (push if branch[i] == INSIDE else 0.0)
        term = slope * gap[c] - (deepest if branch[i] == CAPPED else 0.0)
        found = approach * gap[c] if gap[c] > 0.0 else max(push * gap[c], -deepest)
        out[i, 0] += (term - found) / step
