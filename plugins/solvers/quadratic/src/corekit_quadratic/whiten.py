"""Rows in coordinates in which the Hessian is the identity.

    H = L·Lᵀ,   x = L⁻ᵀ·s,   C·x = Y·s,   Y = C·L⁻ᵀ                                              (1)

H is a lower band, h[j, d] = H[j + d, j]. Zeros inside the band are skipped, so a Hessian that couples few
velocities (pairs of angles at a spring) leaves Y as sparse as C. A row is a list of (index, value).
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from corekit.compiled import check_signals, compiled
from corekit.data.arrays import Array, IntArray

__all__ = ["Indices", "back_substitute", "band_width", "forward_substitute", "lower_factor", "whiten_rows"]

Indices: TypeAlias = NDArray[np.uint32]
"""Indices of frequent look-ups: unsigned ones need no test for negative values."""


@compiled
def band_width(h: Array) -> int:
    """Return the number of columns of a band up to its last that is not zero; at least one."""
    # usually there is none, and the test of their bits is fastest
    bits, off_diagonal = h.view(np.int64), np.int64(0)
    for d in range(1, h.shape[1]):
        for j in range(len(h)):
            off_diagonal |= bits[j, d]
    if off_diagonal == 0:
        return 1
    for d in range(h.shape[1] - 1, 0, -1):
        for j in range(len(h)):
            if h[j, d] != 0.0:
                return d + 1
    return 1


@compiled
def lower_factor(h: Array, lower: Array) -> bool:
    """Write L as a band (n, width), its diagonal inverted; return False if H is not positive definite.

    Args:
        h: the band; its columns from `width` on are zero.
    """
    n, width = lower.shape
    if width == 1:
        is_definite = True
        for j in range(n):
            pivot = h[j, 0]
            is_definite &= (pivot > 0.0) & (pivot < math.inf)
            lower[j, 0] = abs(pivot)
        for j in range(n):
            lower[j, 0] = 1.0 / math.sqrt(lower[j, 0])
        return is_definite
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
def forward_substitute(lower: Array, x: Array) -> None:
    """x ← L⁻¹·x."""
    n, width = lower.shape
    for j in range(n):
        a = x[j] * lower[j, 0]
        x[j] = a
        for d in range(1, width):
            if lower[j, d] != 0.0:
                x[j + d] -= lower[j, d] * a


@compiled
def back_substitute(lower: Array, x: Array) -> None:
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
    lower: Array, dofs: IntArray, values: Array, workspace: Array, start: Indices,
    column: Indices, entry: Array, source: Indices, lowest: IntArray
) -> bool:  # fmt: skip
    """Write Y row by row: entries start[i]:start[i + 1] of `column` and `entry`; return False if they do not fit.

    Args:
        source: index in C's values (flat) of an entry that is a scaled one of them; arbitrary for others.
        workspace: zeros, shape (n,); zeros again afterwards.
        lowest: first index that row i of C touches, out.
    """
    n, width = lower.shape
    count = 0
    for i in range(len(dofs)):
        if i & 63 == 63:
            check_signals()
        start[i] = count
        low, high = n, -1
        for k in range(dofs.shape[1]):
            a = values[i, k]
            if a != 0.0:
                p = dofs[i, k]
                workspace[p] += a
                low, high = min(low, p), max(high, p)
        lowest[i] = low if high >= 0 else 0
        if width == 1:
            # no fill-in: entries of C as they are; the first of an index contains the sum of all
            for k in range(dofs.shape[1]):
                p = dofs[i, k]
                a = workspace[p]
                if a != 0.0 and values[i, k] != 0.0:
                    if count == len(column):
                        workspace[:] = 0.0
                        return False
                    column[count], entry[count], source[count] = p, a * lower[p, 0], i * dofs.shape[1] + k
                    workspace[p] = 0.0
                    count += 1
            continue
        p = low
        while p <= high:
            a = workspace[p]
            if a != 0.0:
                if count == len(column):
                    workspace[:] = 0.0
                    return False
                workspace[p] = 0.0
                a *= lower[p, 0]
                column[count], entry[count] = p, a
                count += 1
                for d in range(1, width):
                    if lower[p, d] != 0.0:
                        workspace[p + d] -= lower[p, d] * a
                        high = max(high, p + d)
            p += 1
    start[len(dofs)] = count
    return True
