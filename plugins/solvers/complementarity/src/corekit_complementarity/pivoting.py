"""Lemke's complementary pivoting as a compiled kernel in revised form.

The problem is widened by an artificial variable z₀ ≥ 0 and a covering vector d > 0,

    w = A·z + d·z₀ + b,                                                                    (1)

for which z = 0, z₀ = max(−b/d) is feasible. Pivots follow the path of *almost* complementary basic
solutions, z_i·w_i = 0 for all i: the complement of what left the basis enters it. The path ends when z₀
leaves (solved) or when nothing blocks the entering variable (a secondary ray).

Of the n basic variables few are z: as many as the problem has active conditions, k. With C the basic z (z₀
among them) and R the rows whose w is nonbasic, all that is kept of the basis is the small inverse

    K = [A d]_RC⁻¹,     z_C = −K·b_R,     w_i = b_i + [A d]_iC·z_C                          (2)

so that a pivot costs n·k + k², not n². Where z_e enters, z_C moves along −K·[A d]_Re; where w_e enters, along
K's column of e. K follows by one of four rank-one formulas (`update`), and is formed anew from A every so many
pivots, so that rounding does not build up.

Ties, abundant where contacts touch symmetrically, are broken as if b were b + (ε, ε², …, εⁿ): among tied
variables the one leaves whose coefficients of ε in (2), over its descent, are lexicographically smallest,
which excludes cycling.

Source: Cottle, Pang, Stone (2009), "The Linear Complementarity Problem", sections 4.4 and 4.9.
"""

from __future__ import annotations

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit_complementarity.copying import copy
from corekit_complementarity.small_inverse import invert, update

__all__ = ["LIMIT", "RAY", "SOLVED", "lemke_path"]

SOLVED, RAY, LIMIT = 0, 1, 2
"""How a path ended."""

FRESH = 40
"""Pivots after which K, z and w are formed anew from A."""


@compiled
def direction(
    transposed: Array,
    inverse: Array,
    count: int,
    column: IntArray,
    row: IntArray,
    entering_z: int,
    entering_row: int,
    dx: Array,
    dw: Array,
) -> None:
    """How z_C and w change per unit of the entering variable.

    Args:
        transposed: [A d]ᵀ, shape (n + 1, n), of what is or was basic.
        inverse, count, column, row: K, k, C, R of (2).
        entering_z: index of the entering z, or −1. entering_row: else the position in R of the entering w.
        dx, dw: shapes (k,) and (n,), written; dw of nonbasic w is rounding only.
    """
    n = dw.size
    if entering_z >= 0:
        enters = transposed[entering_z]
        for q in range(count):
            dw[q] = enters[row[q]]
        # four rows at a time: each sum alone would wait for its last term
        whole = count - count % 4
        for p in range(0, whole, 4):
            one, two, three, four = inverse[p], inverse[p + 1], inverse[p + 2], inverse[p + 3]
            t1, t2, t3, t4 = 0.0, 0.0, 0.0, 0.0
            for q in range(count):
                t1 -= one[q] * dw[q]
                t2 -= two[q] * dw[q]
                t3 -= three[q] * dw[q]
                t4 -= four[q] * dw[q]
            dx[p], dx[p + 1], dx[p + 2], dx[p + 3] = t1, t2, t3, t4
        for p in range(whole, count):
            total = 0.0
            for q in range(count):
                total -= inverse[p, q] * dw[q]
            dx[p] = total
        for i in range(n):
            dw[i] = enters[i]
    else:
        for p in range(count):
            dx[p] = inverse[p, entering_row]
        for i in range(n):
            dw[i] = 0.0
    whole = count - count % 4  # four columns at a time: the sums are read and written a fourth as often
    for p in range(0, whole, 4):
        first, second = transposed[column[p]], transposed[column[p + 1]]
        third, fourth = transposed[column[p + 2]], transposed[column[p + 3]]
        c1, c2, c3, c4 = dx[p], dx[p + 1], dx[p + 2], dx[p + 3]
        for i in range(n):
            dw[i] += c1 * first[i] + c2 * second[i] + c3 * third[i] + c4 * fourth[i]
    for p in range(whole, count):
        change, of_it = dx[p], transposed[column[p]]
        for i in range(n):
            dw[i] += change * of_it[i]


