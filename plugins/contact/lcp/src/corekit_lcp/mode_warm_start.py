"""A warm start that is exact: solve for the impulses in the contact modes of the initial guess.

The guess λ determines the mode of every contact, which is open, sticks, or slides on a corner or an edge of its
friction polygon, and which bounded rows are at a bound. Given the modes, the contact laws are equations. The impulse
of a contact is V·x, and its equations are Eᵀ·w = 0:

    open                 no unknown
    sticks               V = E = (n, d_k, d_k′), of the directions that carry load               (1)
    slides on a corner   V = (n + μ·d_k),               E = (n)                                  (2)
    slides on an edge    V = (n + μ·d_k, d_k′ − d_k),   E = (n, d_k′ − d_k)                      (3)

Together they are Eᵀ·(W·(V·x + λ₀) + w₀) = 0, with λ₀ the impulses at their bounds: a few unknowns, a few
microseconds. If contacts are redundant, the equations are dependent. Of their solutions the one with the least norm is
chosen (`least_norm`), whatever the guess was: the limit of soft contacts, see `compliance`. The solution counts only if
the residuals of all contacts meet the tolerance, so wrong modes are harmless.

A contact that the modes leave open may touch all the same, where the others hold it there. It stays without load only
if soft contacts would not press on it. Otherwise it joins the closed ones.

The same removes the effect of the regularisation from the solution of an LCP solver.
"""

from __future__ import annotations

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.linalg.vectors import copy_vector
from corekit.roles.pyramid import pyramid_coefficients
from corekit_lcp.least_norm import solve_softly
from corekit_lcp.records import ContactProblemArrays, Modes
from corekit_lcp.residuals import measure_residuals

__all__ = [
    "CORNER",
    "ON_BOUND",
    "add_unknowns",
    "assemble_modes",
    "read_modes",
    "soften_modes",
    "solve_modes",
]

SOFT, LEAST_SOFT = 1e-4, 1e-8
"""Compliances of the equations: that of the second serves where the first is not small against all of them."""

NOTHING = 1e-11
"""Friction, relative to its bound, that is rounding: its direction is no unknown."""

JOINS = 2
"""How often contacts without load may join the others."""

PRESSED = 1e-6
"""Speed at which a soft contact without load is pressed, relative to that of the largest load, that is not rounding."""

CORNER = ON_BOUND = 1e-6
"""Relative distance within which a guess is on a corner of the pyramid, and at its bound; wrong modes are harmless."""


@compiled
def read_friction_mode(
    directions: Array,
    friction: float,
    corner: float,
    on_bound: float,
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
    if one < 0 or total <= NOTHING * friction * value[normal]:
        return unknown_count
    slides = total >= (1.0 - on_bound) * friction * value[normal]
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
    on_bound: float,
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
        on_bound: relative distance within which an impulse is at its bound.
        beta: workspace, shape (r,).
        first: shape (R,), written: the row where the entries of an unknown begin.
        columns, equations: V and E, shape (R, width), written.
        value: x of the guess, shape (R,), written.
        impulse: λ₀, shape (R,), written.
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
                directions[c],
                friction[c],
                corner,
                on_bound,
                beta,
                unknown_count,
                first,
                columns,
                equations,
                value,
            )
    for b in range(lower.size):
        row = guess.size - lower.size + b
        near = on_bound * min(upper[b] - lower[b], abs(guess[row]))
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
    return unknown_count


@compiled
def assemble_modes(
    delassus: Array, free: Array, fixed: Array, first: IntArray, columns: Array, equations: Array, contact_rows: int,
    matrix: Array, rhs: Array,
) -> None:  # fmt: skip
    """Write Eᵀ·W·V (k, k) and −Eᵀ·(w₀ + W·λ₀) (k,).

    Args:
        fixed: λ₀, shape (R,). contact_rows: rows of contacts; the others are single.
    """
    rows, width = free.size, columns.shape[1]
    for i in range(rhs.size):
        rhs[i] = 0.0
        for j in range(rhs.size):
            matrix[i, j] = 0.0
        for a in range(width if first[i] < contact_rows else 1):
            factor = equations[i, a]
            if factor == 0.0:
                continue
            from_row = delassus[first[i] + a]
            speed = free[first[i] + a]
            for j in range(contact_rows, rows):
                speed += from_row[j] * fixed[j]
            rhs[i] -= factor * speed
            for j in range(rhs.size):
                for b in range(width if first[j] < contact_rows else 1):
                    matrix[i, j] += factor * from_row[first[j] + b] * columns[j, b]


@compiled
def soften_modes(
    matrix: Array,
    first: IntArray,
    columns: Array,
    equations: Array,
    soft: Array,
    weight: float,
    softened: Array,
) -> None:
    """Write Eᵀ·(W + e)·V: a compliance couples the unknowns of one contact alone."""
    for i in range(len(matrix)):
        for j in range(len(matrix)):
            softened[i, j] = matrix[i, j]
            if first[i] == first[j]:
                for a in range(columns.shape[1]):
                    if equations[i, a] != 0.0 and columns[j, a] != 0.0:
                        softened[i, j] += weight * soft[first[i] + a] * equations[i, a] * columns[j, a]


