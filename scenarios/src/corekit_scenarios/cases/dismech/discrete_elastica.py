"""A clamped chain of edges under a dead load at its end, by shooting from there: the static limit of Figure 3.

Node i lies between edges i − 1 and i, at angles θ to the horizontal, φ = θᵢ − θᵢ₋₁. Bending and stretch have the
energies of discrete elastic rods, so that in a plane, with the load P downwards,

    M(φ) = (E·I/lᵥ)·2·tan(φ/2)·sec²(φ/2) = −P·Σ_{j ≥ i} λⱼ·cos θⱼ,   λⱼ = l·(1 − P·sin θⱼ/(E·A))      (1)

with lᵥ = l, and l/2 at the clamp, where the rod has θ = 0. The last edge's angle is what is sought: (1) gives all
others from the end inwards, and the angle at the clamp must vanish.
"""

from __future__ import annotations

import math

from scipy.optimize import brentq

__all__ = ["tip_under_load"]


def tip_under_load(
    load: float, length: float, edges: int, rigidity: float, axial: float
) -> tuple[float, float]:
    """Place (x, z) of the end under a load downwards [N]; E·I [N·m²], E·A [N]; to 1e-12 of the length."""
    edge = length / edges

    def shoot(last: float) -> tuple[float, float, float]:
        """Angle left at the clamp, and the end relative to the base."""
        angle, x, z = last, 0.0, 0.0
        for k in range(edges):
            stretched = edge * (1.0 - load * math.sin(angle) / axial)
            x += stretched * math.cos(angle)
            z += stretched * math.sin(angle)
            cell = edge if k < edges - 1 else edge / 2
            angle -= _turn(-load * x * cell / rigidity)
        return angle, x, z

    # the clamp's angle grows with the last edge's; that of a straight chain under the load is positive
    guess = -load * length**2 / (2.0 * rigidity)
    found = brentq(lambda last: shoot(last)[0], 3.0 * guess, 0.0, xtol=1e-15, rtol=1e-15)
    _, x, z = shoot(float(found))
    return x, z


def _turn(moment: float) -> float:
    """φ with 2·tan(φ/2)·sec²(φ/2) = `moment`, which is 2·t·(1 + t²) of t = tan(φ/2), by Newton's method."""
    t = 0.5 * moment
    for _ in range(50):
        change = (t + t**3 - 0.5 * moment) / (1.0 + 3.0 * t * t)
        t -= change
        if abs(change) <= 1e-17:
            break
    return 2.0 * math.atan(t)
