"""Chambers and cables as lines to draw: p(s) + R(s)·ρ·(cos φ, sin φ, 0) along the backbone."""

from __future__ import annotations

import math

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit_pcc.config import PCCConfig

__all__ = ["actuator_lines"]


def actuator_lines(
    config: PCCConfig, section: IntArray, points: Array, rotations: Array
) -> tuple[tuple[str, Array], ...]:
    """Return name and points [m] of every chamber, `chamber-SECTION-NUMBER`, and of every cable.

    Args:
        section: of each place of the backbone, (n,). points, rotations: there, (n, 3) [m] and (n, 3, 3).
    """

    def beside(own: IntArray, distance: float, angle: float) -> Array:
        offset = distance * np.array([math.cos(angle), math.sin(angle), 0.0])
        return points[own] + rotations[own] @ offset

    lines: list[tuple[str, Array]] = []
    counts, distances, angles = map(config.spread, ("chambers", "chamber_radius", "chamber_angle"))
    for i, (count, distance, angle) in enumerate(zip(counts, distances, angles, strict=True)):
        first, last = np.searchsorted(section, [i, i + 1])
        own = np.arange(max(first - 1, 0), last)  # from where the section before ends
        lines += [
            (f"chamber-{i + 1}-{k + 1}", beside(own, distance, angle + 2.0 * math.pi * k / count))
            for k in range(int(count))
        ]
    for cable in config.cables:
        own = np.flatnonzero(section < (cable.sections or config.sections))
        lines.append((cable.name, beside(own, cable.radius, cable.angle)))
    return tuple(lines)
