"""An edge that lies on a face of a box or on a cap of a cylinder: contacts at both ends of its overlap with the face.

Its nearest point alone would jump from one end to the other as the edge tilts to and fro, and with it the row of the
contact, so that no iteration of an implicit step converges. Both ends stay where they are, and the nearest point is one
of them: the distance to a face is linear along the edge. An end of the edge is measured along the face's normal. Where
the edge leaves the face over an edge of the box or over the rim, it is measured along the common perpendicular with the
tangent t there:

    φ = n·(p − c),   n ∥ t × d                                                                   (1)

for the edge p + s·d and the place c of the tangent. An end of the edge beside which the lines are nearest has its own
distance.
"""

from __future__ import annotations

import math
from typing import Final

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit.geometry.vectors import Vector, add_scaled, cross, dot, norm, scaled, unit_axis
from corekit_imc.solids import BOX, CYLINDER, solid_distance

__all__ = ["is_normal_of_face", "measure_on_face", "overlap_with_face"]

_FLAT: Final = 0.1
"""Largest angle between edge and face [rad]."""
_SINE, _COSINE, _TANGENT = math.sin(_FLAT), math.cos(2.0 * _FLAT), math.tan(2.0 * _FLAT)
_PARALLEL: Final = 1e-12
"""Of the length: how far an edge leads along an axis to which it is perpendicular but for rounding."""
_POINT: Final = 1e-6
"""Of the length: an overlap that is shorter has one end, and the nearest point is there."""
_RIM: Final = -1
"""In the place of the axis of a box's face that limits an overlap."""


@compiled
def _face_axis(kind: int, n: Vector) -> int:
    """Return the axis of the face that a normal belongs to, within twice the flat angle; −1 for none."""
    k = 2
    if kind == BOX:
        for axis in range(2):
            if abs(n[axis]) > abs(n[k]):
                k = axis
    return k if kind in (BOX, CYLINDER) and abs(n[k]) > _COSINE else -1


@compiled
def is_normal_of_face(kind: int, n: Vector) -> bool:
    """Whether a normal in the solid's axes is that of a face, within twice the flat angle."""
    return _face_axis(kind, n) >= 0


@compiled
def _overlap_with_cap(radius: float, p: Vector, d: Vector) -> tuple[float, int, float, int]:
    """Return the ends of the overlap with a disk about the z axis, and what limits each; low ≥ high for none."""
    along, square = p[0] * d[0] + p[1] * d[1], d[0] * d[0] + d[1] * d[1]
    root = along * along - square * (p[0] * p[0] + p[1] * p[1] - radius * radius)
    if not root > 0.0:
        return 1.0, 2, 0.0, 2
    low, high = (-along - math.sqrt(root)) / square, (-along + math.sqrt(root)) / square
    return max(low, 0.0), _RIM if low > 0.0 else 2, min(high, 1.0), _RIM if high < 1.0 else 2


@compiled
def _overlap_with_box_face(size: Array, p: Vector, d: Vector, k: int) -> tuple[float, int, float, int]:
    """Return the ends of the overlap with a face of a box on axis k, and what limits each; low ≥ high for none."""
    low, low_limit, high, high_limit = 0.0, k, 1.0, k
    for step in range(1, 3):
        j = (k + step) % 3
        if abs(d[j]) > _PARALLEL * norm(d):
            one, other = (-size[j] - p[j]) / d[j], (size[j] - p[j]) / d[j]
            if min(one, other) > low:
                low, low_limit = min(one, other), j
            if max(one, other) < high:
                high, high_limit = max(one, other), j
        elif abs(p[j]) > size[j]:
            low = 1.0
    return low, low_limit, high, high_limit


@compiled
def _limit(size: Array, x: Vector, k: int, height: float, limit: int) -> tuple[Vector, Vector]:
    """Return the place nearest to x on the edge or the rim that limits a face, and the unit tangent there."""
    if limit == _RIM:
        rho = math.hypot(x[0], x[1])
        return (x[0] * size[0] / rho, x[1] * size[0] / rho, height), (-x[1] / rho, x[0] / rho, 0.0)
    place = add_scaled(x, math.copysign(size[limit], x[limit]) - x[limit], unit_axis(limit, 1.0))
    return add_scaled(place, height - x[k], unit_axis(k, 1.0)), unit_axis(3 - k - limit, 1.0)


@compiled
def overlap_with_face(
    kind: int, size: Array, p: Vector, d: Vector, n: Vector
) -> tuple[int, float, int, float, int]:
    """Return the axis k of the face on which the edge p + s·d lies, −1 for none, and the ends of their overlap.

    Args:
        size: of the solid, shape (3,) [m].
        n: normal at the nearest point, in the solid's axes as p and d [m].
    Returns:
        k, the least s and what limits it (the axis of another face, the rim, or k: nothing), and the same of the
        largest s.
    """
    k = _face_axis(kind, n)
    if k < 0 or not abs(d[k]) < _SINE * norm(d):
        return -1, 0.0, 0, 1.0, 0
    if kind == BOX:
        low, low_limit, high, high_limit = _overlap_with_box_face(size, p, d, k)
    else:
        low, low_limit, high, high_limit = _overlap_with_cap(size[0], p, d)
    if not high - low > _POINT:
        return -1, 0.0, 0, 1.0, 0
    for s, limit in ((low, low_limit), (high, high_limit)):
        if limit != k:
            _, tangent = _limit(size, add_scaled(p, s, d), k, 0.0, limit)
            across = norm(add_scaled(add_scaled(d, -dot(d, tangent), tangent), -d[k], unit_axis(k, 1.0)))
            # nearly along the tangent: where the lines meet moves too fast with the edge
            if abs(d[k]) > _TANGENT * across:
                return -1, 0.0, 0, 1.0, 0
    return k, low, low_limit, high, high_limit


@compiled
def measure_on_face(
    kind: int, size: Array, p: Vector, d: Vector, k: int, sign: float, s: float, limit: int
) -> tuple[float, float, Vector]:
    """Return the place on the edge, the distance there [m] and its normal, at an end s of the overlap.

    Args:
        sign: 1.0 or −1.0, of the face on axis k. limit: as of `overlap_with_face`.
    """
    x, height = add_scaled(p, s, d), sign * (size[k] if kind == BOX else size[1])
    if limit == k:
        return s, sign * (x[k] - height), unit_axis(k, sign)
    place, tangent = _limit(size, x, k, height, limit)
    normal = cross(tangent, d)
    normal = scaled(normal, math.copysign(1.0, sign * normal[k]) / norm(normal))
    distance = dot(normal, add_scaled(p, -1.0, place))
    across = add_scaled(d, -dot(d, tangent), tangent)
    foot = dot(add_scaled(add_scaled(place, distance, normal), -1.0, p), across) / dot(across, across)
    if not 0.0 <= foot <= 1.0:
        # the lines are nearest beyond the end of the edge, from which the way is another one
        s = 0.0 if foot < 0.0 else 1.0
        from_end, gradient = solid_distance(kind, size, add_scaled(p, s, d))
        if from_end > 0.0:
            return s, from_end, gradient
    return min(max(foot, 0.0), 1.0), distance, normal
