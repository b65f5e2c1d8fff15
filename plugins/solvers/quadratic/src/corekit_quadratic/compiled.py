"""The compiled solver: from a program's arrays to its answer in one call."""

from __future__ import annotations

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.linalg.array_table import index_matrix, indices, matrix, vector
from corekit_quadratic.block_pivoting import block_pivoting
from corekit_quadratic.certify import certify
from corekit_quadratic.dual_method import dual_method
from corekit_quadratic.pairs import (
    ENTRIES,
    PLAIN,
    REACH,
    Pairs,
    find_pairs,
    form_gram,
    same_entries,
    take_entries,
)  # fmt: skip
from corekit_quadratic.sides import FULL, NOT_DEFINITE, TOO_LONG, Rows, Search, guess_sides
from corekit_quadratic.skyline import BAND, order_rows
from corekit_quadratic.whiten import Places, back, forward, lower_factor, whiten_rows, width_of

__all__ = ["MEETINGS", "solve_banded", "tell"]

MEETINGS = 6
"""Room for pairs of entries, as many times that for entries."""


@compiled
def tell(
    program: IntArray, gradient: Array, dofs: IntArray, values: Array, lower: Array, upper: Array, compliance: Array,
    least: Array, most: Array, h: Array,
) -> bool:  # fmt: skip
    """Write where a program's arrays are, as `array_table` has it; False if one has gaps. The caller keeps them."""
    program[0, 0], program[0, 1] = gradient.ctypes.data, len(gradient)
    program[1, 0], program[1, 1], program[1, 2] = dofs.ctypes.data, dofs.shape[0], dofs.shape[1]
    program[2, 0], program[2, 1], program[2, 2] = values.ctypes.data, values.shape[0], values.shape[1]
    program[3, 0], program[3, 1] = lower.ctypes.data, len(lower)
    program[4, 0], program[4, 1] = upper.ctypes.data, len(upper)
    program[5, 0], program[5, 1] = compliance.ctypes.data, len(compliance)
    program[6, 0], program[6, 1] = least.ctypes.data, len(least)
    program[7, 0], program[7, 1] = most.ctypes.data, len(most)
    program[8, 0], program[8, 1], program[8, 2] = h.ctypes.data, h.shape[0], h.shape[1]
    one = gradient.flags.contiguous and lower.flags.contiguous and upper.flags.contiguous
    two = compliance.flags.contiguous and least.flags.contiguous and most.flags.contiguous
    return one and two and dofs.flags.c_contiguous and values.flags.c_contiguous and h.flags.c_contiguous


@compiled
def _rows_in_order(
    factor_band: Array, dofs: IntArray, values: Array, pairs: Pairs, start: Places, at: Places, entry: Array,
    order: Places, seen: Places, more: Places, work: Array, integers: IntArray,
) -> bool:  # fmt: skip
    """Write Y, the order of its rows, and S of rows that meet; False if there is no room for them.

    Args:
        more: work, 1 + k + 3 entries. integers: work, k + n + 1.
    """
    k, entries, diagonal = len(order), len(at), factor_band.shape[1] == 1
    if (
        diagonal
        and pairs.head[PLAIN]
        and take_entries(pairs, factor_band[:, 0], dofs.ravel(), values.ravel(), at, entry)
    ):
        form_gram(pairs, entry)
        return True
    new_start, new_at, listed = (
        more[: k + 1],
        more[k + 1 : k + 1 + entries],
        more[k + 1 + entries : k + 1 + 3 * entries],
    )
    lowest, count = integers[:k], integers[k:]
    work[:] = 0.0
    source = listed[:entries]
    if not whiten_rows(factor_band, dofs, values, work, new_start, new_at, entry, source, lowest):
        return False
    if not same_entries(pairs, start, at, new_start, new_at):
        start[:] = new_start
        at[:] = new_at
        order_rows(lowest, count, order)
        written = 0
        for i in range(dofs.shape[0]):
            for j in range(dofs.shape[1]):
                written += values[i, j] != 0.0
        pairs.head[PLAIN] = diagonal and written == start[k]
        pairs.source[:] = source
        if not find_pairs(pairs, order, start, at, seen, listed.reshape((2, entries))):
            return False
    form_gram(pairs, entry)
    return True


