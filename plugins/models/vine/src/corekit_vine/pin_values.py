"""Stiffness and damping of the pins in the options: K and C of the paper's equation (7).

    τ = −K·(θ − θ*) − C·θ̇                                                                        (1)

One number is that of every pin, one number per pin a diagonal, and rows of 1, 2, … N numbers the lower triangle of a
symmetric matrix. The forces of K have an energy only if it is symmetric; C takes energy from every motion only if its
symmetric part is positive semidefinite, and the other part would be a gyroscopic force, which no tube has. So both are
symmetric and positive semidefinite.

Source: Jitosho et al. (2021), section II-F.
"""

from __future__ import annotations

from typing import Any, TypeAlias, cast

import numpy as np

from corekit.data.arrays import Array

__all__ = [
    "PinValues",
    "check_pin_values",
    "count_mistake",
    "entry_name",
    "is_matrix",
    "pin_entries",
    "pin_matrix",
    "to_pin_values",
]

PinValues: TypeAlias = float | tuple[float, ...] | tuple[tuple[float, ...], ...]
"""One number, one per pin, or the rows of a lower triangle; an option holds all as tuples."""
_ROUNDING = 1e-12
"""Of an eigenvalue, relative to the largest entry: that of a singular matrix may be below zero by rounding."""


def is_matrix(values: PinValues | None) -> bool:
    """Whether the values are a matrix that couples pins."""
    return isinstance(values, tuple) and isinstance(values[0], tuple)


def _rows(values: PinValues) -> tuple[tuple[float, ...], ...]:
    """Return the rows of a triangle, or of one number or one per pin, rows of one."""
    listed = cast("Any", values if isinstance(values, tuple) else (values,))
    return tuple(each if isinstance(each, tuple) else (each,) for each in listed)


def to_pin_values(value: Any) -> Any:
    """Turn numbers and lists of numbers into tuples of floats; what is neither stays, for `check_pin_values`."""
    if value is None:
        return None
    entries = value if isinstance(value, (list, tuple)) else (value,)
    rows = [each if isinstance(each, (list, tuple)) else (each,) for each in entries]
    if not all(isinstance(x, (int, float)) and not isinstance(x, bool) for row in rows for x in row):
        return value
    floats = tuple(tuple(float(x) for x in row) for row in rows)
    nested = any(isinstance(each, (list, tuple)) for each in entries)
    return floats if nested else tuple(x for row in floats for x in row)


def check_pin_values(value: Any) -> str | None:
    """Return what is wrong with values that `to_pin_values` returned."""
    if value is None:
        return None
    words = "give one number, one per pin, or the rows of a lower triangle, of 1, 2, … numbers"
    if not isinstance(value, tuple) or not value:
        return words
    if not isinstance(value[0], tuple):
        fine = all(isinstance(each, float) for each in value)
        return words if not fine else "must be ≥ 0" if min(value) < 0.0 else None
    if any(not isinstance(row, tuple) or len(row) != i for i, row in enumerate(value, 1)):
        return words
    matrix = pin_matrix(value, len(value))
    least = float(np.linalg.eigvalsh(matrix)[0])
    if least < -_ROUNDING * float(np.abs(matrix).max()):
        return f"must be positive semidefinite; its least eigenvalue is {least:.3g}"
    return None


def count_mistake(values: PinValues | None, pins: int) -> str:
    """Return what is wrong with how many values there are, empty if nothing is."""
    if values is None or len(_rows(values)) == pins or (len(_rows(values)) == 1 and not is_matrix(values)):
        return ""
    return f"give one number, {pins}, one per pin, or {pins} rows of a lower triangle"


def pin_matrix(values: PinValues, pins: int) -> Array:
    """Return K or C, shape (N, N)."""
    if not is_matrix(values):
        return np.diag(np.broadcast_to(np.array(values, dtype=np.float64), pins))
    lower = np.zeros((pins, pins))
    for i, row in enumerate(_rows(values)):
        lower[i, : i + 1] = row
    return lower + np.tril(lower, -1).T


def entry_name(option: str, values: PinValues, j: int, k: int) -> str:
    """Return the path of an entry of K or C, k ≤ j, in the option that has it; j = k unless it is a matrix."""
    if is_matrix(values):
        return f"{option}[{j}][{k}]"
    return option if len(_rows(values)) == 1 else f"{option}[{j}]"


def pin_entries(option: str, values: PinValues) -> dict[str, float]:
    """Return the numbers of an option by their paths."""
    couples = is_matrix(values)
    return {
        entry_name(option, values, j, k if couples else j): each
        for j, row in enumerate(_rows(values))
        for k, each in enumerate(row)
    }
