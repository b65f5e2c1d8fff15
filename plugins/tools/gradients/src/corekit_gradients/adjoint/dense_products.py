"""Compiled products and solutions for one body with small dense M, D and K: glue would take longer than they do."""

from __future__ import annotations

from typing import Final

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit.linalg.small_lu import back_substitute, factorise_in_place

__all__ = [
    "SMALL", "add_transposed", "add_transposed_blocks", "displace", "leaves", "solve_small", "solve_transposed"
]  # fmt: skip

SMALL: Final = 48
"""Velocities up to which these are quicker than calls of LAPACK."""


@compiled
def displace(
    q: Array, v: Array, along_q: Array, along_v: Array, step: float, out_q: Array, out_v: Array
) -> None:
    """Write q and v moved along directions."""
    for i in range(len(q)):
        out_q[i], out_v[i] = q[i] + step * along_q[i], v[i] + step * along_v[i]


@compiled
def add_transposed(matrix: Array, factor: float, w: Array, out: Array) -> None:
    """out += factor·matrixᵀ·w."""
    for i in range(len(w)):
        own = factor * w[i]
        for j in range(len(out)):
            out[j] += matrix[i, j] * own


@compiled
def add_transposed_blocks(blocks: Array, factor: float, w: Array, out: Array) -> None:
    """out += factor·matrixᵀ·w of equal blocks on the diagonal, (b, k, k)."""
    k = blocks.shape[1]
    for b in range(len(blocks)):
        add_transposed(blocks[b], factor, w[b * k : (b + 1) * k], out[b * k : (b + 1) * k])


@compiled
def solve_small(matrix: Array, right: Array, out: Array) -> bool:
    """Write x of matrix·x = right; False if a pivot is zero."""
    lu, order = matrix.copy(), np.empty(len(right), dtype=np.int64)
    if not factorise_in_place(lu, order):
        return False
    for i in range(len(right)):
        out[i] = right[order[i]]
    back_substitute(lu, out)
    return True


@compiled
def leaves(
    matrix: Array, change: Array, rhs: Array, mass: Array, velocity: Array, force: Array
) -> tuple[float, float]:
    """The largest entry of A·Δ − r, and of the terms M·v + |force| that it is compared with."""
    left, weight, push = 0.0, 0.0, 0.0
    for i in range(len(rhs)):
        total, own = -rhs[i], 0.0
        for j in range(len(change)):
            total += matrix[i, j] * change[j]
            own += mass[i, j] * velocity[j]
        if not abs(total) <= left:  # what is no number too
            left = abs(total)
        weight, push = max(weight, abs(own)), max(push, abs(force[i]))
    return left, weight + push


@compiled
def solve_transposed(
    mass: Array,
    damping: Array,
    stiffness: Array,
    by_mass: float,
    c_v: float,
    c_q: float,
    right: Array,
    out: Array,
) -> bool:
    """Write w of (by_mass·M + c_v·D + c_q·K)ᵀ·w = right; False if a pivot is zero."""
    n = len(right)
    lu, order = np.empty((n, n)), np.empty(n, dtype=np.int64)
    for i in range(n):
        for j in range(n):
            lu[j, i] = by_mass * mass[i, j] + c_v * damping[i, j] + c_q * stiffness[i, j]
    if not factorise_in_place(lu, order):
        return False
    for i in range(n):
        out[i] = right[order[i]]
    back_substitute(lu, out)
    return True
