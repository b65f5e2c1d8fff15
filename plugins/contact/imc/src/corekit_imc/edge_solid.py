"""Point of an edge that is closest to a solid.

With d the signed distance of `solids` along the edge, d′(s) = ∇d·e never decreases outside the solid, so the
least d is where d′ changes sign. If the edge lies on a flat face, d′ vanishes over an interval, whose middle
is the solution:

    s = ½·(s₋ + s₊),   s₋ the first s with d′ ≥ −ε·|e|,   s₊ the last with d′ ≤ ε·|e|,   ε = 10⁻⁶             (1)

Inside a solid (deeper than the edge's radius) d is not convex and (1) is a nearby local minimum.
"""

from __future__ import annotations

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit.geometry.vectors import Vector, add_scaled, dot, norm
from corekit_imc.solids import solid_distance

__all__ = ["closest_to_solid"]

_FLAT = 1e-6
_HALVINGS = 52


@compiled
def _slope(kind: int, size: Array, a: Vector, e: Vector, s: float) -> float:
    return dot(solid_distance(kind, size, add_scaled(a, s, e))[1], e)


@compiled
def _first_not_below(kind: int, size: Array, a: Vector, e: Vector, level: float) -> float:
    """Return the least s in [0, 1] with d′(s) ≥ level, 1 if there is none."""
    if _slope(kind, size, a, e, 0.0) >= level:
        return 0.0
    if _slope(kind, size, a, e, 1.0) < level:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        if _slope(kind, size, a, e, middle) >= level:
            high = middle
        else:
            low = middle
    return high


@compiled
def closest_to_solid(kind: int, size: Array, a: Vector, e: Vector) -> float:
    """Return s of (1) for the edge a + s·e in the solid's axes [m]."""
    flat = _FLAT * norm(e)
    first = _first_not_below(kind, size, a, e, -flat)
    last = _first_not_below(kind, size, a, e, flat)
    return 0.5 * (first + last)
