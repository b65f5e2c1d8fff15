"""What impulses need of all bodies' factorisations A = L·Lᵀ (`square_root`), each in one compiled call.

v_f = A⁻¹·b,   Y = L⁻¹·Jᵀ,   w₀ += J·x,   W = Yᵀ·Y,   x += L⁻ᵀ·(Y·λ)                    (1)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, final

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.linalg.array_table import ArrayTable, block, index_matrix, indices, vector
from corekit.linalg.matrices import Matrix
from corekit.linalg.square_root import SquareRootFactorisation, solve_blocks
from corekit.linalg.square_root import add_impulse_response as add_response
from corekit.linalg.square_root import forward_substitute as substitute

__all__ = [
    "DelassusAssembly",
    "add_impulse_response",
    "compute_delassus",
    "forward_substitute",
    "solve_free_velocity",
]

_KEPT: Final = 5
"""Arrays a body: L, prescribed velocities, b, values of the prescribed velocities, A."""
_FEW: Final = 12
"""Rows up to which W costs less than calling BLAS for it does."""


@compiled
def solve_free_velocity(factors: IntArray, x: Array) -> None:
    """Write x = A⁻¹·b (nv,), prescribed entries at their values."""
    places = index_matrix(factors, 0)
    for b in range(len(places)):
        own, at = x[places[b, 0] : places[b, 0] + places[b, 1]], 1 + _KEPT * b
        solve_blocks(
            block(factors, at), indices(factors, at + 1), vector(factors, at + 2), vector(factors, at + 3),
            block(factors, at + 4), own,
        )  # fmt: skip


@compiled
def forward_substitute(factors: IntArray, rows: Array, x: Array, velocity: Array, y: Array) -> None:
    """Write Y (nv, R), and add J·x to `velocity` (R,): (1).

    Args:
        factors: the table of `DelassusAssembly`.
        rows: J, with at least R rows.
    """
    places = index_matrix(factors, 0)
    for b in range(len(places)):
        first = places[b, 0]
        own = x[first : first + places[b, 1]]
        substitute(
            block(factors, 1 + _KEPT * b), indices(factors, 2 + _KEPT * b), rows, first, own, velocity, y
        )


@compiled
def compute_delassus(y: Array, delassus: Array) -> float:
    """Write W (R, R) of (1) and return its least diagonal entry."""
    n, count = y.shape
    if count > _FEW:
        np.dot(y.T, y, delassus)
    else:
        for i in range(count):
            for j in range(i + 1):
                delassus[i, j] = 0.0
        for k in range(n):
            for i in range(count):
                factor = y[k, i]
                for j in range(i + 1):
                    delassus[i, j] += factor * y[k, j]
        for i in range(count):
            for j in range(i):
                delassus[j, i] = delassus[i, j]
    least = np.inf
    for i in range(count):
        least = min(least, delassus[i, i])
    return least


@compiled
def add_impulse_response(factors: IntArray, entries: Array, impulse: Array, x: Array) -> None:
    """Add G·Jᵀ·λ to x (nv,), with the first n·R of `entries` as Y and R impulses: (1)."""
    places, n, count = index_matrix(factors, 0), len(x), len(impulse)
    y = entries[: n * count].reshape((n, count))
    for b in range(len(places)):
        first = places[b, 0]
        own = x[first : first + places[b, 1]]
        add_response(block(factors, 1 + _KEPT * b), indices(factors, 2 + _KEPT * b), y, first, impulse, own)


@final
class DelassusAssembly:
    """The table that (1) takes.

    Args:
        bodies: factorisation, b, values of the prescribed velocities, and A of every body; their buffers are never
            replaced.
    """

    def __init__(self, bodies: Sequence[tuple[SquareRootFactorisation, Array, Array, Matrix]]) -> None:
        places, arrays, first = [], [], 0
        for factor, right, fixed, template in bodies:
            lower = factor.lower_factor
            places.append((first, template.n))
            arrays += [lower, factor.prescribed, right, fixed, template.data.reshape(lower.shape)]
            first += template.n
        self.table = ArrayTable(np.array(places, dtype=np.int64).reshape(-1, 2), *arrays).table

    def solve_free_velocity(self, x: Array) -> None:
        """Write v_f of (1), prescribed entries at their values."""
        solve_free_velocity(self.table, x)
