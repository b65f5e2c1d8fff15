"""A capsule or the side of a cylinder lying on a face of a box: both ends of the part over the face.

An end that is over the face is measured along the face's normal to its plane. Where the line leaves the face
over an edge e_i, line and edge are measured along their common perpendicular e_i × u. Both rates are exact.
"""

from __future__ import annotations

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.geometry.vectors import Vector, along, cross, dot, norm, scaled, side, unit_axis
from corekit_sdf.closest import put_closest, put_other
from corekit_sdf.features import EDGE, edge_number, end_feature
from corekit_sdf.separation import Separation
from corekit_sdf.witness import ALIGNED

__all__ = ["line_on_face"]


@compiled
def _over_face(base: Vector, u: Vector, a: Vector, h: float, k: int, end: float) -> tuple[float, int]:
    """How far base + t·u stays over the face towards end = ±1: t [m], and the axis that ends it (k: none)."""
    t, limit = end * h, k
    for step in range(1, 3):
        j = (k + step) % 3
        if abs(u[j]) > ALIGNED:
            bound = (side(end * u[j]) * a[j] - base[j]) / u[j]
            if end * bound < end * t:
                t, limit = bound, j
    return t, limit


@compiled
def _edge_row(
    k: int, j: int, sign: float, sign_j: float, p: Vector, u: Vector, a: Vector, h: float, R: float
) -> tuple[int, float, Vector, Vector]:
    """Feature, gap, normal and middle of the line against the edge where faces sign·e_k and sign_j·e_j meet."""
    i = 3 - k - j
    edge = along(unit_axis(k, sign * a[k]), sign_j * a[j], unit_axis(j, 1.0))
    normal = cross(unit_axis(i, 1.0), u)
    normal = scaled(normal, side(sign * normal[k]) / max(norm(normal), ALIGNED))
    gap = dot(normal, along(p, -1.0, edge)) - R
    # p + t·u − R·n and the edge are gap·n apart in the two axes across the edge
    meet = along(along(edge, gap + R, normal), -1.0, p)
    t = (u[j] * meet[j] + u[k] * meet[k]) / max(u[j] * u[j] + u[k] * u[k], ALIGNED * ALIGNED)
    on_line = along(along(p, min(max(t, -h), h), u), -R, normal)
    return EDGE + edge_number(i, edge), gap, normal, along(on_line, -0.5 * gap, normal)


@compiled
def line_on_face(
    found: Separation, k: int, flat_cosine: float, p: Vector, u: Vector, a: Vector, h: float, R: float,
    rows: Array, names: IntArray,
) -> int:  # fmt: skip
    """Both ends of the part over one of the faces ±e_k, R = 0 for a segment; returns the number of points.

    Args:
        flat_cosine: cosine of the angle to e_k up to which a normal against an edge is taken.
    """
    phi, n = found[0], found[1]
    sign = side(n[k])
    up = along(unit_axis(k, sign), -sign * u[k], u)
    base = along(p, -R / norm(up), up)
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
        count = put_closest(found, p, u, a, h, R, rows, names)
    closest = count
    reach = 0.05 * min(h, a[(k + 1) % 3], a[(k + 2) % 3])
    for upper in range(2):
        end = 1.0 if upper else -1.0
        t, limit = _over_face(base, u, a, h, k, end)
        if limit == k:
            x = along(base, t, u)
            gap, normal = sign * x[k] - a[k], unit_axis(k, sign)
            name, x = end_feature(end), along(x, -0.5 * gap, normal)
        else:
            name, gap, normal, x = _edge_row(k, limit, sign, side(end * u[limit]), p, u, a, h, R)
            if sign * normal[k] < flat_cosine:
                continue
        shift = max(gap, phi) - gap
        x = along(x, -0.5 * shift, normal)
        count = put_other(rows, names, closest, count, reach, name, gap + shift, normal, x)
    return count
