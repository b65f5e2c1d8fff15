"""What an answer leaves over, in the problem as it was given."""

from __future__ import annotations

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray

__all__ = ["certify"]


@compiled
def _clip(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)


@compiled
def certify(
    h: Array, width: int, gradient: Array, dofs: IntArray, values: Array, lower: Array, upper: Array, compliance: Array,
    least: Array, most: Array, x: Array, multiplier: Array, work: Array,
) -> tuple[float, float]:  # fmt: skip
    """Largest natural residual of a row, and largest entry of H·x + g + Cᵀ·y; nan where anything is not finite.

    Args:
        h: the band of H, h[j, d] = H[j + d, j]. width: how many of its columns are not all zero, or more.
        work: shape (n,).
    """
    n = len(h)
    work[:] = gradient
    for j in range(n):
        work[j] += h[j, 0] * x[j]
        for d in range(1, width):
            if h[j, d] != 0.0 and j + d < n:
                work[j + d] += h[j, d] * x[j]
                work[j] += h[j, d] * x[j + d]
    normal, total = 0.0, 0.0
    for i in range(len(lower)):
        z, y = -compliance[i] * multiplier[i], multiplier[i]
        for k in range(dofs.shape[1]):
            z += values[i, k] * x[dofs[i, k]]
            work[dofs[i, k]] += values[i, k] * y
        if lower[i] == upper[i]:
            error = abs(y - _clip(y + z - lower[i], least[i], most[i]))
        else:
            error = abs(z - _clip(z + y, lower[i], upper[i]))
        normal = max(normal, error)
        total += error
    equation = 0.0
    for j in range(n):
        equation = max(equation, abs(work[j]))
        total += abs(work[j]) + 0.0 * x[j]
    if not total < 1e300:
        return total, total
    return normal, equation
