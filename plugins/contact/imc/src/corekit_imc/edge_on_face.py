"""An edge that lies on a face of a box: contacts at both ends of its overlap with the face.

Its nearest point alone would jump from one end to the other as the edge tilts to and fro, and with it the row of the
contact, so that no iteration of an implicit step converges. Both ends stay where they are, and the nearest point is one
of them: the distance to a face is linear along the edge. An end of the edge is measured along the face's normal. Where
the edge leaves the face over an edge of the box, the lines are measured along their common perpendicular.
"""

from __future__ import annotations

import math
from typing import Final

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit.geometry.vectors import Vector, add_scaled, cross, norm, scaled, unit_axis

__all__ = ["is_normal_of_face", "measure_on_face", "overlap_with_face"]

_FLAT: Final = 0.1
"""Largest angle between edge and face [rad]."""
_SINE, _COSINE, _TANGENT = math.sin(_FLAT), math.cos(2.0 * _FLAT), math.tan(2.0 * _FLAT)
_PARALLEL: Final = 1e-12
"""Of the length: how far an edge leads along an axis to which it is perpendicular but for rounding."""


@compiled
def _largest_axis(n: Vector) -> int:
    k = 0
    for axis in range(1, 3):
        if abs(n[axis]) > abs(n[k]):
            k = axis
    return k


@compiled
def is_normal_of_face(n: Vector) -> bool:
    """Whether a normal in the box's axes is that of a face, within twice the flat angle."""
    return abs(n[_largest_axis(n)]) > _COSINE


@compiled
def overlap_with_face(size: Array, p: Vector, d: Vector, n: Vector) -> tuple[int, float, int, float, int]:
    """Return the axis k of the face on which the edge p + s·d lies, −1 for none, and the ends of their overlap.

    Args:
        size: half edges of the box, shape (3,) [m].
        n: normal at the nearest point, in the box's axes as p and d [m].
    Returns:
        k, the least s and the axis whose face limits it (k: none), and the same of the largest s.
    """
    k, length = _largest_axis(n), norm(d)
    low, low_axis, high, high_axis = 0.0, k, 1.0, k
    if not is_normal_of_face(n) or not abs(d[k]) < _SINE * length:
        return -1, low, low_axis, high, high_axis
    for step in range(1, 3):
        j = (k + step) % 3
        if abs(d[j]) > _PARALLEL * length:
            one, other = (-size[j] - p[j]) / d[j], (size[j] - p[j]) / d[j]
            if min(one, other) > low:
                low, low_axis = min(one, other), j
            if max(one, other) < high:
                high, high_axis = max(one, other), j
        elif abs(p[j]) > size[j]:
            return -1, low, low_axis, high, high_axis
    for axis in (low_axis, high_axis):
        # nearly along an edge of the box: where the lines meet moves too fast with the edge
        if axis != k and abs(d[k]) > _TANGENT * abs(d[axis]):
            return -1, low, low_axis, high, high_axis
    return k if low < high else -1, low, low_axis, high, high_axis


@compiled
def measure_on_face(
    size: Array, p: Vector, d: Vector, k: int, sign: float, s: float, limit: int
) -> tuple[float, float, Vector]:
    """Return the place on the edge, the distance there [m] and its normal, at an end s of the overlap.

    Args:
        sign: 1.0 or −1.0, of the face on axis k. limit: axis whose face limits the overlap there, or k.
    """
    x, j = add_scaled(p, s, d), limit
    if j == k:
        return s, sign * x[k] - size[k], unit_axis(k, sign)
    across = cross(unit_axis(3 - k - j, 1.0), d)
    normal = scaled(across, math.copysign(1.0, sign * across[k]) / norm(across))
    edge_j, edge_k = math.copysign(size[j], x[j]), sign * size[k]
    distance = normal[j] * (p[j] - edge_j) + normal[k] * (p[k] - edge_k)
    along = (edge_j + distance * normal[j] - p[j]) * d[j] + (edge_k + distance * normal[k] - p[k]) * d[k]
    return min(max(along / (d[j] * d[j] + d[k] * d[k]), 0.0), 1.0), distance, normal
