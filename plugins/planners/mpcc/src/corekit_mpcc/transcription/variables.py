"""Named blocks of numbers: what a stage's variables, parameters and rows consist of, and how they are scaled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, final

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array

__all__ = ["Block", "Blocks"]


def _spread(value: Any, size: int) -> Array:
    return np.broadcast_to(np.asarray(value, dtype=float), (size,)).copy()


@frozen(eq=False)
class Block:
    """Some numbers that belong together.

    Args:
        name: how they are found.
        size: how many.
        scale: of a variable, physical = scale·scaled; of a row, scaled = scale·physical; shape (size,).
        low, high: bounds in physical units, shape (size,).
        unit: physical unit.
    """

    name: str
    size: int
    scale: Array
    low: Array
    high: Array
    unit: str = ""

    @classmethod
    def of(
        cls, name: str, size: int, scale: Any = 1.0, low: Any = -np.inf, high: Any = np.inf, unit: str = ""
    ) -> Block:
        """A block; single numbers count for all its entries."""
        return cls(name, size, _spread(scale, size), _spread(low, size), _spread(high, size), unit)


@final
class Blocks:
    """Blocks one after another."""

    def __init__(self, blocks: Iterator[Block] | list[Block]) -> None:
        self._blocks = {block.name: block for block in blocks}
        self._first: dict[str, int] = {}
        count = 0
        for block in self._blocks.values():
            self._first[block.name] = count
            count += block.size
        self.size = count

    def __iter__(self) -> Iterator[Block]:
        return iter(self._blocks.values())

    def __contains__(self, name: str) -> bool:
        return name in self._blocks

    def __getitem__(self, name: str) -> slice:
        """Where a block stands."""
        return slice(self._first[name], self._first[name] + self._blocks[name].size)

    def block(self, name: str) -> Block:
        """The block of a name."""
        return self._blocks[name]

    def stacked(self, what: str) -> Array:
        """`scale`, `low` or `high` of all blocks, shape (size,)."""
        parts = [getattr(block, what) for block in self]
        return np.concatenate(parts) if parts else np.zeros(0)

    def pack(self, values: Mapping[str, Any]) -> Array:
        """The vector with the given values by name; blocks not given are zero."""
        out = np.zeros(self.size)
        for name, value in values.items():
            if name in self._blocks:
                out[self[name]] = value
        return out

    def split(self, x: Any) -> dict[str, Any]:
        """The parts of a vector (or of the first axis of an array or expression) by name."""
        return {block.name: x[self[block.name]] for block in self}
