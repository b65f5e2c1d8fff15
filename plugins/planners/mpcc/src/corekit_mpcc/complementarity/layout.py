"""From physical values to the vectors of a nonlinear program and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

import numpy as np

from corekit.data.arrays import Array, BoolArray, IntArray
from corekit_mpcc.complementarity.problem import Mpcc
from corekit_mpcc.complementarity.relaxed import Block, RelaxedStep

__all__ = ["Layout"]


@final
class Layout:
    """Where everything stands in the nonlinear program with some groups left out.

    Args:
        program, step: as stated, and relaxed.
        without: names of the groups left out.
    """

    def __init__(self, program: Mpcc, step: RelaxedStep, without: frozenset[str]) -> None:
        self._program, self._step, self._without = program, step, without
        stages, count = program.stages, sum(block.size for block in step.blocks)
        self.taken: BoolArray = np.zeros((stages, count), dtype=bool)
        self._low, self._high = np.zeros(count), np.zeros(count)
        self._free = np.zeros(count, dtype=bool)
        for block in step.blocks:
            place = slice(block.start, block.start + block.size)
            self._low[place], self._high[place] = block.low, block.high
            self._free[place] = block.kind == "relaxed"
            if block.name not in without:
                self.taken[_stages(block), place] = True
        self.rows: IntArray = np.flatnonzero(self.taken.reshape(-1)).astype(np.int64)
        self._scale = np.concatenate([np.zeros(0), *(block.scale for block in step.blocks)])

    def row_bounds(self) -> tuple[Array, Array]:
        """Bounds of the rows of the relaxed program, scaled."""
        stages = self._program.stages
        return np.tile(self._low, stages)[self.rows], np.tile(self._high, stages)[self.rows]

    def variable_bounds(self, low: Array, high: Array) -> tuple[Array, Array]:
        """Bounds of the variables, scaled, with the sides that are variables at ≥ 0; low, high: shape (N, n)."""
        low = low.copy()
        for name, pair in self._step.sides.items():
            if name not in self._without:
                for side in pair:
                    places = [i for i in side.variable if i >= 0]
                    low[:, places] = np.maximum(low[:, places], 0.0)
        scales = self._program.scales
        return (low / scales).reshape(-1), (high / scales).reshape(-1)

    def branch(
        self, sides: Mapping[str, tuple[Array, Array]], bounds: tuple[Array, Array, Array, Array]
    ) -> tuple[Array, Array, Array, Array]:
        """Bounds of the branch in which the smaller side of every pair is zero and nothing is relaxed.

        Args:
            sides: scaled sides at the point, by family, shape (N, pairs) each.
            bounds: (low x, high x, low g, high g) of the relaxed program.
        """
        low_x, high_x, low_g, high_g = (bound.copy() for bound in bounds)
        stages, count = self.taken.shape
        all_low, all_high = np.zeros(stages * count), np.zeros(stages * count)
        all_low[self.rows], all_high[self.rows] = low_g, high_g
        all_low, all_high = all_low.reshape(stages, count), all_high.reshape(stages, count)
        all_low[:, self._free], all_high[:, self._free] = -np.inf, np.inf
        upper = high_x.reshape(stages, -1)
        for name, (first, second) in sides.items():
            if name in self._without:
                continue
            smaller = first <= second
            for side, chosen in zip(self._step.sides[name], (smaller, ~smaller), strict=True):
                for pair, (variable, row) in enumerate(zip(side.variable, side.row, strict=True)):
                    at = chosen[:, pair]
                    if variable >= 0:
                        upper[at, variable] = np.maximum(low_x.reshape(stages, -1)[at, variable], 0.0)
                    else:
                        all_high[at, row] = 0.0
        return low_x, upper.reshape(-1), all_low.reshape(-1)[self.rows], all_high.reshape(-1)[self.rows]

    def multipliers(self, lambda_x: Array, lambda_g: Array) -> dict[str, Array]:
        """Physical multipliers by block, and of `bounds`."""
        stages, count = self.taken.shape
        whole = np.zeros(stages * count)
        whole[self.rows] = lambda_g
        table = whole.reshape(stages, count) * self._scale
        told = {
            _key(block): table[:, block.start : block.start + block.size].copy()
            for block in self._step.blocks
            if block.name not in self._without
        }
        told["bounds"] = lambda_x.reshape(stages, -1) / self._program.scales
        return told

    def scaled_multipliers(self, multipliers: Mapping[str, Array]) -> tuple[Array, Array]:
        """(λ_x, λ_g) of the nonlinear program from `multipliers`; blocks that are not told of are zero."""
        stages, count = self.taken.shape
        table = np.zeros((stages, count))
        for block in self._step.blocks:
            value = multipliers.get(_key(block))
            if value is not None and value.shape == (stages, block.size):
                table[:, block.start : block.start + block.size] = value / block.scale
        bounds = multipliers.get("bounds")
        size = stages * self._program.size
        lambda_x = np.zeros(size) if bounds is None else (bounds * self._program.scales).reshape(-1)
        return lambda_x, table.reshape(-1)[self.rows]


def _stages(block: Block) -> slice:
    return {"every": slice(None), "first": slice(0, 1), "last": slice(-1, None)}[block.at]


def _key(block: Block) -> str:
    return block.name if block.kind == "rows" else f"{block.name}.{block.kind}"
