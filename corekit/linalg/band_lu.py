"""Elimination of a band that may be unsymmetric, without pivoting.

    A = L·U,   L unit lower, U upper, both inside the band                                       (1)

column by column; every pivot is positive if the symmetric part of A is positive definite, and the first one that is
not ends the elimination. Chains of rods on floors are such bands: a contact at a node couples what the rod couples.
"""

from __future__ import annotations

from typing import final

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array

__all__ = ["BandLU"]


@final
class BandLU:
    """L and U of (1) in place of A.

    Attributes:
        width: half-width w.
        data: (n, 2·w + 1), entry (i, j) at [i, j − i + w]; what lies outside A stays zero.
    """

    def __init__(self, n: int, width: int) -> None:
        self.width = width
        self.data = np.zeros((n, 2 * width + 1))

    def refactor(self) -> bool:
        """Eliminate the matrix in `data`; False where a pivot is not positive or not finite."""
        return bool(_eliminate(self.data, self.width))

    def solve(self, x: Array) -> None:
        """Overwrite x (n,) by A⁻¹·x."""
        _substitute(self.data, self.width, x)


@compiled
def _eliminate(band: Array, w: int) -> bool:
    n = len(band)
    for k in range(n):
        d = band[k, w]
        if not 0.0 < d < np.inf:
            return False
        last = min(w, n - 1 - k)
        for i in range(1, last + 1):
            share = band[k + i, w - i] / d
            band[k + i, w - i] = share
            for j in range(1, last + 1):
                band[k + i, w - i + j] -= share * band[k, w + j]
    return True


@compiled
def _substitute(band: Array, w: int, x: Array) -> None:
    n = len(band)
    for i in range(n):
        total = x[i]
        for j in range(max(0, i - w), i):
            total -= band[i, j - i + w] * x[j]
        x[i] = total
    for i in range(n - 1, -1, -1):
        total = x[i]
        for j in range(i + 1, min(n, i + w + 1)):
            total -= band[i, j - i + w] * x[j]
        x[i] = total / band[i, w]
