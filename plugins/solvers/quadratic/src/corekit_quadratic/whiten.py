"""Rows in coordinates in which the Hessian is the identity.

    H = L·Lᵀ,   x = L⁻ᵀ·s,   C·x = Y·s,   Y = C·L⁻ᵀ                                              (1)

H is a lower band, h[j, d] = H[j + d, j]. Zeros inside the band are skipped, so a Hessian that couples few velocities
(pairs of angles at a spring) keeps Y as sparse as C; a row is held as a list of (index, value).
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray

__all__ = ["Places", "back", "forward", "lower_factor", "whiten_rows", "width_of"]

Places: TypeAlias = NDArray[np.uint32]
"""Indices that are looked up much: unsigned ones need no test for what counts from the end."""


@compiled
def width_of(h: Array) -> int:
    """How many columns of a band there are up to its last that is not zero; at least one."""
    # most often there is none, which their bits tell soonest
    bits, beside = h.view(np.int64), np.int64(0)
    for d in range(1, h.shape[1]):
        for j in range(len(h)):
            beside |= bits[j, d]
    if beside == 0:
        return 1
    for d in range(h.shape[1] - 1, 0, -1):
        for j in range(len(h)):
            if h[j, d] != 0.0:
                return d + 1
    return 1


@compiled
def lower_factor(h: Array, lower: Array) -> bool:
    """Write L as a band (n, width), its diagonal inverted; False if H is not positive definite.

    Args:
        h: whose columns from `width` on are zero.
    """
    n, width = lower.shape
    if width == 1:
        good = True
        for j in range(n):
            pivot = h[j, 0]
            good &= (pivot > 0.0) & (pivot < math.inf)
            lower[j, 0] = abs(pivot)
        for j in range(n):
            lower[j, 0] = 1.0 / math.sqrt(lower[j, 0])
        return good
    for j in range(n):
        for d in range(width):
            lower[j, d] = h[j, d] if j + d < n else 0.0
    for j in range(n):
        pivot = lower[j, 0]
        if not (pivot > 0.0 and pivot < math.inf):
            return False
        inverse = 1.0 / math.sqrt(pivot)
        lower[j, 0] = inverse
        for d in range(1, width):
            if lower[j, d] != 0.0:
                lower[j, d] *= inverse
        for d in range(1, width):
            a = lower[j, d]
            if a != 0.0:
                for e in range(d, width):
                    if lower[j, e] != 0.0:
                        lower[j + d, e - d] -= a * lower[j, e]
    return True


@compiled
def forward(lower: Array, x: Array) -> None:
    """x ← L⁻¹·x."""
    n, width = lower.shape
    for j in range(n):
        a = x[j] * lower[j, 0]
        x[j] = a
        for d in range(1, width):
            if lower[j, d] != 0.0:
                x[j + d] -= lower[j, d] * a


@compiled
def back(lower: Array, x: Array) -> None:
    """x ← L⁻ᵀ·x."""
    n, width = lower.shape
    for j in range(n - 1, -1, -1):
        a = x[j]
        for d in range(1, width):
            if lower[j, d] != 0.0:
                a -= lower[j, d] * x[j + d]
        x[j] = a * lower[j, 0]


@compiled
def whiten_rows(
    lower: Array, dofs: IntArray, values: Array, work: Array, start: Places, at: Places, entry: Array,
    source: Places, lowest: IntArray,
) -> bool:  # fmt: skip
    """Write Y row by row: entries start[i]:start[i + 1] of `at` and `entry`; False if they do not fit.

    Args:
        source: where in C's values (flat) an entry comes from if it is one of them, scaled; else that of another.
        work: zeros, shape (n,); zeros again afterwards.
        lowest: first index that row i of C touches, written.
    """
    n, width = lower.shape
    count = 0
    for i in range(len(dofs)):
        start[i] = count
        low, high = n, -1
        for k in range(dofs.shape[1]):
            a = values[i, k]
            if a != 0.0:
                p = dofs[i, k]
                work[p] += a
                low, high = min(low, p), max(high, p)
        lowest[i] = low if high >= 0 else 0
        if width == 1:
            # nothing is carried on: entries as they stand, those of one index added up by the first
            for k in range(dofs.shape[1]):
                p = dofs[i, k]
                a = work[p]
                if a != 0.0 and values[i, k] != 0.0:
                    if count == len(at):
                        work[:] = 0.0
                        return False
                    at[count], entry[count], source[count] = p, a * lower[p, 0], i * dofs.shape[1] + k
                    work[p] = 0.0
                    count += 1
            continue
        p = low
        while p <= high:
            a = work[p]
            if a != 0.0:
                if count == len(at):
                    work[:] = 0.0
                    return False
                work[p] = 0.0
                a *= lower[p, 0]
                at[count], entry[count] = p, a
                count += 1
                for d in range(1, width):
                    if lower[p, d] != 0.0:
                        work[p + d] -= lower[p, d] * a
                        high = max(high, p + d)
            p += 1
    start[len(dofs)] = count
    return True
