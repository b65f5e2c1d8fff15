"""The compiled solver: from a program's arrays to its solution in one call."""

from __future__ import annotations

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.linalg.vectors import copy_vector
from corekit_quadratic.active_set import (
    ITERATION_LIMIT,
    NOT_DEFINITE,
    WORKSPACE_FULL,
    Rows,
    Search,
    guess_sides,
)
from corekit_quadratic.block_pivoting import block_pivoting
from corekit_quadratic.dual_method import dual_method
from corekit_quadratic.pairs import (
    ENTRIES,
    MAX_DISTANCE,
    PLAIN,
    Pairs,
    find_pairs,
    form_gram,
    same_entries,
    update_entries,
)  # fmt: skip
from corekit_quadratic.residuals import compute_residuals
from corekit_quadratic.skyline import BAND, order_rows
from corekit_quadratic.whiten import (
    Indices,
    back_substitute,
    band_width,
    forward_substitute,
    lower_factor,
    whiten_rows,
)

__all__ = ["solve_banded", "workspace_lengths"]

PAIRS_PER_ENTRY = 6
"""Capacity for pairs of entries, relative to that for entries."""


@compiled
def workspace_lengths(n: int, width: int, k: int, entries: int) -> tuple[int, int, int]:
    """Return the numbers of integers, pairs of positions and floats in the description of `solve_banded`."""
    targets = (MAX_DISTANCE + 1) * (k + 1)
    integers = 8 + 2 * MAX_DISTANCE + 5 * k + n + 1
    places = 6 * k + 2 + n + (5 + 2 * PAIRS_PER_ENTRY) * entries + 3 * targets + 1
    numbers = n * (width + 4) + 4 * k + BAND + targets + entries + max(entries, (k + BAND) * (BAND + 1))
    return integers, places // 2 + 1, numbers


@compiled
def _update_rows(
    factor_band: Array, dofs: IntArray, values: Array, pairs: Pairs, start: Indices, column: Indices,
    entry: Array, order: Indices, seen: Indices, tail: Indices, workspace: Array, integers: IntArray,
) -> bool:  # fmt: skip
    """Write Y, the order of its rows, and S of rows that share columns; return False if the workspaces are too small.

    Args:
        tail: workspace, 1 + k + 3 entries.
        integers: workspace, k + n + 1.
    """
    k, entries, diagonal = len(order), len(column), factor_band.shape[1] == 1
    if (
        diagonal
        and pairs.head[PLAIN]
        and update_entries(pairs, factor_band[:, 0], dofs.ravel(), values.ravel(), column, entry)
    ):
        form_gram(pairs, entry)
        return True
    new_start, new_column, entry_lists = (
        tail[: k + 1],
        tail[k + 1 : k + 1 + entries],
        tail[k + 1 + entries : k + 1 + 3 * entries],
    )
    lowest, count = integers[:k], integers[k:]
    workspace[:] = 0.0
    source = entry_lists[:entries]
    if not whiten_rows(factor_band, dofs, values, workspace, new_start, new_column, entry, source, lowest):
        return False
    if not same_entries(pairs, start, column, new_start, new_column):
        copy_vector(new_start, start)
        copy_vector(new_column, column)
        order_rows(lowest, count, order)
        nonzero_count = 0
        for i in range(dofs.shape[0]):
            for j in range(dofs.shape[1]):
                nonzero_count += values[i, j] != 0.0
        pairs.head[PLAIN] = diagonal and nonzero_count == start[k]
        copy_vector(source, pairs.source)
        if not find_pairs(pairs, order, start, column, seen, entry_lists.reshape((2, entries))):
            return False
    form_gram(pairs, entry)
    return True


