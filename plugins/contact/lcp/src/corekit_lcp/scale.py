"""Scales of the assembled problem: its units, and stage R, Ruiz equilibration."""

from __future__ import annotations

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray

__all__ = ["add_units", "change_units", "equilibrate"]

CLOSE = 1e-2
"""Distance of all squared norms from 1 at which the sweeps end early."""


@compiled(fastmath={"reassoc", "contract"})  # sums in any order, nan and inf kept
def sweep(
    squares: Array,
    count: int,
    copies: Array,
    symmetric: bool,
    row_norm: Array,
    column_norm: Array,
    row_scale: Array,
    column_scale: Array,
) -> float:
    """Repeat (1) once on squared scales; return the largest distance of the squared norms before it from 1.

    It handles four rows at once, so that the column sums are read and written a fourth as often.
    """
    multiple_of_four = count - count % 4
    column_norm[:count] = 0.0
    for i in range(0, multiple_of_four, 4):
        one, two, three, four = squares[i], squares[i + 1], squares[i + 2], squares[i + 3]
        r1, r2, r3, r4 = row_scale[i], row_scale[i + 1], row_scale[i + 2], row_scale[i + 3]
        t1, t2, t3, t4 = 0.0, 0.0, 0.0, 0.0
        for j in range(count):
            t1 += one[j] * column_scale[j]
            t2 += two[j] * column_scale[j]
            t3 += three[j] * column_scale[j]
            t4 += four[j] * column_scale[j]
            column_norm[j] += one[j] * r1 + two[j] * r2 + three[j] * r3 + four[j] * r4
        row_norm[i], row_norm[i + 1], row_norm[i + 2], row_norm[i + 3] = t1, t2, t3, t4
    for i in range(multiple_of_four, count):
        here, scale, total = squares[i], row_scale[i], 0.0
        for j in range(count):
            total += here[j] * column_scale[j]
            column_norm[j] += here[j] * scale
        row_norm[i] = total
    for p in range(count):
        row_norm[p] = row_norm[p] * row_scale[p] / copies[p] if row_norm[p] > 0.0 else 1.0
        column_norm[p] = column_norm[p] * column_scale[p] / copies[p] if column_norm[p] > 0.0 else 1.0
    if symmetric:
        for p in range(count):
            row_norm[p] = column_norm[p] = np.sqrt(row_norm[p] * column_norm[p])
    for p in range(count):  # apart from the others: four at a time
        row_scale[p] /= np.sqrt(row_norm[p])
        column_scale[p] /= np.sqrt(column_norm[p])
    worst = 0.0
    for p in range(count):
        worst = max(worst, abs(row_norm[p] - 1.0), abs(column_norm[p] - 1.0))
    return worst


@compiled
def equilibrate(
    matrix: Array,
    vector: Array,
    sweeps: int,
    symmetric: bool,
    paired_row: IntArray,
    leader: IntArray,
    copies: Array,
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

    The norms are those of diag(r)·A·diag(c), Σ_j r_i²·A_ij²·c_j²: the squares of A are computed once, and A itself is
    scaled once, at the end. Rows and columns of opposite friction directions differ in their signs alone and have
    equal norms in every sweep: one of them is swept and counts for both.

    Args:
        matrix, vector: A (n, n) and b (n,), scaled in place.
        sweeps: limit of the repetitions of (1); 0: no scaling.
        symmetric: one scaling for rows and columns.
        paired_row: shape (n,): the first variable with the same |A_ij| in its row and in its column, mostly itself.
        leader, copies: workspace, shape (n,). squares: workspace, shape (n, n).
        row_norm, column_norm: workspace, shape (n,).
        row_scale, column_scale: r and c, shape (n,), written.
    Source: Ruiz (2001), "A scaling algorithm to equilibrate both rows and columns norms in matrices".
    """
    n = vector.size
    row_scale[:] = 1.0
    column_scale[:] = 1.0
    if sweeps == 0:
        return
    copies[:] = 0.0
    count = n
    for i in range(n):
        copies[paired_row[i]] += 1.0
        if paired_row[i] != i:
            count -= 1
    p = 0
    for i in range(n):
        if paired_row[i] == i:
            leader[p], copies[p] = i, copies[i]
            p += 1
    for p in range(count):
        # squared until the end, times the copies that the sums of `sweep` have to count
        row_scale[p] = column_scale[p] = copies[p]
        from_row, to_row = matrix[leader[p]], squares[p]
        for q in range(count):
            to_row[q] = from_row[leader[q]] ** 2
    for _ in range(sweeps):
        if sweep(squares, count, copies, symmetric, row_norm, column_norm, row_scale, column_scale) < CLOSE:
            break
    for p in range(count - 1, -1, -1):  # leader[p] ≥ p: nothing is overwritten before it is read
        row_scale[leader[p]] = np.sqrt(row_scale[p] / copies[p])
        column_scale[leader[p]] = np.sqrt(column_scale[p] / copies[p])
    for i in range(n):
        row_scale[i], column_scale[i] = row_scale[paired_row[i]], column_scale[paired_row[i]]
        vector[i] *= row_scale[i]
    for i in range(n):
        for j in range(n):
            matrix[i, j] *= row_scale[i] * column_scale[j]


@compiled
def unit_scales(velocity_unit: float, impulse_unit: float, coefficient: Array, j: int) -> tuple[float, float]:
    """Row and column scale that bring variable j, an impulse or the velocity γ or s, into other units."""
    if coefficient[j, 0] == 0.0 and coefficient[j, 1] == 0.0:
        return impulse_unit, 1.0 / velocity_unit
    return velocity_unit, 1.0 / impulse_unit


@compiled
def change_units(
    velocity_unit: float, impulse_unit: float, coefficient: Array, matrix: Array, vector: Array
) -> None:
    """Bring A and b of `assemble`, in units of the problem's own, into others, in place.

    Args:
        velocity_unit, impulse_unit: the problem's own over the others; both 1: nothing changes.
        coefficient: of `assemble`, shape (n, 2).
        matrix, vector: A (n, n) and b (n,).
    """
    if velocity_unit == 1.0 and impulse_unit == 1.0:
        return
    for i in range(vector.size):
        of_row, _ = unit_scales(velocity_unit, impulse_unit, coefficient, i)
        vector[i] *= of_row
        for j in range(vector.size):
            matrix[i, j] *= of_row * unit_scales(velocity_unit, impulse_unit, coefficient, j)[1]


@compiled
def add_units(
    velocity_unit: float, impulse_unit: float, coefficient: Array, row_scale: Array, column_scale: Array
) -> None:
    """Multiply scales by those of `change_units`, so that they lead to units of the problem's own, in place."""
    for j in range(row_scale.size):
        of_row, of_column = unit_scales(velocity_unit, impulse_unit, coefficient, j)
        row_scale[j] *= of_row
        column_scale[j] *= of_column
