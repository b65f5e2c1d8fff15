"""The rows at rest of `least_loads`, S, with a compliance e: which they are, and W_SS + e·1 by its Cholesky factor."""

from __future__ import annotations

import math

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray

__all__ = ["factorise_soft", "orthogonal_part", "rows_at_rest", "write_compliance"]

_COMPLIANCE = 1e-4
"""e relative to the least mobility of the contacts that W connects; that of bounded rows relative to their own."""
_DEPENDENT, _POWER = 100.0, 8
"""Pivot of a row that may depend on others, relative to e; and k of (3) of `least_loads`."""
_ROUNDING = 1e-12
"""Pivot and e, relative to the row's own mobility, below which rounding decides what depends."""


@compiled
def rows_at_rest(
    width: int, friction: Array, lower: Array, upper: Array, reference: Array, tolerance: float, impulse: Array,
    velocity: Array, index: IntArray,
) -> tuple[int, bool]:  # fmt: skip
    """Write the rows of S; return their number, and whether no contact slides."""
    contacts, count, sticks = len(friction), 0, True
    for c in range(contacts):
        n, bound = c * width, tolerance * reference[c]
        # a load beside such a speed is within the tolerance of none
        if velocity[n] > bound:
            continue
        index[count] = n
        count += 1
        if friction[c] > 0.0:
            slip = 0.0
            for a in range(n + 1, n + width):
                slip += velocity[a] ** 2
            if math.sqrt(slip) > bound:
                sticks = False
                continue
            for a in range(n + 1, n + width):
                index[count] = a
                count += 1
    for b in range(len(lower)):
        i = contacts * width + b
        if lower[b] < impulse[i] < upper[b] and abs(velocity[i]) <= tolerance * reference[contacts + b]:
            index[count] = i
            count += 1
    return count, sticks


@compiled
def write_compliance(
    delassus: Array, width: int, rho: Array, contacts: int, part: IntArray, compliance: Array
) -> None:
    """Write e of every row, and to `part` a number of the connected part of W that it belongs to.

    A heavy body elsewhere says nothing about a light one: beside the mobility of that its e would be rounding.
    """
    rows = len(compliance)
    for i in range(rows):
        part[i] = i // width if i < contacts * width else i
    for i in range(rows):
        for j in range(i):
            if part[i] != part[j] and delassus[i, j] != 0.0:
                old, new = part[i], part[j]
                for k in range(rows):
                    if part[k] == old:
                        part[k] = new
    for c in range(contacts):
        least = math.inf
        for other in range(contacts):
            if part[other * width] == part[c * width]:
                least = min(least, 1.0 / rho[other])
        for i in range(c * width, (c + 1) * width):
            compliance[i] = _COMPLIANCE * least
    for b in range(contacts, len(rho)):
        compliance[contacts * width + b - contacts] = _COMPLIANCE / rho[b]


@compiled
def factorise_soft(
    delassus: Array, compliance: Array, index: IntArray, count: int, factor: Array
) -> tuple[bool, bool]:
    """Write the Cholesky factor of W_SS + e·1, its diagonal inverted.

    Returns:
        Whether rows may depend on others, and whether rounding leaves it open which.
    """
    depends, is_lost = False, False
    for i in range(count):
        row, own = factor[i], compliance[index[i]]
        for j in range(i):
            total, other = delassus[index[i], index[j]], factor[j]
            for k in range(j):
                total -= row[k] * other[k]
            row[j] = total * other[j]
        mobility = delassus[index[i], index[i]]
        total = mobility + own
        for k in range(i):
            total -= row[k] * row[k]
        depends = depends or total < _DEPENDENT * own
        is_lost = is_lost or max(total, own) < _ROUNDING * mobility
        # in exact arithmetic no pivot is smaller than e
        row[i] = 1.0 / math.sqrt(max(total, own))
    return depends, is_lost


@compiled
def orthogonal_part(
    factor: Array, compliance: Array, index: IntArray, count: int, values: Array, part: Array
) -> None:
    """Write N·values_S to the beginning of `part`."""
    for i in range(count):
        part[i] = values[index[i]]
    for _ in range(_POWER):
        for i in range(count):
            total, row = part[i], factor[i]
            for k in range(i):
                total -= row[k] * part[k]
            part[i] = total * row[i]
        for i in range(count - 1, -1, -1):
            total = part[i]
            for k in range(i + 1, count):
                total -= factor[k, i] * part[k]
            part[i] = total * factor[i, i]
        for i in range(count):
            part[i] *= compliance[index[i]]
