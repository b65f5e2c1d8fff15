"""Dependent equations, and of their solutions the one that soft contacts have.

Equations A·x = b of redundant contacts have many solutions. With a compliance ε·N they have one, and

    x ← x + (A + ε·N)⁻¹·(b − A·x),   from x = 0                                             (1)

converges to a solution of A·x = b as fast as ε is small against the part of A that is not singular. Every iterate has
ε·N·x in the range of A, whatever ε is: so has the limit, which therefore is that of ε → 0. If A and N are symmetric, it
is the solution of least norm xᵀ·N·x.
"""

from __future__ import annotations

from corekit.compiled import check_signals, compiled
from corekit.data.arrays import Array, IntArray

__all__ = ["solve_softly"]

STEPS = 12
"""Iterations (1): far more than are needed, as each must leave less than half of the error."""


@compiled
def solve_softly(
    matrix: Array, factor: Array, rhs: Array, order: IntArray, first: Array, x: Array, error: Array
) -> float:
    """Write the limit of (1) and its first iterate; return max |b − A·x|, infinite if A + ε·N has no inverse.

    Args:
        matrix, factor, rhs: A (k, k), A + ε·N, overwritten by its factors, and b (k,).
        order, error: workspace, shape (k,).
        first, x: shape (k,), written.
    """
    n = rhs.size
    for i in range(n):
        first[i] = x[i] = 0.0
    if not factorise(factor, order):
        return float("inf")
    last = float("inf")
    for step in range(STEPS + 1):
        worst = 0.0
        for i in range(n):
            total = rhs[order[i]]
            row = matrix[order[i]]
            for j in range(n):
                total -= row[j] * x[j]
            error[i] = total
            worst = max(worst, abs(total))
        if not worst < 0.5 * last or step == STEPS:
            return worst
        last = worst
        substitute(factor, error)
        for i in range(n):
            x[i] += error[i]
            if step == 0:
                first[i] = x[i]
    return last


@compiled
def factorise(lu: Array, order: IntArray) -> bool:
    """LU factors in place, with partial pivoting: row i is the matrix's order[i]. False if it is singular."""
    n = order.size
    for i in range(n):
        order[i] = i
    for p in range(n):
        if p & 63 == 63:
            check_signals()
        best = p
        for i in range(p + 1, n):
            if abs(lu[i, p]) > abs(lu[best, p]):
                best = i
        if not abs(lu[best, p]) > 0.0:
            return False
        if best != p:
            order[p], order[best] = order[best], order[p]
            for j in range(n):
                lu[p, j], lu[best, j] = lu[best, j], lu[p, j]
        for i in range(p + 1, n):
            ratio = lu[i, p] / lu[p, p]
            lu[i, p] = ratio
            if ratio != 0.0:
                for j in range(p + 1, n):
                    lu[i, j] -= ratio * lu[p, j]
    return True


@compiled
def substitute(lu: Array, x: Array) -> None:
    """Solve with the factors, in place; x is the right-hand side in the order of rows."""
    n = x.size
    for i in range(n):
        for j in range(i):
            x[i] -= lu[i, j] * x[j]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            x[i] -= lu[i, j] * x[j]
        x[i] /= lu[i, i]
