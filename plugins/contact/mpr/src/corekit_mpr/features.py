"""Features of shapes: their ids, the features that face a direction, and their corners.

A contact's id is ((i·n + j)·CODES + feature of i)·CODES + feature of j, for shapes i and j of n:

    FACE          a whole face or cap
    PLUS, MINUS   the end of a capsule or cylinder at local +z or −z, at its lowest point
    SIDE          the lateral surface or the middle of a segment
    RIM + k       material point k of a cylinder's rims, as in `rim_direction`: four of +, four of −
    CORNER + k    corner of a box or hull
    EDGE + e      edge of a box or hull; CROSSING + 0 and 1 where one passes a rim
"""

from __future__ import annotations

from typing import Final, TypeAlias

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit.geometry.vectors import Vector, add_scaled, cross, dot, norm, row, scaled, sign_of, subtract
from corekit_mpr.solids import Hulls
from corekit_mpr.support import BOX, CYLINDER, HALF_SPACE, HULL, SEGMENT, Solid

__all__ = [
    "BARREL",
    "CODES",
    "CORNER",
    "CROSSING",
    "DISK",
    "EDGE",
    "FACE",
    "LINE",
    "MINUS",
    "NOTHING",
    "PLUS",
    "POLYGON",
    "RIM",
    "SIDE",
    "Feature",
    "PosedShape",
    "end_feature_id",
    "face_towards",
    "rim_direction",
    "supporting_feature",
]

CODES: Final = 1 << 16
FACE: Final = 0
PLUS: Final = 1
MINUS: Final = 2
SIDE: Final = 3
RIM: Final = 4
CORNER: Final = 16
EDGE: Final = 20_100
CROSSING: Final = 60_000

NOTHING: Final = 0
LINE: Final = 1
BARREL: Final = 2
POLYGON: Final = 3
DISK: Final = 4

PosedShape: TypeAlias = tuple[Solid, Vector, Vector, Vector, Vector]
"""A shape's core, and its centre and axes in the work frame [m]."""

Feature: TypeAlias = tuple[int, int, Vector, float]
"""Feature that faces a direction: its kind, number of corners, outward normal and radius [m].

The kind is NOTHING, LINE, BARREL (the axis of a cylinder), POLYGON (without corners: a plane) or DISK. The normal of a
line is its unit direction. The radius is that of the disk, or of the round body about the line."""

_DIAGONAL: Final = 0.7071067811865476


@compiled
def rim_direction(k: int, x_axis: Vector, y_axis: Vector) -> Vector:
    """Return the unit vector from a cap's centre to material point k of its rim: azimuth 45°, 135°, −45°, −135°."""
    sx, sy = -_DIAGONAL if k & 1 else _DIAGONAL, -_DIAGONAL if k & 2 else _DIAGONAL
    return add_scaled(scaled(x_axis, sx), sy, y_axis)


@compiled
def end_feature_id(end: float) -> int:
    """Return PLUS or MINUS for end = ±1."""
    return MINUS if end < 0.0 else PLUS


@compiled
def _corner(shape: PosedShape, local: Vector) -> Vector:
    return add_scaled(
        add_scaled(add_scaled(shape[1], local[0], shape[2]), local[1], shape[3]), local[2], shape[4]
    )


@compiled
def _set_corner(loop: Array, index: int, x: Vector, feature_id: int, edge: int) -> None:
    loop[index, 0], loop[index, 1], loop[index, 2] = x
    loop[index, 3], loop[index, 4] = feature_id, edge


@compiled
def _axis(shape: PosedShape, k: int) -> Vector:
    return shape[2] if k == 0 else (shape[3] if k == 1 else shape[4])


@compiled
def _box_corner(shape: PosedShape, bits: int) -> Vector:
    a = (shape[0][1], shape[0][2], shape[0][3])
    local = (-a[0] if bits & 1 else a[0], -a[1] if bits & 2 else a[1], -a[2] if bits & 4 else a[2])
    return _corner(shape, local)


@compiled
def _box_edge(bits: int, axis: int) -> int:
    """Return the number 0…11 of the edge along an axis through a corner."""
    j, k = (axis + 1) % 3, (axis + 2) % 3
    return 4 * axis + (bits >> j & 1) + 2 * (bits >> k & 1)


