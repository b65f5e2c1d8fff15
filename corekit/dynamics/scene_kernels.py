"""The loops over shapes and their probe points, compiled: where they are, and how far they moved."""

from __future__ import annotations

import math

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray

__all__ = ["max_closing", "max_probe_displacement", "update_shape_poses"]


@compiled
def update_shape_poses(
    frame: IntArray, offset_position: Array, offset_rotation: Array, shifted: bool, second_frame: IntArray,
    frame_position: Array, frame_rotation: Array, position: Array, rotation: Array, end: Array,
) -> None:  # fmt: skip
    """Poses of the shapes that frames carry, and the far ends of edges; obstacles, on no frame, stay."""
    for s in range(len(frame)):
        f = frame[s]
        if f < 0:
            continue
        for i in range(3):
            position[s, i] = frame_position[f, i]
            for j in range(3):
                rotation[s, i, j] = frame_rotation[f, i, j]
        if shifted:
            for i in range(3):
                for j in range(3):
                    position[s, i] += frame_rotation[f, i, j] * offset_position[s, j]
                    turned = 0.0
                    for k in range(3):
                        turned += frame_rotation[f, i, k] * offset_rotation[s, k, j]
                    rotation[s, i, j] = turned
        for i in range(3):
            end[s, i] = frame_position[second_frame[s], i] if second_frame[s] >= 0 else position[s, i]


@compiled
def max_probe_displacement(
    frame_position: Array, frame_rotation: Array, radius: Array, before: Array, now: Array
) -> float:
    """Write the probe points (4·frames, 3) and return the largest distance of one from `before` [m].

    Probes move at least about as far as any point of a shape: each frame's origin, and three points
    around it at the radius of its shapes.
    """
    worst = 0.0
    for f in range(len(frame_position)):
        for p in range(4):
            square = 0.0
            for i in range(3):
                value = frame_position[f, i]
                if p:
                    value += radius[f] * frame_rotation[f, i, p - 1]
                now[4 * f + p, i] = value
                moved = value - before[4 * f + p, i]
                square += moved * moved
            if square > worst:
                worst = square
    return math.sqrt(worst)


@compiled
def max_closing(before: Array, now: Array, normal: Array, all_around: bool) -> float:
    """How far two shapes came closer, or parted, at most, while probe points moved from `before` to `now` [m].

    What all points do alike changes no gap between bodies; what slides along a plane changes no gap to it:

        max(2·max_i |d_i − d̄|, max_{i,k} |n_k·d_i|, max_i |d_i| where other surfaces stand around)

    Args:
        before, now: shape (p, 3) [m].
        normal: n_k of fixed planes, shape (k, 3).
        all_around: whether there are fixed surfaces that are no planes.
    """
    count = len(now)
    mean = np.zeros(3)
    for p in range(count):
        for i in range(3):
            mean[i] += (now[p, i] - before[p, i]) / count
    own, apart, along = 0.0, 0.0, 0.0
    for p in range(count):
        square, other = 0.0, 0.0
        for i in range(3):
            moved = now[p, i] - before[p, i]
            square += moved * moved
            other += (moved - mean[i]) ** 2
        own, apart = max(own, square), max(apart, other)
        for k in range(len(normal)):
            onto = 0.0
            for i in range(3):
                onto += normal[k, i] * (now[p, i] - before[p, i])
            along = max(along, abs(onto))
    closing = max(2.0 * math.sqrt(apart), along)
    return max(closing, math.sqrt(own)) if all_around else closing
