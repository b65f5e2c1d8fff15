"""The parts of a contact problem that W connects, each as a problem of its own.

Rows have the number of their part (`rest_rows.write_compliance`). The rows of a contact are in one part.
"""

from __future__ import annotations

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray

__all__ = ["gather_part", "is_connected", "is_first_of_part", "select_part"]


@compiled
def is_first_of_part(part: IntArray, row: int) -> bool:
    """Whether no row before this one is in its part."""
    first = 0
    while part[first] != part[row]:
        first += 1
    return first == row


@compiled
def is_connected(part: IntArray) -> bool:
    """Whether all rows are in one part."""
    others = 0
    for i in range(1, len(part)):
        others += is_first_of_part(part, i)
    return others == 0


@compiled
def select_part(part: IntArray, number: int, width: int, contacts: int) -> tuple[IntArray, IntArray]:
    """The rows of a part, and its contacts and bounded rows, numbered as in ρ, both in order."""
    rows, units = np.empty(len(part), np.int64), np.empty(len(part), np.int64)
    count, own = 0, 0
    for i in range(len(part)):
        if part[i] != number:
            continue
        rows[count] = i
        count += 1
        if i >= contacts * width:
            units[own] = i - contacts * width + contacts
            own += 1
        elif i % width == 0:
            units[own] = i // width
            own += 1
    return rows[:count], units[:own]


@compiled
def gather_part(
    delassus: Array, free: Array, friction: Array, lower: Array, upper: Array, scales: Array, impulse: Array,
    rows: IntArray, units: IntArray,
) -> tuple[Array, Array, Array, Array, Array, Array, Array]:  # fmt: skip
    """W, w₀, μ, bounds, scales and λ of a part, in copies, in the order of the arguments."""
    size, contacts = len(rows), 0
    own, own_free, own_impulse = np.empty((size, size)), np.empty(size), np.empty(size)
    for k in range(size):
        own_free[k], own_impulse[k] = free[rows[k]], impulse[rows[k]]
        for j in range(size):
            own[k, j] = delassus[rows[k], rows[j]]
    own_scales = np.empty((2, len(units)))
    for k in range(len(units)):
        own_scales[0, k], own_scales[1, k] = scales[0, units[k]], scales[1, units[k]]
        if units[k] < len(friction):
            contacts += 1
    own_friction = np.empty(contacts)
    own_lower, own_upper = np.empty(len(units) - contacts), np.empty(len(units) - contacts)
    for k in range(len(units)):
        if k < contacts:
            own_friction[k] = friction[units[k]]
        else:
            own_lower[k - contacts] = lower[units[k] - len(friction)]
            own_upper[k - contacts] = upper[units[k] - len(friction)]
    return own, own_free, own_friction, own_lower, own_upper, own_scales, own_impulse