@compiled
def _box_face(shape: PosedShape, axis: int, sign: float, loop: Array) -> Feature:
    """Return the face of a box at ±axis."""
    j, k = (axis + 1) % 3, (axis + 2) % 3
    base = (1 << axis) if sign < 0.0 else 0
    for c in range(4):
        # around the face: ++, −+, −−, +−
        bits = base + ((1 << j) if c in (1, 2) else 0) + ((1 << k) if c in (2, 3) else 0)
        edge = _box_edge(bits, j if c in (0, 2) else k)
        _set_corner(loop, c, _box_corner(shape, bits), CORNER + bits, EDGE + edge)
    return POLYGON, 4, scaled(_axis(shape, axis), sign), 0.0


@compiled
def _box_feature(shape: PosedShape, d: Vector, sine: float, loop: Array) -> Feature:
    """Return the face or edge of a box that is perpendicular to d within an angle."""
    flat, last, steep = 0, 0, 0
    bits = 0
    for k in range(3):
        cosine_to_d = dot(_axis(shape, k), d)
        bits += (1 << k) if cosine_to_d < 0.0 else 0
        if abs(cosine_to_d) < sine:
            flat, last = flat + 1, k
        else:
            steep = k
    if flat == 2:
        return _box_face(shape, steep, sign_of(dot(_axis(shape, steep), d)), loop)
    if flat == 1:
        low, high = bits & ~(1 << last), bits | (1 << last)
        edge = EDGE + _box_edge(bits, last)
        _set_corner(loop, 0, _box_corner(shape, low), CORNER + low, edge)
        _set_corner(loop, 1, _box_corner(shape, high), CORNER + high, edge)
        return LINE, 2, _axis(shape, last), 0.0
    return NOTHING, 0, d, 0.0


@compiled
def _hull_face(hulls: Hulls, shape: PosedShape, face: int, loop: Array) -> Feature:
    """Return a face of a hull."""
    first = shape[0][5]
    start = int(hulls.links[face, 0])
    count = int(hulls.links[face, 1]) - start
    for c in range(count):
        v, edge = int(hulls.links[start + c, 0]), int(hulls.links[start + c, 1])
        _set_corner(loop, c, _corner(shape, row(hulls.table, v)), CORNER + v - first, EDGE + edge)
    local = row(hulls.table, face)
    n = add_scaled(add_scaled(scaled(shape[2], local[0]), local[1], shape[3]), local[2], shape[4])
    return POLYGON, count, n, 0.0


@compiled
def _best_hull_face(hulls: Hulls, shape: PosedShape, d: Vector) -> tuple[int, float]:
    """Return the face of a hull whose normal is nearest to d, and the cosine."""
    local = (dot(shape[2], d), dot(shape[3], d), dot(shape[4], d))
    best, cosine = 0, -2.0
    for face in range(shape[0][7], shape[0][8]):
        c = dot(row(hulls.table, face), local)
        if c > cosine:
            best, cosine = face, c
    return best, cosine


@compiled
def _hull_feature(hulls: Hulls, shape: PosedShape, d: Vector, sine: float, loop: Array) -> Feature:
    """Return the hull face perpendicular to d within an angle, or the most perpendicular edge at its top corner.

    The angle of a face is that of its cross product with d: a cosine does not tell angles below √eps from zero.
    """
    local = (dot(shape[2], d), dot(shape[3], d), dot(shape[4], d))
    best, _ = _best_hull_face(hulls, shape, d)
    if norm(cross(row(hulls.table, best), local)) < sine:
        return _hull_face(hulls, shape, best, loop)
    first, last = shape[0][5], shape[0][6]
    top, projection = first, dot(row(hulls.table, first), local)
    for v in range(first, last):
        if dot(row(hulls.table, v), local) > projection:
            top, projection = v, dot(row(hulls.table, v), local)
    other, edge_index, least = -1, 0, sine
    for face in range(shape[0][7], shape[0][8]):
        start, stop = int(hulls.links[face, 0]), int(hulls.links[face, 1])
        for c in range(start, stop):  # every edge is in two faces, once in each direction
            if hulls.links[c, 0] == top:
                v = int(hulls.links[c + 1 if c + 1 < stop else start, 0])
                e = subtract(row(hulls.table, v), row(hulls.table, top))
                cosine_to_d = abs(dot(e, local)) / norm(e)
                if cosine_to_d < least:
                    other, edge_index, least = v, int(hulls.links[c, 1]), cosine_to_d
    if other < 0:
        return NOTHING, 0, d, 0.0
    low, high = min(top, other), max(top, other)
    x, y = _corner(shape, row(hulls.table, low)), _corner(shape, row(hulls.table, high))
    _set_corner(loop, 0, x, CORNER + low - first, EDGE + edge_index)
    _set_corner(loop, 1, y, CORNER + high - first, EDGE + edge_index)
    e = subtract(y, x)
    return LINE, 2, scaled(e, 1.0 / norm(e)), 0.0


