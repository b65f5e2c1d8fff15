"""The halves of all bodies' factorisations in one compiled call: see `halving` for what they are.

v_f = A⁻¹·b,   Y = L⁻¹·Jᵀ,   w₀ += J·x,   W = Yᵀ·Y,   x += L⁻ᵀ·(Y·λ)                    (1)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, final

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.linalg.array_table import ArrayTable, index_matrix, indices, matrix, vector
from corekit.linalg.diagonal_factor import answer_diagonal, free_diagonal, halve_diagonal
from corekit.linalg.halving import Halving
from corekit.linalg.matrices import Matrix
from corekit.linalg.small_factor import answer_small, free_small, halve_small

__all__ = ["Halves", "answer", "free", "halve", "product"]

_KEPT: Final = 5
"""Arrays a body: L or A⁻¹, prescribed velocities, b, values of the prescribed velocities, A."""
_FEW: Final = 12
"""Rows up to which W costs less than calling BLAS for it does."""


@compiled
def free(factors: IntArray, x: Array) -> None:
    """Write x = A⁻¹·b (nv,), prescribed entries at their values."""
    places = index_matrix(factors, 0)
    for b in range(len(places)):
        own, at = x[places[b, 0] : places[b, 0] + places[b, 1]], 1 + _KEPT * b
        if places[b, 2]:
            free_diagonal(
                vector(factors, at), indices(factors, at + 1), vector(factors, at + 2), vector(factors, at + 3), own
            )  # fmt: skip
        else:
            free_small(
                matrix(factors, at), indices(factors, at + 1), vector(factors, at + 2), vector(factors, at + 3),
                matrix(factors, at + 4), own,
            )  # fmt: skip


@compiled
def halve(factors: IntArray, rows: Array, x: Array, free: Array, half: Array) -> None:
    """Write Y (nv, R), and add J·x to `free` (R,): (1).

    Args:
        factors: the table of `Halves`.
        rows: J, with at least R rows.
    """
    places = index_matrix(factors, 0)
    for b in range(len(places)):
        first = places[b, 0]
        own = x[first : first + places[b, 1]]
        if places[b, 2]:
            halve_diagonal(vector(factors, 1 + _KEPT * b), rows, first, own, free, half)
        else:
            halve_small(
                matrix(factors, 1 + _KEPT * b), indices(factors, 2 + _KEPT * b), rows, first, own, free, half
            )


@compiled
def product(half: Array, delassus: Array) -> float:
    """Write W (R, R) of (1); returns its least diagonal entry."""
    n, count = half.shape
    if count > _FEW:
        np.dot(half.T, half, delassus)
    else:
        for i in range(count):
            for j in range(i + 1):
                delassus[i, j] = 0.0
        for k in range(n):
            for i in range(count):
                factor = half[k, i]
                for j in range(i + 1):
                    delassus[i, j] += factor * half[k, j]
        for i in range(count):
            for j in range(i):
                delassus[j, i] = delassus[i, j]
    least = np.inf
    for i in range(count):
        least = min(least, delassus[i, i])
    return least


@compiled
def answer(factors: IntArray, half: Array, impulse: Array, x: Array) -> None:
    """Add G·Jᵀ·λ to x (nv,), with the first n·R entries of `half` as Y and R impulses: (1)."""
    places, n, count = index_matrix(factors, 0), len(x), len(impulse)
    y = half[: n * count].reshape((n, count))
    for b in range(len(places)):
        first = places[b, 0]
        own = x[first : first + places[b, 1]]
        if places[b, 2]:
            answer_diagonal(vector(factors, 1 + _KEPT * b), y, first, impulse, own)
        else:
            answer_small(
                matrix(factors, 1 + _KEPT * b), indices(factors, 2 + _KEPT * b), y, first, impulse, own
            )


@final
class Halves:
    """The table that (1) takes.

    Args:
        bodies: factorisation, b, values of the prescribed velocities, and A of every body; their buffers are never
            replaced.
    """

    def __init__(self, bodies: Sequence[tuple[Halving, Array, Array, Matrix]]) -> None:
        places, arrays, first = [], [], 0
        for factor, right, fixed, template in bodies:
            lower, prescribed = factor.half()
            places.append((first, len(lower), lower.ndim == 1))
            arrays += [lower, prescribed, right, fixed, template.data]
            first += len(lower)
        self.table = ArrayTable(np.array(places, dtype=np.int64).reshape(-1, 3), *arrays).table

    def free(self, x: Array) -> None:
        """Write v_f of (1), prescribed entries at their values."""
        free(self.table, x)
