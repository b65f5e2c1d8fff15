"""Dependent equations, and of their solutions the one that soft contacts have.

Equations A·x = b of redundant contacts have many solutions. With a compliance ε·N they have one, and

    x ← x + (A + ε·N)⁻¹·(b − A·x),   from x = 0                                             (1)

converges to a solution of A·x = b as fast as ε is small against the part of A that is not singular. Every iterate has
ε·N·x in the range of A, whatever ε is: so has the limit, which therefore is that of ε → 0. If A and N are symmetric, it
is the solution of least norm xᵀ·N·x.
"""

from __future__ import annotations

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.linalg.small_lu import back_substitute, factorise_in_place

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
    if not factorise_in_place(factor, order):
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
        back_substitute(factor, error)
        for i in range(n):
            x[i] += error[i]
            if step == 0:
                first[i] = x[i]
    return last
