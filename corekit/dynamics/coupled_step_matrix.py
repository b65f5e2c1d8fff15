"""The step matrix of all bodies together with a potential's contact terms, factorised as one.

    W = diag(A_1, …, A_b) + Σ_contacts Pᵀ·C·P                                                    (1)

Small or dense worlds keep W dense. Else W is sparse: its pattern holds the bodies' structures and the couplings of the
contacts of now and of the set before, and is analysed anew only when a contact couples what was not coupled (floors
and obstacles couple nothing that a rod does not couple itself). W may be unsymmetric by friction.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np
from scipy.linalg.lapack import dgetrf, dgetrs

from corekit.data.arrays import Array, IntArray
from corekit.dynamics.body_terms import BodyTerms
from corekit.dynamics.material_point_kernels import add_entries
from corekit.dynamics.potential_forces import PotentialForces
from corekit.linalg.matrices import Dense, SparsePattern
from corekit.linalg.sparse_lu import SparseLU
from corekit.roles.component import InternalState

__all__ = ["CoupledStepMatrix"]

_SMALL = 48
"""Worlds up to this many velocities are cheaper dense, in microseconds, than sparse."""
_DENSE = 400
"""Up to this many where every body's matrix is dense anyway."""


@final
class CoupledStepMatrix:
    """Implements (1); prescribed velocities are rows of the identity.

    Args:
        parts, slices: bodies' terms and where their velocities stand.
        forces: the contact terms.
    """

    def __init__(self, parts: Sequence[BodyTerms], slices: Sequence[slice], forces: PotentialForces) -> None:
        self._parts, self._slices, self._forces = tuple(parts), tuple(slices), forces
        self.n = n = slices[-1].stop
        every_dense = all(isinstance(part.matrix, Dense) for part in parts)
        self._dense = (
            np.zeros((n, n), order="F") if n <= (_DENSE if every_dense else _SMALL) else np.zeros((0, 0))
        )
        self._held: IntArray = np.concatenate(
            [part.prescribed + where.start for part, where in zip(parts, slices, strict=True)]
        ).astype(np.int64)
        self._entries = [part.matrix.entries() for part in parts]
        self._base: IntArray = np.zeros(0, dtype=np.int64)
        self._coupled: IntArray = np.zeros(0, dtype=np.int64)
        self._pattern: SparsePattern | None = None
        self._elimination: SparseLU | None = None
        self._data = np.zeros(0)
        self._lu: tuple[Array, IntArray] = np.zeros((0, 0)), np.zeros(0, dtype=np.int64)
        self._known, self._moved = np.zeros(n), np.zeros(n)
        self._coefficients = (0.0, 0.0)
        if len(self._dense):
            return
        self._base = np.concatenate(
            [
                (columns + where.start) * n + rows + where.start
                for (rows, columns, _), where in zip(self._entries, slices, strict=True)
            ]
        )

    def internal_state(self) -> InternalState:
        """The entries of the pattern and the couplings it was made for: the order of elimination depends on them."""
        pattern = self._pattern
        keys = np.zeros(0, dtype=np.int64) if pattern is None else pattern.column * self.n + pattern.row
        return {"pattern": keys, "couplings": self._coupled.copy()}

    def restore(self, internal_state: InternalState) -> None:
        """Restore what `internal_state` gave; empty: no contact was yet."""
        keys = internal_state.get("pattern", self._base[:0])
        self._coupled, self._pattern = internal_state.get("couplings", keys[:0]).copy(), None
        if len(keys):
            self._set_pattern(keys)

    def refactor(self, damping: float, stiffness: float) -> bool:
        """Factorise W for C = damping·D_c + stiffness·K_c; False if it is singular or indefinite."""
        self._coefficients = damping, stiffness
        if len(self._dense):
            return self._refactor_dense()
        return self._refactor_sparse()

    def _refactor_dense(self) -> bool:
        matrix = self._dense
        matrix.fill(0.0)
        for part, where, (rows, columns, places) in zip(
            self._parts, self._slices, self._entries, strict=True
        ):
            matrix[rows + where.start, columns + where.start] += part.matrix.data.ravel(order="K")[places]
        self._forces.add_to(matrix, None, self._data, *self._coefficients)
        matrix[self._held, :] = 0.0
        matrix[:, self._held] = 0.0
        matrix[self._held, self._held] = 1.0
        lu, pivots, info = dgetrf(matrix)
        self._lu = lu, pivots
        return info == 0 and bool(np.isfinite(lu.ravel(order="K").sum()))

    def _refactor_sparse(self) -> bool:
        if self._pattern is None or not self._fill():
            self._analyse()
            if not self._fill():
                raise ValueError("the pattern of the contacts does not hold their own entries")
        assert self._elimination is not None
        if len(self._held):
            self._data[self._cleared] = 0.0
            self._data[self._ones] = 1.0
        return self._elimination.refactor(self._data, symmetric=False)

    def _fill(self) -> bool:
        """Write the values of W; False where the pattern lacks an entry."""
        data = self._data
        data.fill(0.0)
        for own, place, where in self._spots:
            add_entries(own, where, place, data)
        return self._forces.add_to(self._dense, self._pattern, data, *self._coefficients)

    def _analyse(self) -> None:
        """Make the pattern of now and of the couplings before, and its elimination."""
        n = self.n
        rows, columns = self._forces.couplings()
        now = columns * n + rows
        keys = np.unique(np.concatenate([self._base, self._coupled, now]))
        self._coupled = now
        self._set_pattern(keys)

    def _set_pattern(self, keys: IntArray) -> None:
        """Make the pattern of these entries, column · n + row, and its elimination."""
        n = self.n
        pattern = self._pattern = SparsePattern.of(n, keys % n, keys // n)
        self._elimination = SparseLU(pattern)
        self._data = np.zeros(len(pattern.row))
        self._spots = [
            (
                part.matrix.data.ravel(order="K"),
                pattern.where(own_rows + where.start, own_columns + where.start),
                own,
            )
            for part, (own_rows, own_columns, own), where in zip(
                self._parts, self._entries, self._slices, strict=True
            )
        ]
        self._cleared = np.flatnonzero(np.isin(pattern.row, self._held) | np.isin(pattern.column, self._held))
        self._ones = pattern.diagonal[self._held]

    def solve(self, extra: Array | None, x: Array) -> None:
        """Write Δ = W⁻¹·(r + extra), prescribed entries at their values."""
        for part, where in zip(self._parts, self._slices, strict=True):
            x[where] = part.rhs
        if extra is not None:
            x += extra
        if len(self._held):
            fixed = np.concatenate([part.fixed for part in self._parts])
            if np.any(fixed):
                known, moved = self._known, self._moved
                known[self._held] = fixed
                for part, where in zip(self._parts, self._slices, strict=True):
                    part.matrix.multiply(known[where], moved[where])
                x -= moved
                x -= self._forces.tangent_product(known, *self._coefficients)
            x[self._held] = fixed
        self._back(x)

    def correct(self, x: Array) -> None:
        """Overwrite x by W⁻¹·x with nothing prescribed to move."""
        x[self._held] = 0.0
        self._back(x)

    def _back(self, x: Array) -> None:
        if len(self._dense):
            x[:] = dgetrs(*self._lu, x)[0]
        else:
            assert self._elimination is not None
            self._elimination.solve(x)