@compiled
def solve_banded(program: IntArray, room: IntArray, entries: int, x: Array, multiplier: Array) -> int:
    """Solve a program; returns how it ended, FULL where the work arrays are too small.

    Args:
        program: gradient, dofs, values, lower, upper, compliance, least, most, and the band of H,
            h[j, d] = H[j + d, j], (n, width), as one table.
        room: work, sized by `Workspace`, as one table: integers, places (taken as unsigned ones), numbers, report.
            First in integers: the largest number of changes, the patience of block pivoting, and whether the dual
            method may take over. Written to the report: iterations, natural residual and equation residual.
        entries: room for entries of Y.
        x, multiplier: guess and answer.
    """
    gradient, dofs, values = vector(program, 0), index_matrix(program, 1), matrix(program, 2)
    lower, upper, compliance = vector(program, 3), vector(program, 4), vector(program, 5)
    least, most, h = vector(program, 6), vector(program, 7), matrix(program, 8)
    integers, places = indices(room, 0), indices(room, 1).view(np.uint32)
    numbers, report = vector(room, 2), vector(room, 3)
    n, k = len(gradient), len(lower)
    width, targets = width_of(h), (REACH + 1) * (k + 1)
    changes, patience, dual = integers[0], integers[1], integers[2]
    head, number = integers[3:6], integers[6 : 8 + 2 * REACH]
    rest = integers[8 + 2 * REACH :]
    side, first, base, position = rest[:k], rest[k : 2 * k], rest[2 * k : 3 * k], rest[3 * k : 4 * k]
    start, chosen, order = places[: k + 1], places[k + 1 : 2 * k + 1], places[2 * k + 1 : 3 * k + 1]
    own, far, seen = (
        places[3 * k + 1 : 4 * k + 1],
        places[4 * k + 1 : 5 * k + 1],
        places[5 * k + 1 : 5 * k + 1 + n],
    )
    more = places[5 * k + 1 + n :]
    at, source = more[:entries], more[entries : 2 * entries]
    left, right_one = (
        more[2 * entries : (2 + MEETINGS) * entries],
        more[(2 + MEETINGS) * entries : (2 + 2 * MEETINGS) * entries],
    )
    more = more[(2 + 2 * MEETINGS) * entries :]
    row, other, begin = more[:targets], more[targets : 2 * targets], more[2 * targets : 3 * targets + 1]
    more = more[3 * targets + 1 :]
    factor_band = numbers[: n * width].reshape((n, width))
    numbers = numbers[n * h.shape[1] :]
    u, s, work, direction = numbers[:n], numbers[n : 2 * n], numbers[2 * n : 3 * n], numbers[3 * n : 4 * n]
    numbers = numbers[4 * n :]
    push, length, wanted = numbers[:k], numbers[k : 2 * k], numbers[2 * k : 3 * k]
    right, gram = numbers[3 * k : 4 * k + BAND], numbers[4 * k + BAND : 4 * k + BAND + targets]
    numbers = numbers[4 * k + BAND + targets :]
    entry, factor = numbers[:entries], numbers[entries:]
    report[0] = 0.0
    if not lower_factor(h, factor_band):
        return NOT_DEFINITE
    pairs = Pairs(head, row, other, begin, left, right_one, own, far, source, gram, position, number)
    if not _rows_in_order(
        factor_band, dofs, values, pairs, start, at, entry, order, seen, more, work, rest[4 * k :]
    ):
        head[ENTRIES] = -1
        return FULL
    for i in range(k):
        length[i] = np.sqrt(gram[own[i]])
    for j in range(n):
        u[j] = -gradient[j]
    forward(factor_band, u)
    work[:] = 0.0
    rows = Rows(start, at, entry, lower, upper, least, most, compliance, length)
    search = Search(
        order, side, push, u, s, chosen, pairs, seen, work, first, base, factor, right, wanted, direction
    )  # fmt: skip
    guess_sides(rows, search, multiplier)
    ended, rounds = block_pivoting(rows, search, patience, changes)
    if ended == TOO_LONG and dual:
        ended, more_rounds = dual_method(rows, search, changes)
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
        h, width, gradient, dofs, values, lower, upper, compliance, least, most, x, multiplier, work
    )
    return ended
