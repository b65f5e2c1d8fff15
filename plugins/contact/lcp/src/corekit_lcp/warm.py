"""A warm start that is exact: the contact modes of the guess, solved for and certified.

The guess λ says of every contact whether it is open, sticks, or slides on a corner or an edge of its
friction polygon, and of every bounded row whether it is at a bound. With the modes given, what is left are
equations. A contact's impulse is V·x and its equations are Eᵀ·w = 0:

    open                 no unknown
    sticks               V = E = (n, d_k, d_k′), of the directions that carry                    (1)
    slides on a corner   V = (n + μ·d_k),               E = (n)                                  (2)
    slides on an edge    V = (n + μ·d_k, d_k′ − d_k),   E = (n, d_k′ − d_k)                      (3)

and all together Eᵀ·(W·(V·x + λ₀) + w₀) = 0, λ₀ the impulses at their bounds: a few unknowns, a few
microseconds. Where contacts are redundant the equations are dependent; those unknowns that add nothing keep
the values of the guess. Whether the modes still are the right ones is not guessed: the answer counts only if
its certificate, of all contacts, meets the tolerance.

The same takes the effect of the regularisation out of an LCP solver's answer: its modes, solved for without.
"""

from __future__ import annotations

from corekit.compiled import compiled
from corekit.data.arrays import Array, BoolArray, IntArray
from corekit_lcp.certify import certify
from corekit_lcp.copying import copy
from corekit_lcp.pyramid import shares

__all__ = ["from_guess"]

DEPENDENT = 1e-11
"""A pivot this small against the first is rounding."""

ON_BOUND = 1e-6
"""A guess this close to its bound is at the bound; only an aid, the certificate decides."""


@compiled
def friction_unknowns(
    directions: Array,
    friction: float,
    corner: float,
    share: Array,
    found: int,
    first: IntArray,
    columns: Array,
    equations: Array,
    value: Array,
) -> int:
    """Complete (1)–(3) of the contact whose normal unknown was found last; returns how many there are now."""
    along, count = directions.shape
    normal = found - 1
    one, two, total = -1, -1, 0.0  # the direction that carries most, the other one, their sum
    for k in range(count):
        total += share[k]
        if share[k] > 0.0:
            if one < 0 or share[k] > share[one]:
                one, two = k, one
            else:
                two = k
    if one < 0:
        return found
    slides = total >= (1.0 - ON_BOUND) * friction * value[normal]
    if slides:
        for a in range(along):
            columns[normal, 1 + a] = friction * directions[a, one]
    for k in (one, two):
        if (k == one and slides) or (k == two and (two < 0 or share[two] <= corner * total)):
            continue
        first[found] = first[normal]
        columns[found, 0] = 0.0
        for a in range(along):
            columns[found, 1 + a] = directions[a, k]
            if slides:
                columns[found, 1 + a] -= directions[a, one]
        copy(columns[found], equations[found])
        value[found] = share[k]
        found += 1
    return found


@compiled
def unknowns(
    guess: Array,
    friction: Array,
    directions: Array,
    lower: Array,
    upper: Array,
    corner: float,
    share: Array,
    first: IntArray,
    columns: Array,
    equations: Array,
    value: Array,
    impulse: Array,
) -> int:
    """Read the modes of a guess; returns how many unknowns there are.

    Args:
        guess: λ of all rows, shape (R,) [N·s].
        corner: a second direction that carries less than this share of the friction counts as none.
        share: work, shape (r,).
        first: shape (R,), written: the row where an unknown's entries begin.
        columns, equations: V and E, shape (R, width), written.
        value: x of the guess, shape (R,), written.
        impulse: V·x + λ₀, shape (R,), written.
    """
    contacts, along, count = directions.shape
    width = along + 1
    found = 0
    impulse[:] = 0.0
    for c in range(contacts):
        row = c * width
        if not guess[row] > 0.0:
            continue
        first[found] = row
        columns[found] = 0.0
        equations[found] = 0.0
        columns[found, 0] = equations[found, 0] = 1.0
        value[found] = guess[row]
        found += 1
        if count > 0 and friction[c] > 0.0:
            shares(directions[c], guess[row + 1 : row + width], share)
            found = friction_unknowns(
                directions[c], friction[c], corner, share, found, first, columns, equations, value
            )
    for b in range(lower.size):
        row = guess.size - lower.size + b
        near = ON_BOUND * min(upper[b] - lower[b], abs(guess[row]))
        if guess[row] <= lower[b] + near:
            impulse[row] = lower[b]
        elif guess[row] >= upper[b] - near:
            impulse[row] = upper[b]
        else:
            first[found] = row
            columns[found] = 0.0
            equations[found] = 0.0
            columns[found, 0] = equations[found, 0] = 1.0
            value[found] = guess[row]
            found += 1
    for j in range(found):
        for b in range(width if first[j] < contacts * width else 1):
            impulse[first[j] + b] += columns[j, b] * value[j]
    return found


