"""Newton's method for soft contacts, by their modes.

With a compliance e (`compliance`) the contact laws are

    λ = P(λ − w/(m + e)),    w = W·λ + w₀ + e·(λ − λ⁰)                                      (1)

with P the projection on λ_n ≥ 0, on the friction polygon of μ·λ_n and on the bounds of bounded rows, and m the
mobility. The right-hand side has modes (`mode_warm_start`), in which the laws are linear; their solution is the next λ.
From modes that are nearly right it ends at the solution after a few steps, where sweeps over redundant contacts would
need thousands. Where it does not, the solutions of softer contacts lead there, as they change little with e.

Source: Alart, Curnier (1991), A mixed formulation for frictional contact problems prone to Newton like solution
methods, Comput. Methods Appl. Mech. Engrg. 92.
"""

from __future__ import annotations

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, BoolArray, IntArray
from corekit.linalg.small_lu import back_substitute, factorise_in_place
from corekit.linalg.vectors import copy_vector
from corekit_lcp.compliance import DECREASE, LEAST_WEIGHT
from corekit_lcp.mode_warm_start import add_unknowns, assemble_modes, read_modes, soften_modes, solve_modes
from corekit_lcp.records import ContactProblemArrays, Modes
from corekit_lcp.residuals import measure_residuals

__all__ = ["search_modes"]

EXACT = 1e-13
"""Relative distance within which a projected impulse is at a bound, or on a corner: rounding."""

STEPS, MOST_STEPS = 12, 60
"""Steps within which modes that are nearly right lead to the solution, and those of a search."""

SOFTEST, PATH = 1.0, 0.1
"""Compliance where a path begins, and its factor from one to the next; where that is too small, its root."""


@compiled
def project_on_polygon(directions: Array, radius: float, tangential: Array) -> None:
    """Move a point (width − 1,) to the nearest one of the polygon with the corners radius·d_k, in place."""
    along, count = directions.shape
    if along == 1:
        low = high = 0.0
        for k in range(count):
            low, high = min(low, radius * directions[0, k]), max(high, radius * directions[0, k])
        tangential[0] = min(max(tangential[0], low), high)
        return
    x, y = tangential[0], tangential[1]
    is_inside, nearest = count > 0, np.inf
    tangential[0] = tangential[1] = 0.0
    for k in range(count):
        j = k + 1 if k + 1 < count else 0
        ax, ay = radius * directions[0, k], radius * directions[1, k]
        ex, ey = radius * directions[0, j] - ax, radius * directions[1, j] - ay
        is_inside = is_inside and ex * (y - ay) - ey * (x - ax) >= 0.0
        length = ex * ex + ey * ey
        part = min(max(((x - ax) * ex + (y - ay) * ey) / length, 0.0), 1.0) if length > 0.0 else 0.0
        px, py = ax + part * ex, ay + part * ey
        distance = (x - px) ** 2 + (y - py) ** 2
        if distance < nearest:
            nearest, tangential[0], tangential[1] = distance, px, py
    if is_inside:
        tangential[0], tangential[1] = x, y


@compiled
def project(
    friction: Array, directions: Array, lower: Array, upper: Array, mobility: Array, soft: Array, weight: float,
    impulse: Array, velocity: Array,
) -> None:  # fmt: skip
    """Replace λ by P(λ − w/(m + e))."""
    width = directions.shape[1] + 1
    for c in range(friction.size):
        row = c * width
        for a in range(width):
            impulse[row + a] -= velocity[row + a] / (mobility[c] + weight * soft[row + a])
        impulse[row] = max(impulse[row], 0.0)
        project_on_polygon(directions[c], friction[c] * impulse[row], impulse[row + 1 : row + width])
    for b in range(lower.size):
        row = friction.size * width + b
        moved = impulse[row] - velocity[row] / (mobility[friction.size + b] + weight * soft[row])
        impulse[row] = min(max(moved, lower[b]), upper[b])


