"""A capsule or the side of a cylinder that lies on a face of a box: both ends of its overlap with the face.

The gap of an end over the face is measured along the face's normal to its plane. Where the line leaves the
face over an edge e_i, the gap of line and edge is measured along their common perpendicular e_i × u. Both
rates are exact.
"""

from __future__ import annotations

from typing import Final

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.geometry.vectors import Vector, add_scaled, cross, dot, norm, scaled, sign_of, unit_axis
from corekit_sdf.closest import add_closest_row, add_distinct_row
from corekit_sdf.features import EDGE, edge_number, end_feature
from corekit_sdf.separation import Separation
from corekit_sdf.witness import ALIGNED

__all__ = ["line_on_face"]

_SAME: Final = 1e-6
"""Of half the line: distance of the closest point from an end up to which it is the end."""


@compiled
def _over_face(base: Vector, u: Vector, a: Vector, h: float, k: int, end: float) -> tuple[float, int]:
    """Return t [m] at which base + t·u leaves the face towards end = ±1, and the axis of that edge (k: none)."""
    t, limit = end * h, k
    for step in range(1, 3):
        j = (k + step) % 3
        if abs(u[j]) > ALIGNED:
            bound = (sign_of(end * u[j]) * a[j] - base[j]) / u[j]
            if end * bound < end * t:
                t, limit = bound, j
    return t, limit


@compiled
def _edge_row(
    k: int, j: int, sign: float, sign_j: float, p: Vector, u: Vector, a: Vector, h: float, R: float
) -> tuple[int, float, Vector, Vector]:
    """Return feature, gap, normal and middle of the line against the edge where faces sign·e_k and sign_j·e_j meet."""
    i = 3 - k - j
    edge = add_scaled(unit_axis(k, sign * a[k]), sign_j * a[j], unit_axis(j, 1.0))
    normal = cross(unit_axis(i, 1.0), u)
    normal = scaled(normal, sign_of(sign * normal[k]) / max(norm(normal), ALIGNED))
    gap = dot(normal, add_scaled(p, -1.0, edge)) - R
    # p + t·u − R·n and the edge differ by gap·n in the two axes perpendicular to the edge
    meet = add_scaled(add_scaled(edge, gap + R, normal), -1.0, p)
    t = (u[j] * meet[j] + u[k] * meet[k]) / max(u[j] * u[j] + u[k] * u[k], ALIGNED * ALIGNED)
    on_line = add_scaled(add_scaled(p, min(max(t, -h), h), u), -R, normal)
    return EDGE + edge_number(i, edge), gap, normal, add_scaled(on_line, -0.5 * gap, normal)


@compiled
def line_on_face(
    separation: Separation, k: int, flat_cosine: float, p: Vector, u: Vector, a: Vector, h: float, R: float,
    rows: Array, feature_ids: IntArray,
) -> int:  # fmt: skip
    """Add both ends of the overlap with one of the faces ±e_k, R = 0 for a segment; return the number of points.

    Args:
        flat_cosine: cosine of the largest angle between e_k and a normal against an edge that counts.
    """
    phi, n = separation[0], separation[1]
    sign = sign_of(n[k])
    up = add_scaled(unit_axis(k, sign), -sign * u[k], u)
    base = add_scaled(p, -R / norm(up), up)
    first, _ = _over_face(base, u, a, h, k, -1.0)
    last, _ = _over_face(base, u, a, h, k, 1.0)
    inside = True
    for step in range(1, 3):
        j = (k + step) % 3
        if abs(u[j]) <= ALIGNED and abs(base[j]) > a[j]:
            inside = False
    if first > last or not inside:
        return 0
    count = 0
    if abs(u[k]) > ALIGNED:
        count = add_closest_row(separation, p, u, a, h, R, rows, feature_ids)
    near = 0.05 * min(h, a[(k + 1) % 3], a[(k + 2) % 3])
    # ends of the line first: beside an edge they stay, since another box may go on there
    for choice in range(4):
        end = 1.0 if choice & 1 else -1.0
        t, limit = _over_face(base, u, a, h, k, end)
        if (limit == k) != (choice < 2):
            continue
        if limit == k:
            x = add_scaled(base, t, u)
            gap, normal = sign * x[k] - a[k], unit_axis(k, sign)
            feature, x = end_feature(end), add_scaled(x, -0.5 * gap, normal)
        else:
            feature, gap, normal, x = _edge_row(k, limit, sign, sign_of(end * u[limit]), p, u, a, h, R)
            if sign * normal[k] < flat_cosine:
                continue
        apart = _SAME * h if limit == k else near
        count = add_distinct_row(rows, feature_ids, count, apart, phi, feature, gap, normal, x)
    return count
