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
    for (point, piece, *_), section in zip(integers["QUADRATURE"], reals["SECTIONS"], strict=True):
        at, _, curvature = integers["POINTS"][point]
        own, first = integers["PIECES"][piece, 1], integers["PIECES"][piece, 3]
        if curvature >= 0:
            continue
        B, where = reals["BASES"][at : at + 6 * own].reshape(6, own), slice(first, first + own)
        for matrix, diagonal in zip(out, (section[1:7], section[7:13]), strict=True):
            matrix[where, where] += section[0] * (B.T * diagonal) @ B
    return out
