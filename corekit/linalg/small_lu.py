"""Dense LU with partial pivoting, for kernels that solve many small systems without a call of LAPACK.

Source: Golub and Van Loan (2013), Matrix Computations, algorithm 3.4.1.
"""

from __future__ import annotations

from corekit.compiled import check_signals, compiled
from corekit.data.arrays import Array, IntArray

__all__ = ["back_substitute", "factorise_in_place"]


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
