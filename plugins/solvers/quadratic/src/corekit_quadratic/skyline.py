"""The rows' own matrix S = Y·Yᵀ + E and its factor, as a narrow band or inside its envelope.

Rows in the order of a chain reach back to their neighbours only, so the factor costs m·b² with the half-bandwidth b.
Where no row reaches back farther than b = `BAND` rows, S = L·D·Lᵀ is kept as a band by columns,

    factor[j·(b + 1) + d] = L[j + d, j], d > 0,      factor[j·(b + 1)] = 1/D[j]                    (1)

in loops whose length the compiler knows; else S = L·Lᵀ by rows, each from its first entry to its diagonal, which is
inverted: a row that reaches far (a contact with a distant body) widens no other. A row that depends on earlier ones
has no pivot: it is left out, with multiplier zero and 0 on the diagonal.
"""

from __future__ import annotations

import math

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit_quadratic.narrow import NARROW, factor_narrow, solve_narrow
from corekit_quadratic.pairs import TARGETS, Pairs
from corekit_quadratic.whiten import Places

__all__ = ["BAND", "dot_row", "factor_rows", "order_rows", "solve_rows"]

BAND = 8
"""b of (1): a chain's joints with springs reach back 7 rows, and what touches it comes between."""

_DEPENDENT = 1e-13
"""Pivot below which a row counts as dependent, relative to the row's own size."""


@compiled
def order_rows(lowest: IntArray, count: IntArray, order: Places) -> None:
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
def dot_row(start: Places, at: Places, entry: Array, i: int, s: Array) -> float:
    """Y_i·s."""
    total = 0.0
    for e in range(start[i], start[i + 1]):
        total += entry[e] * s[at[e]]
    return total


@compiled
def factor_rows(
    chosen: Places, m: int, start: Places, at: Places, entry: Array, compliance: Array, pairs: Pairs,
    seen: Places, work: Array, size: Array, first: IntArray, base: IntArray, factor: Array,
) -> int:  # fmt: skip
    """Factorise S of the first m rows in `chosen`; returns how many depend on earlier ones, −1 if it does not fit.

    Args:
        pairs: of all rows, with their S.
        seen: work, shape (n + 1,). work: zero before and after, shape (n,).
        size: work, shape (k,).
        first: first column of row i; where the factor is (1) −1 in first[0], −2 where it is narrow too, written.
        base: factor[base[i] + i] is the diagonal's, written.
    """
    reach = BAND + 1
    if (m + BAND) * (BAND + 1) <= len(factor):
        reach = _form_band(chosen, m, compliance, pairs, size, base, factor)
    if reach <= NARROW:
        first[:1] = -2
        return factor_narrow(m, BAND, _DEPENDENT, size, factor)
    if reach <= BAND:
        first[0] = -1
        return _factor_band(m, size, factor)
    return _factor_envelope(chosen, m, start, at, entry, compliance, seen, work, first, base, factor)


@compiled
def _form_band(
    chosen: Places, m: int, compliance: Array, pairs: Pairs, size: Array, base: IntArray, factor: Array
) -> int:
    """Write the lower half of S where (1) keeps L; returns how far rows reach back, or more than `BAND`."""
    position, gram, row, other = pairs.position, pairs.gram, pairs.row, pairs.other
    for t in range((m + BAND) * (BAND + 1)):
        factor[t] = 0.0
    for i in range(len(position)):
        position[i] = -1
    for i in range(m):
        if pairs.far[chosen[i]]:
            return BAND + 1
        position[chosen[i]] = i
    reach = 0
    for t in range(pairs.head[TARGETS]):
        i, j = position[row[t]], position[other[t]]
        if i < 0 or j < 0:
            continue
        reach = max(reach, i - j)
        if reach > BAND:
            break
        factor[j * BAND + i] = gram[t]
    for i in range(m):
        factor[i * (BAND + 1)] += compliance[chosen[i]]
        size[i] = factor[i * (BAND + 1)]
        base[i] = i * BAND
    return reach


@compiled
def _factor_band(m: int, size: Array, factor: Array) -> int:
    """Turn S into (1); the columns past the last are zero."""
    dependent = 0
    for j in range(m):
        here = j * (BAND + 1)
        pivot, inverse = factor[here], 0.0
        if pivot > _DEPENDENT * size[j]:
            inverse = 1.0 / pivot
        else:
            dependent += 1
        factor[here] = inverse
        for a in range(1, BAND + 1):
            share, there = factor[here + a] * inverse, here + a * BAND
            for c in range(a, BAND + 1):
                factor[there + c] -= share * factor[here + c]
        for a in range(1, BAND + 1):
            factor[here + a] *= inverse
    return dependent


@compiled
def _factor_envelope(
    chosen: Places, m: int, start: Places, at: Places, entry: Array, compliance: Array, seen: Places,
    work: Array, first: IntArray, base: IntArray, factor: Array,
) -> int:  # fmt: skip
    """Write L row by row."""
    for p in range(len(seen)):
        seen[p] = m
    count, dependent = 0, 0
    for i in range(m):
        row = chosen[i]
        f = i
        for e in range(start[row], start[row + 1]):
            p = at[e]
            work[p] = entry[e]
            f = min(f, np.int64(seen[p]))
            seen[p] = min(np.int64(seen[p]), i)
        b = count - f
        first[i], base[i] = f, b
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
    """x[:m] ← S⁻¹·x[:m]; zero for rows that were left out. x has `BAND` entries more, which are work."""
    if m and first[0] < 0:
        x[m : m + BAND] = 0.0
        if first[0] == -2:
            solve_narrow(m, BAND, factor, x)
            return
        for j in range(m):
            here, a = j * (BAND + 1), x[j]
            for d in range(1, BAND + 1):
                x[j + d] -= factor[here + d] * a
            x[j] = a * factor[here]
        for j in range(m - 1, -1, -1):
            here, a = j * (BAND + 1), x[j]
            # the last one known comes last: the others need not wait for it
            for d in range(BAND, 0, -1):
                a -= factor[here + d] * x[j + d]
            x[j] = a
        return
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
