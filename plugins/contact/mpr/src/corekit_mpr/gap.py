"""The gap of two cores, apart or overlapping: portal, then distance or depth."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.geometry.vectors import Vector, across, along, cross, norm, scaled, unit
from corekit_mpr.distance import distance
from corekit_mpr.expansion import MAX_CORNERS, MAX_FACES, depth
from corekit_mpr.polish import MAX_EDGES, polish
from corekit_mpr.portal import find_portal
from corekit_mpr.support import POINT, SEGMENT, Pair

__all__ = ["Work", "core_gap", "work"]


class Work(NamedTuple):
    """Buffers of the search, reused for every pair."""

    simplex: Array
    edges: Array
    corners: Array
    faces: IntArray
    planes: Array
    rim: IntArray


def work() -> Work:
    """Buffers for `core_gap`."""
    return Work(
        np.zeros((8, 9)),
        np.zeros((MAX_EDGES, 3)),
        np.zeros((MAX_CORNERS, 6)),
        np.zeros((MAX_FACES, 3), dtype=np.int64),
        np.zeros((MAX_FACES, 4)),
        np.zeros((3 * MAX_FACES, 2), dtype=np.int64),
    )


@compiled
def _thin(pair: Pair) -> bool:
    """Whether D is flat: points and segments."""
    return pair[0][0] in (POINT, SEGMENT) and pair[1][0] in (POINT, SEGMENT)


@compiled
def _crossing(pair: Pair) -> Vector:
    """A direction in which touching points and segments separate: across both axes."""
    both = cross(pair[5], (0.0, 0.0, 1.0))
    if pair[0][0] == POINT or pair[1][0] == POINT or not norm(both) > 1e-9:
        return across(pair[5]) if pair[0][0] == SEGMENT else across((0.0, 0.0, 1.0))
    return unit(both)


@compiled
def core_gap(
    pair: Pair, vertices: Array, size: float, tolerance: float, work: Work
) -> tuple[float, Vector, float]:
    """Gap of the cores [m], its unit normal from B into A, and an upper bound of the gap [m].

    Args:
        size: extent of the pair [m].
        tolerance: how near the bounds come where overlapping cores are round [m].
        work: buffers.
    """
    inside = pair[2]
    if not norm(inside) > 1e-6 * size:
        inside = along(inside, 1e-5 * size, (0.6, -0.48, 0.64))
    thin = _thin(pair)
    overlap, n = False, scaled(unit(inside), -1.0)
    if not thin:
        overlap, n = find_portal(pair, vertices, inside, size, work.simplex)
    if not overlap:
        best, found, upper, corners = distance(
            pair, vertices, scaled(n, -1.0), size, work.simplex, work.edges
        )
        if thin and upper <= 1e-12 * size:
            return 0.0, _crossing(pair), 0.0
        if corners < 4:
            if upper <= 1e-9 * size:  # touching: the simplex has lost the direction, the portal has one
                f, near = polish(
                    pair, vertices, scaled(n, -1.0), work.simplex, corners, 1e-14 * size, work.edges
                )
                if f > best:
                    best, found = f, near
            return best, found, upper
        n = scaled(found, -1.0)
    return depth(
        pair, vertices, n, size, tolerance, work.simplex, work.edges, work.corners, work.faces,
        work.planes, work.rim,
    )  # fmt: skip
