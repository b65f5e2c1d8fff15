"""The step matrix of all bodies together with a potential's contact terms, factorised as that of one body is.

    W = diag(A_1, …, A_b) + Σ_contacts Pᵀ·C·P                                                    (1)

Small or dense worlds keep W dense. Else W is sparse: its pattern holds the bodies' structures and the couplings of the
contacts of now and of the set before, and is analysed anew only when a contact couples what was not coupled (floors
and obstacles couple nothing that a rod does not couple itself). W may be unsymmetric by friction.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import final

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.engine.bodies.body_terms import BodyTerms
from corekit.engine.potentials.material_point_kernels import add_entries
from corekit.engine.potentials.potential_forces import PotentialForces
from corekit.linalg.constraint_rows import EliminatedConstraints
from corekit.linalg.factorisation import Factorisation, make_factorisation
from corekit.linalg.matrices import Dense, Sparse, SparsePattern
from corekit.linalg.vectors import max_abs
from corekit.roles.component import InternalState

__all__ = ["CoupledStepMatrix"]

_SMALL = 48
"""Worlds up to this many velocities are cheaper dense, in microseconds, than sparse."""
_DENSE = 400
"""Up to this many where every body's matrix is dense anyway."""


@final
class CoupledStepMatrix:
    """Implements (1), with the constraints of all bodies.

    Args:
        bodies, slices: bodies' terms and where their velocities stand.
        forces: the contact terms.

    Attributes:
        matrix: W. factor: its factorisation. Both are None before the first contact of a sparse world.
        prescribed: indices of prescribed velocities.
    """

    def __init__(self, bodies: Sequence[BodyTerms], slices: Sequence[slice], forces: PotentialForces) -> None:
        self._bodies, self._forces = list(zip(bodies, slices, strict=True)), forces
        self._n = n = slices[-1].stop
        self.prescribed: IntArray = np.concatenate(
            [body.prescribed + where.start for body, where in self._bodies]
        ).astype(np.int64)
        self._entries = [
            (rows + where.start, columns + where.start, place)
            for body, where in self._bodies
            for rows, columns, place in [body.matrix.entries()]
        ]
        self._base: IntArray = np.concatenate([columns * n + rows for rows, columns, _ in self._entries])
        self._couplings: IntArray = np.zeros(0, dtype=np.int64)
        width = max(body.eliminated.dofs.shape[1] for body in bodies)
        self._rows = EliminatedConstraints(sum(body.eliminated.count for body in bodies), width)
        self._rhs, self._impulse = np.zeros(n), np.zeros(self._rows.count)
        self.matrix: Dense | Sparse | None = None
        self.factor: Factorisation | None = None
        is_dense = all(isinstance(body.matrix, Dense) for body in bodies)
        if n <= (_DENSE if is_dense else _SMALL):
            self._set_matrix(Dense(n))

    @property
    def touches(self) -> bool:
        """Whether the potential acts at any contact."""
        return self._forces.count > 0

    def internal_state(self) -> InternalState:
        """The entries of the pattern and the couplings it was made for: the order of elimination depends on them."""
        matrix, keys = self.matrix, np.zeros(0, dtype=np.int64)
        if isinstance(matrix, Sparse):
            keys = matrix.pattern.column * self._n + matrix.pattern.row
        return {"pattern": keys, "couplings": self._couplings.copy()}

    def restore(self, internal_state: InternalState) -> None:
        """Restore what `internal_state` gave; empty: no contact was yet."""
        keys = internal_state.get("pattern", self._base[:0])
        self._couplings = internal_state.get("couplings", keys[:0]).copy()
        if not isinstance(self.matrix, Dense):
            self.matrix = None
            if len(keys):
                self._set_pattern(keys)

    def refactor(self, damping: float, stiffness: float) -> bool:
        """Factorise W for C = damping·D_c + stiffness·K_c; False if it is singular or indefinite."""
        if not self._fill(damping, stiffness):
            self._analyse()
            if not self._fill(damping, stiffness):
                raise ValueError("the pattern of the contacts does not hold their own entries")
        self._stack_rows()
        matrix, factor = self.matrix, self.factor
        assert matrix is not None
        assert factor is not None
        return math.isfinite(max_abs(matrix.data.ravel(order="K"))) and factor.refactor(matrix, self._rows)

    def _fill(self, damping: float, stiffness: float) -> bool:
        """Write the values of W; False where the pattern lacks an entry."""
        matrix = self.matrix
        if matrix is None:
            return False
        matrix.zero()
        data = matrix.data.ravel()
        for (body, _), place, (_, _, where) in zip(self._bodies, self._places, self._entries, strict=True):
            add_entries(body.matrix.data.ravel(order="K"), where, place, data)
        return self._forces.add_to(matrix, damping, stiffness)

    def _analyse(self) -> None:
        """Make the pattern of now and of the couplings before."""
        rows, columns = self._forces.couplings()
        before, self._couplings = self._couplings, columns * self._n + rows
        self._set_pattern(np.unique(np.concatenate([self._base, before, self._couplings])))

    def _set_pattern(self, keys: IntArray) -> None:
        """Make W of these entries, column · n + row."""
        self._set_matrix(Sparse(SparsePattern.from_entries(self._n, keys % self._n, keys // self._n)))

    def _set_matrix(self, matrix: Dense | Sparse) -> None:
        self.matrix = matrix
        self.factor = make_factorisation(matrix, self._rows, self.prescribed, symmetric=False)
        self._places = [matrix.where(rows, columns) for rows, columns, _ in self._entries]

    def _stack_rows(self) -> None:
        """Copy the constraints of all bodies; unused entries repeat a body's first velocity."""
        stacked, first = self._rows, 0
        for body, where in self._bodies:
            if body.constraints is not None:
                body.constraints.eliminate()
                rows, width = body.eliminated, body.eliminated.dofs.shape[1]
                own = slice(first, first + rows.count)
                stacked.dofs[own] = where.start
                stacked.dofs[own, :width] += rows.dofs
                stacked.values[own, :width] = rows.values
                stacked.compliance[own], stacked.rhs[own] = rows.compliance, rows.rhs
                first = own.stop

    def solve(self, extra: Array | None, x: Array) -> None:
        """Write Δ = W⁻¹·(r + extra), prescribed entries at their values, and the constraints' impulses."""
        rhs, first = self._rhs, 0
        for body, where in self._bodies:
            rhs[where] = body.rhs
        if extra is not None:
            rhs += extra
        assert self.factor is not None
        fixed = np.concatenate([body.fixed for body, _ in self._bodies])
        self.factor.solve(rhs, fixed, x, self._impulse)
        for body, _ in self._bodies:
            if body.constraints is not None:
                last = first + len(body.eliminated_impulse)
                body.eliminated_impulse[:] = self._impulse[first:last]
                body.constraints.update_impulses()
                first = last
