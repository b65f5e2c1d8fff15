"""Stage R: Ruiz equilibration of the assembled problem."""

from __future__ import annotations

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array

__all__ = ["equilibrate"]

CLOSE = 1e-2
"""Sweeps end early once every squared norm is this close to 1."""


@compiled(fastmath={"reassoc", "contract"})  # sums in any order, nan and inf kept
def norms(squares: Array, row_scale: Array, column_scale: Array, row_norm: Array, column_norm: Array) -> None:
    """Squared 2-norms of the scaled matrix: rows complete, columns still without their own scale.

    Four rows at a time, so that the column sums are read and written a fourth as often.
    """
    n = row_norm.size
    whole = n - n % 4
    column_norm[:] = 0.0
    for i in range(0, whole, 4):
        one, two, three, four = squares[i], squares[i + 1], squares[i + 2], squares[i + 3]
        r1, r2, r3, r4 = row_scale[i], row_scale[i + 1], row_scale[i + 2], row_scale[i + 3]
        t1, t2, t3, t4 = 0.0, 0.0, 0.0, 0.0
        for j in range(n):
            t1 += one[j] * column_scale[j]
            t2 += two[j] * column_scale[j]
            t3 += three[j] * column_scale[j]
            t4 += four[j] * column_scale[j]
            column_norm[j] += one[j] * r1 + two[j] * r2 + three[j] * r3 + four[j] * r4
        row_norm[i], row_norm[i + 1] = t1 * r1, t2 * r2
        row_norm[i + 2], row_norm[i + 3] = t3 * r3, t4 * r4
    for i in range(whole, n):
        here, scale, total = squares[i], row_scale[i], 0.0
        for j in range(n):
            total += here[j] * column_scale[j]
            column_norm[j] += here[j] * scale
        row_norm[i] = total * scale


@compiled(fastmath={"reassoc", "contract"})  # sums in any order, nan and inf kept
def equilibrate(
    matrix: Array,
    vector: Array,
    sweeps: int,
    symmetric: bool,
    squares: Array,
    row_norm: Array,
    column_norm: Array,
    row_scale: Array,
    column_scale: Array,
) -> None:
    """Scale rows and columns towards unit 2-norm, in place.

        r ← r/√‖A_i,:‖,   c ← c/√‖A_:,j‖,   A ← diag(r)·A·diag(c),   b ← r·b               (1)

    Positive scalings keep complementarity: z_phys = c·z, w_phys = w/r. The symmetric form uses
    r = c ← c/(‖A_i,:‖·‖A_:,i‖)^¼ and keeps W's definiteness. Zero rows and columns keep scale 1.

    The norms are those of diag(r)·A·diag(c), Σ_j r_i²·A_ij²·c_j²: the squares of A are taken once, and A
    itself is scaled once, at the end.

    Args:
        matrix, vector: A (n, n) and b (n,), scaled in place.
        sweeps: at most that many repetitions of (1); 0 leaves everything as it is.
        symmetric: one scaling for rows and columns.
        squares: work, shape (n, n).
        row_norm, column_norm: work, shape (n,).
        row_scale, column_scale: r and c, shape (n,), written.
    Source: Ruiz (2001), "A scaling algorithm to equilibrate both rows and columns norms in matrices".
    """
    n = vector.size
    row_scale[:] = 1.0  # squared until the end
    column_scale[:] = 1.0
    if sweeps == 0:
        return
    for i in range(n):
        for j in range(n):
            squares[i, j] = matrix[i, j] ** 2
    for _ in range(sweeps):
        norms(squares, row_scale, column_scale, row_norm, column_norm)
        worst = 0.0
        for i in range(n):
            of_row = row_norm[i] if row_norm[i] > 0.0 else 1.0
            of_column = column_norm[i] * column_scale[i] if column_norm[i] > 0.0 else 1.0
            if symmetric:
                of_row = of_column = np.sqrt(of_row * of_column)
            worst = max(worst, abs(of_row - 1.0), abs(of_column - 1.0))
            row_scale[i] /= np.sqrt(of_row)
            column_scale[i] /= np.sqrt(of_column)
        if worst < CLOSE:
            break
    for i in range(n):
        row_scale[i] = np.sqrt(row_scale[i])
        column_scale[i] = np.sqrt(column_scale[i])
    for i in range(n):
        vector[i] *= row_scale[i]
        for j in range(n):
            matrix[i, j] *= row_scale[i] * column_scale[j]
