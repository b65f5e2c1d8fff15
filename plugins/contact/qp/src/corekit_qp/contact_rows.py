"""Rows of a quadratic program that solves a contact problem.

With W = F·Fᵀ and the motion x that impulses cause, w = F·x + w₀, the solution of

    min ½·|x|²   subject to   F_n·x + w₀_n ≥ 0                                                   (1)

has multipliers λ_n ≥ 0 with x = Fᵀ·λ. This is 0 ≤ λ_n ⊥ W·λ + w₀ ≥ 0, and strictly convex even if W is singular.
The convex relaxation of friction also bounds the velocity along every direction d_k of the pyramid,

    (F_n + μ·d_kᵀ·F_t)·x + w₀_n + μ·d_k·w₀_t + μ·σ ≥ 0,   λ_n = Σ γ_k,  λ_t = μ·Σ γ_k·d_k         (2)

so that λ lies in the pyramid and opposes slip. With σ = 0, contacts that slide at γ = −min d_k·w_t separate at μ·γ.
With σ = γ, the solution satisfies Coulomb's law.

D has shape (m, width − 1, r) with directions for each contact, or (1, width − 1, r) with the same directions for all.
In another law than Coulomb's their length is the friction in that direction (`corekit.roles.pyramid`); (2) stays.

Sources: Anitescu (2006) for σ = 0; Acary, Cadoux, Lemaréchal, Malick (2011) for the shift.
"""

from __future__ import annotations

import math

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.roles.contact_laws import pyramid_residuals, relative_velocity
from corekit.roles.pyramid import pyramid_coefficients

__all__ = [
    "contact_residuals",
    "count_rows",
    "factorise_delassus",
    "measure_residuals",
    "read_impulses",
    "row_residual",
    "write_multipliers",
    "write_rows",
]

_LOST = 1e-13
"""Relative pivot below which a row depends on others."""


@compiled
def factorise_delassus(delassus: Array, root: Array, remainder: Array, is_done: IntArray) -> int:
    """Write F (R, rank) with W = F·Fᵀ by pivoted Cholesky factorisation and return the rank.

    The pivot is the row with the largest remainder relative to its diagonal entry.

    Args:
        root: F, shape (R, R); the columns beyond the rank stay as they are.
        remainder, is_done: workspace, shape (R,).
    """
    rows = len(delassus)
    for i in range(rows):
        remainder[i] = delassus[i, i]
        is_done[i] = 0
    rank = 0
    while rank < rows:
        best, pivot = _LOST, -1
        for i in range(rows):
            if is_done[i] == 0 and remainder[i] > best * delassus[i, i]:
                best, pivot = remainder[i] / delassus[i, i], i
        if pivot < 0:
            break
        is_done[pivot] = 1
        inverse = 1.0 / math.sqrt(remainder[pivot])
        for i in range(rows):
            if is_done[i] == 1 and i != pivot:
                root[i, rank] = 0.0
                continue
            total = delassus[i, pivot]
            for k in range(rank):
                total -= root[i, k] * root[pivot, k]
            root[i, rank] = total * inverse
            remainder[i] -= root[i, rank] * root[i, rank]
        rank += 1
    return rank


@compiled
def count_rows(friction: Array, directions: int, bounded: int) -> int:
    """Count the rows: one per contact without friction, `directions` per contact with friction, then bounded rows."""
    total = bounded
    for c in range(len(friction)):
        total += directions if friction[c] > 0.0 else 1
    return total


@compiled
def write_rows(
    root: Array, rank: int, free: Array, friction: Array, directions: Array, shift: Array, low: Array, high: Array,
    values: Array, lower: Array, upper: Array, multiplier_lower: Array, multiplier_upper: Array,
) -> None:  # fmt: skip
    """Write the rows (1) and (2), and each bounded row as an equality with a bounded multiplier.

    Args:
        directions: D. shift: σ, shape (m,) [m/s].
        low, high: impulse bounds of the bounded rows.
    """
    alike, along, count = len(directions) == 1, directions.shape[1], directions.shape[2]
    width, row = along + 1, 0
    for c in range(len(friction)):
        here, mu, own = c * width, friction[c], 0 if alike else c
        for k in range(count if mu > 0.0 else 1):
            bias = free[here]
            for j in range(rank):
                values[row, j] = root[here, j]
            if mu > 0.0:
                bias += mu * shift[c]
                for a in range(along):
                    stretch = mu * directions[own, a, k]
                    bias += stretch * free[here + 1 + a]
                    for j in range(rank):
                        values[row, j] += stretch * root[here + 1 + a, j]
            lower[row], upper[row] = -bias, math.inf
            multiplier_lower[row], multiplier_upper[row] = -math.inf, math.inf
            row += 1
    for b in range(len(low)):
        here = len(friction) * width + b
        for j in range(rank):
            values[row, j] = root[here, j]
        lower[row], upper[row] = -free[here], -free[here]
        multiplier_lower[row], multiplier_upper[row] = -high[b], -low[b]
        row += 1


