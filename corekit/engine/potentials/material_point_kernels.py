"""The loops of contact potentials, compiled: from material points, 12 numbers per contact, to velocities.

Material points stand in a table, of which `total` are in use: contact and slot (c,), the model's rows dofs (c, k) in
the world's numbering and values (c, 3, k), of which the first `width` (c,) columns are in use; `of` (m, 4) leads from a
contact's slots to the table, −1 for none. With V_p the rows of point p and C a contact's (12, 12) block,

    ẋ_p = V_p·v,     F = Σ_p V_pᵀ·f_p,     A_pq = V_pᵀ·C_pq·V_q                                (1)
"""

from __future__ import annotations

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.linalg.matrices import position

__all__ = [
    "add_blocks", "add_entries", "add_generalised_forces", "block_products",
    "count_entries", "entry_places", "point_velocities", "update_points",
]  # fmt: skip


@compiled
def update_points(
    before: int, count: int, frame: IntArray, local: Array, frame_position: Array, frame_rotation: Array,
    total: int, contact: IntArray, slot: IntArray, width: IntArray, dofs: IntArray, values: Array, v: Array,
    of: IntArray, position: Array, rate: Array, energy: Array, force: Array, stiffness: Array, damping: Array,
    normal: Array, tangential: Array,
) -> None:  # fmt: skip
    """Write `of`, and where points are, (m, 4, 3) [m], and how they move [m/s]; unused ones at 0.

    A potential's terms are zeroed: those of the `before` contacts of the last call, whose points `of` still names.
    A contact with one point has a sixteenth of the numbers that there is room for.
    """
    for c in range(before):
        energy[c], normal[c], tangential[c, 0], tangential[c, 1] = 0.0, 0.0, 0.0, 0.0
        for s in range(4):
            if of[c, s] < 0:
                continue
            for i in range(3 * s, 3 * s + 3):
                force[c, i] = 0.0
                for t in range(4):
                    if of[c, t] >= 0:
                        for j in range(3 * t, 3 * t + 3):
                            stiffness[c, i, j] = damping[c, i, j] = 0.0
    for c in range(count):
        for s in range(4):
            of[c, s] = -1
            f = frame[c, s]
            for i in range(3):
                rate[c, s, i] = position[c, s, i] = 0.0
                if f >= 0:
                    position[c, s, i] = frame_position[f, i]
                    for j in range(3):
                        position[c, s, i] += frame_rotation[f, i, j] * local[c, s, j]
    for p in range(total):
        of[contact[p], slot[p]] = p
    point_velocities(total, contact, slot, width, dofs, values, v, rate)


@compiled
def point_velocities(
    total: int, contact: IntArray, slot: IntArray, width: IntArray, dofs: IntArray, values: Array, v: Array, out: Array
) -> None:  # fmt: skip
    """Write ẋ of (1) into zeroed `out` (m, 4, 3) [m/s]."""
    for p in range(total):
        for i in range(3):
            rate = 0.0
            for a in range(width[p]):
                rate += values[p, i, a] * v[dofs[p, a]]
            out[contact[p], slot[p], i] = rate


@compiled
def add_generalised_forces(
    total: int, contact: IntArray, slot: IntArray, width: IntArray, dofs: IntArray, values: Array, force: Array,
    factor: float, out: Array,
) -> None:  # fmt: skip
    """Add factor·F of (1) for forces (m, 12) to `out` (nv,)."""
    for p in range(total):
        c, first = contact[p], 3 * slot[p]
        for a in range(width[p]):
            along = 0.0
            for i in range(3):
                along += values[p, i, a] * force[c, first + i]
            out[dofs[p, a]] += factor * along


@compiled
def block_products(
    stiffness: Array, damping: Array, by_stiffness: float, by_damping: float, x: Array, out: Array
) -> None:
    """Write (by_stiffness·K_c + by_damping·D_c)·x of every contact, x and out (m, 12)."""
    for c in range(len(out)):
        for i in range(12):
            total = 0.0
            for j in range(12):
                total += (by_stiffness * stiffness[c, i, j] + by_damping * damping[c, i, j]) * x[c, j]
            out[c, i] = total


@compiled
def count_entries(count: int, of: IntArray, width: IntArray) -> int:
    """Entries that (1) touches, with repetitions."""
    total = 0
    for c in range(count):
        size = 0
        for s in range(4):
            if of[c, s] >= 0:
                size += int(width[of[c, s]])
        total += size * size
    return total


@compiled
def entry_places(
    count: int, of: IntArray, width: IntArray, dofs: IntArray, rows: IntArray, columns: IntArray
) -> None:
    """Write row and column of every entry that (1) touches."""
    e = 0
    for c in range(count):
        for s in range(4):
            for t in range(4):
                p, q = of[c, s], of[c, t]
                if p < 0 or q < 0:
                    continue
                for a in range(width[p]):
                    for b in range(width[q]):
                        rows[e], columns[e] = dofs[p, a], dofs[q, b]
                        e += 1


@compiled
def add_entries(own: Array, where: IntArray, place: IntArray, data: Array) -> None:
    """Add the entries of a matrix at `where` of its flat data in their places."""
    for e in range(len(where)):
        data[place[e]] += own[where[e]]


@compiled
def _acts(stiffness: Array, damping: Array) -> bool:
    """Whether a contact's blocks (12, 12) have anything on their diagonals."""
    size = 0.0
    for i in range(12):
        size += abs(stiffness[i, i]) + abs(damping[i, i])
    return size != 0.0


@compiled
def add_blocks(
    count: int, of: IntArray, width: IntArray, dofs: IntArray, values: Array, stiffness: Array, damping: Array,
    by_stiffness: float, by_damping: float, start: IntArray, row: IntArray, data: Array, dense: Array,
) -> bool:  # fmt: skip
    """Add A of (1) to `dense` (n, n), or where that is empty to `data` in compressed columns (`start`, `row`).

    False where an entry is not in the pattern; what was written is of no use then.
    """
    half = np.empty((3, dofs.shape[1]))
    for c in range(count):
        if not _acts(stiffness[c], damping[c]):
            continue
        for s in range(4):
            for t in range(4):
                p, q = of[c, s], of[c, t]
                if p < 0 or q < 0:
                    continue
                for i in range(3):
                    for b in range(width[q]):
                        total = 0.0
                        for j in range(3):
                            block = by_stiffness * stiffness[c, 3 * s + i, 3 * t + j]
                            block += by_damping * damping[c, 3 * s + i, 3 * t + j]
                            total += block * values[q, j, b]
                        half[i, b] = total
                if not _add_pair(
                    dofs[p, : width[p]], values[p], dofs[q, : width[q]], half, start, row, data, dense
                ):
                    return False
    return True


@compiled
def _add_pair(
    first: IntArray, values: Array, second: IntArray, half: Array, start: IntArray, row: IntArray, data: Array,
    dense: Array,
) -> bool:  # fmt: skip
    """Add V_pᵀ·(C_pq·V_q) for the dofs of two points; `half` (3, k) is the second factor."""
    for a in range(len(first)):
        for b in range(len(second)):
            total = 0.0
            for k in range(3):
                total += values[k, a] * half[k, b]
            if len(dense) > 0:
                dense[first[a], second[b]] += total
            elif total != 0.0:
                place = position(start, row, first[a], second[b])
                if place < 0:
                    return False
                data[place] += total
    return True
