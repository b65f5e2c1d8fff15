"""Rows of bilateral constraints."""

from __future__ import annotations

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, BoolArray, IntArray

__all__ = ["BilateralRows", "spread"]


@compiled
def spread(dofs: IntArray, values: Array, impulse: Array, out: Array) -> None:
    """out += J_bᵀ·impulse for rows by their entries, (nb, k)."""
    for r in range(len(impulse)):
        for k in range(dofs.shape[1]):
            out[dofs[r, k]] += values[r, k] * impulse[r]


class BilateralRows:
    """A body's bilateral rows at one state; a buffer the model sizes and rewrites.

    Position row (rate False):   c(q) + α·λ/h… = 0,   J_b = ∂c/∂δ;   α in m/N (0: rigid).
    Rate row (rate True):        J_b·v − u + α·(force) = 0;          α in (m/s)/N.

    Attributes (nb rows, k entries a row):
        dofs: velocity indices, (nb, k); unused entries repeat a valid index with value 0.
        values: J_b, (nb, k).
        constraint: c(q) of position rows, (nb,) [m or rad].
        target: u of rate rows, (nb,) [m/s or rad/s].
        compliance: α ≥ 0, (nb,).
        lower, upper: bounds of the row's force [N], (nb,); infinite where there are none.
        rate: which rows prescribe a rate; fixed for life, (nb,).
        bounded: which rows may have finite bounds; fixed for life, (nb,). Only those are read from
            `lower` and `upper`, and they are answered by the impulse solver, never eliminated.
        timed: whether they may depend on the state's time otherwise than through the inputs; fixed for life.
    """

    __slots__ = (
        "bounded", "compliance", "constraint", "dofs", "lower", "rate", "target", "timed", "upper", "values",
    )  # fmt: skip

    def __init__(
        self, count: int, width: int, rate: BoolArray | None = None, bounded: BoolArray | None = None,
        *, timed: bool = True,
    ) -> None:  # fmt: skip
        self.timed = timed
        self.dofs: IntArray = np.zeros((count, width), dtype=np.int64)
        self.values: Array = np.zeros((count, width))
        self.constraint: Array = np.zeros(count)
        self.target: Array = np.zeros(count)
        self.compliance: Array = np.zeros(count)
        self.lower: Array = np.full(count, -np.inf)
        self.upper: Array = np.full(count, np.inf)
        self.rate: BoolArray = np.zeros(count, dtype=bool) if rate is None else np.array(rate, dtype=bool)
        self.bounded: BoolArray = (
            np.zeros(count, dtype=bool) if bounded is None else np.array(bounded, dtype=bool)
        )

    @property
    def count(self) -> int:
        """Number of rows nb."""
        return len(self.values)

    def product(self, v: Array) -> Array:
        """J_b·v, shape (nb,)."""
        return np.einsum("rk,rk->r", self.values, v[self.dofs])

    def add_transpose(self, impulse: Array, out: Array) -> None:
        """out += J_bᵀ·impulse."""
        spread(self.dofs, self.values, impulse, out)
