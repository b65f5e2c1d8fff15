"""A cap of a cylinder that lies on a face or an edge of a box.

The rim and the face's edges bound the overlap of cap and face. Reported are the closest pair and, for each
material rim direction (`rims`), the extreme point of that region. This is the rim point itself if it is over
the face. Otherwise it is a corner of the face under the cap, or a point where an edge of the face passes the
rim. On an edge alone the points are both ends of its part under the cap.

The gaps of rim points are measured along the face's normal to its plane, those of corners and edges along the
axis to the cap's plane. The gap rate of a material point is exact. Where an edge passes the rim the point
slides on both, and the error of the rate is tilt × sliding speed.
"""

from __future__ import annotations

import math

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.geometry.vectors import Vector, add_scaled, dot, scaled, sign_of, unit_axis
from corekit_sdf.closest import add_closest_row, add_distinct_row
from corekit_sdf.features import CORNER, CROSSING, corner_number, edge_number
from corekit_sdf.rims import nearest_rim_point, rim_direction, rim_feature
from corekit_sdf.rows import add_row, row_point
from corekit_sdf.separation import CAP, Separation
from corekit_sdf.witness import ALIGNED

__all__ = ["cap_on_edge", "cap_on_face"]


@compiled
def _edge_under_cap(
    axis: int, corner: Vector, p: Vector, u: Vector, a: Vector, R: float
) -> tuple[float, float]:
    """Range of yₐₓᵢₛ in which the edge through `corner` is within R of the cylinder's axis; empty if low > high.

    |(d + y·e)⊥|² = R²   with d the edge's middle from p and ( )⊥ perpendicular to u.
    """
    d = add_scaled(add_scaled(corner, -corner[axis], unit_axis(axis, 1.0)), -1.0, p)
    d = add_scaled(d, -dot(d, u), u)
    square = 1.0 - u[axis] * u[axis]
    root = d[axis] * d[axis] - square * (dot(d, d) - R * R)
    if not (root > 0.0 and square > 0.0):
        return 1.0, -1.0
    root = math.sqrt(root)
    return max((-d[axis] - root) / square, -a[axis]), min((-d[axis] + root) / square, a[axis])


@compiled
def _edge_end(axis: int, corner: Vector, y: float, upper: int, end: float, a: Vector) -> tuple[int, Vector]:
    """Return feature and position of the lower or upper end of an edge's part under the cap at end = ±1."""
    x = add_scaled(add_scaled(corner, -corner[axis], unit_axis(axis, 1.0)), y, unit_axis(axis, 1.0))
    if abs(y) >= a[axis]:
        return CORNER + corner_number(x), x
    return CROSSING + (24 if end < 0.0 else 0) + 2 * edge_number(axis, corner) + upper, x


@compiled
def _face_extreme(
    direction: Vector, k: int, sign: float, end: float, p: Vector, u: Vector, a: Vector, R: float
) -> tuple[int, Vector]:
    """Return feature and position of the furthest corner or edge passage in a direction; feature −1 if none."""
    furthest = -math.inf
    feature, point = -1, p
    for choice in range(4):
        axis, other = ((k + 1) % 3, (k + 2) % 3) if choice & 1 else ((k + 2) % 3, (k + 1) % 3)
        corner = add_scaled(
            unit_axis(k, sign * a[k]), -a[other] if choice & 2 else a[other], unit_axis(other, 1.0)
        )
        low, high = _edge_under_cap(axis, corner, p, u, a, R)
        if low > high:
            continue
        for upper in range(2):
            name, x = _edge_end(axis, corner, high if upper else low, upper, end, a)
            if dot(direction, x) > furthest + ALIGNED * R:
                furthest, feature, point = dot(direction, x), name, x
    return feature, point


