"""How large a velocity is."""

from __future__ import annotations

import math

from corekit.compiled import compiled
from corekit.data.arrays import Array

__all__ = ["sizes"]


@compiled
def sizes(vector: Array, reach: Array) -> tuple[float, float]:
    """√(Σ(rᵢ·vᵢ)²) and max|rᵢ·vᵢ| of a velocity with the reach r of its entries, both (n,); nan where one is nan."""
    square, largest = 0.0, 0.0
    for i in range(len(vector)):
        value = abs(vector[i] * reach[i])
        square += value * value
        largest = max(largest, value)
    return math.sqrt(square), largest if square == square else math.nan
