"""Damped least squares by QR, which does not square the condition number as normal equations would."""

from __future__ import annotations

import numpy as np
from numba import njit

from corekit.data.arrays import Array

__all__ = ["damped_step"]


@njit(cache=True, fastmath={"reassoc", "contract"})  # sums in any order, nan and inf kept
def damped_step(jacobian: Array, values: Array, damping: float, stack: Array, step: Array) -> bool:
    """Write the d that minimises ‖V·d + F‖² + λ·‖d‖², by Householder reflections of [V; √λ·I | −F; 0].

    Below row n the columns fill in as the reflections go on, column k down to row n + k; what lies further
    down is zero and is not touched.

    Args:
        jacobian, values, damping: V (n, n), F (n,), λ > 0.
        step: d, shape (n,), written.
        stack: work, columns as rows, shape (n + 1, 2n).
    Returns:
        Whether every number stayed finite and no column vanished.
    """
    n = values.size
    root = np.sqrt(damping)
    for j in range(n):
        column = stack[j]
        for i in range(n):
            column[i] = jacobian[i, j]
            column[n + i] = 0.0
        column[n + j] = root
    right = stack[n]
    for i in range(n):
        right[i] = -values[i]
        right[n + i] = 0.0
    for k in range(n):
        column = stack[k]
        last = n + k + 1
        square = 0.0
        for i in range(k, last):
            square += column[i] * column[i]
        norm = np.sqrt(square)
        if not 0.0 < norm < np.inf:
            return False
        if column[k] > 0.0:
            norm = -norm
        head = column[k] - norm
        column[k] = head
        scale = -1.0 / (norm * head)  # 2/‖u‖² of the reflection's vector u
        for j in range(k + 1, n + 1):
            other = stack[j]
            total = 0.0
            for i in range(k, last):
                total += column[i] * other[i]
            total *= scale
            for i in range(k, last):
                other[i] -= total * column[i]
        step[k] = norm  # the diagonal of R; its vector u stays in the column
    for k in range(n - 1, -1, -1):
        total = right[k]
        for j in range(k + 1, n):
            total -= stack[j][k] * step[j]
        step[k] = total / step[k]
    return True
