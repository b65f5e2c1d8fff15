"""Copy between vectors. `a[:] = b` would also compile the text of its error, which takes 3 s."""

from __future__ import annotations

from corekit.compiled import compiled
from corekit.data.arrays import Array

__all__ = ["copy_vector"]


@compiled
def copy_vector(source: Array, target: Array) -> None:
    """target_i ← source_i."""
    for i in range(target.size):
        target[i] = source[i]
