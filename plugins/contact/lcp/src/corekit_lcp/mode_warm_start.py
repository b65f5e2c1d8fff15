"""A warm start that is exact: solve for the impulses in the contact modes of the initial guess.

The guess λ determines the mode of every contact, which is open, sticks, or slides on a corner or an edge of its
friction polygon, and which bounded rows are at a bound. Given the modes, the contact laws are equations. The impulse
of a contact is V·x, and its equations are Eᵀ·w = 0:

    open                 no unknown
    sticks               V = E = (n, d_k, d_k′), of the directions that carry load               (1)
    slides on a corner   V = (n + μ·d_k),               E = (n)                                  (2)
    slides on an edge    V = (n + μ·d_k, d_k′ − d_k),   E = (n, d_k′ − d_k)                      (3)

Together they are Eᵀ·(W·(V·x + λ₀) + w₀) = 0, with λ₀ the impulses at their bounds: a few unknowns, a few
microseconds. If contacts are redundant, the equations are dependent, and the dependent unknowns keep the values of
the guess. The solution counts only if the residuals of all contacts meet the tolerance, so wrong modes are harmless.

The same removes the effect of the regularisation from the solution of an LCP solver.
"""

from __future__ import annotations

from corekit.compiled import compiled
from corekit.data.arrays import Array, BoolArray, IntArray
from corekit.linalg.vectors import copy_vector
from corekit.roles.pyramid import pyramid_coefficients
from corekit_lcp.residuals import measure_residuals

__all__ = ["solve_modes"]

DEPENDENT = 1e-11
"""Pivot, relative to the first, that is rounding."""

ON_BOUND = 1e-6
"""Relative distance within which a guess is at its bound; wrong modes are harmless."""


@compiled
def read_friction_mode(
    directions: Array,
    friction: float,
    corner: float,
    beta: Array,
    unknown_count: int,
    first: IntArray,
    columns: Array,
    equations: Array,
    value: Array,
) -> int:
    """Add the tangential unknowns (1)–(3) of the contact whose normal unknown was added last; return the new count."""
    along, count = directions.shape
    normal = unknown_count - 1
    one, two, total = -1, -1, 0.0  # the direction with the largest load, the other one, their sum
    for k in range(count):
        total += beta[k]
        if beta[k] > 0.0:
            if one < 0 or beta[k] > beta[one]:
                one, two = k, one
            else:
                two = k
    if one < 0:
        return unknown_count
    slides = total >= (1.0 - ON_BOUND) * friction * value[normal]
    if slides:
        for a in range(along):
            columns[normal, 1 + a] = friction * directions[a, one]
    for k in (one, two):
        if (k == one and slides) or (k == two and (two < 0 or beta[two] <= corner * total)):
            continue
        first[unknown_count] = first[normal]
        columns[unknown_count, 0] = 0.0
        for a in range(along):
            columns[unknown_count, 1 + a] = directions[a, k]
            if slides:
                columns[unknown_count, 1 + a] -= directions[a, one]
        copy_vector(columns[unknown_count], equations[unknown_count])
        value[unknown_count] = beta[k]
        unknown_count += 1
    return unknown_count


@compiled
def read_modes(
    guess: Array,
    friction: Array,
    directions: Array,
    lower: Array,
    upper: Array,
    corner: float,
    beta: Array,
    first: IntArray,
    columns: Array,
    equations: Array,
    value: Array,
    impulse: Array,
) -> int:
    """Read the modes of a guess and return the number of unknowns.

    Args:
        guess: λ of all rows, shape (R,) [N·s].
        corner: fraction of the friction below which a second direction does not count.
        beta: workspace, shape (r,).
        first: shape (R,), written: the row where the entries of an unknown begin.
        columns, equations: V and E, shape (R, width), written.
        value: x of the guess, shape (R,), written.
        impulse: V·x + λ₀, shape (R,), written.
    """
    contacts, along, count = directions.shape
    width = along + 1
    unknown_count = 0
    impulse[:] = 0.0
    for c in range(contacts):
        row = c * width
        if not guess[row] > 0.0:
            continue
        first[unknown_count] = row
        columns[unknown_count] = 0.0
        equations[unknown_count] = 0.0
        columns[unknown_count, 0] = equations[unknown_count, 0] = 1.0
        value[unknown_count] = guess[row]
        unknown_count += 1
        if count > 0 and friction[c] > 0.0:
            pyramid_coefficients(directions[c], guess[row + 1 : row + width], beta)
            unknown_count = read_friction_mode(
                directions[c], friction[c], corner, beta, unknown_count, first, columns, equations, value
            )
    for b in range(lower.size):
        row = guess.size - lower.size + b
        near = ON_BOUND * min(upper[b] - lower[b], abs(guess[row]))
        if guess[row] <= lower[b] + near:
            impulse[row] = lower[b]
        elif guess[row] >= upper[b] - near:
            impulse[row] = upper[b]
        else:
            first[unknown_count] = row
            columns[unknown_count] = 0.0
            equations[unknown_count] = 0.0
            columns[unknown_count, 0] = equations[unknown_count, 0] = 1.0
            value[unknown_count] = guess[row]
            unknown_count += 1
    for j in range(unknown_count):
        for b in range(width if first[j] < contacts * width else 1):
            impulse[first[j] + b] += columns[j, b] * value[j]
    return unknown_count


