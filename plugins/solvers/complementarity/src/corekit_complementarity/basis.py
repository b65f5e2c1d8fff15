"""The solution of a complementary basis recomputed from the original matrix."""

from __future__ import annotations

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.linalg.small_lu import back_substitute, factorise_in_place

__all__ = ["basic_solution"]


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
