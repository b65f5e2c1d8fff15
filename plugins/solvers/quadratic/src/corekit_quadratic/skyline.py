"""The rows' own matrix S = Y·Yᵀ + E and its Cholesky factor, kept inside its envelope.

Row i is stored from its first entry to the diagonal. Rows in the order of a chain reach back to their neighbours
only, so the factor costs n·b² with the half-bandwidth b; a row in the middle (a contact) widens no other. A row that
depends on earlier ones has no pivot: it is left out, with multiplier zero.
"""

from __future__ import annotations

import math

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray

__all__ = ["dot_row", "factor_rows", "order_rows", "solve_rows"]

_DEPENDENT = 1e-13
"""Pivot below which a row counts as dependent, relative to the row's own size."""


@compiled
def order_rows(lowest: IntArray, count: IntArray, order: IntArray) -> None:
    """Sort rows by the first index they touch, those that stand first staying first; `count` is work, (n + 1,)."""
    count[:] = 0
    for i in range(len(lowest)):
        count[lowest[i] + 1] += 1
    for p in range(1, len(count)):
        count[p] += count[p - 1]
    for i in range(len(lowest)):
        order[count[lowest[i]]] = i
        count[lowest[i]] += 1


@compiled
def dot_row(start: IntArray, at: IntArray, entry: Array, i: int, s: Array) -> float:
    """Y_i·s."""
    total = 0.0
    for e in range(start[i], start[i + 1]):
        total += entry[e] * s[at[e]]
    return total


@compiled
def factor_rows(
    chosen: IntArray, m: int, start: IntArray, at: IntArray, entry: Array, compliance: Array, seen: IntArray,
    work: Array, first: IntArray, base: IntArray, factor: Array,
) -> int:  # fmt: skip
    """Factorise S of the first m rows in `chosen`; returns how many depend on earlier ones, −1 if it does not fit.

    Args:
        seen, work: work, shapes (n,); `work` is zero before and after.
        first: first column of row i, written. base: factor[base[i] + j] is entry (i, j), the diagonal inverted.
    """
    for p in range(len(seen)):
        seen[p] = m
    count, dependent = 0, 0
    for i in range(m):
        row = chosen[i]
        f = i
        for e in range(start[row], start[row + 1]):
            p = at[e]
            work[p] = entry[e]
            if seen[p] < i:
                f = min(f, seen[p])
            else:
                seen[p] = i
        first[i], b = f, count - f
        base[i] = b
        if count + i - f + 1 > len(factor):
            work[:] = 0.0
            return -1
        count += i - f + 1
        for j in range(f, i + 1):
            other = chosen[j]
            total = 0.0
            for e in range(start[other], start[other + 1]):
                total += entry[e] * work[at[e]]
            factor[b + j] = total
        for e in range(start[row], start[row + 1]):
            work[at[e]] = 0.0
        pivot = factor[b + i] + compliance[row]
        size = pivot
        for j in range(f, i):
            total, c = factor[b + j], base[j]
            for k in range(max(f, first[j]), j):
                total -= factor[b + k] * factor[c + k]
            total *= factor[c + j]
            factor[b + j] = total
            pivot -= total * total
        if pivot > _DEPENDENT * size:
            factor[b + i] = 1.0 / math.sqrt(pivot)
        else:
            factor[b + i] = 0.0
            dependent += 1
    return dependent


@compiled
def solve_rows(m: int, first: IntArray, base: IntArray, factor: Array, x: Array) -> None:
    """x[:m] ← S⁻¹·x[:m]; zero for rows that were left out."""
    for i in range(m):
        total, b = x[i], base[i]
        for j in range(first[i], i):
            total -= factor[b + j] * x[j]
        x[i] = total * factor[b + i]
    for i in range(m - 1, -1, -1):
        b = base[i]
        total = x[i] * factor[b + i]
        x[i] = total
        for j in range(first[i], i):
            x[j] -= factor[b + j] * total
