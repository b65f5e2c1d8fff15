"""The rows' own matrix S = Y·Yᵀ + E and its factor, as a narrow band or inside its envelope.

Rows in the order of a chain couple only with their neighbours, so the factor costs m·b² with the
half-bandwidth b. If all coupled rows are at most b = `BAND` apart, S = L·D·Lᵀ is stored as a band by columns,

    factor[j·(b + 1) + d] = L[j + d, j], d > 0,      factor[j·(b + 1)] = 1/D[j]                    (1)

in loops whose length the compiler knows. Otherwise S = L·Lᵀ is stored by rows, each from its first entry to
its diagonal, which is inverted: a row coupled with a distant one (a contact with a distant body) widens no
other. A row that depends on earlier ones has no pivot: it is omitted, with multiplier zero and 0 on the
diagonal.
"""

from __future__ import annotations

import math

import numpy as np

from corekit.compiled import check_signals, compiled
from corekit.data.arrays import Array, IntArray
from corekit_quadratic.narrow import NARROW, factorise_narrow, solve_narrow
from corekit_quadratic.pairs import TARGETS, Pairs
from corekit_quadratic.whiten import Indices

__all__ = ["BAND", "dot_row", "factorise_rows", "order_rows", "solve_rows"]

BAND = 8
"""b of (1): a chain's joints with springs couple rows 7 apart, and contact rows lie between them."""

_DEPENDENT = 1e-13
"""Pivot below which a row is dependent, relative to its diagonal of S."""


@compiled
def order_rows(lowest: IntArray, count: IntArray, order: Indices) -> None:
    """Sort rows by the first index they touch, stable; `count` is a workspace, (n + 1,)."""
    count[:] = 0
    for i in range(len(lowest)):
        count[lowest[i] + 1] += 1
    for p in range(1, len(count)):
        count[p] += count[p - 1]
    for i in range(len(lowest)):
        order[count[lowest[i]]] = i
        count[lowest[i]] += 1


@compiled
def dot_row(start: Indices, column: Indices, entry: Array, i: int, s: Array) -> float:
    """Return Y_i·s."""
    total = 0.0
    for e in range(start[i], start[i + 1]):
        total += entry[e] * s[column[e]]
    return total


@compiled
def factorise_rows(
    active: Indices, m: int, start: Indices, column: Indices, entry: Array, compliance: Array, pairs: Pairs,
    first_row: Indices, dense_row: Array, size: Array, first: IntArray, base: IntArray, factor: Array,
) -> int:  # fmt: skip
    """Factorise S of the first m rows in `active`; return how many depend on earlier ones, −1 if it does not fit.

    Args:
        pairs: of all rows, with their S.
        first_row: workspace, shape (n + 1,).
        dense_row: workspace, shape (n,), zero before and after.
        size: workspace, shape (k,).
        first: first column of row i, out; first[0] is −1 if the factor is (1), −2 if it is narrow too.
        base: factor[base[i] + i] is the diagonal's, out.
    """
    bandwidth = BAND + 1
    if (m + BAND) * (BAND + 1) <= len(factor):
        bandwidth = _form_band(active, m, compliance, pairs, size, base, factor)
    if bandwidth <= NARROW:
        first[:1] = -2
        return factorise_narrow(m, BAND, _DEPENDENT, size, factor)
    if bandwidth <= BAND:
        first[0] = -1
        return _factor_band(m, size, factor)
    return _factor_envelope(
        active, m, start, column, entry, compliance, first_row, dense_row, first, base, factor
    )


@compiled
def _form_band(
    active: Indices, m: int, compliance: Array, pairs: Pairs, size: Array, base: IntArray, factor: Array,
) -> int:  # fmt: skip
    """Write the lower half of S where (1) stores L; return the half-bandwidth, or more than `BAND`."""
    position, gram, row, other = pairs.position, pairs.gram, pairs.row, pairs.other
    for t in range((m + BAND) * (BAND + 1)):
        factor[t] = 0.0
    for i in range(len(position)):
        position[i] = -1
    for i in range(m):
        if pairs.far[active[i]]:
            return BAND + 1
        position[active[i]] = i
    bandwidth = 0
    for t in range(pairs.head[TARGETS]):
        i, j = position[row[t]], position[other[t]]
        if i < 0 or j < 0:
            continue
        bandwidth = max(bandwidth, i - j)
        if bandwidth > BAND:
            break
        factor[j * BAND + i] = gram[t]
    for i in range(m):
        factor[i * (BAND + 1)] += compliance[active[i]]
        size[i] = factor[i * (BAND + 1)]
        base[i] = i * BAND
    return bandwidth


@compiled
def _factor_band(m: int, size: Array, factor: Array) -> int:
    """Turn S into (1); the columns past the last are zero."""
    dependent = 0
    for j in range(m):
        base_j = j * (BAND + 1)
        pivot, inverse = factor[base_j], 0.0
        if pivot > _DEPENDENT * size[j]:
            inverse = 1.0 / pivot
        else:
            dependent += 1
        factor[base_j] = inverse
        for a in range(1, BAND + 1):
            ratio, base_a = factor[base_j + a] * inverse, base_j + a * BAND
            for c in range(a, BAND + 1):
                factor[base_a + c] -= ratio * factor[base_j + c]
        for a in range(1, BAND + 1):
            factor[base_j + a] *= inverse
    return dependent


@compiled
def _factor_envelope(
    active: Indices, m: int, start: Indices, column: Indices, entry: Array,
    compliance: Array, first_row: Indices, dense_row: Array, first: IntArray, base: IntArray, factor: Array
) -> int:  # fmt: skip
    """Write L row by row."""
    for p in range(len(first_row)):
        first_row[p] = m
    count, dependent = 0, 0
    for i in range(m):
        if i & 63 == 63:
            check_signals()
        row = active[i]
        f = i
        for e in range(start[row], start[row + 1]):
            p = column[e]
            dense_row[p] = entry[e]
            f = min(f, np.int64(first_row[p]))
            first_row[p] = min(np.int64(first_row[p]), i)
        b = count - f
        first[i], base[i] = f, b
        if count + i - f + 1 > len(factor):
            dense_row[:] = 0.0
            return -1
        count += i - f + 1
        for j in range(f, i + 1):
            other = active[j]
            total = 0.0
            for e in range(start[other], start[other + 1]):
                total += entry[e] * dense_row[column[e]]
            factor[b + j] = total
        for e in range(start[row], start[row + 1]):
            dense_row[column[e]] = 0.0
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
    """x[:m] ← S⁻¹·x[:m]; zero for omitted rows. The next `BAND` entries of x are a workspace."""
    if m and first[0] < 0:
        x[m : m + BAND] = 0.0
        if first[0] == -2:
            solve_narrow(m, BAND, factor, x)
            return
        for j in range(m):
            base_j, a = j * (BAND + 1), x[j]
            for d in range(1, BAND + 1):
                x[j + d] -= factor[base_j + d] * a
            x[j] = a * factor[base_j]
        for j in range(m - 1, -1, -1):
            base_j, a = j * (BAND + 1), x[j]
            # the most recent value comes last, so that the other products need not wait for it
            for d in range(BAND, 0, -1):
                a -= factor[base_j + d] * x[j + d]
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
