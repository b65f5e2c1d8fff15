"""The signs of a symmetric matrix's eigenvalues, and the diagonal of a matrix of any layout."""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dsytrf

from corekit.data.arrays import Array
from corekit.linalg.matrices import Matrix
from corekit.roles.world_terms import BodyTerms

__all__ = ["diagonal", "is_definite_on_constraints", "negative_count"]


def is_definite_on_constraints(terms: BodyTerms) -> bool:
    """Whether A of a body is positive definite on the kernel of its eliminated constraints.

    It is where [[A, J_bᵀ], [J_b, −E]] has as many negative eigenvalues as there are constraints.
    """
    rows, n = terms.eliminated, terms.body.nv
    saddle = np.zeros((n + rows.count, n + rows.count))
    saddle[:n, :n] = terms.matrix.dense()
    saddle[n:, :n] = rows.to_dense(n)
    saddle[:n, n:] = saddle[n:, :n].T
    saddle[n:, n:] = -np.diag(rows.compliance)
    kept = np.concatenate([terms.free, np.ones(rows.count, dtype=bool)])
    saddle = saddle[np.ix_(kept, kept)]
    return negative_count(0.5 * (saddle + saddle.T)) == rows.count


def negative_count(matrix: Array) -> int:
    """Number of negative eigenvalues of a symmetric matrix, by the inertia of its factors.

    Source: Bunch and Kaufman (1977), "Some stable methods for calculating inertia and solving symmetric systems".
    """
    lower, pivots, _info = dsytrf(matrix, lower=1)
    single = pivots > 0
    # a pivot of two rows has one eigenvalue of each sign
    return int(np.count_nonzero(lower.diagonal()[single] < 0) + np.count_nonzero(~single) // 2)


def diagonal(matrix: Matrix) -> Array:
    """The diagonal of a matrix of any layout, shape (n,)."""
    rows, columns, where = matrix.entries()
    on, found = rows == columns, np.zeros(matrix.n)
    found[rows[on]] = matrix.data.ravel(order="K")[where[on]]
    return found
