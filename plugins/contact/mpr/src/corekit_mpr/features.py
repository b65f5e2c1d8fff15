"""Names of features, the features that face a direction, and the corners they consist of.

A contact's id is ((i·n + j)·CODES + feature of i)·CODES + feature of j, for shapes i and j of n:

    FACE          a face or cap as a whole
    PLUS, MINUS   the end of a capsule or cylinder at local +z or −z, at its lowest
    SIDE          the lateral surface or the middle of a segment
    RIM + k       material point k of a cylinder's rims, as in `rim_direction`: four of +, four of −
    CORNER + k    corner of a box or hull
    EDGE + e      edge of a box or hull; CROSSING + 0 and 1 where one passes a rim
"""

from __future__ import annotations

from typing import Final, TypeAlias

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit.geometry.vectors import Vector, along, cross, dot, norm, row, scaled, side, subtract
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
    "Placed",
    "end_name",
    "face_towards",
    "facing",
    "rim_direction",
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

Placed: TypeAlias = tuple[Solid, Vector, Vector, Vector, Vector]
"""A shape's core, and its centre and axes in the work frame [m]."""

Feature: TypeAlias = tuple[int, int, Vector, float]
"""What faces a direction: NOTHING, LINE, BARREL (the axis of a cylinder), POLYGON (without corners: a plane) or
DISK; how many corners; its outward normal (line: its unit direction); a radius [m]: of the disk, or that a line
is surrounded by."""

_DIAGONAL: Final = 0.7071067811865476


@compiled
def rim_direction(k: int, x_axis: Vector, y_axis: Vector) -> Vector:
    """From a cap's centre to material point k of its rim: azimuth 45°, 135°, −45°, −135°."""
    sx, sy = -_DIAGONAL if k & 1 else _DIAGONAL, -_DIAGONAL if k & 2 else _DIAGONAL
    return along(scaled(x_axis, sx), sy, y_axis)


@compiled
def end_name(end: float) -> int:
    """PLUS or MINUS, for end = ±1."""
    return MINUS if end < 0.0 else PLUS


@compiled
def _corner(placed: Placed, own: Vector) -> Vector:
    return along(along(along(placed[1], own[0], placed[2]), own[1], placed[3]), own[2], placed[4])


@compiled
def _put(loop: Array, index: int, x: Vector, name: int, edge: int) -> None:
    loop[index, 0], loop[index, 1], loop[index, 2] = x
    loop[index, 3], loop[index, 4] = name, edge


@compiled
def _axis(placed: Placed, k: int) -> Vector:
    return placed[2] if k == 0 else (placed[3] if k == 1 else placed[4])


@compiled
def _box_corner(placed: Placed, bits: int) -> Vector:
    a = (placed[0][1], placed[0][2], placed[0][3])
    own = (-a[0] if bits & 1 else a[0], -a[1] if bits & 2 else a[1], -a[2] if bits & 4 else a[2])
    return _corner(placed, own)


@compiled
def _box_edge(bits: int, axis: int) -> int:
    """Number of the edge along an axis through a corner, 0…11."""
    j, k = (axis + 1) % 3, (axis + 2) % 3
    return 4 * axis + (bits >> j & 1) + 2 * (bits >> k & 1)


@compiled
def _box_face(placed: Placed, axis: int, sign: float, loop: Array) -> Feature:
    """The face of a box at ±axis."""
    j, k = (axis + 1) % 3, (axis + 2) % 3
    base = (1 << axis) if sign < 0.0 else 0
    for c in range(4):
        # in turn: ++, −+, −−, +−
        bits = base + ((1 << j) if c in (1, 2) else 0) + ((1 << k) if c in (2, 3) else 0)
        edge = _box_edge(bits, j if c in (0, 2) else k)
        _put(loop, c, _box_corner(placed, bits), CORNER + bits, EDGE + edge)
    return POLYGON, 4, scaled(_axis(placed, axis), sign), 0.0


@compiled
def _box_facing(placed: Placed, d: Vector, sine: float, loop: Array) -> Feature:
    """The face or edge of a box within an angle of lying across d."""
    flat, last, steep = 0, 0, 0
    bits = 0
    for k in range(3):
        lean = dot(_axis(placed, k), d)
        bits += (1 << k) if lean < 0.0 else 0
        if abs(lean) < sine:
            flat, last = flat + 1, k
        else:
            steep = k
    if flat == 2:
        return _box_face(placed, steep, side(dot(_axis(placed, steep), d)), loop)
    if flat == 1:
        low, high = bits & ~(1 << last), bits | (1 << last)
        edge = EDGE + _box_edge(bits, last)
        _put(loop, 0, _box_corner(placed, low), CORNER + low, edge)
        _put(loop, 1, _box_corner(placed, high), CORNER + high, edge)
        return LINE, 2, _axis(placed, last), 0.0
    return NOTHING, 0, d, 0.0


@compiled
def _hull_face(hulls: Hulls, placed: Placed, face: int, loop: Array) -> Feature:
    """A face of a hull."""
    first = placed[0][5]
    start = int(hulls.links[face, 0])
    count = int(hulls.links[face, 1]) - start
    for c in range(count):
        v, edge = int(hulls.links[start + c, 0]), int(hulls.links[start + c, 1])
        _put(loop, c, _corner(placed, row(hulls.table, v)), CORNER + v - first, EDGE + edge)
    own = row(hulls.table, face)
    n = along(along(scaled(placed[2], own[0]), own[1], placed[3]), own[2], placed[4])
    return POLYGON, count, n, 0.0