@compiled
def eliminate(matrix: Array, right: Array, order: IntArray) -> None:
    """Solve in place by elimination with complete pivoting; what the rest already spans stays zero.

    Args:
        matrix, right: shapes (k, k) and (k,); the solution is in `right`.
        order: work, which unknown stands in a column, shape (k,).
    """
    n = right.size
    first, rank = 0.0, n
    for i in range(n):
        order[i] = i
    for p in range(n):
        row, column = largest_entry(matrix, p)
        largest = abs(matrix[row, column])
        if p == 0:
            first = largest
        if not largest > DEPENDENT * first:
            rank = p
            break
        if row != p:
            right[p], right[row] = right[row], right[p]
            for j in range(n):
                matrix[p, j], matrix[row, j] = matrix[row, j], matrix[p, j]
        if column != p:
            order[p], order[column] = order[column], order[p]
            for i in range(n):
                matrix[i, p], matrix[i, column] = matrix[i, column], matrix[i, p]
        for i in range(p + 1, n):
            factor = matrix[i, p] / matrix[p, p]
            if factor != 0.0:
                right[i] -= factor * right[p]
                for j in range(p + 1, n):
                    matrix[i, j] -= factor * matrix[p, j]
    for i in range(rank - 1, -1, -1):
        for j in range(i + 1, rank):
            right[i] -= matrix[i, j] * right[j]
        right[i] /= matrix[i, i]
    right[rank:] = 0.0
    reorder(right, order)


@compiled
def reorder(right: Array, order: IntArray) -> None:
    """Put right[i] in place order[i], cycle by cycle; `order` is used up."""
    for i in range(right.size):
        while order[i] != i:
            j = order[i]
            right[i], right[j] = right[j], right[i]
            order[i], order[j] = order[j], order[i]


@compiled
def largest_entry(matrix: Array, first: int) -> tuple[int, int]:
    """Where the entry of largest size stands, from row and column `first` on."""
    row, column = first, first
    for i in range(first, len(matrix)):
        for j in range(first, len(matrix)):
            if abs(matrix[i, j]) > abs(matrix[row, column]):
                row, column = i, j
    return row, column


@compiled
def from_guess(
    delassus: Array,
    free: Array,
    friction: Array,
    directions: Array,
    lower: Array,
    upper: Array,
    corner: float,
    share: Array,
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
    anew: bool,
    impulse: Array,
) -> tuple[float, float, float, float]:
    """The impulses that the modes of a guess ask for, and their certificate.

    Args:
        delassus, free, friction, directions, lower, upper: of the whole problem.
        corner, share, first, columns, equations: see `unknowns`.
        numbers: work, length ≥ R·(R + 2). order: work, shape (R,).
        dropped: contacts left out so far, shape (m,). anew: none is.
        guess, trial, velocity: the guess, λ and w, shape (R,), written.
        tolerance: what the certificate must meet.
        impulse: the guess, shape (R,); λ takes its place if it meets the tolerance.
    Returns:
        What `certify` does.
    """
    copy(impulse, guess)
    if anew:
        dropped[:] = False
    rows = free.size
    width = directions.shape[1] + 1
    contact_rows = rows - lower.size
    value = numbers[rows * rows + rows :]
    count = unknowns(
        guess, friction, directions, lower, upper, corner, share, first, columns, equations, value, trial
    )
    matrix, right = numbers[: count * count].reshape(count, count), numbers[rows * rows : rows * rows + count]
    for i in range(count):
        right[i] = 0.0
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
            right[i] -= factor * speed
            for j in range(count):
                for b in range(width if first[j] < contact_rows else 1):
                    matrix[i, j] += factor * from_row[first[j] + b] * columns[j, b]
    eliminate(matrix, right, order[:count])
    for j in range(count):
        for b in range(width if first[j] < contact_rows else 1):
            trial[first[j] + b] += columns[j, b] * right[j]
    found = certify(delassus, free, friction, directions, lower, upper, dropped, trial, share, velocity)
    if found[3] <= tolerance:
        copy(trial, impulse)
    return found
