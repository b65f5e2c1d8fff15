"""Sparse matrices whose pattern stays while their values change."""

from __future__ import annotations

from typing import final

import numpy as np
from scipy.sparse import csc_matrix

from corekit.data.arrays import Array, IntArray

__all__ = ["Pattern"]


@final
class Pattern:
    """Where the entries of a matrix stand; entries named twice add up.

    Args:
        rows, columns: of the entries, in the order in which their values will come.
        shape: of the matrix.
    """

    def __init__(self, rows: IntArray, columns: IntArray, shape: tuple[int, int]) -> None:
        known, self._where = np.unique(columns * shape[0] + rows, return_inverse=True)
        first = np.searchsorted(known, np.arange(shape[1] + 1) * shape[0])
        self.matrix: csc_matrix = csc_matrix(
            (np.zeros(len(known)), (known % max(shape[0], 1)).astype(np.int32), first.astype(np.int32)),
            shape=shape,
        )

    def fill(self, values: Array) -> csc_matrix:
        """The matrix with these values, the same object at every call."""
        data = self.matrix.data
        data[:] = np.bincount(self._where, weights=values, minlength=len(data)) if len(data) else 0.0
        return self.matrix