@compiled
def _best_hull_face(hulls: Hulls, placed: Placed, d: Vector) -> tuple[int, float]:
    """The face of a hull whose normal is nearest to d, and the cosine."""
    own = (dot(placed[2], d), dot(placed[3], d), dot(placed[4], d))
    best, cosine = 0, -2.0
    for face in range(placed[0][7], placed[0][8]):
        c = dot(row(hulls.table, face), own)
        if c > cosine:
            best, cosine = face, c
    return best, cosine


@compiled
def _hull_facing(hulls: Hulls, placed: Placed, d: Vector, sine: float, loop: Array) -> Feature:
    """The face of a hull within an angle of lying across d, or the edge at its furthest corner that lies so best."""
    best, cosine = _best_hull_face(hulls, placed, d)
    if cosine * cosine > 1.0 - sine * sine:
        return _hull_face(hulls, placed, best, loop)
    own = (dot(placed[2], d), dot(placed[3], d), dot(placed[4], d))
    first, last = placed[0][5], placed[0][6]
    top, reach = first, dot(row(hulls.table, first), own)
    for v in range(first, last):
        if dot(row(hulls.table, v), own) > reach:
            top, reach = v, dot(row(hulls.table, v), own)
    other, number, least = -1, 0, sine
    for face in range(placed[0][7], placed[0][8]):
        start, stop = int(hulls.links[face, 0]), int(hulls.links[face, 1])
        for c in range(start, stop):  # every edge stands in two faces, once in each direction
            if hulls.links[c, 0] == top:
                v = int(hulls.links[c + 1 if c + 1 < stop else start, 0])
                e = subtract(row(hulls.table, v), row(hulls.table, top))
                lean = abs(dot(e, own)) / norm(e)
                if lean < least:
                    other, number, least = v, int(hulls.links[c, 1]), lean
    if other < 0:
        return NOTHING, 0, d, 0.0
    low, high = min(top, other), max(top, other)
    x, y = _corner(placed, row(hulls.table, low)), _corner(placed, row(hulls.table, high))
    _put(loop, 0, x, CORNER + low - first, EDGE + number)
    _put(loop, 1, y, CORNER + high - first, EDGE + number)
    e = subtract(y, x)
    return LINE, 2, scaled(e, 1.0 / norm(e)), 0.0


@compiled
def _axis_line(kind: int, placed: Placed, h: float, radius: float, loop: Array) -> Feature:
    """The axis of a capsule (LINE) or cylinder (BARREL)."""
    for c in range(2):
        end = 1.0 if c == 1 else -1.0
        _put(loop, c, along(placed[1], end * h, placed[4]), end_name(end), SIDE)
    return kind, 2, placed[4], radius


@compiled
def _cap(placed: Placed, end: float, loop: Array) -> Feature:
    """A cap: four material points of its rim, and its centre in row 4."""
    R, h = placed[0][1], placed[0][2]
    centre = along(placed[1], end * h, placed[4])
    for k in range(4):
        x = along(centre, R, rim_direction(k, placed[2], placed[3]))
        _put(loop, k, x, RIM + k + (4 if end < 0.0 else 0), FACE)
    _put(loop, 4, centre, FACE, FACE)
    return DISK, 4, scaled(placed[4], end), R


@compiled
def facing(hulls: Hulls, placed: Placed, d: Vector, sine: float, loop: Array) -> Feature:
    """The face, cap, edge or line of a shape that lies across d within an angle; its corners go into `loop`.

    Args:
        sine: of the angle.
        loop: x, y, z [m], name of the corner, name of the edge to the next, shape (≥ corners + 1, 5).
    """
    kind = placed[0][0]
    if kind == BOX:
        return _box_facing(placed, d, sine, loop)
    if kind == HULL:
        return _hull_facing(hulls, placed, d, sine, loop)
    if kind in (CYLINDER, SEGMENT):
        lean = dot(placed[4], d)
        if kind == CYLINDER and norm(cross(placed[4], d)) < sine:
            return _cap(placed, side(lean), loop)
        if abs(lean) < sine:
            if kind == CYLINDER:
                return _axis_line(BARREL, placed, placed[0][2], placed[0][1], loop)
            return _axis_line(LINE, placed, placed[0][1], placed[0][4], loop)
    return NOTHING, 0, d, 0.0


@compiled
def face_towards(hulls: Hulls, placed: Placed, d: Vector, cosine: float, loop: Array) -> Feature:
    """The face or cap of a shape whose normal is within an angle of d, if there is one."""
    kind = placed[0][0]
    if kind == BOX:
        best = 0
        for k in range(1, 3):
            if abs(dot(_axis(placed, k), d)) > abs(dot(_axis(placed, best), d)):
                best = k
        lean = dot(_axis(placed, best), d)
        if abs(lean) > cosine:
            return _box_face(placed, best, side(lean), loop)
    elif kind == HULL:
        face, lean = _best_hull_face(hulls, placed, d)
        if lean > cosine:
            return _hull_face(hulls, placed, face, loop)
    elif kind == CYLINDER:
        lean = dot(placed[4], d)
        if abs(lean) > cosine:
            return _cap(placed, side(lean), loop)
    elif kind == HALF_SPACE:
        _put(loop, 0, placed[1], FACE, FACE)
        return POLYGON, 0, placed[4], 0.0
    return NOTHING, 0, d, 0.0
