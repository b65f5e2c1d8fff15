"""Tension of cables, for models that have some: `compiled` functions of numbers.

A cable driven by its length is a spring that cannot push. Its stiffness is k = E·A/L of the whole cable [N/m]. With its
length along the robot l and the length u that its drive wound up, both counted from the rest shape, and the highest
tension T_max, at which the drive slips,

    T = min(max(k·(l + u), 0), T_max)                                                          (1)

Where it rubs in its guides, tension falls along the routing by the capstan equation dT = −μ·T·dφ, φ the angle that the
cable has turned since its drive; over a stretch of constant curvature that turns by φ the mean is

    T·m(μ·φ),   m(x) = (1 − e^−x)/x                                                            (2)

This is the loss of a cable that is pulled in; what hysteresis adds when it runs out is left out.
"""

from __future__ import annotations

import math

from corekit.compiled import compiled

__all__ = ["cable_tension", "mean_capstan_factor"]


@compiled
def cable_tension(stretch: float, stiffness: float, limit: float) -> tuple[float, float]:
    """T [N] of (1) for l + u [m], and ∂T/∂l [N/m]."""
    tension = stiffness * stretch
    if not tension > 0.0:
        return 0.0, 0.0
    return (tension, stiffness) if tension < limit else (limit, 0.0)


@compiled
def mean_capstan_factor(x: float) -> tuple[float, float]:
    """m of (2) and its derivative, for x ≥ 0."""
    if x < 1e-3:  # the first terms left out are x⁴/120 and x³/30·x/1.2
        return 1.0 - x * (0.5 - x * (1.0 / 6.0 - x / 24.0)), -0.5 + x * (1.0 / 3.0 - x * (0.125 - x / 30.0))
    falls = math.exp(-x)
    return -math.expm1(-x) / x, (falls * (1.0 + x) - 1.0) / (x * x)
