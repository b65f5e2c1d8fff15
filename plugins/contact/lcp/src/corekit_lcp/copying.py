"""Copying of vectors without `a[:] = b`, whose error message takes 3 s to compile."""

from __future__ import annotations

from corekit.compiled import compiled
from corekit.data.arrays import Array

__all__ = ["copy"]


@compiled
def copy(source: Array, target: Array) -> None:
    """target_i ← source_i."""
    for i in range(target.size):
        target[i] = source[i]
