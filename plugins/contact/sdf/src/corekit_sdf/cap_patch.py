"""A cap of a cylinder lying on a face or an edge of a box.

Cap and face overlap in a region bounded by the rim and by the face's edges. Reported are the closest pair
and, for the material rim directions (`rims`), the extreme point of that region: the rim point itself where
it is over the face, else a corner of the face under the cap, or where an edge of it passes the rim. On an
edge alone: both ends of the part under the cap.

Rim points are measured along the face's normal to its plane, corners and edges along the axis to the cap's
plane. A material point keeps the gap's rate exact; where an edge passes the rim the point slides on both,
and the rate is wrong by tilt × sliding speed.
"""

from __future__ import annotations

import math

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.geometry.vectors import Vector, along, dot, scaled, side, unit_axis
from corekit_sdf.closest import put_closest, put_other
from corekit_sdf.features import CORNER, CROSSING, corner_number, edge_number
from corekit_sdf.rims import nearest_rim_point, rim_direction, rim_feature
from corekit_sdf.rows import put, row_point
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
    d = along(along(corner, -corner[axis], unit_axis(axis, 1.0)), -1.0, p)
    d = along(d, -dot(d, u), u)
    square = 1.0 - u[axis] * u[axis]
    root = d[axis] * d[axis] - square * (dot(d, d) - R * R)
    if not (root > 0.0 and square > 0.0):
        return 1.0, -1.0
    root = math.sqrt(root)
    return max((-d[axis] - root) / square, -a[axis]), min((-d[axis] + root) / square, a[axis])


@compiled
def _end_of_edge(
    axis: int, corner: Vector, y: float, upper: int, end: float, a: Vector
) -> tuple[int, Vector]:
    """Feature and place of the lower or upper end of an edge's part under the cap at end = ±1."""
    x = along(along(corner, -corner[axis], unit_axis(axis, 1.0)), y, unit_axis(axis, 1.0))
    if abs(y) >= a[axis]:
        return CORNER + corner_number(x), x
    return CROSSING + (24 if end < 0.0 else 0) + 2 * edge_number(axis, corner) + upper, x


@compiled
def _extreme_of_face(
    direction: Vector, k: int, sign: float, end: float, p: Vector, u: Vector, a: Vector, R: float
) -> tuple[int, Vector]:
    """Feature and place of what is furthest in a direction among corners and edge passages; −1 if none."""
    furthest = -math.inf
    feature, place = -1, p
    for choice in range(4):
        axis, other = ((k + 1) % 3, (k + 2) % 3) if choice & 1 else ((k + 2) % 3, (k + 1) % 3)
        corner = along(
            unit_axis(k, sign * a[k]), -a[other] if choice & 2 else a[other], unit_axis(other, 1.0)
        )
        low, high = _edge_under_cap(axis, corner, p, u, a, R)
        if low > high:
            continue
        for upper in range(2):
            name, x = _end_of_edge(axis, corner, high if upper else low, upper, end, a)
            if dot(direction, x) > furthest + ALIGNED * R:
                furthest, feature, place = dot(direction, x), name, x
    return feature, place


@compiled
def _put_lowest(
    found: Separation, end: float, p: Vector, u: Vector, a: Vector, h: float, R: float, rows: Array,
    names: IntArray,
) -> int:  # fmt: skip
    """The closest pair as the first row; of an edge that lies along the cap one end, not its middle.

    So the row is one of those that a slightly tilted edge has.
    """
    phi, n, stratum, _ = found
    if stratum == CAP:
        corner = (side(n[0]) * a[0], side(n[1]) * a[1], side(n[2]) * a[2])
        for axis in range(3):
            if abs(n[axis]) <= ALIGNED:
                low, high = _edge_under_cap(axis, corner, p, u, a, R)
                if low <= high:
                    name, x = _end_of_edge(axis, corner, high, 1, end, a)
                    return put(rows, names, 0, name, phi, n, along(x, 0.5 * phi, n))
    return put_closest(found, p, u, a, h, R, rows, names)


@compiled
def cap_on_face(
    found: Separation, k: int, p: Vector, u: Vector, x_axis: Vector, y_axis: Vector, a: Vector, h: float,
    R: float, rows: Array, names: IntArray,
) -> int:  # fmt: skip
    """Up to four points of the overlap of a cap and the faces ±e_k; returns their number."""
    phi, n = found[0], found[1]
    sign, end = side(n[k]), -side(dot(u, n))
    centre = along(p, end * h, u)
    into_cylinder = scaled(u, -end)
    i, j = (k + 1) % 3, (k + 2) % 3
    count, left_out = 0, -1
    if math.hypot(u[i], u[j]) > ALIGNED:
        count = _put_lowest(found, end, p, u, a, h, R, rows, names)
        left_out = nearest_rim_point(along(row_point(rows, 0), -1.0, centre), x_axis, y_axis)
    closest = count
    reach = 0.05 * min(R, a[i], a[j])
    for number in range(4):
        if number == left_out:
            continue
        direction = rim_direction(number, x_axis, y_axis)
        x = along(centre, R, direction)
        if abs(x[i]) <= a[i] and abs(x[j]) <= a[j]:
            gap = max(sign * x[k] - a[k], phi)
            normal = unit_axis(k, sign)
            name, x = rim_feature(number, end), along(x, -0.5 * gap, normal)
        else:
            name, x = _extreme_of_face(direction, k, sign, end, p, u, a, R)
            if name < 0:
                continue
            normal = into_cylinder
            gap = max(dot(normal, along(centre, -1.0, x)), phi)
            x = along(x, 0.5 * gap, normal)
        count = put_other(rows, names, closest, count, reach, name, gap, normal, x)
    return count


@compiled
def cap_on_edge(
    found: Separation, axis: int, p: Vector, u: Vector, a: Vector, h: float, R: float, rows: Array,
    names: IntArray,
) -> int:  # fmt: skip
    """Both ends of the part of an edge under a cap; returns the number of points."""
    phi, n = found[0], found[1]
    end = -side(dot(u, n))
    centre, normal = along(p, end * h, u), scaled(u, -end)
    corner = (side(n[0]) * a[0], side(n[1]) * a[1], side(n[2]) * a[2])
    low, high = _edge_under_cap(axis, corner, p, u, a, R)
    if low > high:
        return 0
    count = 0
    if abs(u[axis]) > ALIGNED:
        count = put_closest(found, p, u, a, h, R, rows, names)
    closest = count
    for upper in range(2):
        name, x = _end_of_edge(axis, corner, high if upper else low, upper, end, a)
        gap = max(dot(normal, along(centre, -1.0, x)), phi)
        x = along(x, 0.5 * gap, normal)
        count = put_other(rows, names, closest, count, 0.05 * min(R, a[axis]), name, gap, normal, x)
    return count