@compiled
def iterate_modes(
    delassus: Array, free: Array, friction: Array, directions: Array, lower: Array, upper: Array, mobility: Array,
    reference: Array, velocity_unit: float, impulse_unit: float, beta: Array, first: IntArray, columns: Array,
    equations: Array, numbers: Array, order: IntArray, soft: Array, dropped: BoolArray, weight: float, centre: Array,
    softened_free: Array, velocity: Array, tolerance: float, impulse: Array,
) -> tuple[int, float]:  # fmt: skip
    """Iterate from λ; return the number of steps and the largest relative residual of the soft contacts.

    Args:
        beta … dropped: workspace, as of `solve_modes`.
        weight, centre: of the compliance, see `add_compliance`.
        softened_free, velocity: workspace, shape (R,).
        impulse: λ, shape (R,), overwritten.
    """
    rows = free.size
    contact_rows = rows - lower.size
    vectors = numbers[2 * rows * rows :].reshape(-1, rows)
    for step in range(STEPS + 1):
        for i in range(rows):
            softened_free[i] = free[i] + weight * soft[i] * (impulse[i] - centre[i])
        error = measure_residuals(
            delassus, softened_free, friction, directions, lower, upper, mobility, reference, velocity_unit,
            impulse_unit, dropped, impulse, beta, velocity,
        )[3]  # fmt: skip
        if step == STEPS or error <= tolerance or not error < np.inf:
            break
        project(friction, directions, lower, upper, mobility, soft, weight, impulse, velocity)
        guess = vectors[4]
        copy_vector(impulse, guess)
        count = read_modes(
            guess,
            friction,
            directions,
            lower,
            upper,
            EXACT,
            EXACT,
            beta,
            first,
            columns,
            equations,
            vectors[0],
            impulse,
        )
        x, rhs = vectors[0, :count], vectors[2, :count]
        matrix = numbers[: count * count].reshape(count, count)
        softened = numbers[rows * rows : rows * rows + count * count].reshape(count, count)
        for i in range(rows):
            softened_free[i] = free[i] - weight * soft[i] * centre[i]
        assemble_modes(delassus, softened_free, impulse, first, columns, equations, contact_rows, matrix, rhs)
        soften_modes(matrix, first, columns, equations, soft, weight, softened)
        if not factorise_in_place(softened, order[:count]):
            return step, np.inf
        for i in range(count):
            x[i] = rhs[order[i]]
        back_substitute(softened, x)
        add_unknowns(x, first, columns, contact_rows, impulse)
    return step, error


@compiled
def search_modes(
    problem: ContactProblemArrays, modes: Modes, weight: float, corrections: int, centre: Array, good: Array,
    work: Array, rough: Array, polished: Array, velocity: Array, tolerance: float, impulse: Array,
) -> tuple[int, tuple[float, float, float, float, float]]:  # fmt: skip
    """Find the impulses of soft contacts from a guess, then those of rigid ones.

    Where the guess does not lead to soft contacts, a path from much softer ones does, on which each solution is the
    guess of the next. Where the modes of soft contacts are not those of rigid ones, stiffer ones follow, centred at the
    last impulses.

    Args:
        problem, modes: the problem and workspace, as of `solve_modes`. weight, corrections: of the compliance.
        centre, good, work, rough, polished, velocity: workspace, shape (R,).
        impulse: a guess, shape (R,); receives λ if the residuals meet the tolerance, else the last try.
    Returns:
        The number of steps, and the residuals as of `measure_residuals`, infinite if none was found.
    """
    delassus, free, friction, directions, lower, upper, mobility, reference, velocity_unit, impulse_unit = (
        problem
    )
    beta, first, columns, equations, numbers, order, soft, dropped = modes
    dropped[:] = False
    centre[:] = 0.0
    copy_vector(impulse, good)
    none = np.inf, np.inf, np.inf, np.inf, np.inf
    own, last, factor, count = weight, 0.0, PATH, 0
    while count < MOST_STEPS:
        steps, error = iterate_modes(
            delassus, free, friction, directions, lower, upper, mobility, reference, velocity_unit, impulse_unit,
            beta, first, columns, equations, numbers, order, soft, dropped, own, centre, work, velocity, tolerance,
            impulse,
        )  # fmt: skip
        count += steps
        if not error <= tolerance:
            copy_vector(good, impulse)
            if last > 0.0:
                factor = np.sqrt(factor)
                own = last * factor
            elif own < SOFTEST:
                own = SOFTEST
            else:
                break
            continue
        last = own
        copy_vector(impulse, good)
        if own > weight:
            own = max(factor * own, weight)
            continue
        found = measure_residuals(
            delassus, free, friction, directions, lower, upper, mobility, reference, velocity_unit, impulse_unit,
            dropped, impulse, beta, velocity,
        )  # fmt: skip
        if found[3] <= tolerance:
            return count, found
        found, _ = solve_modes(
            problem, EXACT, modes, rough, polished, velocity, tolerance, EXACT, True, False, impulse
        )
        if found[3] <= tolerance:
            return count, found
        if corrections == 0:
            break
        corrections -= 1
        copy_vector(impulse, centre)
        factor = DECREASE
        own = max(factor * own, LEAST_WEIGHT)
    return count, none
