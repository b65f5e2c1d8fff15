"""Dense LU, and the solution of a complementary basis recomputed from the original matrix."""

from __future__ import annotations

from corekit.compiled import check_signals, compiled
from corekit.data.arrays import Array, IntArray

__all__ = ["back_substitute", "basic_solution", "factorise_in_place"]


@compiled
def factorise_in_place(lu: Array, order: IntArray) -> bool:
    """LU with partial pivoting of a square matrix; return False if a pivot is zero or not a number.

    Args:
        lu: the matrix (k, k), overwritten by L (unit diagonal, below) and U.
        order: shape (k,), out: the original row of each row.
    """
    k = order.size
    for i in range(k):
        order[i] = i
    for p in range(k):
        if p & 63 == 63:
            check_signals()
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
            ratio = lu[i, p] / lu[p, p]
            lu[i, p] = ratio
            if ratio != 0.0:
                for j in range(p + 1, k):
                    lu[i, j] -= ratio * lu[p, j]
    return True


@compiled
def back_substitute(lu: Array, x: Array) -> None:
    """Solve with the factors of `factorise_in_place`; x is the right-hand side in their row order, overwritten by x."""
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
    matrix: Array, vector: Array, active: IntArray, lu: Array, order: IntArray, workspace: Array,
    corrections: int, z: Array,
) -> bool:  # fmt: skip
    """Solve w_a = 0 for the active set a, z zero elsewhere.

        A_aa·z_a = −b_a                                                                    (1)

    An updated basis accumulates the rounding of every pivot. One LU of (1) and a few corrections with the
    same factors leave only the rounding of the last solve. A z_a that rounding makes negative is clipped to
    0.

    Args:
        matrix, vector: A (n, n) and b (n,).
        active: indices a, shape (k,).
        lu, order, workspace: workspaces, shapes (k, k), (k,), (k,).
        corrections: number of iterative refinements.
        z: shape (n,), out.
    Returns:
        Whether A_aa has factors.
    """
    k = active.size
    for i in range(k):
        for j in range(k):
            lu[i, j] = matrix[active[i], active[j]]
    z[:] = 0.0
    if not factorise_in_place(lu, order):
        return False
    for _ in range(1 + corrections):
        for i in range(k):
            row = active[order[i]]
            error = -vector[row]
            for j in range(k):
                error -= matrix[row, active[j]] * z[active[j]]
            workspace[i] = error
        back_substitute(lu, workspace[:k])
        for i in range(k):
            z[active[i]] += workspace[i]
    for i in range(k):
        z[active[i]] = max(z[active[i]], 0.0)
    return True
