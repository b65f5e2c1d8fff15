"""Vectors, in compiled code."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array

__all__ = ["copy_vector", "largest_product", "max_abs", "multiply"]

Vector = np.ndarray[Any, Any]
"""Of any kind of number."""


@compiled
def copy_vector(source: Vector, target: Vector) -> None:
    """target_i ← source_i. In a kernel `a[:] = b` would also compile the text of its error, which takes 2 s."""
    for i in range(target.size):
        target[i] = source[i]


@compiled
def max_abs(vector: Array) -> float:
    """max|x_i|, 0 of an empty vector; nan where an entry is nan."""
    found = 0.0
    for value in vector:
        size = abs(value)
        if not size <= found:
            if math.isnan(size):
                return size
            found = size
    return found


@compiled
def multiply(matrix: Array, vector: Array, out: Array) -> None:
    """Write M·x for shapes (m, n) and (n,). NumPy's product warns of what is not finite; a step ends with an error."""
    for i in range(len(out)):
        total = 0.0
        for j in range(len(vector)):
            total += matrix[i, j] * vector[j]
        out[i] = total


@compiled
def largest_product(matrix: Array, vector: Array) -> float:
    """max|M·x| for shapes (m, n) and (n,), summed as by `multiply`; nan where an entry is nan."""
    found = 0.0
    for i in range(len(matrix)):
        total = 0.0
        for j in range(len(vector)):
            total += matrix[i, j] * vector[j]
        size = abs(total)
        if not size <= found:
            if math.isnan(size):
                return size
            found = size
    return found
