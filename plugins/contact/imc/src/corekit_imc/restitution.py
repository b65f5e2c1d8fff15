"""The damping that gives back a share e of an impact's speed, and how deep a damped spring lets a mass.

    m·ẍ + b·ẋ + 2·k·x = 0,     ω² = 2·k/m,     ζ = b/(2·m·ω)                                        (1)

From x = 0 with ẋ = v the mass turns at ω_d·t = γ, where ζ = cos γ and ω_d = ω·√(1 − ζ²). A contact only pushes: it ends
where 2·k·x + b·ẋ = 0, at 2·γ. Hence

    largest x = v/ω·√e,     e = −ẋ/v at the end = exp(−2·ζ·γ/√(1 − ζ²))                               (2)

with arcosh ζ and √(ζ² − 1) for ζ > 1. e falls from 1 without damping over exp(−2) at ζ = 1 to 1/(4·ζ²) for large ζ: no
dashpot gives back nothing. From any x and v the form E = x² + 2·ζ·x·ẋ/ω + ẋ²/ω² decays as exp(−2·ζ·ω·t), which gives
where the mass turns.

Source: Schwager and Pöschel (2007), "Coefficient of restitution and linear-dashpot model revisited", Granular Matter 9,
whose three cases are (2).
"""

from __future__ import annotations

import math

from corekit.compiled import compiled

__all__ = ["LEAST_RESTITUTION", "damping_ratio", "deepest"]

LEAST_RESTITUTION = 0.05
"""ζ = 1.96: a quarter of a per cent of the energy. Less needs dashpots so stiff that rest is reached late."""
_CRITICAL = 1e-7
"""|1 − ζ²| below which γ/√(1 − ζ²) is 1/ζ to rounding, by its series 1 + O(1 − ζ)."""


def _exponent(ratio: float) -> float:
    """−ln e of (2)."""
    difference = 1.0 - ratio * ratio
    if abs(difference) < _CRITICAL:
        return 2.0
    if difference > 0.0:
        return 2.0 * ratio * math.acos(ratio) / math.sqrt(difference)
    return 2.0 * ratio * math.acosh(ratio) / math.sqrt(-difference)


def damping_ratio(restitution: float) -> float:
    """ζ of (2) for e in [`LEAST_RESTITUTION`, 1] [-]; a smaller e counts as the least."""
    wanted = -math.log(max(restitution, LEAST_RESTITUTION))
    low, high = 0.0, 2.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if _exponent(middle) < wanted else (low, middle)
    return low


@compiled
def deepest(x: float, speed: float, omega: float, ratio: float) -> float:
    """Return the largest x that (1) reaches from x [m] and ẋ = `speed` > 0 [m/s], with ω [1/s] and ζ.

    0 where the mass creeps towards rest from below without a turn.
    """
    across, along = speed, omega * x + ratio * speed
    difference = 1.0 - ratio * ratio
    if difference > _CRITICAL:
        root = math.sqrt(difference)
        decay = ratio / root * math.atan2(across * root, along)
    elif difference < -_CRITICAL:
        root = math.sqrt(-difference)
        if along <= across * root:
            return 0.0
        decay = ratio / root * math.atanh(across * root / along)
    else:
        if along <= 0.0:
            return 0.0
        decay = ratio * across / along
    swing = x * x + 2.0 * ratio * x * speed / omega + (speed / omega) ** 2
    return math.exp(-decay) * math.sqrt(max(swing, 0.0))
