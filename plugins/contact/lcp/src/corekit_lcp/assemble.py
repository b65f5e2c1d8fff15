"""The contact problem as a linear complementarity problem.

The impulse of a contact is λ_n along the normal and D·β in the tangent plane; the r columns of D are the
directions of the friction pyramid, and γ is the sliding speed:

    0 ≤ λ_n ⊥ w_n ≥ 0                                                                      (1)
    0 ≤ β   ⊥ Dᵀ·w_t + γ·e ≥ 0                                                             (2)
    0 ≤ γ   ⊥ μ·λ_n − eᵀ·β ≥ 0                                                             (3)

A bounded row λ ∈ [lower, upper] (w ≥ 0 at lower, ≤ 0 at upper, 0 between) is, by which bounds are finite,

    lower only   0 ≤ λ − lower ⊥ w ≥ 0                                                     (4)
    upper only   0 ≤ upper − λ ⊥ −w ≥ 0                                                    (5)
    both         0 ≤ λ − lower ⊥ w + s ≥ 0,   0 ≤ s ⊥ upper − λ ≥ 0                        (6)
    none         λ = λ⁺ − λ⁻,   0 ≤ λ⁺ ⊥ w ≥ 0,   0 ≤ λ⁻ ⊥ −w ≥ 0                          (7)

The variables z are (λ_n, β₁…β_r, γ) contact by contact, then those of (4)–(7) row by row. The impulses are
affine in them, λ = C·z + λ₀. Each column of C has entries in at most two consecutive rows, so

    A = Cᵀ·W·C + N,     b = Cᵀ·(w₀ + W·λ₀) + n₀                                            (8)

with N and n₀ the couplings of (2), (3) and (6). A is copositive: Lemke's method solves (8) if it is feasible
without friction.

Source: eq. (10)–(13) of the CUSP paper; Anitescu and Potra (1997).
"""

from __future__ import annotations

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray

__all__ = ["assemble", "select_rows", "variable_count"]


@compiled
def variable_count(contacts: int, directions: int, lower: Array, upper: Array) -> int:
    """Number of LCP variables: r + 2 per contact, 1 per row with one finite bound, 2 per other row."""
    count = contacts * (directions + 2)
    for b in range(lower.size):
        count += 1 if np.isfinite(lower[b]) != np.isfinite(upper[b]) else 2
    return count


@compiled
def select_rows(
    delassus: Array,
    free: Array,
    friction: Array,
    directions: Array,
    kept: IntArray,
    rows: IntArray,
    part: Array,
    part_free: Array,
    part_friction: Array,
    part_directions: Array,
) -> None:
    """Write the problem of the kept contacts and of all bounded rows.

    Args:
        delassus, free, friction, directions: W (R, R), w₀ (R,), μ (m,), D (m, width − 1, r) of the whole problem.
        kept: contacts, shape (k,).
        rows: shape (R′,), written: index of each row in the whole problem, R′ = k·width + p.
        part, part_free, part_friction, part_directions: the same of the part, written.
    """
    width = directions.shape[1] + 1
    count = kept.size * width
    for i in range(kept.size):
        part_friction[i] = friction[kept[i]]
        for a in range(width - 1):
            for k in range(directions.shape[2]):
                part_directions[i, a, k] = directions[kept[i], a, k]
        for a in range(width):
            rows[i * width + a] = kept[i] * width + a
    first_bounded = friction.size * width
    for b in range(rows.size - count):
        rows[count + b] = first_bounded + b
    for i in range(rows.size):
        part_free[i] = free[rows[i]]
        for j in range(rows.size):
            part[i, j] = delassus[rows[i], rows[j]]