@compiled
def add_unknowns(value: Array, first: IntArray, columns: Array, contact_rows: int, impulse: Array) -> None:
    """Add V·x to λ."""
    for j in range(value.size):
        for b in range(columns.shape[1] if first[j] < contact_rows else 1):
            impulse[first[j] + b] += columns[j, b] * value[j]


@compiled
def solve_equations(
    delassus: Array, free: Array, first: IntArray, columns: Array, equations: Array, contact_rows: int, soft: Array,
    tolerance: float, numbers: Array, order: IntArray, fixed: Array, softest: Array, value: Array,
) -> float:  # fmt: skip
    """Write the x of least norm, and that of soft contacts; return their compliance, relative to `soft`.

    Args:
        tolerance: of the equations [m/s].
        numbers, order: workspace, see `solve_modes`. fixed: λ₀, shape (R,).
        softest, value: the x of soft contacts, and x, shape (k,), written.
    """
    rows, count = free.size, value.size
    vectors = numbers[2 * rows * rows :].reshape(-1, rows)
    rhs, error = vectors[2, :count], vectors[3, :count]
    matrix = numbers[: count * count].reshape(count, count)
    softened = numbers[rows * rows : rows * rows + count * count].reshape(count, count)
    assemble_modes(delassus, free, fixed, first, columns, equations, contact_rows, matrix, rhs)
    for weight in (SOFT, LEAST_SOFT):
        soften_modes(matrix, first, columns, equations, soft, weight, softened)
        if solve_softly(matrix, softened, rhs, order[:count], softest, value, error) <= tolerance:
            break
    return weight


@compiled
def join_pressed(
    delassus: Array, free: Array, soft: Array, weight: float, width: int, contacts: int, tolerance: float,
    impulse: Array, velocity: Array, softly: Array, guess: Array,
) -> bool:  # fmt: skip
    """Close the contacts that touch without load, and on which soft contacts press; return whether there are any.

    Args:
        impulse, velocity: the solution, shape (R,). softly: the impulses of soft contacts, shape (R,).
        guess: shape (R,), changed.
    """
    largest, joined = 0.0, False
    for c in range(contacts):
        largest = max(largest, softly[c * width])
    for c in range(contacts):
        row = c * width
        if impulse[row] == 0.0 and velocity[row] <= tolerance:
            speed = free[row]
            for j in range(free.size):
                speed += delassus[row, j] * softly[j]
            if speed < -PRESSED * weight * soft[row] * largest:
                guess[row] = largest
                joined = True
    return joined


@compiled
def solve_modes(
    problem: ContactProblemArrays, corner: float, work: Modes, guess: Array, trial: Array, velocity: Array,
    tolerance: float, on_bound: float, keep_all: bool, of_least_norm: bool, impulse: Array,
) -> tuple[tuple[float, float, float, float, float], bool]:  # fmt: skip
    """Compute the impulses in the modes of a guess, and their residuals.

    Args:
        problem: of contacts and bounded rows.
        corner, on_bound: see `read_modes`.
        work: workspace, with the compliance of every row and which contacts are left out.
        guess, trial, velocity: the guess, λ and w, shape (R,), written.
        tolerance: limit of the residuals. keep_all: whether no contact is left out.
        of_least_norm: whether contacts without load join the others where soft contacts press on them.
        impulse: the guess, shape (R,); receives λ if the residuals meet the tolerance.
    Returns:
        As `measure_residuals`, and whether no contact is left that had to join.
    """
    delassus, free, friction, directions, lower, upper, mobility, reference, velocity_unit, impulse_unit = (
        problem
    )
    beta, first, columns, equations, numbers, order, soft, dropped = work
    copy_vector(impulse, guess)
    if keep_all:
        dropped[:] = False
    rows = free.size
    width = directions.shape[1] + 1
    contact_rows = rows - lower.size
    vectors = numbers[2 * rows * rows :].reshape(-1, rows)
    softly = vectors[4]
    found = np.inf, np.inf, np.inf, np.inf, np.inf
    for join in range(JOINS + 1):
        count = read_modes(
            guess, friction, directions, lower, upper, corner, on_bound, beta, first, columns, equations, vectors[0],
            trial,
        )  # fmt: skip
        value, softest = vectors[0, :count], vectors[1, :count]
        weight = solve_equations(
            delassus, free, first, columns, equations, contact_rows, soft, 0.1 * tolerance, numbers, order, trial,
            softest, value,
        )  # fmt: skip
        copy_vector(trial, softly)
        add_unknowns(softest, first, columns, contact_rows, softly)
        add_unknowns(value, first, columns, contact_rows, trial)
        residuals = measure_residuals(
            delassus, free, friction, directions, lower, upper, mobility, reference, velocity_unit, impulse_unit,
            dropped, trial, beta, velocity,
        )  # fmt: skip
        if not residuals[3 if keep_all else 4] <= tolerance:
            return (residuals, True) if join == 0 else (found, False)
        found = residuals
        copy_vector(trial, impulse)
        if not of_least_norm or not join_pressed(
            delassus, free, soft, weight, width, friction.size, tolerance, trial, velocity, softly, guess
        ):
            return residuals, True
    return found, False
