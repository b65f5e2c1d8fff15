"""The inverse of a basis that changes by one variable at a time.

K = M⁻¹, M = [A d]_RC, rows R and columns C. A pivot lets z_e or w_e enter and a z or a w leave:

    z_e enters, w_l leaves    M gains the column u = [A d]_Re and the row v = [A d]_lC      (1)
    z_e enters, z_c leaves    M's column of c becomes u                                     (2)
    w_e enters, w_l leaves    M's row of e becomes v                                        (3)
    w_e enters, z_c leaves    M loses the row of e and the column of c                      (4)

each a rank-one correction of K with the pivot element as its divisor.

Source: Golub, Van Loan (2013), "Matrix Computations", section 2.1.4; bordering as in section 3.2.
"""

from __future__ import annotations

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray

__all__ = ["invert", "update"]


@compiled
def update(
    transposed: Array,
    inverse: Array,
    count: int,
    column: IntArray,
    row: IntArray,
    z_place: IntArray,
    w_place: IntArray,
    entering_z: int,
    entering_row: int,
    leaving: int,
    amount: float,
    dx: Array,
    dw: Array,
    side: Array,
    value: Array,
) -> int:
    """Carry K, C, R and the values over to the next basis; returns its k.

    Args:
        transposed: [A d]ᵀ, shape (n + 1, n).
        inverse, count, column, row: K, k, C, R, updated.
        z_place, w_place: positions in C of each z and in R of each w, −1 where absent, updated.
        entering_z, entering_row: the z that enters, or −1, and else the position in R of the w that does.
        leaving: i < n for w_i, n + p for the z at position p of C.
        amount: value of the entering variable.
        dx, dw: how z_C and w move with it.
        side: work, shape (n + 1,).
        value: w_i at i, z at n + its position, updated for what enters and leaves.
    """
    n = dw.size
    if leaving < n:  # v·K, the row that comes in
        for q in range(count):
            side[q] = 0.0
        for p in range(count):
            factor = transposed[column[p], leaving]
            for q in range(count):
                side[q] += factor * inverse[p, q]
    if entering_z >= 0 and leaving < n:
        border(inverse, count, dx, dw[leaving], side)
        column[count], row[count] = entering_z, leaving
        z_place[entering_z], w_place[leaving] = count, count
        value[n + count], value[leaving] = amount, 0.0
        return count + 1
    if entering_z >= 0:
        place = leaving - n
        replace_column(inverse, count, dx, place)
        z_place[column[place]] = -1
        column[place], z_place[entering_z] = entering_z, place
        value[leaving] = amount
        return count
    entering = row[entering_row]
    if leaving < n:
        replace_row(inverse, count, side, entering_row)
        w_place[entering] = -1
        row[entering_row], w_place[leaving] = leaving, entering_row
        value[entering], value[leaving] = amount, 0.0
        return count
    place, last = leaving - n, count - 1
    z_place[column[place]] = -1
    w_place[entering] = -1
    shrink(inverse, count, place, entering_row)
    if place != last:
        column[place], value[leaving] = column[last], value[n + last]
        z_place[column[place]] = place
    if entering_row != last:
        row[entering_row] = row[last]
        w_place[row[entering_row]] = entering_row
    value[entering] = amount
    return last


@compiled
def border(inverse: Array, count: int, dx: Array, pivot: float, side: Array) -> None:
    """(1): dx = −K·u, side = v·K, pivot = A_le − v·K·u."""
    for p in range(count):
        slope = dx[p] / pivot
        for q in range(count):
            inverse[p, q] -= slope * side[q]
        inverse[p, count] = slope
    for q in range(count):
        inverse[count, q] = -side[q] / pivot
    inverse[count, count] = 1.0 / pivot


@compiled
def replace_column(inverse: Array, count: int, dx: Array, place: int) -> None:
    """(2): dx = −K·u."""
    for q in range(count):
        inverse[place, q] /= -dx[place]
    for p in range(count):
        if p != place:
            for q in range(count):
                inverse[p, q] += dx[p] * inverse[place, q]


@compiled
def replace_row(inverse: Array, count: int, side: Array, place: int) -> None:
    """(3): side = v·K."""
    pivot = side[place]
    for p in range(count):
        scaled = inverse[p, place] / pivot
        for q in range(count):
            inverse[p, q] -= scaled * side[q]
        inverse[p, place] = scaled


@compiled
def shrink(inverse: Array, count: int, place: int, row_place: int) -> None:
    """(4); the last row and column of K take the places that become free."""
    pivot, last = inverse[place, row_place], count - 1
    for p in range(count):
        if p != place:
            factor = inverse[p, row_place] / pivot
            for q in range(count):
                inverse[p, q] -= factor * inverse[place, q]
    if place != last:
        for q in range(count):
            inverse[place, q] = inverse[last, q]
    if row_place != last:
        for p in range(last):
            inverse[p, row_place] = inverse[p, last]


@compiled
def invert(
    transposed: Array, column: IntArray, row: IntArray, count: int, work: Array, inverse: Array
) -> bool:
    """K from A by Gauss–Jordan with partial pivoting; False, and K as it was, where a pivot vanishes.

    Args:
        work: M beside the unit matrix, length ≥ 2k².
    """
    both = work[: 2 * count * count].reshape(count, 2 * count)
    for i in range(count):
        for j in range(count):
            both[i, j] = transposed[column[j], row[i]]
            both[i, count + j] = 1.0 if i == j else 0.0
    for p in range(count):
        best = p
        for i in range(p + 1, count):
            if abs(both[i, p]) > abs(both[best, p]):
                best = i
        if not abs(both[best, p]) > 0.0:
            return False
        for j in range(2 * count):
            both[p, j], both[best, j] = both[best, j], both[p, j]
        factor = 1.0 / both[p, p]
        for j in range(2 * count):
            both[p, j] *= factor
        for i in range(count):
            factor = both[i, p]
            if i != p and factor != 0.0:
                for j in range(2 * count):
                    both[i, j] -= factor * both[p, j]
    for i in range(count):
        for j in range(count):
            inverse[i, j] = both[i, count + j]
    return True
