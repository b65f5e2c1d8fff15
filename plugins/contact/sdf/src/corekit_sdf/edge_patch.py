"""A capsule or the side of a cylinder that lies along an edge of a box: both ends of their overlap.

Of two lines that are parallel within the flat angle the overlap ends where either does. The gap of an end of the line
is measured along the shortest way to the edge, that of an end of the edge, a corner of the box, along the shortest way
to the line, less the radius. The foot of either slides along the other line, across which the way is perpendicular:
both rates are exact. An end on the other line has no shortest way to it: it goes along the pair's normal.
"""

from __future__ import annotations

from typing import Final

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.geometry.vectors import Vector, add_scaled, dot, norm, scaled, sign_of, unit_axis
from corekit_sdf.closest import add_closest_row, add_distinct_row
from corekit_sdf.features import CORNER, corner_number, end_feature
from corekit_sdf.separation import Separation
from corekit_sdf.witness import ALIGNED

__all__ = ["line_on_edge"]

_REACH: Final = 1.0 + ALIGNED
"""How far a line reaches, relative to its ends: of two that end together rounding denies neither."""


@compiled
def _edge_towards(i: int, n: Vector, p: Vector, a: Vector) -> tuple[bool, Vector]:
    """Return whether an edge along e_i is furthest towards n, and its middle.

    Where n is a face's normal it is one of that face, on the side of p, unless p is over the face between its edges.
    """
    x = (0.0, 0.0, 0.0)
    is_edge = True
    for step in range(1, 3):
        j = (i + step) % 3
        side = n[j]
        if abs(n[j]) <= ALIGNED:
            side = p[j]
            is_edge = is_edge and abs(p[j]) > (1.0 - ALIGNED) * a[j]
        x = add_scaled(x, sign_of(side) * a[j], unit_axis(j, 1.0))
    return is_edge, x


@compiled
def line_on_edge(
    separation: Separation, i: int, p: Vector, u: Vector, a: Vector, h: float, R: float, rows: Array,
    feature_ids: IntArray,
) -> int:  # fmt: skip
    """Add both ends of the overlap with an edge along e_i, R = 0 for a segment; return the number of points."""
    phi, n = separation[0], separation[1]
    is_edge, middle = _edge_towards(i, n, p, a)
    axis = unit_axis(i, 1.0)
    count = 0
    if not is_edge:
        return count
    if norm((u[(i + 1) % 3], u[(i + 2) % 3], 0.0)) > ALIGNED:
        count = add_closest_row(separation, p, u, a, h, R, rows, feature_ids)
    for choice in range(4):
        end = -1.0 if choice & 1 else 1.0
        if choice < 2:
            x = add_scaled(p, end * h, u)
            d = add_scaled(add_scaled(x, -1.0, middle), -x[i], axis)
            feature, beside = end_feature(end), abs(x[i]) <= _REACH * a[i]
        else:
            corner = add_scaled(middle, end * a[i], axis)
            d = add_scaled(p, -1.0, corner)
            t = -dot(d, u)
            d = add_scaled(d, t, u)
            x = add_scaled(corner, 1.0, d)
            feature, beside = CORNER + corner_number(corner), abs(t) <= _REACH * h
        if not beside:
            continue
        along = axis if choice < 2 else u
        m = add_scaled(n, -dot(n, along), along)
        if norm(d) > ALIGNED * h:
            m = scaled(d, sign_of(dot(d, n)))
        m = scaled(m, 1.0 / norm(m))
        gap = dot(d, m) - R
        x = add_scaled(x, 0.5 * gap - dot(d, m), m)
        count = add_distinct_row(rows, feature_ids, count, 0.05 * min(h, a[i]), phi, feature, gap, m, x)
    return count
