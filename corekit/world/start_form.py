"""The one-solve problem at the start of a step, of one body: one compiled call where the layouts of its matrices allow.

    A = (1 + σ)·M + h·D + βh²·K,     b = M·v₀ + h·f + h·D·v₀ + σ·M·v₀                          (1)

K and D are symmetrised on the way where A must be symmetric. Compiled are small dense matrices, and bands, of which a
diagonal is the narrowest; others are added up by their own methods.
"""

from __future__ import annotations

from typing import final

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.linalg.array_table import ArrayTable, indices, vector
from corekit.linalg.array_table import matrix as entries
from corekit.linalg.matrices import Banded, Dense, Diagonal, Matrix, symmetrise
from corekit.linalg.square_root import SMALL

__all__ = ["StartForm"]

_NO_ROWS: IntArray = ArrayTable().table


@compiled
def _start_rows(h: float, rows: IntArray) -> None:
    """Write r and E of the rows at the start of a step, see `body_rows`; nothing where the table is empty.

    Args:
        rows: which are rate rows, c, u at the end, α, r and E.
    """
    if len(rows) == 0:
        return
    rate, constraint, wanted, alpha, target, compliance = (
        indices(rows, 0), vector(rows, 1), vector(rows, 2), vector(rows, 3), vector(rows, 4), vector(rows, 5),
    )  # fmt: skip
    for i in range(len(rate)):
        target[i] = wanted[i] if rate[i] else -constraint[i] / h
        compliance[i] = alpha[i] / h if rate[i] else alpha[i] / (h * h)


@compiled
def _dense(
    system: IntArray, rows: IntArray, symmetric: bool, v: Array, h: float, by_damping: float, by_stiffness: float,
    shift: float,
) -> None:  # fmt: skip
    """Write A (n, n) and b (n,) of (1); K and D are not read where their factors are 0.

    Args:
        system: M, K, D, A, f and b.
    """
    n, mass, stiffness, damping = len(v), entries(system, 0), entries(system, 1), entries(system, 2)
    matrix, force, right = entries(system, 3), vector(system, 4), vector(system, 5)
    for i in range(n):
        total, damped = 0.0, 0.0
        for j in range(n):
            m = mass[i, j]
            total += m * v[j]
            entry = m
            if by_damping != 0.0:
                d = 0.5 * (damping[i, j] + damping[j, i]) if symmetric else damping[i, j]
                damped += d * v[j]
                entry += by_damping * d
            if by_stiffness != 0.0:
                k = 0.5 * (stiffness[i, j] + stiffness[j, i]) if symmetric else stiffness[i, j]
                entry += by_stiffness * k
            matrix[i, j] = entry + shift * m
        right[i] = total + h * force[i] + by_damping * damped + shift * total
    _start_rows(h, rows)


@compiled
def _bands(
    system: IntArray, rows: IntArray, v: Array, h: float, by_damping: float, by_stiffness: float, shift: float
) -> None:
    """The same for symmetric bands, shape (n, width + 1): entry (j + d, j) stands at [j, d]."""
    n, mass, stiffness, damping = len(v), entries(system, 0), entries(system, 1), entries(system, 2)
    matrix, force, right = entries(system, 3), vector(system, 4), vector(system, 5)
    for j in range(n):
        right[j] = h * force[j]
        for d in range(matrix.shape[1]):
            matrix[j, d] = 0.0
    _add_band(mass, 1.0 + shift, 1.0 + shift, matrix, v, right)
    if by_damping != 0.0:
        _add_band(damping, by_damping, by_damping, matrix, v, right)
    if by_stiffness != 0.0:
        _add_band(stiffness, by_stiffness, 0.0, matrix, v, right)
    _start_rows(h, rows)


@compiled
def _add_band(band: Array, factor: float, by_product: float, matrix: Array, v: Array, right: Array) -> None:
    """Add factor·band to A and by_product·band·v to b."""
    n, wide = band.shape
    for j in range(n):
        for d in range(min(wide, n - j)):
            entry = band[j, d]
            matrix[j, d] += factor * entry
            right[j] += by_product * entry * v[j + d]
            if d:
                right[j + d] += by_product * entry * v[j]


