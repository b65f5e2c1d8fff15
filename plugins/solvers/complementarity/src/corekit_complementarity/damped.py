"""Damped least squares by QR, which does not square the condition number as normal equations would."""

from __future__ import annotations

import numpy as np

from corekit.compiled import check_signals, compiled
from corekit.data.arrays import Array

__all__ = ["compute_damped_increment"]

REORDERED_SUMS = {"reassoc", "contract"}
"""The compiler may reorder sums; nan and infinities stay."""


@compiled(fastmath=REORDERED_SUMS)
def reflect_four(
    vector: Array, scale: float, first: int, last: int, one: Array, two: Array, three: Array, four: Array
) -> None:
    """x ← x − scale·(uᵀx)·u for four columns at once, so that u is read once; u is in rows first…last − 1."""
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


@compiled(fastmath=REORDERED_SUMS)
def reflect(vector: Array, scale: float, first: int, last: int, column: Array) -> None:
    """x ← x − scale·(uᵀx)·u for one column."""
    total = 0.0
    for i in range(first, last):
        total += vector[i] * column[i]
    total *= scale
    for i in range(first, last):
        column[i] -= total * vector[i]


@compiled(fastmath=REORDERED_SUMS)
def make_reflection(column: Array, first: int, last: int) -> tuple[float, float]:
    """Turn a column into the u of the reflection that clears it below `first`; return its new head and 2/‖u‖²."""
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
def compute_damped_increment(
    jacobian: Array, values: Array, damping: float, workspace: Array, increment: Array
) -> bool:
    """Compute the d that minimises ‖V·d + F‖² + λ·‖d‖², by Householder reflections of [V; √λ·I | −F; 0].

    Below row n the reflections fill the columns: the k-th extends to row n + k, and the zeros below are not
    touched. Earlier reflections are applied to four columns together, before these columns are reduced.

    Args:
        jacobian, values, damping: V (n, n), F (n,), λ > 0.
        increment: d, shape (n,), out.
        workspace: columns as rows, shape (n + 2, 2n).
    Returns:
        Whether every number is finite and no column vanishes.
    """
    n = values.size
    root = np.sqrt(damping)
    scales, rhs = workspace[n + 1], workspace[n]
    for j in range(n):
        column = workspace[j]
        for i in range(n):
            column[i] = jacobian[i, j]
            column[n + i] = 0.0
        column[n + j] = root
        rhs[j] = -values[j]
        rhs[n + j] = 0.0
    for begin in range(0, n + 1, 4):
        if begin & 63 == 0:
            check_signals()
        end = min(begin + 4, n + 1)
        for k in range(begin):
            if end - begin == 4:
                reflect_four(
                    workspace[k], scales[k], k, n + k + 1,
                    workspace[begin], workspace[begin + 1], workspace[begin + 2], workspace[begin + 3],
                )  # fmt: skip
            else:
                for j in range(begin, end):
                    reflect(workspace[k], scales[k], k, n + k + 1, workspace[j])
        for k in range(begin, min(end, n)):
            increment[k], scales[k] = make_reflection(workspace[k], k, n + k + 1)
            if scales[k] == 0.0:
                return False
            for j in range(k + 1, end):
                reflect(workspace[k], scales[k], k, n + k + 1, workspace[j])
    for k in range(n - 1, -1, -1):  # `increment` contains the diagonal of R so far
        total = rhs[k]
        for j in range(k + 1, n):
            total -= workspace[j][k] * increment[j]
        increment[k] = total / increment[k]
    return True
