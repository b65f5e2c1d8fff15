"""Natural residual of a linear complementarity problem, in the units of the physical one."""

from __future__ import annotations

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray

__all__ = ["natural_residual"]


@compiled
def natural_residual(
    matrix: Array, vector: Array, row_scale: Array, column_scale: Array, z: Array, support: IntArray
) -> float:
    """Natural residual of z for w = A·z + b, z ≥ 0, w ≥ 0, zᵀw = 0.

        ρ = max_i |min(c_i·z_i, w_i/r_i)|                                                  (1)

    ρ = 0 if and only if z is a solution. The z and w of a scaled problem are c·z and w/r in the unscaled one,
    where ρ is measured: a scaled residual would reject good solutions and accept bad ones.

    Args:
        matrix, vector: A (n, n) and b (n,).
        row_scale, column_scale: r and c, positive, shape (n,).
        z: shape (n,).
        support: workspace, shape (n,): indices of the nonzero z, which are few.
    Returns:
        ρ, or infinity if any number is not finite.
    """
    count = 0
    for j in range(z.size):
        if z[j] != 0.0:
            support[count] = j
            count += 1
    worst = 0.0
    for i in range(z.size):
        w = vector[i]
        for k in range(count):
            w += matrix[i, support[k]] * z[support[k]]
        error = abs(min(column_scale[i] * z[i], w / row_scale[i]))
        if not (error < np.inf and w < np.inf):
            return np.inf
        worst = max(worst, error)
    return worst
