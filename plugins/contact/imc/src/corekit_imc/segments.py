"""Closest points of two segments, unique also if they are parallel.

s, t ∈ [0, 1] minimise

    ½·|a + s·e₁ − c − t·e₂|² + ½·ε·(|e₁|²·(s − ½)² + |e₂|²·(t − ½)²)                                   (1)

over the box. The second term with ε = 10⁻¹⁰ matters only where the first is flat: between segments that are
parallel to 10⁻⁵ rad it selects the middle of their overlap, so that the contact does not jump from end to
end.

Source: Lumelsky (1985), "On fast computation of distance between line segments"; Ericson (2005), "Real-Time
Collision Detection", 5.1.9.
"""

from __future__ import annotations

from corekit.compiled import compiled
from corekit.geometry.vectors import Vector, dot

__all__ = ["PARALLEL", "closest_parameters"]

PARALLEL = 1e-10
"""ε of (1)."""


@compiled
def closest_parameters(e1: Vector, e2: Vector, r: Vector) -> tuple[float, float]:
    """Return s, t of (1) for edges e₁, e₂ [m] of positive length and r = a − c [m]."""
    centring = 0.5 * PARALLEL
    a, b, cross = dot(e1, e1), dot(e2, e2), dot(e1, e2)
    p, q = dot(e1, r) - centring * a, dot(e2, r) + centring * b
    a, b = a * (1.0 + PARALLEL), b * (1.0 + PARALLEL)
    # gradient: a·s − cross·t + p = 0,  b·t − cross·s − q = 0; the Hessian is positive definite by ε
    s = min(max((cross * q - b * p) / (a * b - cross * cross), 0.0), 1.0)
    t = (cross * s + q) / b
    if t < 0.0:
        return min(max(-p / a, 0.0), 1.0), 0.0
    if t > 1.0:
        return min(max((cross - p) / a, 0.0), 1.0), 1.0
    return s, t
