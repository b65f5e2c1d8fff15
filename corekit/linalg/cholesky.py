"""Cholesky factorisation A = L·D·Lᵀ of small dense blocks and of narrow bands, in compiled code.

Blocks. A small dense matrix is one block, a diagonal one has blocks of size 1. Impulses need half of G·Jᵀ only:

    Y = D^-½·L⁻¹·Jᵀ,     J·G·Jᵀ = Yᵀ·Y,     G·Jᵀ·λ = L⁻ᵀ·D^-½·(Y·λ)                          (1)

Prescribed velocities have identity rows in A and zeros in Y. Up to 24 rows a call of LAPACK costs more than the work:
1.1 to 2.2 µs against 0.3 to 1.5 µs here, and 8 µs for the blocks of two rigid bodies as a band.

Bands. Chains of rods have half-widths up to 10. The inner loops have this length, which the compiler unrolls: 9 µs and
4 µs for factorisation and solution of 423 rows, where LAPACK's pbtrf and pbtrs need 23 µs and 10 µs, twice a step of
235 to 750 µs. Narrower bands are padded with zeros. Entry (j + d, j) stands at [NARROW + j, d] of an array
(n + 2·NARROW, NARROW + 1), with rows of zeros before and behind.
"""

from __future__ import annotations

import math
from typing import Final

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.linalg.vectors import copy_vector

__all__ = [
    "NARROW", "add_impulse_response", "factorise_band", "factorise_blocks", "forward_substitute", "respond_by_band",
    "respond_by_blocks", "solve_blocks", "substitute_band", "substitute_blocks", "write_band",
]  # fmt: skip

NARROW: Final = 10
"""Half-width of the compiled loops over bands: two nodes and two angles of a rod."""


@compiled
def factorise_blocks(matrix: Array, prescribed: IntArray, lower: Array) -> bool:
    """Write D⁻¹ on the diagonal and L below it, by blocks (n/k, k, k); False if A is not positive definite."""
    blocks, k, _ = matrix.shape
    for b in range(blocks):
        for i in range(k):
            for j in range(i + 1):
                lower[b, i, j] = matrix[b, i, j]
    for each in prescribed:
        b, p = each // k, each % k
        for j in range(p):
            lower[b, p, j] = 0.0
        for i in range(p, k):
            lower[b, i, p] = 0.0
        lower[b, p, p] = 1.0
    for b in range(blocks):
        for i in range(k):
            # first L·D of the row, which then gives its entries of L and D
            for j in range(i):
                total = lower[b, i, j]
                for m in range(j):
                    total -= lower[b, i, m] * lower[b, j, m]
                lower[b, i, j] = total
            pivot = lower[b, i, i]
            for j in range(i):
                scaled = lower[b, i, j]
                lower[b, i, j] = scaled * lower[b, j, j]
                pivot -= scaled * lower[b, i, j]
            if not pivot > 0.0:
                return False
            lower[b, i, i] = 1.0 / pivot
    return True


@compiled
def _back_substitute(lower: Array, x: Array) -> None:
    """Overwrite x (n,) by L⁻ᵀ·x."""
    blocks, k, _ = lower.shape
    for b in range(blocks):
        first = b * k
        for i in range(k - 1, 0, -1):
            total = x[first + i]
            for j in range(i):
                x[first + j] -= lower[b, i, j] * total


@compiled
def substitute_blocks(lower: Array, columns: Array) -> None:
    """Overwrite every row b of `columns` (R, n) by A⁻¹·b."""
    blocks, k, _ = lower.shape
    for c in range(len(columns)):
        x = columns[c]
        for b in range(blocks):
            first = b * k
            for i in range(k):
                total = x[first + i]
                for j in range(i):
                    total -= lower[b, i, j] * x[first + j]
                x[first + i] = total
            for i in range(k):
                x[first + i] *= lower[b, i, i]
        _back_substitute(lower, x)


@compiled
def solve_blocks(
    lower: Array, prescribed: IntArray, rhs: Array, prescribed_values: Array, matrix: Array, x: Array
) -> None:
    """Write x = A⁻¹·b, prescribed entries at their values; `matrix` holds A by blocks, (n/k, k, k)."""
    k = lower.shape[1]
    copy_vector(rhs, x)
    for p in range(len(prescribed)):
        b, column = prescribed[p] // k, prescribed[p] % k
        for i in range(k):
            x[b * k + i] -= matrix[b, i, column] * prescribed_values[p]
    for p in range(len(prescribed)):
        x[prescribed[p]] = prescribed_values[p]
    substitute_blocks(lower, x.reshape((1, len(x))))


