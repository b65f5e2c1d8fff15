"""Conversion of a symmetric matrix to a lower band h[j, d] = H[j + d, j], shape (n, width + 1), C order."""

from __future__ import annotations

import numpy as np

from corekit.data.arrays import Array
from corekit.linalg.matrices import Banded, Dense, Diagonal, Matrix

__all__ = ["is_view", "lower_band"]


def lower_band(matrix: Matrix) -> Array:
    """Return the band of the lower triangle, a view if the matrix is diagonal or a band."""
    if isinstance(matrix, Banded):
        return matrix.data.T
    if isinstance(matrix, Diagonal):
        return matrix.data.reshape(-1, 1)
    if isinstance(matrix, Dense):
        n = matrix.n
        band = np.zeros((n, n))
        for j in range(n):
            band[j, : n - j] = matrix.data[j:, j]
        return band
    rows, columns, _ = matrix.entries()
    band = Banded(matrix.n, int(np.abs(rows - columns).max(initial=0)))
    band.add(matrix)
    return band.data.T


def is_view(matrix: Matrix) -> bool:
    """Whether `lower_band` is a view, whose values follow the matrix's."""
    return isinstance(matrix, (Banded, Diagonal))
