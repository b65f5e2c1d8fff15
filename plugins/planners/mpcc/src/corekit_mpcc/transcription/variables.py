"""Named blocks of a stage's variables and parameters, with scales and bounds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, final

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array

__all__ = ["Block", "Blocks"]


def _broadcast(value: Any, size: int) -> Array:
    return np.broadcast_to(np.asarray(value, dtype=float), (size,)).copy()


@frozen(eq=False)
class Block:
    """Named numbers.

    Args:
        name: name of the block.
        size: count of numbers.
        scale: physical = scale·scaled, shape (size,).
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
    def create(
        cls, name: str, size: int, scale: Any = 1.0, low: Any = -np.inf, high: Any = np.inf, unit: str = ""
    ) -> Block:
        """Return a block; single numbers apply to all its entries."""
        return cls(name, size, _broadcast(scale, size), _broadcast(low, size), _broadcast(high, size), unit)


@final
class Blocks:
    """Sequence of blocks."""

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
        """Return the slice of a block."""
        return slice(self._first[name], self._first[name] + self._blocks[name].size)

    def block(self, name: str) -> Block:
        """Return the block of a name."""
        return self._blocks[name]

    def stack(self, what: str) -> Array:
        """Return `scale`, `low` or `high` of all blocks, shape (size,)."""
        parts = [getattr(block, what) for block in self]
        return np.concatenate(parts) if parts else np.zeros(0)

    def pack(self, values: Mapping[str, Any]) -> Array:
        """Return the vector of the values by name; absent blocks are zero."""
        out = np.zeros(self.size)
        for name, value in values.items():
            if name in self._blocks:
                out[self[name]] = value
        return out