@compiled
def solve_banded(
    gradient: Array, dofs: IntArray, values: Array, lower: Array, upper: Array, compliance: Array, y_lower: Array,
    y_upper: Array, h: Array, integers: IntArray, positions: IntArray, floats: Array, report: Array, entries: int,
    x: Array, multiplier: Array,
) -> int:  # fmt: skip
    """Solve a program; return the outcome, WORKSPACE_FULL if the workspaces are too small.

    Args:
        gradient, dofs, values, lower, upper, compliance, y_lower, y_upper: of the program, as in `QPProblem`.
        h: the band of H, h[j, d] = H[j + d, j], (n, width).
        integers, positions, floats: workspaces, sized by `Workspace`; positions are used as unsigned ones. The first
            integers are the largest number of changes, the patience of block pivoting, and whether to polish: to use
            the active rows of the guess, but not its λ, and not to go on with the dual method.
        report: receives iterations, natural residual and equation residual.
        entries: capacity for entries of Y.
        x, multiplier: guess, overwritten by the solution.
    """
    places = positions.view(np.uint32)
    n, k = len(gradient), len(lower)
    width, targets = band_width(h), (MAX_DISTANCE + 1) * (k + 1)
    changes, patience, polish = integers[0], integers[1], integers[2] != 0
    head, counters = integers[3:6], integers[6 : 8 + 2 * MAX_DISTANCE]
    integer_tail = integers[8 + 2 * MAX_DISTANCE :]
    side, first, base, position = (
        integer_tail[:k],
        integer_tail[k : 2 * k],
        integer_tail[2 * k : 3 * k],
        integer_tail[3 * k : 4 * k],
    )
    start, active, order = places[: k + 1], places[k + 1 : 2 * k + 1], places[2 * k + 1 : 3 * k + 1]
    diagonal, far, seen = (
        places[3 * k + 1 : 4 * k + 1],
        places[4 * k + 1 : 5 * k + 1],
        places[5 * k + 1 : 5 * k + 1 + n],
    )
    tail = places[5 * k + 1 + n :]
    column, source = tail[:entries], tail[entries : 2 * entries]
    pair_left, pair_right = (
        tail[2 * entries : (2 + PAIRS_PER_ENTRY) * entries],
        tail[(2 + PAIRS_PER_ENTRY) * entries : (2 + 2 * PAIRS_PER_ENTRY) * entries],
    )
    tail = tail[(2 + 2 * PAIRS_PER_ENTRY) * entries :]
    row, other, begin = (tail[:targets], tail[targets : 2 * targets], tail[2 * targets : 3 * targets + 1])
    tail = tail[3 * targets + 1 :]
    factor_band = floats[: n * width].reshape((n, width))
    floats = floats[n * h.shape[1] :]
    u, s, workspace, direction = floats[:n], floats[n : 2 * n], floats[2 * n : 3 * n], floats[3 * n : 4 * n]
    floats = floats[4 * n :]
    impulse, length, violation = floats[:k], floats[k : 2 * k], floats[2 * k : 3 * k]
    rhs, gram = floats[3 * k : 4 * k + BAND], floats[4 * k + BAND : 4 * k + BAND + targets]
    floats = floats[4 * k + BAND + targets :]
    entry, factor = floats[:entries], floats[entries:]
    report[0] = 0.0
    if not lower_factor(h, factor_band):
        return NOT_DEFINITE
    pairs = Pairs(
        head, row, other, begin, pair_left, pair_right, diagonal, far, source, gram, position, counters
    )
    if not _update_rows(
        factor_band, dofs, values, pairs, start, column, entry, order, seen, tail, workspace,
        integer_tail[4 * k :]
    ):  # fmt: skip
        head[ENTRIES] = -1
        return WORKSPACE_FULL
    for i in range(k):
        length[i] = np.sqrt(gram[diagonal[i]] + compliance[i])
    for j in range(n):
        u[j] = -gradient[j]
    forward_substitute(factor_band, u)
    workspace[:] = 0.0
    rows = Rows(start, column, entry, lower, upper, y_lower, y_upper, compliance, length)
    search = Search(
        order, side, impulse, u, s, active, pairs, seen, workspace, first, base, factor, rhs, violation,
        direction,
    )  # fmt: skip
    guess_sides(rows, search, multiplier, not polish)
    outcome, rounds = block_pivoting(rows, search, patience, changes)
    if outcome == ITERATION_LIMIT and not polish:
        outcome, more_rounds = dual_method(rows, search, changes)
        rounds += more_rounds
    if outcome == WORKSPACE_FULL:
        return WORKSPACE_FULL
    back_substitute(factor_band, s)
    for j in range(n):
        x[j] = s[j]
    for i in range(k):
        multiplier[i] = -impulse[i]
    report[0] = rounds
    report[1], report[2] = compute_residuals(
        h, width, gradient, dofs, values, lower, upper, compliance, y_lower, y_upper, x,
        multiplier, workspace,
    )  # fmt: skip
    return outcome
