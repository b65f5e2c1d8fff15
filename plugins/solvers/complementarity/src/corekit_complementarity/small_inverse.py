"""Inverse of a basis that changes by one variable at a time.

K = M⁻¹, M = [A d]_RC, rows R and columns C. In a pivot z_e or w_e enters and a z or a w leaves:

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

__all__ = ["invert_basis", "update_inverse"]


@compiled
def update_inverse(
    transposed: Array, inverse: Array, count: int, column: IntArray, row: IntArray, z_position: IntArray,
    w_position: IntArray, entering_z: int, entering_row: int, leaving: int, entering_value: float, dx: Array,
    dw: Array, side: Array, value: Array,
) -> int:  # fmt: skip
    """Update K, C, R and the values to the next basis; return its k.

    Args:
        transposed: [A d]ᵀ, shape (n + 1, n).
        inverse, count, column, row: K, k, C, R, updated.
        z_position, w_position: positions in C of each z and in R of each w, −1 if absent, updated.
        entering_z, entering_row: index of the entering z and −1, or −1 and the position in R of the entering
            w.
        leaving: i < n for w_i, n + p for the z at position p of C.
        entering_value: value of the entering variable.
        dx, dw: change of z_C and w per unit of it.
        side: workspace, shape (n + 1,).
        value: w_i at i, z at n + its position, updated for the entering and leaving variables.
    """
    n = dw.size
    if leaving < n:  # v·K, the entering row
        for q in range(count):
            side[q] = 0.0
        for p in range(count):
            factor = transposed[column[p], leaving]
            for q in range(count):
                side[q] += factor * inverse[p, q]
    if entering_z >= 0 and leaving < n:
        border_inverse(inverse, count, dx, dw[leaving], side)
        column[count], row[count] = entering_z, leaving
        z_position[entering_z], w_position[leaving] = count, count
        value[n + count], value[leaving] = entering_value, 0.0
        return count + 1
    if entering_z >= 0:
        position = leaving - n
        replace_column(inverse, count, dx, position)
        z_position[column[position]] = -1
        column[position], z_position[entering_z] = entering_z, position
        value[leaving] = entering_value
        return count
    entering = row[entering_row]
    if leaving < n:
        replace_row(inverse, count, side, entering_row)
        w_position[entering] = -1
        row[entering_row], w_position[leaving] = leaving, entering_row
        value[entering], value[leaving] = entering_value, 0.0
        return count
    position, last = leaving - n, count - 1
    z_position[column[position]] = -1
    w_position[entering] = -1
    shrink_inverse(inverse, count, position, entering_row)
    if position != last:
        column[position], value[leaving] = column[last], value[n + last]
        z_position[column[position]] = position
    if entering_row != last:
        row[entering_row] = row[last]
        w_position[row[entering_row]] = entering_row
    value[entering] = entering_value
    return last


@compiled
def border_inverse(inverse: Array, count: int, dx: Array, pivot: float, side: Array) -> None:
    """Apply (1): dx = −K·u, side = v·K, pivot = A_le − v·K·u."""
    for p in range(count):
        slope = dx[p] / pivot
        for q in range(count):
            inverse[p, q] -= slope * side[q]
        inverse[p, count] = slope
    for q in range(count):
        inverse[count, q] = -side[q] / pivot
    inverse[count, count] = 1.0 / pivot


@compiled
def replace_column(inverse: Array, count: int, dx: Array, position: int) -> None:
    """Apply (2): dx = −K·u."""
    for q in range(count):
        inverse[position, q] /= -dx[position]
    for p in range(count):
        if p != position:
            for q in range(count):
                inverse[p, q] += dx[p] * inverse[position, q]


@compiled
def replace_row(inverse: Array, count: int, side: Array, position: int) -> None:
    """Apply (3): side = v·K."""
    pivot = side[position]
    for p in range(count):
        scaled = inverse[p, position] / pivot
        for q in range(count):
            inverse[p, q] -= scaled * side[q]
        inverse[p, position] = scaled


@compiled
def shrink_inverse(inverse: Array, count: int, position: int, row_position: int) -> None:
    """Apply (4); the last row and column of K move to the free positions."""
    pivot, last = inverse[position, row_position], count - 1
    for p in range(count):
        if p != position:
            factor = inverse[p, row_position] / pivot
            for q in range(count):
                inverse[p, q] -= factor * inverse[position, q]
    if position != last:
        for q in range(count):
            inverse[position, q] = inverse[last, q]
    if row_position != last:
        for p in range(last):
            inverse[p, row_position] = inverse[p, last]


@compiled
def invert_basis(
    transposed: Array, column: IntArray, row: IntArray, count: int, workspace: Array, inverse: Array
) -> bool:
    """Compute K from A by Gauss–Jordan with partial pivoting; return False, with K unchanged, if a pivot vanishes.

    Args:
        workspace: M beside the unit matrix, length ≥ 2k².
    """
    augmented = workspace[: 2 * count * count].reshape(count, 2 * count)
    for i in range(count):
        for j in range(count):
            augmented[i, j] = transposed[column[j], row[i]]
            augmented[i, count + j] = 1.0 if i == j else 0.0
    for p in range(count):
        best = p
        for i in range(p + 1, count):
            if abs(augmented[i, p]) > abs(augmented[best, p]):
                best = i
        if not abs(augmented[best, p]) > 0.0:
            return False
        for j in range(2 * count):
            augmented[p, j], augmented[best, j] = augmented[best, j], augmented[p, j]
        factor = 1.0 / augmented[p, p]
        for j in range(2 * count):
            augmented[p, j] *= factor
        for i in range(count):
            factor = augmented[i, p]
            if i != p and factor != 0.0:
                for j in range(2 * count):
                    augmented[i, j] -= factor * augmented[p, j]
    for i in range(count):
        for j in range(count):
            inverse[i, j] = augmented[i, count + j]
    return True
