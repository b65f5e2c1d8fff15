"""Damped least squares by QR, which does not square the condition number as normal equations would."""

from __future__ import annotations

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array

__all__ = ["damped_step"]

SUMS = {"reassoc", "contract"}
"""Sums may be taken in any order; nan and infinities are kept."""


@compiled(fastmath=SUMS)
def reflect_four(
    vector: Array, scale: float, first: int, last: int, one: Array, two: Array, three: Array, four: Array
) -> None:
    """x ← x − scale·(uᵀx)·u for four columns at once, so that u is read once; u lives in rows first…last − 1."""
    t1, t2, t3, t4 = 0.0, 0.0, 0.0, 0.0
    for i in range(first, last):
        t1 += vector[i] * one[i]
        t2 += vector[i] * two[i]
        t3 += vector[i] * three[i]
        t4 += vector[i] * four[i]
    t1, t2, t3, t4 = t1 * scale, t2 * scale, t3 * scale, t4 * scale
    for i in range(first, last):
        one[i] -= t1 * vector[i]
        two[i] -= t2 * vector[i]
        three[i] -= t3 * vector[i]
        four[i] -= t4 * vector[i]


@compiled(fastmath=SUMS)
def reflect(vector: Array, scale: float, first: int, last: int, column: Array) -> None:
    """x ← x − scale·(uᵀx)·u for one column."""
    total = 0.0
    for i in range(first, last):
        total += vector[i] * column[i]
    total *= scale
    for i in range(first, last):
        column[i] -= total * vector[i]


@compiled(fastmath=SUMS)
def make_reflection(column: Array, first: int, last: int) -> tuple[float, float]:
    """Turn a column into the u of the reflection that empties it below `first`; returns what stands there, 2/‖u‖²."""
    square = 0.0
    for i in range(first, last):
        square += column[i] * column[i]
    norm = np.sqrt(square)
    if not 0.0 < norm < np.inf:
        return norm, 0.0
    if column[first] > 0.0:
        norm = -norm
    head = column[first] - norm
    column[first] = head
    return norm, -1.0 / (norm * head)


@compiled
def damped_step(jacobian: Array, values: Array, damping: float, stack: Array, step: Array) -> bool:
    """Write the d that minimises ‖V·d + F‖² + λ·‖d‖², by Householder reflections of [V; √λ·I | −F; 0].

    Below row n the columns fill in as the reflections go on: the k-th reaches down to row n + k; what lies
    further down is zero and is not touched. Every column takes the earlier reflections when its turn comes,
    four columns together.

    Args:
        jacobian, values, damping: V (n, n), F (n,), λ > 0.
        step: d, shape (n,), written.
        stack: work, columns as rows, shape (n + 2, 2n).
    Returns:
        Whether every number stayed finite and no column vanished.
    """
    n = values.size
    root = np.sqrt(damping)
    scales, right = stack[n + 1], stack[n]
    for j in range(n):
        column = stack[j]
        for i in range(n):
            column[i] = jacobian[i, j]
            column[n + i] = 0.0
        column[n + j] = root
        right[j] = -values[j]
        right[n + j] = 0.0
    for begin in range(0, n + 1, 4):
        end = min(begin + 4, n + 1)
        for k in range(begin):
            if end - begin == 4:
                reflect_four(
                    stack[k], scales[k], k, n + k + 1,
                    stack[begin], stack[begin + 1], stack[begin + 2], stack[begin + 3],
                )  # fmt: skip
            else:
                for j in range(begin, end):
                    reflect(stack[k], scales[k], k, n + k + 1, stack[j])
        for k in range(begin, min(end, n)):
            step[k], scales[k] = make_reflection(stack[k], k, n + k + 1)
            if scales[k] == 0.0:
                return False
            for j in range(k + 1, end):
                reflect(stack[k], scales[k], k, n + k + 1, stack[j])
    for k in range(n - 1, -1, -1):  # step holds the diagonal of R so far
        total = right[k]
        for j in range(k + 1, n):
            total -= stack[j][k] * step[j]
        step[k] = total / step[k]
    return True
