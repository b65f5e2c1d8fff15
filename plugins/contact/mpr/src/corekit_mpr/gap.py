"""Gap of two cores, apart or overlapping: portal, then distance or depth."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.geometry.vectors import Vector, add_scaled, cross, norm, perpendicular, scaled, unit
from corekit_mpr.distance import distance
from corekit_mpr.expansion import MAX_CORNERS, MAX_FACES, depth
from corekit_mpr.portal import find_portal
from corekit_mpr.refine_direction import MAX_EDGES, refine_direction, separation_along
from corekit_mpr.support import POINT, SEGMENT, Pair

__all__ = ["SearchWorkspace", "core_gap", "new_workspace"]


class SearchWorkspace(NamedTuple):
    """Workspaces of the search, shared by all pairs."""

    simplex: Array
    edges: Array
    corners: Array
    faces: IntArray
    planes: Array
    rim: IntArray


def new_workspace() -> SearchWorkspace:
    """Allocate the workspaces of `core_gap`."""
    return SearchWorkspace(
        np.zeros((8, 9)), np.zeros((MAX_EDGES, 3)), np.zeros((MAX_CORNERS, 6)),
        np.zeros((MAX_FACES, 3), dtype=np.int64), np.zeros((MAX_FACES, 4)),
        np.zeros((3 * MAX_FACES, 2), dtype=np.int64),
    )  # fmt: skip


@compiled
def _is_flat(pair: Pair) -> bool:
    """Whether D is flat: both cores are points or segments."""
    return pair[0][0] in (POINT, SEGMENT) and pair[1][0] in (POINT, SEGMENT)


@compiled
def _separating_direction(pair: Pair) -> Vector:
    """Return a direction, perpendicular to both axes, that separates touching points and segments."""
    both = cross(pair[5], (0.0, 0.0, 1.0))
    if pair[0][0] == POINT or pair[1][0] == POINT or not norm(both) > 1e-9:
        return perpendicular(pair[5]) if pair[0][0] == SEGMENT else perpendicular((0.0, 0.0, 1.0))
    return unit(both)


@compiled
def _gap_from_apart(
    pair: Pair, vertices: Array, start: Vector, size: float, workspace: SearchWorkspace
) -> tuple[float, Vector]:
    """Return the gap of cores that touch, and its normal, from those of cores a little apart.

    Where the origin is on the surface of D, no support point tells in which direction it leaves. Moved away from a
    point inside of D, the centre of A, it is outside, near the same part of the surface.
    """
    centre = add_scaled(pair[2], 1e-4 * size, unit(pair[2]))
    apart: Pair = (pair[0], pair[1], centre, pair[3], pair[4], pair[5])
    _, n, _, corners = distance(apart, vertices, start, size, workspace.simplex, workspace.edges)
    return refine_direction(
        pair, vertices, n, workspace.simplex, min(corners, 3), 1e-14 * size, workspace.edges
    )


@compiled
def core_gap(
    pair: Pair, vertices: Array, size: float, ball: float, tolerance: float, workspace: SearchWorkspace
) -> tuple[float, Vector, float]:
    """Return the gap of the cores [m], its unit normal from B into A, and an upper bound of the gap [m].

    Args:
        size: extent of the pair [m].
        ball: radius of a ball about its centre that fits into D [m].
        tolerance: largest distance of the bounds where overlapping cores are round [m].
    """
    inside = pair[2]
    aside = min(1e-5 * size, 0.1 * ball)  # the portal needs a way out, from a point that is still inside
    if not norm(inside) > 0.1 * aside:
        inside = add_scaled(inside, aside, (0.6, -0.48, 0.64))
    is_flat = _is_flat(pair)
    is_overlap, n = False, scaled(unit(inside), -1.0)
    if not is_flat:
        is_overlap, n = find_portal(pair, vertices, inside, size, workspace.simplex)
    if not is_overlap:
        best, best_n, upper, corners = distance(
            pair, vertices, scaled(n, -1.0), size, workspace.simplex, workspace.edges
        )
        if is_flat and upper <= 1e-12 * size:
            n = _separating_direction(pair)
            f, opposite = (
                separation_along(pair, vertices, n),
                separation_along(pair, vertices, scaled(n, -1.0)),
            )
            return (f, n, upper) if f >= opposite else (opposite, scaled(n, -1.0), upper)
        if corners < 4:
            touching = upper <= 1e-9 * size  # the simplex defines no direction, but the portal does
            if touching or upper - best > 1e-12 * size:
                start = scaled(n, -1.0) if touching else best_n
                f, refined = refine_direction(
                    pair, vertices, start, workspace.simplex, corners, 1e-14 * size, workspace.edges
                )
                if f > best:
                    best, best_n = f, refined
                if upper - best > 1e-9 * size and norm(pair[2]) > aside:
                    f, refined = _gap_from_apart(pair, vertices, best_n, size, workspace)
                    if f > best:
                        best, best_n = f, refined
            return best, best_n, upper
        n = scaled(best_n, -1.0)
    return depth(
        pair, vertices, n, size, tolerance, workspace.simplex, workspace.edges, workspace.corners,
        workspace.faces, workspace.planes, workspace.rim,
    )  # fmt: skip