@compiled
def _sum(system: IntArray, by_mass: float, by_damping: float, by_stiffness: float) -> None:
    """Write A = by_mass·M + by_damping·D + by_stiffness·K for symmetric bands as in `_bands`."""
    mass, stiffness, damping = entries(system, 0), entries(system, 1), entries(system, 2)
    matrix = entries(system, 3)
    masses, dampings, wide = mass.shape[1], damping.shape[1], stiffness.shape[1]
    for j in range(len(matrix)):
        for d in range(matrix.shape[1]):
            entry = by_stiffness * stiffness[j, d] if d < wide else 0.0
            if d < masses:
                entry += by_mass * mass[j, d]
            if d < dampings:
                entry += by_damping * damping[j, d]
            matrix[j, d] = entry


def _columns(matrix: Matrix) -> Array:
    """A band's data as `_bands` takes them, a view."""
    return matrix.data.reshape(matrix.n, -1) if isinstance(matrix, Diagonal) else matrix.data.T


@final
class StartForm:
    """Writes (1) of one body.

    Args:
        mass, stiffness, damping: M, K and D; the last two None for models without a tangent.
        matrix: A. force, right: f and b, (n,). None of the buffers is ever replaced.
        symmetric: whether A must be symmetric.
        rows: the table of the body's rows, or None.
    """

    def __init__(
        self, mass: Matrix, stiffness: Matrix | None, damping: Matrix | None, matrix: Matrix, force: Array,
        right: Array, symmetric: bool, rows: IntArray | None = None,
    ) -> None:  # fmt: skip
        self._matrices = mass, stiffness, damping, matrix
        self._force, self._right = force, right
        self._symmetric, self._rows = symmetric, _NO_ROWS if rows is None else rows
        self._work = np.zeros(matrix.n)
        # matrices that a model does not give are never read
        given = mass, stiffness or mass, damping or mass, matrix
        self._dense = self._bands = None
        if all(isinstance(each, Dense) for each in given) and matrix.n <= SMALL:
            self._dense = ArrayTable(*(each.data for each in given), force, right).table
        elif all(isinstance(each, (Diagonal, Banded)) for each in given):
            self._bands = ArrayTable(*(_columns(each) for each in given), force, right).table

    def write(self, v: Array, h: float, by_damping: float, by_stiffness: float, shift: float) -> None:
        """Write A and b of (1), and r and E of the rows.

        Args:
            v: v₀.
            by_damping, by_stiffness: h and βh², or 0.
            shift: σ.
        """
        if self._dense is not None:
            _dense(self._dense, self._rows, self._symmetric, v, h, by_damping, by_stiffness, shift)
        elif self._bands is not None:
            _bands(self._bands, self._rows, v, h, by_damping, by_stiffness, shift)
        else:
            self._add_up(v, h, by_damping, by_stiffness, shift)
            _start_rows(h, self._rows)

    def combine(self, by_mass: float, by_damping: float, by_stiffness: float) -> None:
        """Write A = by_mass·M + by_damping·D + by_stiffness·K, of a model that gives K and D."""
        mass, stiffness, damping, matrix = self._matrices
        if self._bands is not None:
            _sum(self._bands, by_mass, by_damping, by_stiffness)
        elif stiffness is not None and damping is not None:
            matrix.combine(mass, by_mass, damping, by_damping, stiffness, by_stiffness)

    def _add_up(self, v: Array, h: float, by_damping: float, by_stiffness: float, shift: float) -> None:
        """Write (1) whatever the layouts are."""
        mass, stiffness, damping, matrix = self._matrices
        force, right, work = self._force, self._right, self._work
        mass.multiply(v, right)
        np.multiply(force, h, out=work)
        right += work
        matrix.zero()
        matrix.add(mass)
        if damping is not None and by_damping:
            if self._symmetric:
                symmetrise(damping)
            matrix.add(damping, by_damping)
            damping.multiply(v, work)
            work *= by_damping
            right += work
        if stiffness is not None and by_stiffness:
            if self._symmetric:
                symmetrise(stiffness)
            matrix.add(stiffness, by_stiffness)
        if shift:
            matrix.add(mass, shift)
            mass.multiply(v, work)
            work *= shift
            right += work
