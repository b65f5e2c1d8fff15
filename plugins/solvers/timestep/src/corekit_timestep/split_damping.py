"""Damping that a split scheme of explicit smooth motion takes linearly implicitly, beside the contact impulses.

    (M + θh·D)·v⁺ = M·v_f + θh·D·v₀ + Jᵀλ                                                 (1)

The smooth part, held at f + D·(v − v₀), gives v_f, no stiffer than the springs are. With the largest rate
d = |λ|_max(M⁻¹D)

    θ = max(½, 1 − 1/(h·d))                                                               (2)

is the least θ ≥ ½ at which no mode changes its sign in a step: the amplification (1 − (1 − θ)hd)/(1 + θhd) is
never negative. Order two in the damping as h → 0, stable for every h·d; a body that rests or creeps at
f = D·v keeps doing so exactly, carried by exactly the impulse that balances f.
"""

from __future__ import annotations

from corekit.data.state import State
from corekit.roles.integrator import System

__all__ = ["implicit_share"]

_UNDERESTIMATE = 1.1
"""The rate d is estimated from below; θ is chosen for one that is this much larger."""


def implicit_share(system: System, state: State, h: float, split_above: float) -> tuple[float, bool]:
    """θ of (1), and whether the smooth part holds the damping at its start.

    Where h·d ≤ `split_above` the smooth part takes damping along, and A has θ = ½ of it, so that impulses are
    damped as the motion is. `system.acceleration` was asked at `state` before.
    """
    stiffness = h * system.damping_rate(state)
    if not stiffness:
        return 0.0, False
    if stiffness <= split_above:
        return 0.5, False
    return max(0.5, 1.0 - 1.0 / (_UNDERESTIMATE * stiffness)), True
