"""Compiled vector operations of the iterates of `alpha_newton`."""

from __future__ import annotations

import math

from corekit.compiled import compiled
from corekit.data.arrays import Array

__all__ = ["accelerate_increment", "average", "compute_end_velocities"]


@compiled
def average(mass: float, force: float, a0: Array, w0: Array, w1: Array, a1: Array) -> None:
    """Write a₁ from (1 − α_m)·a₁ + α_m·a₀ = (1 − α_f)·w₁ + α_f·w₀."""
    for i in range(len(a1)):
        a1[i] = ((1.0 - force) * w1[i] + force * w0[i] - mass * a0[i]) / (1.0 - mass)


@compiled
def compute_end_velocities(
    beta: float, gamma: float, h: float, v0: Array, a0: Array, a1: Array, mean: Array, end: Array
) -> None:  # fmt: skip
    """Write v̄ = v₀ + h·((½ − β)·a₀ + β·a₁), the mean velocity of q, and v₁ = v₀ + h·((1 − γ)·a₀ + γ·a₁)."""
    for i in range(len(v0)):
        mean[i] = v0[i] + h * ((0.5 - beta) * a0[i] + beta * a1[i])
        end[i] = v0[i] + h * ((1.0 - gamma) * a0[i] + gamma * a1[i])


@compiled
def _remove_component(direction: Array, update: Array, vector: Array, image: Array) -> None:
    """Subtract a vector's component along the unit vector `direction`, and as much of `update` from its image."""
    component = 0.0
    for i in range(len(direction)):
        component += direction[i] * vector[i]
    for i in range(len(direction)):
        vector[i] -= component * direction[i]
        image[i] -= component * update[i]


@compiled
def accelerate_increment(count: int, iterates: Array, increments: Array, increment: Array) -> None:
    """Overwrite Δ_k by Anderson's acceleration with the last `count` increments, Δ_k among them.

        γ = argmin |Δ_k − Σ γ_j·(Δ_{j+1} − Δ_j)|,   result  Δ_k − Σ γ_j·(w_{j+1} − w_j + Δ_{j+1} − Δ_j)         (1)

    by the modified Gram–Schmidt process; differences in the span of later ones, to 1e-8, are omitted.

    Args:
        count: rows of `iterates` and `increments` in use, the last of them w_k and Δ_k.
        iterates, increments: w_j and Δ_j, shape (capacity, n).
        increment: Δ_k, overwritten, shape (n,).

    Source: Walker and Ni (2011), "Anderson acceleration for fixed-point iterations".
    """
    n, m = len(increment), count - 1
    directions, updates = increments[1:count] - increments[:m], iterates[1:count] - iterates[:m]
    for j in range(m - 1, -1, -1):
        direction, update = directions[j], updates[j]
        full_square = 0.0
        for i in range(n):
            update[i] += direction[i]
            full_square += direction[i] * direction[i]
        for later in range(j + 1, m):
            _remove_component(directions[later], updates[later], direction, update)
        square = 0.0
        for i in range(n):
            square += direction[i] * direction[i]
        if not square > 1e-16 * full_square:
            direction[:] = 0.0
            update[:] = 0.0
            continue
        scale = 1.0 / math.sqrt(square)
        for i in range(n):
            direction[i] *= scale
            update[i] *= scale
    remainder = increment.copy()
    for j in range(m - 1, -1, -1):
        _remove_component(directions[j], updates[j], remainder, increment)