@compiled
def perturbation(
    transposed: Array,
    inverse: Array,
    count: int,
    column: IntArray,
    row: IntArray,
    candidate: int,
    fall: Array,
    out: Array,
) -> float:
    """Coefficients of ε, ε², … in a basic variable, over its descent; returns the largest.

    Args:
        candidate: i < n for w_i, n + p for the z at position p of C.
        fall: how fast the basic variables descend, shape (≥ n + k,).
        out: shape (n,), written.
    """
    n, descent = out.size, fall[candidate]
    out[:] = 0.0
    side = np.zeros(count)
    if candidate >= n:
        for q in range(count):
            side[q] = -inverse[candidate - n, q]
    else:
        for p in range(count):
            factor = transposed[column[p], candidate]
            for q in range(count):
                side[q] -= factor * inverse[p, q]
    for q in range(count):
        out[row[q]] = side[q] / descent
    if candidate < n:
        out[candidate] = 1.0 / descent
    largest = 0.0
    for i in range(n):
        largest = max(largest, abs(out[i]))
    return largest


@compiled
def first_of_tied(
    transposed: Array,
    inverse: Array,
    count: int,
    column: IntArray,
    row: IntArray,
    fall: Array,
    tied: IntArray,
    ties: int,
    least: float,
    one: Array,
    two: Array,
) -> int:
    """The tied variable that the lexicographic rule lets leave, pivots below `least` apart."""
    leaving, size_one = -1, 0.0
    for t in range(ties):
        candidate = tied[t]
        if not fall[candidate] > least:
            continue
        if leaving < 0:
            leaving = candidate
            if ties > 1:
                size_one = perturbation(transposed, inverse, count, column, row, candidate, fall, one)
            continue
        size_two = perturbation(transposed, inverse, count, column, row, candidate, fall, two)
        rounding = 1e-12 * max(size_one, size_two)
        for i in range(one.size):
            if abs(one[i] - two[i]) > rounding:
                if two[i] < one[i]:
                    leaving, size_one = candidate, size_two
                    copy(two, one)
                break
    return leaving


@compiled
def blocking(
    value: Array,
    fall: Array,
    basics: int,
    artificial: int,
    size: float,
    pivot_tolerance: float,
    tie_tolerance: float,
    tied: IntArray,
) -> tuple[int, float, float]:
    """Which basic variables reach zero first as the entering one grows.

    A variable blocks if it falls faster than pivot_tolerance·max|fall|. Those whose ratio exceeds the
    smallest by no more than rounding are tied; z₀, at index `artificial`, leaves if it is among them.

    Args:
        value, fall: of the basic variables, 0 for others, shape (basics,).
        size: max |b|, against which rounding in the values is judged.
        tied: shape (basics,), written.
    Returns:
        How many are tied (0 on a ray), the largest pivot among them, the ratio.
    """
    steepest = 0.0
    for i in range(basics):
        steepest = max(steepest, abs(fall[i]))
    least = pivot_tolerance * steepest
    ratio = np.inf
    for i in range(basics):
        if fall[i] > least and value[i] < ratio * fall[i]:
            ratio = max(value[i], 0.0) / fall[i]
    if not ratio < np.inf:
        return 0, 0.0, ratio
    count, largest = 0, 0.0
    for i in range(basics):
        if fall[i] > least:
            excess = value[i] - ratio * fall[i]
            if excess <= tie_tolerance * (size + abs(value[i])):
                if i == artificial:
                    tied[0] = i
                    return 1, fall[i], ratio
                tied[count] = i
                count += 1
                largest = max(largest, fall[i])
    return count, largest, ratio


@compiled
def evaluate(
    transposed: Array,
    vector: Array,
    inverse: Array,
    count: int,
    column: IntArray,
    row: IntArray,
    w_place: IntArray,
    value: Array,
) -> None:
    """Write z_C and w of (2) into `value`: w_i at i, the z at position p of C at n + p."""
    n = vector.size
    for i in range(n):
        value[i] = vector[i]
    for p in range(count):
        total = 0.0
        for q in range(count):
            total -= inverse[p, q] * vector[row[q]]
        value[n + p] = total
        of_it = transposed[column[p]]
        for i in range(n):
            value[i] += total * of_it[i]
    for i in range(n):
        if w_place[i] >= 0:
            value[i] = 0.0