@compiled
def read_impulses(
    friction: Array, directions: Array, multiplier: Array, bounded: int, impulse: Array
) -> None:
    """Write λ, shape (R,), from the multipliers of the program by (2)."""
    alike, along, count = len(directions) == 1, directions.shape[1], directions.shape[2]
    width, row = along + 1, 0
    impulse[:] = 0.0
    for c in range(len(friction)):
        here, mu, own = c * width, friction[c], 0 if alike else c
        for k in range(count if mu > 0.0 else 1):
            part = max(-multiplier[row], 0.0)
            impulse[here] += part
            if mu > 0.0:
                for a in range(along):
                    impulse[here + 1 + a] += mu * directions[own, a, k] * part
            row += 1
    for b in range(bounded):
        impulse[len(friction) * width + b] = -multiplier[row]
        row += 1


@compiled
def write_multipliers(
    friction: Array, directions: Array, impulse: Array, beta: Array, multiplier: Array
) -> None:
    """Write multipliers that give λ, the inverse of `read_impulses`; impulses beyond the pyramid are cut off."""
    alike, along, count = len(directions) == 1, directions.shape[1], directions.shape[2]
    width, row = along + 1, 0
    for c in range(len(friction)):
        here, mu, own = c * width, friction[c], 0 if alike else c
        if mu <= 0.0:
            multiplier[row] = -max(impulse[here], 0.0)
            row += 1
            continue
        pyramid_coefficients(directions[own], impulse[here + 1 : here + width], beta)
        rest = max(impulse[here], 0.0)
        for k in range(count):
            rest -= beta[k] / mu
        for k in range(count):
            multiplier[row + k] = -beta[k] / mu
        # the rest of the normal impulse goes to the first direction and its opposite, whose friction cancels
        if rest > 0.0:
            one, other = directions[own, 0, 0], -directions[own, 0, count // 2]
            multiplier[row] -= other / (one + other) * rest
            multiplier[row + count // 2] -= one / (one + other) * rest
        row += count
    first = len(friction) * width
    for b in range(first, len(impulse)):
        multiplier[row] = -impulse[b]
        row += 1


@compiled
def contact_residuals(
    friction: Array, directions: Array, mobility: Array, reference: Array, impulse: Array, beta: Array,
    velocity: Array, slip: Array,
) -> tuple[float, float, float, float]:  # fmt: skip
    """Return the largest normal, friction and cone residual of λ and w, and the largest relative one.

    They are those of `corekit.roles.contact_laws`, the last relative as `corekit.roles.contact_scale` has it.

    Args:
        mobility, reference: m and V, of contacts first.
        beta: workspace, shape (r,).
        slip: γ, shape (m,), written [m/s].
    """
    width = directions.shape[1] + 1
    own, speed = np.empty(width), np.empty(width)
    normal, tangential, cone, error = 0.0, 0.0, 0.0, 0.0
    for c in range(len(friction)):
        row, D = c * width, directions[0 if len(directions) == 1 else c]
        for a in range(width):
            own[a], speed[a] = mobility[c] / reference[c] * impulse[row + a], velocity[row + a] / reference[c]
        one, two, three, _ = pyramid_residuals(D, friction[c], own, speed, beta)
        error = max(error, one, two, three)
        one, two, three, slip[c] = pyramid_residuals(
            D, friction[c], impulse[row : row + width], velocity[row : row + width], beta
        )
        normal, tangential, cone = max(normal, one), max(tangential, two), max(cone, three)
    return float(normal), float(tangential), float(cone), float(error)


@compiled
def row_residual(
    impulse: float, velocity: float, low: float, high: float, mobility: float, reference: float
) -> tuple[float, float]:
    """The residual of a row whose impulse has bounds, and the relative one."""
    error = abs(impulse - min(max(impulse - velocity / mobility, low), high)) * mobility / reference
    return abs(impulse - min(max(impulse - velocity, low), high)), error


@compiled
def measure_residuals(
    delassus: Array, free: Array, friction: Array, directions: Array, low: Array, high: Array, mobility: Array,
    reference: Array, impulse: Array, beta: Array, velocity: Array, slip: Array,
) -> tuple[float, float, float, float]:  # fmt: skip
    """Return the residuals of λ in the contact problem with w = W·λ + w₀; those of bounded rows count as normal.

    Args:
        mobility, reference: m and V of contacts and bounded rows.
        beta: workspace, shape (r,).
        velocity: w, shape (R,), written [m/s].
        slip: γ, shape (m,), written [m/s].
    Returns:
        As `contact_residuals`; infinite if a number is not finite.
    """
    relative_velocity(delassus, free, impulse, velocity)
    total = 0.0
    for i in range(len(free)):
        total += abs(velocity[i]) + abs(impulse[i])
    if not total < np.inf:
        return np.inf, np.inf, np.inf, np.inf
    normal, tangential, cone, error = contact_residuals(
        friction, directions, mobility, reference, impulse, beta, velocity, slip
    )
    for b in range(len(low)):
        i, k = len(free) - len(low) + b, len(friction) + b
        one, relative = row_residual(impulse[i], velocity[i], low[b], high[b], mobility[k], reference[k])
        normal, error = max(normal, one), max(error, relative)
    return normal, tangential, cone, error
