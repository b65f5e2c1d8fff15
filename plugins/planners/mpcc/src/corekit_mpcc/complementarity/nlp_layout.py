"""Conversion between physical values and the vectors of a nonlinear program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

import numpy as np

from corekit.data.arrays import Array, BoolArray, IntArray
from corekit_mpcc.complementarity.problem import Mpcc
from corekit_mpcc.complementarity.relaxed import RelaxedStep, RowBlock

__all__ = ["NlpLayout"]


@final
class NlpLayout:
    """Positions of variables and rows in the nonlinear program.

    Args:
        program: the original program.
        step: its relaxed step.
        excluded: names of excluded groups.

    Attributes:
        row_mask: mask of the included rows, shape (N, rows of a step).
        rows: indices of the included rows.
    """

    def __init__(self, program: Mpcc, step: RelaxedStep, excluded: frozenset[str]) -> None:
        self._program, self._step, self._excluded = program, step, excluded
        stages, count = program.stages, sum(block.size for block in step.blocks)
        self.row_mask: BoolArray = np.zeros((stages, count), dtype=bool)
        self._low, self._high = np.zeros(count), np.zeros(count)
        self._free = np.zeros(count, dtype=bool)
        for block in step.blocks:
            columns = slice(block.start, block.start + block.size)
            self._low[columns], self._high[columns] = block.low, block.high
            self._free[columns] = block.kind == "relaxed"
            if block.name not in excluded:
                self.row_mask[_step_slice(block), columns] = True
        self.rows: IntArray = np.flatnonzero(self.row_mask.reshape(-1)).astype(np.int64)
        self._scale = np.concatenate([np.zeros(0), *(block.scale for block in step.blocks)])

    def row_bounds(self) -> tuple[Array, Array]:
        """Return the scaled bounds of the rows of the relaxed program."""
        stages = self._program.stages
        return np.tile(self._low, stages)[self.rows], np.tile(self._high, stages)[self.rows]

    def variable_bounds(self, low: Array, high: Array) -> tuple[Array, Array]:
        """Return the scaled bounds of the variables; a variable that is a side is ≥ 0; low, high: shape (N, n)."""
        low = low.copy()
        for name, pair in self._step.sides.items():
            if name not in self._excluded:
                for side in pair:
                    columns = [i for i in side.variable if i >= 0]
                    low[:, columns] = np.maximum(low[:, columns], 0.0)
        scales = self._program.scales
        return (low / scales).reshape(-1), (high / scales).reshape(-1)

    def branch(
        self,
        sides: Mapping[str, tuple[Array, Array]],
        bounds: tuple[Array, Array, Array, Array],
        open_below: float = 0.0,
    ) -> tuple[Array, Array, Array, Array]:
        """Return the bounds of the branch with the smaller side of every pair at zero, without relaxation.

        Args:
            sides: scaled sides at the point, by family, shape (N, pairs) each.
            bounds: (low x, high x, low g, high g) of the relaxed program.
            open_below: of pairs with both sides below it both are only ≥ 0, so that the program contains every branch
                at the point.
        """
        low_x, high_x, low_g, high_g = (bound.copy() for bound in bounds)
        stages, count = self.row_mask.shape
        all_low, all_high = np.zeros(stages * count), np.zeros(stages * count)
        all_low[self.rows], all_high[self.rows] = low_g, high_g
        all_low, all_high = all_low.reshape(stages, count), all_high.reshape(stages, count)
        all_low[:, self._free], all_high[:, self._free] = -np.inf, np.inf
        upper = high_x.reshape(stages, -1)
        for name, (first, second) in sides.items():
            if name in self._excluded:
                continue
            smaller, decided = first <= second, np.maximum(first, second) >= open_below
            zero = (smaller & decided, ~smaller & decided)
            for side, is_zero in zip(self._step.sides[name], zero, strict=True):
                for pair, (variable, row) in enumerate(zip(side.variable, side.row, strict=True)):
                    steps = is_zero[:, pair]
                    if variable >= 0:
                        upper[steps, variable] = np.maximum(low_x.reshape(stages, -1)[steps, variable], 0.0)
                    else:
                        all_high[steps, row] = 0.0
        return low_x, upper.reshape(-1), all_low.reshape(-1)[self.rows], all_high.reshape(-1)[self.rows]

    def multipliers(self, lambda_x: Array, lambda_g: Array) -> dict[str, Array]:
        """Return the physical multipliers by block and of `bounds`."""
        stages, count = self.row_mask.shape
        all_rows = np.zeros(stages * count)
        all_rows[self.rows] = lambda_g
        table = all_rows.reshape(stages, count) * self._scale
        result = {
            _key(block): table[:, block.start : block.start + block.size].copy()
            for block in self._step.blocks
            if block.name not in self._excluded
        }
        result["bounds"] = lambda_x.reshape(stages, -1) / self._program.scales
        return result

    def scaled_multipliers(self, multipliers: Mapping[str, Array]) -> tuple[Array, Array]:
        """Return (λ_x, λ_g) of the nonlinear program from `multipliers`; absent blocks are zero."""
        stages, count = self.row_mask.shape
        table = np.zeros((stages, count))
        for block in self._step.blocks:
            value = multipliers.get(_key(block))
            if value is not None and value.shape == (stages, block.size):
                table[:, block.start : block.start + block.size] = value / block.scale
        bounds = multipliers.get("bounds")
        if bounds is None or bounds.shape != (stages, self._program.size):
            bounds = np.zeros((stages, self._program.size))
        lambda_x = (bounds * self._program.scales).reshape(-1)
        return lambda_x, table.reshape(-1)[self.rows]


def _step_slice(block: RowBlock) -> slice:
    return {"every": slice(None), "first": slice(0, 1), "last": slice(-1, None)}[block.steps]


def _key(block: RowBlock) -> str:
    return block.name if block.kind == "rows" else f"{block.name}.{block.kind}"