@compiled
def solve_with_pivoting(matrix: Array, rhs: Array, order: IntArray) -> None:
    """Solve in place by elimination with complete pivoting; dependent unknowns are zero.

    Args:
        matrix, rhs: shapes (k, k) and (k,); the solution is in `rhs`.
        order: workspace, the unknown of each column, shape (k,).
    """
    n = rhs.size
    first, rank = 0.0, n
    for i in range(n):
        order[i] = i
    for p in range(n):
        row, column = find_largest_entry(matrix, p)
        largest = abs(matrix[row, column])
        if p == 0:
            first = largest
        if not largest > DEPENDENT * first:
            rank = p
            break
        if row != p:
            rhs[p], rhs[row] = rhs[row], rhs[p]
            for j in range(n):
                matrix[p, j], matrix[row, j] = matrix[row, j], matrix[p, j]
        if column != p:
            order[p], order[column] = order[column], order[p]
            for i in range(n):
                matrix[i, p], matrix[i, column] = matrix[i, column], matrix[i, p]
        for i in range(p + 1, n):
            factor = matrix[i, p] / matrix[p, p]
            if factor != 0.0:
                rhs[i] -= factor * rhs[p]
                for j in range(p + 1, n):
                    matrix[i, j] -= factor * matrix[p, j]
    for i in range(rank - 1, -1, -1):
        for j in range(i + 1, rank):
            rhs[i] -= matrix[i, j] * rhs[j]
        rhs[i] /= matrix[i, i]
    rhs[rank:] = 0.0
    undo_permutation(rhs, order)


@compiled
def undo_permutation(rhs: Array, order: IntArray) -> None:
    """Move rhs[i] to index order[i], cycle by cycle; `order` is overwritten."""
    for i in range(rhs.size):
        while order[i] != i:
            j = order[i]
            rhs[i], rhs[j] = rhs[j], rhs[i]
            order[i], order[j] = order[j], order[i]


@compiled
def find_largest_entry(matrix: Array, first: int) -> tuple[int, int]:
    """Row and column of the largest entry, from row and column `first` on."""
    row, column = first, first
    for i in range(first, len(matrix)):
        for j in range(first, len(matrix)):
            if abs(matrix[i, j]) > abs(matrix[row, column]):
                row, column = i, j
    return row, column


@compiled
def solve_modes(
    delassus: Array,
    free: Array,
    friction: Array,
    directions: Array,
    lower: Array,
    upper: Array,
    mobility: Array,
    reference: Array,
    velocity_unit: float,
    impulse_unit: float,
    corner: float,
    beta: Array,
    first: IntArray,
    columns: Array,
    equations: Array,
    numbers: Array,
    order: IntArray,
    dropped: BoolArray,
    guess: Array,
    trial: Array,
    velocity: Array,
    tolerance: float,
    keep_all: bool,
    impulse: Array,
) -> tuple[float, float, float, float, float]:
    """Compute the impulses in the modes of a guess, and their residuals.

    Args:
        delassus, free, friction, directions, lower, upper, mobility, reference, velocity_unit, impulse_unit: of it.
        corner, beta, first, columns, equations: see `read_modes`.
        numbers: workspace, length ≥ R·(R + 2). order: workspace, shape (R,).
        dropped: contacts that are left out, shape (m,). keep_all: whether none is.
        guess, trial, velocity: the guess, λ and w, shape (R,), written.
        tolerance: limit of the residuals.
        impulse: the guess, shape (R,); receives λ if the residuals meet the tolerance.
    Returns:
        As `measure_residuals`.
    """
    copy_vector(impulse, guess)
    if keep_all:
        dropped[:] = False
    rows = free.size
    width = directions.shape[1] + 1
    contact_rows = rows - lower.size
    value = numbers[rows * rows + rows :]
    count = read_modes(
        guess, friction, directions, lower, upper, corner, beta, first, columns, equations, value, trial
    )
    matrix, rhs = numbers[: count * count].reshape(count, count), numbers[rows * rows : rows * rows + count]
    for i in range(count):
        rhs[i] = 0.0
        for j in range(count):
            matrix[i, j] = 0.0
        for a in range(width if first[i] < contact_rows else 1):
            factor = equations[i, a]
            if factor == 0.0:
                continue
            from_row = delassus[first[i] + a]
            speed = free[first[i] + a]
            for j in range(rows):
                speed += from_row[j] * trial[j]
            rhs[i] -= factor * speed
            for j in range(count):
                for b in range(width if first[j] < contact_rows else 1):
                    matrix[i, j] += factor * from_row[first[j] + b] * columns[j, b]
    solve_with_pivoting(matrix, rhs, order[:count])
    for j in range(count):
        for b in range(width if first[j] < contact_rows else 1):
            trial[first[j] + b] += columns[j, b] * rhs[j]
    residuals = measure_residuals(
        delassus, free, friction, directions, lower, upper, mobility, reference, velocity_unit, impulse_unit, dropped,
        trial, beta, velocity,
    )  # fmt: skip
    if residuals[3 if keep_all else 4] <= tolerance:
        copy_vector(trial, impulse)
    return residuals
