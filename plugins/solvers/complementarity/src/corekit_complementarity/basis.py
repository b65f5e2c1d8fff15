"""Dense LU, and the basic solution of a complementary basis recomputed from the original matrix."""

from __future__ import annotations

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray

__all__ = ["back_substitute", "basic_solution", "factor_in_place"]


@compiled
def factor_in_place(lu: Array, order: IntArray) -> bool:
    """LU with partial pivoting of a square matrix; False if a pivot is zero or not a number.

    Args:
        lu: the matrix (k, k), overwritten by L (unit diagonal, below) and U.
        order: shape (k,), written: the original row that stands in each row.
    """
    k = order.size
    for i in range(k):
        order[i] = i
    for p in range(k):
        best = p
        for i in range(p + 1, k):
            if abs(lu[i, p]) > abs(lu[best, p]):
                best = i
        if not abs(lu[best, p]) > 0.0:
            return False
        if best != p:
            order[p], order[best] = order[best], order[p]
            for j in range(k):
                lu[p, j], lu[best, j] = lu[best, j], lu[p, j]
        for i in range(p + 1, k):
            factor = lu[i, p] / lu[p, p]
            lu[i, p] = factor
            if factor != 0.0:
                for j in range(p + 1, k):
                    lu[i, j] -= factor * lu[p, j]
    return True


@compiled
def back_substitute(lu: Array, x: Array) -> None:
    """Solve with the factors of `factor_in_place`; x holds the right-hand side in their row order, then x."""
    k = x.size
    for i in range(k):
        for j in range(i):
            x[i] -= lu[i, j] * x[j]
    for i in range(k - 1, -1, -1):
        for j in range(i + 1, k):
            x[i] -= lu[i, j] * x[j]
        x[i] /= lu[i, i]


@compiled
def basic_solution(
    matrix: Array,
    vector: Array,
    active: IntArray,
    lu: Array,
    order: IntArray,
    work: Array,
    corrections: int,
    z: Array,
) -> bool:
    """Solve w_a = 0 for the active set a, z elsewhere zero.

        A_aa·z_a = −b_a                                                                    (1)

    An updated basis carries the rounding of every pivot; one LU of (1) and a few corrections with the same
    factors leave only that of the last solve. Where rounding makes a z_a slightly negative it is clipped.

    Args:
        matrix, vector: A (n, n) and b (n,).
        active: indices a, shape (k,).
        lu, order, work: work, shapes (k, k), (k,), (k,).
        corrections: rounds of iterative refinement.
        z: shape (n,), written.
    Returns:
        Whether A_aa could be factored.
    """
    k = active.size
    for i in range(k):
        for j in range(k):
            lu[i, j] = matrix[active[i], active[j]]
    z[:] = 0.0
    if not factor_in_place(lu, order):
        return False
    for _ in range(1 + corrections):
        for i in range(k):
            row = active[order[i]]
            error = -vector[row]
            for j in range(k):
                error -= matrix[row, active[j]] * z[active[j]]
            work[i] = error
        back_substitute(lu, work[:k])
        for i in range(k):
            z[active[i]] += work[i]
    for i in range(k):
        z[active[i]] = max(z[active[i]], 0.0)
    return True