@compiled
def assemble(
    delassus: Array,
    free: Array,
    friction: Array,
    directions: Array,
    lower: Array,
    upper: Array,
    row: IntArray,
    coefficient: Array,
    paired_row: IntArray,
    offset: Array,
    response: Array,
    matrix: Array,
    vector: Array,
) -> None:
    """Write A and b of (8), and the map from variables to impulses.

    Args:
        delassus, free, friction: W (R, R), w₀ (R,), μ (k,) of the kept contacts and bounded rows.
        directions: D of each contact, shape (k, width − 1, r).
        lower, upper: bounds of the bounded rows, shape (p,) [N·s].
        row, coefficient: shapes (n,) and (n, 2), written: column j of C has coefficient[j] in the rows
            row[j] and row[j] + 1.
        paired_row: shape (n,), written: of a direction that is the exact opposite of another, that other one; else
            the variable itself. Rows and columns of a pair differ in their signs alone.
        offset: λ₀, shape (R,), written.
        response: workspace, W·C, shape (R, n).
        matrix, vector: A (n, n) and b (n,), written.
    """
    matrix[:] = 0.0
    vector[:] = 0.0
    coefficient[:] = 0.0
    offset[:] = 0.0
    for i in range(vector.size):
        paired_row[i] = i
    at = add_contact_variables(friction, directions, row, coefficient, paired_row, matrix)
    add_bounded_variables(lower, upper, at, row, coefficient, offset, matrix, vector)
    rows, size = free.size, vector.size
    for i in range(rows):
        from_row, to_row = delassus[i], response[i]
        for j in range(size):
            after = min(row[j] + 1, rows - 1)
            to_row[j] = from_row[row[j]] * coefficient[j, 0] + from_row[after] * coefficient[j, 1]
    bounded = rows - lower.size
    for i in range(size):
        k, one, two = row[i], coefficient[i, 0], coefficient[i, 1]
        if one == 0.0 and two == 0.0:
            continue
        after = min(k + 1, rows - 1)
        from_row, from_after, to_row = response[k], response[after], matrix[i]
        for j in range(size):
            to_row[j] += one * from_row[j] + two * from_after[j]
        vector[i] += one * free[k] + two * free[after]
        for b in range(bounded, rows):
            vector[i] += (one * delassus[k, b] + two * delassus[after, b]) * offset[b]


@compiled
def add_contact_variables(
    friction: Array,
    directions: Array,
    row: IntArray,
    coefficient: Array,
    paired_row: IntArray,
    matrix: Array,
) -> int:
    """Write the columns of C and the couplings (2), (3) of every contact; return the number of variables so far."""
    _, along, count = directions.shape
    at = 0
    for i in range(friction.size):
        first = i * (along + 1)
        cone = at + count + 1
        row[at], coefficient[at, 0] = first, 1.0
        row[cone] = first
        matrix[cone, at] = friction[i]
        for k in range(count):
            j = at + 1 + k
            row[j] = first + 1
            opposite = k >= count // 2
            for a in range(along):
                coefficient[j, a] = directions[i, a, k]
                opposite = opposite and directions[i, a, k] == -directions[i, a, k - count // 2]
            if opposite:
                paired_row[j] = j - count // 2
            matrix[j, cone] = 1.0
            matrix[cone, j] = -1.0
        at += count + 2
    return at


@compiled
def add_bounded_variables(
    lower: Array,
    upper: Array,
    at: int,
    row: IntArray,
    coefficient: Array,
    offset: Array,
    matrix: Array,
    vector: Array,
) -> None:
    """Write the columns of C, λ₀ and the couplings of (4)–(7), from variable `at` on."""
    first = offset.size - lower.size
    for b in range(lower.size):
        row[at], coefficient[at, 0] = first + b, 1.0
        if np.isfinite(lower[b]):
            offset[first + b] = lower[b]
            if np.isfinite(upper[b]):
                row[at + 1] = first + b
                matrix[at, at + 1] = 1.0
                matrix[at + 1, at] = -1.0
                vector[at + 1] = upper[b] - lower[b]
                at += 1
        elif np.isfinite(upper[b]):
            offset[first + b] = upper[b]
            coefficient[at, 0] = -1.0
        else:
            row[at + 1], coefficient[at + 1, 0] = first + b, -1.0
            at += 1
        at += 1
