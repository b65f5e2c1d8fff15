"""K and D of what is linear: springs, and sections on bases that do not change.

    K = diag(k) + Σ w·B_qᵀ·Σ·B_q,    D = diag(d) + Σ w·B_qᵀ·Υ·B_q                                          (1)

They are worked out once; dependent bases and threads add theirs in `tangent`.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from corekit.data.arrays import Array, IntArray

__all__ = ["linear_matrices"]


def linear_matrices(integers: Mapping[str, IntArray], reals: Mapping[str, Array], size: int) -> Array:
    """K and D of (1) from the tables of a tree, shape (2, n, n)."""
    out = np.zeros((2, size, size))
    springs = reals["SPRINGS"]
    out[0, np.arange(size), np.arange(size)] = springs[:, 0]
    out[1, np.arange(size), np.arange(size)] = springs[:, 1]
    points, pieces, sections = integers["QUADRATURE"][:, 0], integers["QUADRATURE"][:, 1], reals["SECTIONS"]
    starts, is_constant = integers["POINTS"][points, 0], integers["POINTS"][points, 2] < 0
    for piece in np.unique(pieces[is_constant]).tolist():
        own, first = integers["PIECES"][piece, 1], integers["PIECES"][piece, 3]
        of_piece = is_constant & (pieces == piece)
        entries = reals["BASES"][starts[of_piece, None] + np.arange(6 * own)]
        B = entries.reshape(len(entries), 6, own)
        rows, where = sections[of_piece, None, :], slice(first, first + own)
        for matrix, diagonal in zip(out, (rows[:, :, 1:7], rows[:, :, 7:13]), strict=True):
            weighted = rows[:, :, :1] * (B.transpose(0, 2, 1) * diagonal)
            matrix[where, where] += (weighted @ B).sum(axis=0)
    return out
