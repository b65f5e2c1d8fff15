"""The proof that contacts contradict each other.

Every solution has w_n ≥ 0 at all contacts. If normal impulses d ≥ 0 exist with

    W·(d, 0) = 0   and   dᵀ·w₀,n < 0                                                              (1)

then dᵀ·w_n = dᵀ·w₀,n < 0 for all λ: there is no solution, whatever friction does. With W = F·Fᵀ and d scaled to
dᵀ·w₀,n = −1, |Fᵀ·d| ≤ δ instead of (1) means that a solution has an energy λᵀ·W·λ of at least 1/δ². This is Farkas'
lemma; d is a solution of a non-negative least squares problem (Lawson, Hanson, 1974).
"""

from __future__ import annotations

import numpy as np

from corekit.data.arrays import Array

__all__ = ["contradict"]

_DELTA = 1e-6
"""δ for rows and free velocities scaled to 1: a solution would have 10¹² times the energy of the problem."""


def contradict(delassus: Array, free: Array, width: int, contacts: int) -> bool:
    """Whether (1) has a solution d, so that no impulses keep all contacts from closing."""
    from scipy.optimize import nnls

    if not contacts:
        return False
    end = contacts * width
    mobility = delassus.diagonal()[:end:width]
    scale = np.sqrt(np.where(mobility > 0.0, mobility, max(float(delassus.diagonal().max()), 1e-300)))
    closing = free[:end:width] / scale
    size = float(np.abs(closing).max())
    if not size > 0.0:
        return False
    values, vectors = np.linalg.eigh(delassus)
    root = (vectors * np.sqrt(np.maximum(values, 0.0)))[:end:width] / scale[:, None]
    try:
        direction, _ = nnls(np.vstack([root.T, closing / size]), np.append(np.zeros(len(free)), -1.0))
    except RuntimeError:  # its iterations ran out: nothing is proven
        return False
    gain = -float(direction @ closing) / size
    return gain > 0.5 and float(np.linalg.norm(root.T @ direction)) <= _DELTA * gain
