"""The compiled solver: from a program's arrays to its answer in one call."""

from __future__ import annotations

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit_quadratic.block_pivoting import block_pivoting
from corekit_quadratic.certify import certify
from corekit_quadratic.dual_method import dual_method
from corekit_quadratic.sides import FULL, NOT_DEFINITE, TOO_LONG, Rows, Search, guess_sides
from corekit_quadratic.skyline import BAND, order_rows
from corekit_quadratic.whiten import Places, back, forward, lower_factor, whiten_rows, width_of

__all__ = ["solve_banded"]


@compiled
def solve_banded(
    h: Array, gradient: Array, dofs: IntArray, values: Array, lower: Array, upper: Array, compliance: Array,
    least: Array, most: Array, x: Array, multiplier: Array, integers: IntArray, places: Places, numbers: Array,
    entries: int, limits: IntArray, report: Array,
) -> int:  # fmt: skip
    """Solve a program; returns how it ended, FULL where the work arrays are too small.

    Args:
        h: the band of H, h[j, d] = H[j + d, j], shape (n, width).
        x, multiplier: guess and answer.
        integers, places, numbers: work, sized by `Workspace`.
        entries: room for entries of Y.
        limits: largest number of changes, the patience of block pivoting, and whether the dual method may take over.
        report: iterations, natural residual and equation residual, written.
    """
    n, k = len(gradient), len(lower)
    width = width_of(h)
    side, first, base = integers[:k], integers[k : 2 * k], integers[2 * k : 3 * k]
    lowest, count = integers[3 * k : 4 * k], integers[4 * k :]
    start, chosen, order = places[: k + 1], places[k + 1 : 2 * k + 1], places[2 * k + 1 : 3 * k + 1]
    more_places = places[3 * k + 1 :]
    seen, at = more_places[:n], more_places[n : n + entries]
    listed = more_places[n + entries : n + 3 * entries].reshape((2, entries))
    factor_band = numbers[: n * width].reshape((n, width))
    more = numbers[n * width :]
    u, s, work, direction = more[:n], more[n : 2 * n], more[2 * n : 3 * n], more[3 * n : 4 * n]
    more = more[4 * n :]
    push, length, wanted, right = more[:k], more[k : 2 * k], more[2 * k : 3 * k], more[3 * k : 4 * k + BAND]
    more = more[4 * k + BAND :]
    entry, factor = more[:entries], more[entries:]
    report[0] = 0.0
    if not lower_factor(h, factor_band):
        return NOT_DEFINITE
    work[:] = 0.0
    if not whiten_rows(factor_band, dofs, values, work, start, at, entry, lowest):
        return FULL
    order_rows(lowest, count, order)
    for i in range(k):
        total = 0.0
        for e in range(start[i], start[i + 1]):
            total += entry[e] * entry[e]
        length[i] = np.sqrt(total)
    for j in range(n):
        u[j] = -gradient[j]
    forward(factor_band, u)
    rows = Rows(start, at, entry, lower, upper, least, most, compliance, length)
    search = Search(
        order, side, push, u, s, chosen, seen, listed, work, first, base, factor, right, wanted, direction
    )  # fmt: skip
    guess_sides(rows, search, multiplier)
    ended, rounds = block_pivoting(rows, search, limits[1], limits[0])
    if ended == TOO_LONG and limits[2]:
        ended, more_rounds = dual_method(rows, search, limits[0])
        rounds += more_rounds
    if ended == FULL:
        return FULL
    back(factor_band, s)
    for j in range(n):
        x[j] = s[j]
    for i in range(k):
        multiplier[i] = -push[i]
    report[0] = rounds
    report[1], report[2] = certify(
        h, gradient, dofs, values, lower, upper, compliance, least, most, x, multiplier, work
    )
    return ended
