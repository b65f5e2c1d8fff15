"""Rows of constraints, each by its few entries.

J has one row for each constraint: J[r, dofs[r, k]] += values[r, k]. Entries may repeat a dof; unused entries repeat a
valid one with value 0.
"""

from __future__ import annotations

from typing import final

import numpy as np
from scipy.sparse import csr_array

from corekit.compiled import compiled
from corekit.data.arrays import Array, BoolArray, IntArray

__all__ = ["FREE_ROW", "ConstraintRows", "EliminatedConstraints", "SparseRows"]

FREE_ROW = 1e30
"""Compliance that leaves an eliminated row without force."""


@compiled
def _add_transpose_product(dofs: IntArray, values: Array, impulse: Array, out: Array) -> None:
    """out += Jᵀ·impulse for rows by their entries, (nb, k)."""
    for r in range(len(impulse)):
        for k in range(dofs.shape[1]):
            out[dofs[r, k]] += values[r, k] * impulse[r]


@compiled
def _product(dofs: IntArray, values: Array, v: Array, out: Array) -> None:
    """Write J·v for rows by their entries, (nb, k)."""
    for r in range(len(out)):
        total = 0.0
        for k in range(dofs.shape[1]):
            total += values[r, k] * v[dofs[r, k]]
        out[r] = total


@compiled
def _add_to_dense(dofs: IntArray, values: Array, dense: Array) -> None:
    """Add the entries of J to an array (nb, n)."""
    for r in range(len(dense)):
        for k in range(dofs.shape[1]):
            dense[r, dofs[r, k]] += values[r, k]


class SparseRows:
    """nb rows J of k entries each.

    Attributes:
        dofs: velocity indices, (nb, k).
        values: J, (nb, k).
        compliance: (nb,).
    """

    __slots__ = ("compliance", "dofs", "values")

    def __init__(self, count: int, width: int) -> None:
        self.dofs: IntArray = np.zeros((count, width), dtype=np.int64)
        self.values: Array = np.zeros((count, width))
        self.compliance: Array = np.zeros(count)

    @property
    def count(self) -> int:
        """Number of rows nb."""
        return len(self.values)

    def product(self, v: Array) -> Array:
        """J·v, shape (nb,)."""
        out = np.empty(len(self.values))
        _product(self.dofs, self.values, v, out)
        return out

    def add_transpose_product(self, impulse: Array, out: Array) -> None:
        """out += Jᵀ·impulse."""
        _add_transpose_product(self.dofs, self.values, impulse, out)

    def to_dense(self, n: int, chosen: IntArray | None = None) -> Array:
        """J, or the chosen rows of it, as a new array (·, n)."""
        dofs, values = (
            (self.dofs, self.values) if chosen is None else (self.dofs[chosen], self.values[chosen])
        )
        dense = np.zeros((len(dofs), n))
        _add_to_dense(dofs, values, dense)
        return dense

    def to_sparse(self, n: int) -> csr_array:
        """J without zeros, a new matrix (nb, n)."""
        ends = np.arange(self.count + 1) * self.dofs.shape[1]
        made = csr_array((self.values.ravel().copy(), self.dofs.ravel().copy(), ends), shape=(self.count, n))
        made.sum_duplicates()
        made.eliminate_zeros()
        return made


@final
class ConstraintRows(SparseRows):
    """The constraints of a body at one state; a buffer that the model sizes and rewrites.

    Position-level row (is_velocity_level False):   c(q) + α·λ/h… = 0,   J_b = ∂c/∂δ;   α in m/N (0: rigid).
    Velocity-level row (is_velocity_level True):    J_b·v − u + α·(force) = 0;          α in (m/s)/N.

    There are nb rows of k entries each.

    Attributes:
        dofs: velocity indices, (nb, k); unused entries repeat a valid index with value 0.
        values: J_b, (nb, k).
        position_error: c(q) of position-level rows, (nb,) [m or rad].
        target_rate: u of velocity-level rows, (nb,) [m/s or rad/s].
        compliance: α ≥ 0, (nb,).
        lower, upper: bounds of the row's force [N], (nb,); infinite where there are none.
        is_velocity_level: which rows constrain the velocity alone; constant, (nb,).
        bounded: which rows may have finite bounds; constant, (nb,). `lower` and `upper` are read for these rows only.
            The impulse solver solves for them; they are never eliminated.
        time_dependent: whether the rows may depend on the state's time otherwise than through the inputs; constant.
    """

    __slots__ = (
        "bounded", "is_velocity_level", "lower", "position_error", "target_rate", "time_dependent", "upper",
    )  # fmt: skip

    def __init__(
        self, count: int, width: int, is_velocity_level: BoolArray | None = None, bounded: BoolArray | None = None,
        *, time_dependent: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(count, width)
        self.time_dependent = time_dependent
        self.position_error: Array = np.zeros(count)
        self.target_rate: Array = np.zeros(count)
        self.lower: Array = np.full(count, -np.inf)
        self.upper: Array = np.full(count, np.inf)
        none = np.zeros(count, dtype=bool)
        self.is_velocity_level: BoolArray = np.array(
            none if is_velocity_level is None else is_velocity_level, bool
        )
        self.bounded: BoolArray = np.array(none if bounded is None else bounded, bool)

    def copy_from(self, other: ConstraintRows) -> bool:
        """Become a copy of other rows in one's own memory, if what is constant is the same; return whether it is."""
        kinds = ((self.is_velocity_level, other.is_velocity_level), (self.bounded, other.bounded))
        alike = self.dofs.shape == other.dofs.shape and self.time_dependent == other.time_dependent
        alike = alike and all(np.array_equal(one, two) for one, two in kinds)
        if alike:
            for name in ("dofs", "values", "position_error", "target_rate", "compliance", "lower", "upper"):
                np.copyto(getattr(self, name), getattr(other, name))
        return alike


@final
class EliminatedConstraints(SparseRows):
    """The rows that a factorisation eliminates, J_b·x + E·λ = r: see `linalg.factorisation`.

    Attributes (nb rows, k entries per row):
        dofs, values: J_b, (nb, k).
        compliance: E, (nb,).
        rhs: r, (nb,).
    """

    __slots__ = ("rhs",)

    def __init__(self, count: int, width: int) -> None:
        super().__init__(count, width)
        self.rhs: Array = np.zeros(count)

    def set_rows(self, rows: SparseRows, chosen: IntArray, compliance: Array, rhs: Array) -> None:
        """Copy the `chosen` of some rows, with E and r of all those rows.

        Args:
            rows: N rows with as many entries each as these have.
            chosen: nb indices of rows, ascending.
            compliance, rhs: E and r, (N,).
        """
        pairs = (
            (rows.dofs, self.dofs),
            (rows.values, self.values),
            (compliance, self.compliance),
            (rhs, self.rhs),
        )
        for source, out in pairs:
            if len(chosen) == rows.count:
                np.copyto(out, source)
            else:
                np.take(source, chosen, axis=0, out=out)