@compiled
def forward_substitute(
    lower: Array, prescribed: IntArray, rows: Array, first: int, x: Array, velocity: Array, y: Array
) -> None:
    """Write the body's rows of Y, and add J·x to `velocity`: (1).

    Args:
        lower, prescribed: of the body's factorisation.
        rows: J of all bodies, with at least R rows, (·, nv).
        first: where the body's velocities begin in J and Y.
        x: the body's velocities, (n,).
        velocity: (R,).
        y: Y, (nv, R).
    """
    count = len(velocity)
    blocks, k, _ = lower.shape
    for r in range(count):
        total = 0.0
        for i in range(len(x)):
            value = rows[r, first + i]
            y[first + i, r] = value
            total += value * x[i]
        velocity[r] += total
    for p in prescribed:
        y[first + p] = 0.0
    for b in range(blocks):
        # velocity after velocity, each over all rows at once
        for i in range(k):
            here = y[first + b * k + i]
            for j in range(i):
                factor, before = lower[b, i, j], y[first + b * k + j]
                for r in range(count):
                    here[r] -= factor * before[r]
        for i in range(k):
            here, root = y[first + b * k + i], math.sqrt(lower[b, i, i])
            for r in range(count):
                here[r] *= root


@compiled
def add_impulse_response(
    lower: Array, prescribed: IntArray, y: Array, first: int, impulse: Array, response: Array, x: Array
) -> None:
    """Add G·Jᵀ·λ to the body's velocities x (n,), with its rows of Y (nv, R) from `first` on: (1).

    `response` (n,) is a work array.
    """
    k = lower.shape[1]
    response[:] = 0.0
    for r in range(len(impulse)):
        strength = impulse[r]
        if strength != 0.0:
            for i in range(len(x)):
                response[i] += y[first + i, r] * strength
    for i in range(len(x)):
        response[i] *= math.sqrt(lower[i // k, i % k, i % k])
    _back_substitute(lower, response)
    for p in prescribed:
        response[p] = 0.0
    for i in range(len(x)):
        x[i] += response[i]


@compiled
def respond_by_blocks(lower: Array, prescribed: IntArray, rows: Array, first: int, response: Array) -> None:
    """Write (A⁻¹·Jᵀ)ᵀ of a body by rows, from column `first` on, (R, nv); J has at least R rows, (·, nv)."""
    n = lower.shape[0] * lower.shape[1]
    for r in range(len(response)):
        x = response[r, first : first + n]
        if _copy_row(rows[r, first : first + n], prescribed, x):
            substitute_blocks(lower, x.reshape((1, n)))


@compiled
def respond_by_band(
    band: Array, work: Array, prescribed: IntArray, rows: Array, first: int, response: Array
) -> None:
    """The same of a band; `work` as of `substitute_band`."""
    n = len(band) - 2 * NARROW
    for r in range(len(response)):
        x = response[r, first : first + n]
        if _copy_row(rows[r, first : first + n], prescribed, x):
            substitute_band(band, work, x)


@compiled
def _copy_row(row: Array, prescribed: IntArray, x: Array) -> bool:
    """Write a row of J, zero at prescribed velocities; whether anything of it is left."""
    copy_vector(row, x)
    for p in prescribed:
        x[p] = 0.0
    total = 0.0
    for value in x:
        total += abs(value)
    return total != 0.0


@compiled
def write_band(matrix: Array, prescribed: IntArray, band: Array) -> None:
    """Write a symmetric band (n, width + 1), entry (j + d, j) at [j, d], as `factorise_band` takes it.

    Prescribed velocities have rows and columns of the identity.
    """
    n, columns = matrix.shape
    band[:] = 0.0
    for j in range(n):
        for d in range(min(columns, n - j)):
            band[NARROW + j, d] = matrix[j, d]
    for p in prescribed:
        for d in range(columns):
            band[NARROW + p, d] = 0.0
            if d <= p:
                band[NARROW + p - d, d] = 0.0
        band[NARROW + p, 0] = 1.0


@compiled
def factorise_band(band: Array) -> bool:
    """Overwrite a band A by L, and its diagonal by D⁻¹; False if A is not positive definite."""
    for j in range(NARROW, len(band) - NARROW):
        pivot = band[j, 0]
        if not pivot > 0.0:
            return False
        inverse = 1.0 / pivot
        band[j, 0] = inverse
        for k in range(1, NARROW + 1):
            factor = band[j, k] * inverse
            for i in range(k, NARROW + 1):
                band[j + k, i - k] -= factor * band[j, i]
        for k in range(1, NARROW + 1):
            band[j, k] *= inverse
    return True


@compiled
def substitute_band(band: Array, work: Array, x: Array) -> None:
    """Overwrite x (n,) by A⁻¹·x for a band; `work` (n + 2·NARROW,) is zero in its first and last NARROW entries."""
    n = len(x)
    # the nearest entry last: it is the one that the processor has to wait for
    for j in range(NARROW, n + NARROW):
        total = x[j - NARROW]
        for k in range(NARROW, 0, -1):
            total -= band[j - k, k] * work[j - k]
        work[j] = total
    for j in range(n + NARROW - 1, NARROW - 1, -1):
        total = work[j] * band[j, 0]
        for k in range(NARROW, 0, -1):
            total -= band[j, k] * work[j + k]
        work[j] = total
        x[j - NARROW] = total