@compiled
def _add_lowest_row(
    separation: Separation, end: float, p: Vector, u: Vector, a: Vector, h: float, R: float, rows: Array,
    feature_ids: IntArray,
) -> int:  # fmt: skip
    """Add the closest pair as the first row; of an edge that lies along the cap, add one end instead of its middle.

    A slightly tilted edge has that same row.
    """
    phi, n, stratum, _ = separation
    if stratum == CAP:
        corner = (sign_of(n[0]) * a[0], sign_of(n[1]) * a[1], sign_of(n[2]) * a[2])
        for axis in range(3):
            if abs(n[axis]) <= ALIGNED:
                low, high = _edge_under_cap(axis, corner, p, u, a, R)
                if low <= high:
                    name, x = _edge_end(axis, corner, high, 1, end, a)
                    return add_row(rows, feature_ids, 0, name, phi, n, add_scaled(x, 0.5 * phi, n))
    return add_closest_row(separation, p, u, a, h, R, rows, feature_ids)


@compiled
def cap_on_face(
    separation: Separation, k: int, p: Vector, u: Vector, x_axis: Vector, y_axis: Vector, a: Vector, h: float,
    R: float, rows: Array, feature_ids: IntArray,
) -> int:  # fmt: skip
    """Add up to four points of the overlap of a cap and the faces ±e_k; return their number."""
    phi, n = separation[0], separation[1]
    sign, end = sign_of(n[k]), -sign_of(dot(u, n))
    centre = add_scaled(p, end * h, u)
    into_cylinder = scaled(u, -end)
    i, j = (k + 1) % 3, (k + 2) % 3
    count, omitted = 0, -1
    if math.hypot(u[i], u[j]) > ALIGNED:
        count = _add_lowest_row(separation, end, p, u, a, h, R, rows, feature_ids)
        omitted = nearest_rim_point(add_scaled(row_point(rows, 0), -1.0, centre), x_axis, y_axis)
    min_distance = 0.05 * min(R, a[i], a[j])
    for k_rim in range(4):
        if k_rim == omitted:
            continue
        direction = rim_direction(k_rim, x_axis, y_axis)
        x = add_scaled(centre, R, direction)
        if abs(x[i]) <= a[i] and abs(x[j]) <= a[j]:
            gap = sign * x[k] - a[k]
            normal = unit_axis(k, sign)
            name, x = rim_feature(k_rim, end), add_scaled(x, -0.5 * gap, normal)
        else:
            name, x = _face_extreme(direction, k, sign, end, p, u, a, R)
            if name < 0:
                continue
            normal = into_cylinder
            gap = dot(normal, add_scaled(centre, -1.0, x))
            x = add_scaled(x, 0.5 * gap, normal)
        count = add_distinct_row(rows, feature_ids, count, min_distance, phi, name, gap, normal, x)
    return count


@compiled
def cap_on_edge(
    separation: Separation, axis: int, p: Vector, u: Vector, a: Vector, h: float, R: float, rows: Array,
    feature_ids: IntArray,
) -> int:  # fmt: skip
    """Add both ends of the part of an edge under a cap; return the number of points."""
    phi, n = separation[0], separation[1]
    end = -sign_of(dot(u, n))
    centre, normal = add_scaled(p, end * h, u), scaled(u, -end)
    corner = (sign_of(n[0]) * a[0], sign_of(n[1]) * a[1], sign_of(n[2]) * a[2])
    low, high = _edge_under_cap(axis, corner, p, u, a, R)
    if low > high:
        return 0
    count = 0
    if abs(u[axis]) > ALIGNED:
        count = add_closest_row(separation, p, u, a, h, R, rows, feature_ids)
    for upper in range(2):
        name, x = _edge_end(axis, corner, high if upper else low, upper, end, a)
        gap = dot(normal, add_scaled(centre, -1.0, x))
        x = add_scaled(x, 0.5 * gap, normal)
        count = add_distinct_row(rows, feature_ids, count, 0.05 * min(R, a[axis]), phi, name, gap, normal, x)
    return count
