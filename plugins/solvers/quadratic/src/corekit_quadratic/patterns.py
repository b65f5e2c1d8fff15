"""Sparse matrices with a fixed pattern and variable values."""

from __future__ import annotations

from typing import final

import numpy as np
from scipy.sparse import csc_matrix

from corekit.data.arrays import Array, IntArray

__all__ = ["Pattern"]


@final
class Pattern:
    """Positions of the entries of a matrix; repeated entries add up.

    Args:
        rows, columns: of the entries, in the order of their values.
        shape: of the matrix.
    """

    def __init__(self, rows: IntArray, columns: IntArray, shape: tuple[int, int]) -> None:
        positions, self._entry_position = np.unique(columns * shape[0] + rows, return_inverse=True)
        first = np.searchsorted(positions, np.arange(shape[1] + 1) * shape[0])
        self.matrix: csc_matrix = csc_matrix(
            (
                np.zeros(len(positions)),
                (positions % max(shape[0], 1)).astype(np.int32),
                first.astype(np.int32),
            ),
            shape=shape,
        )

    def fill(self, values: Array) -> csc_matrix:
        """Return the matrix with these values, the same object at every call."""
        data = self.matrix.data
        data[:] = np.bincount(self._entry_position, weights=values, minlength=len(data)) if len(data) else 0.0
        return self.matrix
