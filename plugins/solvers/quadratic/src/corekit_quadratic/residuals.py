"""Residuals of a solution in the unscaled problem."""

from __future__ import annotations

import math

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.linalg.vectors import copy_vector

__all__ = ["compute_residuals"]


@compiled
def _clip(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)


@compiled
def compute_residuals(
    h: Array, width: int, gradient: Array, dofs: IntArray, values: Array, lower: Array, upper: Array,
    compliance: Array, y_lower: Array, y_upper: Array, x: Array, multiplier: Array, workspace: Array,
) -> tuple[float, float]:  # fmt: skip
    """Return the largest natural residual of a row and the largest entry of H·x + g + Cᵀ·y; nan if any is not finite.

    Args:
        h: the band of H, h[j, d] = H[j + d, j].
        width: number of its columns up to the last that is not zero, or more.
        workspace: shape (n,).
    """
    n = len(h)
    copy_vector(gradient, workspace)
    for j in range(n):
        workspace[j] += h[j, 0] * x[j]
        for d in range(1, width):
            if h[j, d] != 0.0 and j + d < n:
                workspace[j + d] += h[j, d] * x[j]
                workspace[j] += h[j, d] * x[j + d]
    normal, total = 0.0, 0.0
    for i in range(len(lower)):
        z, y = -compliance[i] * multiplier[i], multiplier[i]
        for k in range(dofs.shape[1]):
            z += values[i, k] * x[dofs[i, k]]
            workspace[dofs[i, k]] += values[i, k] * y
        if lower[i] == upper[i]:
            error = abs(y - _clip(y + z - lower[i], y_lower[i], y_upper[i]))
        else:
            error = abs(z - _clip(z + y, lower[i], upper[i]))
        if (
            lower[i] != lower[i] or upper[i] != upper[i]
        ):  # no comparison in `_clip` tells what is not a number
            error = math.nan
        normal = max(normal, error)
        total += error
    equation = 0.0
    for j in range(n):
        equation = max(equation, abs(workspace[j]))
        total += abs(workspace[j]) + 0.0 * x[j]
    if not total < 1e300:
        return total, total
    return normal, equation
