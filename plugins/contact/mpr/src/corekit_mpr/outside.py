"""How far a point is outside of a core: whether the closest pair that a direction names is one.

The points of two shapes that extend farthest along the best direction n face each other. Inside, the search ends
within `tolerance` of the best direction, and where faces, caps or lines lie on each other within an angle θ a direction
that is off by θ costs θ times their extent, but names a corner or an end on the other side of a crease: a point beside
the other shape, by as much as it is long.
"""

from __future__ import annotations

import math

from corekit.compiled import compiled
from corekit.geometry.vectors import Vector, add_scaled, dot, norm, row, subtract
from corekit_mpr.features import PosedShape
from corekit_mpr.solids import Hulls
from corekit_mpr.support import BOX, CYLINDER, HALF_SPACE, HULL, SEGMENT

__all__ = ["is_beside"]


@compiled
def _outside(hulls: Hulls, shape: PosedShape, x: Vector) -> float:
    """Return by how much a point violates what bounds a core [m], ≤ 0 inside."""
    core = shape[0]
    d = subtract(x, shape[1])
    local = (dot(shape[2], d), dot(shape[3], d), dot(shape[4], d))
    kind = core[0]
    if kind == HALF_SPACE:
        return local[2]
    if kind == BOX:
        return max(abs(local[0]) - core[1], abs(local[1]) - core[2], abs(local[2]) - core[3])
    if kind == CYLINDER:
        return max(math.hypot(local[0], local[1]) - core[1], abs(local[2]) - core[2])
    if kind == SEGMENT:
        return max(math.hypot(local[0], local[1]), abs(local[2]) - core[1])
    if kind != HULL:
        return norm(d)
    most = -math.inf
    for face in range(core[7], core[8]):
        corner = row(hulls.table, int(hulls.links[int(hulls.links[face, 0]), 0]))
        most = max(most, dot(row(hulls.table, face), subtract(local, corner)))
    return most


@compiled
def is_beside(
    hulls: Hulls, first: PosedShape, second: PosedShape, n: Vector, gap: float, x: Vector, allowed: float
) -> bool:
    """Whether the closest points about the midpoint x are outside of one of the shapes by more than `allowed` [m]."""
    half = 0.5 * gap
    if _outside(hulls, first, add_scaled(x, half + first[0][4], n)) > allowed:
        return True
    return _outside(hulls, second, add_scaled(x, -half - second[0][4], n)) > allowed
