"""The one-solve problem at the start of a step, of a small dense body, in one compiled call.

    A = (1 + σ)·M + h·D + βh²·K,     b = M·v₀ + h·f + h·D·v₀ + σ·M·v₀                          (1)

K and D are symmetrised on the way.
"""

from __future__ import annotations

from corekit.compiled import compiled
from corekit.data.arrays import Array

__all__ = ["start_form"]


@compiled
def start_form(
    mass: Array, force: Array, stiffness: Array, damping: Array, v: Array, h: float, by_damping: float,
    by_stiffness: float, shift: float, matrix: Array, right: Array,
) -> None:  # fmt: skip
    """Write A (n, n) and b (n,) of (1).

    Args:
        stiffness, damping: K and D, not read where their factors are 0.
        by_damping, by_stiffness: h and βh², or 0.
        shift: σ.
    """
    n = len(v)
    for i in range(n):
        total, damped = 0.0, 0.0
        for j in range(n):
            m = mass[i, j]
            total += m * v[j]
            entry = m
            if by_damping != 0.0:
                d = 0.5 * (damping[i, j] + damping[j, i])
                damped += d * v[j]
                entry += by_damping * d
            if by_stiffness != 0.0:
                entry += by_stiffness * (0.5 * (stiffness[i, j] + stiffness[j, i]))
            matrix[i, j] = entry + shift * m
        right[i] = total + h * force[i] + by_damping * damped + shift * total