@compiled
def _axis_line(kind: int, shape: PosedShape, h: float, radius: float, loop: Array) -> Feature:
    """Return the axis of a capsule (LINE) or cylinder (BARREL)."""
    for c in range(2):
        end = 1.0 if c == 1 else -1.0
        _set_corner(loop, c, add_scaled(shape[1], end * h, shape[4]), end_feature_id(end), SIDE)
    return kind, 2, shape[4], radius


@compiled
def _cap(shape: PosedShape, end: float, loop: Array) -> Feature:
    """Return a cap: four material points of its rim, and its centre in row 4 of the loop."""
    R, h = shape[0][1], shape[0][2]
    centre = add_scaled(shape[1], end * h, shape[4])
    for k in range(4):
        x = add_scaled(centre, R, rim_direction(k, shape[2], shape[3]))
        _set_corner(loop, k, x, RIM + k + (4 if end < 0.0 else 0), FACE)
    _set_corner(loop, 4, centre, FACE, FACE)
    return DISK, 4, scaled(shape[4], end), R


@compiled
def supporting_feature(hulls: Hulls, shape: PosedShape, d: Vector, sine: float, loop: Array) -> Feature:
    """Return the face, cap, edge or line of a shape perpendicular to d within an angle; write its corners into `loop`.

    Args:
        sine: of the angle.
        loop: x, y, z [m], id of the corner, id of the edge to the next, shape (≥ corners + 1, 5).
    """
    kind = shape[0][0]
    if kind == BOX:
        return _box_feature(shape, d, sine, loop)
    if kind == HULL:
        return _hull_feature(hulls, shape, d, sine, loop)
    if kind in (CYLINDER, SEGMENT):
        cosine_to_d = dot(shape[4], d)
        if kind == CYLINDER and norm(cross(shape[4], d)) < sine:
            return _cap(shape, sign_of(cosine_to_d), loop)
        if abs(cosine_to_d) < sine:
            if kind == CYLINDER:
                return _axis_line(BARREL, shape, shape[0][2], shape[0][1], loop)
            return _axis_line(LINE, shape, shape[0][1], shape[0][4], loop)
    return NOTHING, 0, d, 0.0


@compiled
def face_towards(hulls: Hulls, shape: PosedShape, d: Vector, cosine: float, loop: Array) -> Feature:
    """Return the face or cap of a shape whose normal is within an angle of d, or NOTHING."""
    kind = shape[0][0]
    if kind == BOX:
        best = 0
        for k in range(1, 3):
            if abs(dot(_axis(shape, k), d)) > abs(dot(_axis(shape, best), d)):
                best = k
        cosine_to_d = dot(_axis(shape, best), d)
        if abs(cosine_to_d) > cosine:
            return _box_face(shape, best, sign_of(cosine_to_d), loop)
    elif kind == HULL:
        face, cosine_to_d = _best_hull_face(hulls, shape, d)
        if cosine_to_d > cosine:
            return _hull_face(hulls, shape, face, loop)
    elif kind == CYLINDER:
        cosine_to_d = dot(shape[4], d)
        if abs(cosine_to_d) > cosine:
            return _cap(shape, sign_of(cosine_to_d), loop)
    elif kind == HALF_SPACE:
        _set_corner(loop, 0, shape[1], FACE, FACE)
        return POLYGON, 0, shape[4], 0.0
    return NOTHING, 0, d, 0.0