@compiled
def first_basis(vector: Array, covering: Array) -> tuple[int, float]:
    """The row that z₀ takes at the start, −1 if z = 0 is the answer; and max |b|."""
    size, row = 0.0, -1
    for i in range(vector.size):
        size = max(size, abs(vector[i]))
        # of equally negative entries the last is the lexicographically smallest
        if row < 0 or vector[i] * covering[row] <= vector[row] * covering[i]:
            row = i
    if row >= 0 and vector[row] >= 0.0:
        row = -1
    return row, size


@compiled
def lemke_path(
    matrix: Array,
    vector: Array,
    covering: Array,
    transposed: Array,
    inverse: Array,
    work: Array,
    numbers: Array,
    indices: IntArray,
    max_pivots: int,
    pivot_tolerance: float,
    tie_tolerance: float,
    z: Array,
) -> tuple[int, int, int]:
    """Follow Lemke's path from z = 0.

    Args:
        matrix, vector: A (n, n) and b (n,).
        covering: d > 0, shape (n,).
        transposed, inverse, work: work, shapes (n + 1, n), (n + 1, n + 1), (2n² + 2n,).
        numbers, indices: work, lengths ≥ 9n + 4 and ≥ 7n + 4; the basic z are the first entries of `indices`.
        max_pivots: pivots before it gives up.
        pivot_tolerance, tie_tolerance: see `blocking`.
        z: the z of the last basic solution, shape (n,), written.
    Returns:
        How it ended (SOLVED, RAY or LIMIT), the number of pivots, and how many z are basic (z₀ is index n).
    """
    n = vector.size
    value, fall = numbers[: 2 * n + 1], numbers[2 * n + 1 : 4 * n + 2]
    dx, dw = numbers[4 * n + 2 : 5 * n + 3], numbers[5 * n + 3 : 6 * n + 3]
    one, two, side = numbers[6 * n + 3 : 7 * n + 3], numbers[7 * n + 3 : 8 * n + 3], numbers[8 * n + 3 :]
    column, row = indices[: n + 1], indices[n + 1 : 2 * n + 2]
    z_place, w_place = indices[2 * n + 2 : 3 * n + 3], indices[3 * n + 3 : 4 * n + 3]
    known, tied = indices[4 * n + 3 : 5 * n + 3], indices[5 * n + 3 :]

    z[:] = 0.0
    start, size = first_basis(vector, covering)
    if start < 0:
        return SOLVED, 0, 0
    for i in range(n):
        transposed[n, i] = covering[i]
    known[:] = 0
    z_place[:] = -1
    w_place[:] = -1
    count = min(n, 1)  # of a literal 1, numba would compile everything below once more
    column[0], row[0] = n, start
    z_place[n], w_place[start] = 0, 0
    inverse[0, 0] = 1.0 / covering[start]
    evaluate(transposed, vector, inverse, count, column, row, w_place, value)

    ending, pivots = LIMIT, 1
    left = start  # w_i as i, z_i as n + i
    while pivots < max_pivots:
        entering_z = left if left < n else -1
        entering_row = -1 if left < n else int(w_place[left - n])
        if left < n and known[left] == 0:  # few columns of A ever enter
            for i in range(n):
                transposed[left, i] = matrix[i, left]
            known[left] = 1
        direction(transposed, inverse, count, column, row, entering_z, entering_row, dx, dw)
        for i in range(n):
            fall[i] = -dw[i]
        for p in range(count):
            fall[row[p]], fall[n + p] = 0.0, -dx[p]
        ties, largest, ratio = blocking(
            value, fall, n + count, n + z_place[n], size, pivot_tolerance, tie_tolerance, tied
        )
        if ties == 0:
            ending = RAY
            break
        leaving = first_of_tied(
            transposed, inverse, count, column, row, fall, tied, ties, 1e-5 * largest, one, two
        )
        pivots += 1
        ratio = max(value[leaving], 0.0) / fall[leaving]
        for i in range(n + count):
            value[i] -= ratio * fall[i]
        left = leaving if leaving < n else n + int(column[leaving - n])
        count = update(
            transposed, inverse, count, column, row, z_place, w_place,
            entering_z, entering_row, leaving, ratio, dx, dw, side, value,
        )  # fmt: skip
        if left == 2 * n:
            ending = SOLVED
            break
        if pivots % FRESH == 0 and invert(transposed, column, row, count, work, inverse):
            evaluate(transposed, vector, inverse, count, column, row, w_place, value)
    for p in range(count):
        if column[p] < n:
            z[column[p]] = max(value[n + p], 0.0)
    return ending, pivots, count
