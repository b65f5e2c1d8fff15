"""Lemke's complementary pivoting as a compiled kernel on a condensed tableau.

The problem is widened by an artificial variable z₀ ≥ 0 and a covering vector d > 0,

    w = A·z + d·z₀ + b,                                                                    (1)

for which z = 0, z₀ = max(−b/d) is feasible. Pivots follow the path of *almost* complementary basic
solutions, z_i·w_i = 0 for all i: the complement of what left the basis enters it. The path ends when z₀
leaves (solved) or when nothing blocks the entering variable (a secondary ray).

The n basic variables stand as an affine function of the n + 1 nonbasic ones,

    x_B = q + T·x_N,                                                                       (2)

so a pivot costs n·(n + 2) multiply-adds. Variables are numbered w_i = i, z_i = n + i, z₀ = 2n.

Ties, abundant where contacts touch symmetrically, are broken as if b were b + (ε, ε², …, εⁿ): among tied
rows the lexicographically smallest (q, B⁻¹)_i/pivot leaves, which excludes cycling. B⁻¹ is not stored
apart: its column j is −T's column of w_j where w_j is nonbasic, a unit column where it is basic.

Source: Cottle, Pang, Stone (2009), "The Linear Complementarity Problem", sections 4.4 and 4.9.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from corekit.data.arrays import Array, IntArray

__all__ = ["LIMIT", "RAY", "SOLVED", "lemke_path"]

SOLVED, RAY, LIMIT = 0, 1, 2
"""How a path ended."""


@njit(cache=True)
def exchange(table: Array, value: Array, row: int, column: int) -> None:
    """Swap basic variable `row` with nonbasic variable `column` in (2), in place."""
    n = value.size
    inverse = 1.0 / table[row, column]
    pivot_row = table[row]
    for j in range(n + 1):
        pivot_row[j] *= -inverse
    pivot_row[column] = inverse
    value[row] *= -inverse
    for i in range(n):
        target = table[i]
        slope = target[column]
        if i == row or slope == 0.0:
            continue
        target[column] = 0.0
        for j in range(n + 1):
            target[j] += slope * pivot_row[j]
        value[i] += slope * value[row]


@njit(cache=True)
def comes_first(table: Array, place: IntArray, column: int, one: int, two: int) -> bool:
    """Whether row `one` leaves before the tied row `two`: smaller row of B⁻¹ per unit of descent."""
    per_one, per_two = -1.0 / table[one, column], -1.0 / table[two, column]
    rounding = 0.0
    for j in range(table.shape[1]):
        rounding = max(rounding, abs(table[one, j] * per_one), abs(table[two, j] * per_two))
    rounding *= 1e-12
    for j in range(table.shape[0]):
        where = place[j]
        if where >= 0:
            left = per_one if where == one else 0.0
            right = per_two if where == two else 0.0
        else:
            left = -table[one, -1 - where] * per_one
            right = -table[two, -1 - where] * per_two
        if abs(left - right) > rounding:
            return left < right
    return False


@njit(cache=True)
def blocking_row(
    table: Array,
    value: Array,
    basic: IntArray,
    place: IntArray,
    column: int,
    size: float,
    pivot_tolerance: float,
    tie_tolerance: float,
    slope: Array,
    tied: IntArray,
) -> int:
    """The basic variable that first reaches zero as the nonbasic `column` grows, or −1 on a ray.

    A row blocks if it falls faster than pivot_tolerance·max|slope|. Rows whose ratio exceeds the smallest
    by no more than rounding are tied: z₀ leaves if it is among them, else the lexicographic rule decides
    between those whose pivots are not needlessly small.

    Args:
        size: max |b|, against which rounding in the values is judged.
        slope, tied: work, shape (n,).
    """
    n = value.size
    steepest = 0.0
    for i in range(n):
        fall = -table[i, column]
        slope[i] = fall
        if abs(fall) > steepest:
            steepest = abs(fall)
    least_slope = pivot_tolerance * steepest
    ratio = np.inf
    for i in range(n):
        if slope[i] > least_slope and value[i] < ratio * slope[i]:
            ratio = max(value[i], 0.0) / slope[i]
    if not ratio < np.inf:
        return -1
    count, largest_pivot = 0, 0.0
    for i in range(n):
        if slope[i] > least_slope:
            excess = value[i] - ratio * slope[i]
            if excess <= tie_tolerance * (size + abs(value[i])):
                if basic[i] == 2 * n:
                    return i
                tied[count] = i
                count += 1
                largest_pivot = max(largest_pivot, slope[i])
    leaving = -1
    for k in range(count):
        i = tied[k]
        if slope[i] > 1e-5 * largest_pivot and (leaving < 0 or comes_first(table, place, column, i, leaving)):
            leaving = i
    return leaving


@njit(cache=True)
def lemke_path(
    matrix: Array,
    vector: Array,
    covering: Array,
    table: Array,
    value: Array,
    basic: IntArray,
    nonbasic: IntArray,
    place: IntArray,
    slope: Array,
    tied: IntArray,
    max_pivots: int,
    pivot_tolerance: float,
    tie_tolerance: float,
) -> tuple[int, int]:
    """Follow Lemke's path from z = 0.

    Args:
        matrix, vector: A (n, n) and b (n,).
        covering: d > 0, shape (n,).
        table, value: T (n, n + 1) and q (n,) of (2), written; q holds the basic variables at the end.
        basic, nonbasic: which variable stands in a row (n,) or column (n + 1,), written.
        place: where a variable stands, shape (2n + 1,), written: its row, or −1 − its column.
        slope, tied: work, shape (n,).
        max_pivots: pivots before it gives up.
        pivot_tolerance, tie_tolerance: see `blocking_row`.
    Returns:
        How it ended (SOLVED, RAY or LIMIT) and the number of pivots.
    """
    n = vector.size
    size = 0.0
    row = -1
    for i in range(n):
        table[i, :n] = matrix[i]
        table[i, n] = covering[i]
        value[i] = vector[i]
        basic[i] = i
        nonbasic[i] = n + i
        place[i] = i
        place[n + i] = -1 - i
        size = max(size, abs(vector[i]))
        # of equally negative entries the last is the lexicographically smallest
        if row < 0 or vector[i] * covering[row] <= vector[row] * covering[i]:
            row = i
    nonbasic[n] = 2 * n
    place[2 * n] = -1 - n
    if row < 0 or vector[row] >= 0.0:
        return SOLVED, 0
    column = n
    for pivots in range(1, max_pivots + 1):
        exchange(table, value, row, column)
        left, entered = basic[row], nonbasic[column]
        basic[row], nonbasic[column] = entered, left
        place[entered], place[left] = row, -1 - column
        if left == 2 * n:
            return SOLVED, pivots
        entering = left - n if left >= n else left + n
        column = -1 - int(place[entering])
        row = blocking_row(
            table, value, basic, place, column, size, pivot_tolerance, tie_tolerance, slope, tied
        )
        if row < 0:
            return RAY, pivots
    return LIMIT, max_pivots
