"""What every iterate of `alpha_newton` does with vectors, in one call each."""

from __future__ import annotations

import math

from corekit.compiled import compiled
from corekit.data.arrays import Array

__all__ = ["accelerate", "average", "move_ends"]


@compiled
def average(mass: float, force: float, a0: Array, w0: Array, w1: Array, a1: Array) -> None:
    """Write a₁ from (1 − α_m)·a₁ + α_m·a₀ = (1 − α_f)·w₁ + α_f·w₀."""
    for i in range(len(a1)):
        a1[i] = ((1.0 - force) * w1[i] + force * w0[i] - mass * a0[i]) / (1.0 - mass)


@compiled
def move_ends(
    beta: float, gamma: float, h: float, v0: Array, a0: Array, a1: Array, mean: Array, end: Array
) -> None:  # fmt: skip
    """Write v̄ = v₀ + h·((½ − β)·a₀ + β·a₁), with which q moves over h, and v₁ = v₀ + h·((1 − γ)·a₀ + γ·a₁)."""
    for i in range(len(v0)):
        mean[i] = v0[i] + h * ((0.5 - beta) * a0[i] + beta * a1[i])
        end[i] = v0[i] + h * ((1.0 - gamma) * a0[i] + gamma * a1[i])


@compiled
def _take_out(turn: Array, move: Array, of: Array, moved: Array) -> None:
    """Take the part along the unit vector `turn` out of a vector, and as much of `move` out of what goes with it."""
    share = 0.0
    for i in range(len(turn)):
        share += turn[i] * of[i]
    for i in range(len(turn)):
        of[i] -= share * turn[i]
        moved[i] -= share * move[i]


@compiled
def accelerate(count: int, places: Array, steps: Array, step: Array) -> None:
    """Take w_k and Δ_k, and overwrite Δ_k by Anderson's acceleration by the last steps, `count` of them with this one.

        γ = argmin |Δ_k − Σ γ_j·(Δ_{j+1} − Δ_j)|,   step  Δ_k − Σ γ_j·(w_{j+1} − w_j + Δ_{j+1} − Δ_j)           (1)

    by the modified Gram–Schmidt process; differences in the span of later ones, to 1e-8, are left out.

    Args:
        count: rows of `places` and `steps` in use, the last of them w_k and Δ_k.
        places, steps: w_j and Δ_j, shape (room, n).
        step: Δ_k, overwritten, shape (n,).

    Source: Walker and Ni (2011), "Anderson acceleration for fixed-point iterations".
    """
    n, m = len(step), count - 1
    turns, moves = steps[1:count] - steps[:m], places[1:count] - places[:m]
    for j in range(m - 1, -1, -1):
        turn, move = turns[j], moves[j]
        before = 0.0
        for i in range(n):
            move[i] += turn[i]
            before += turn[i] * turn[i]
        for other in range(j + 1, m):
            _take_out(turns[other], moves[other], turn, move)
        size = 0.0
        for i in range(n):
            size += turn[i] * turn[i]
        if not size > 1e-16 * before:
            turn[:] = 0.0
            move[:] = 0.0
            continue
        scale = 1.0 / math.sqrt(size)
        for i in range(n):
            turn[i] *= scale
            move[i] *= scale
    rest = step.copy()
    for j in range(m - 1, -1, -1):
        _take_out(turns[j], moves[j], rest, step)
