"""The rows of a contact problem as those of a quadratic program.

With W = F·Fᵀ and the motion x that impulses cause, w = F·x + w₀, the answer of

    min ½·|x|²   subject to   F_n·x + w₀_n ≥ 0                                                   (1)

has multipliers λ_n ≥ 0 with x = Fᵀ·λ: no more than 0 ≤ λ_n ⊥ W·λ + w₀ ≥ 0, and strictly convex even where W is
singular. Friction's convex relaxation asks every direction d_k of the pyramid's rim to keep apart as well,

    (F_n + μ·d_kᵀ·F_t)·x + w₀_n + μ·d_k·w₀_t + μ·σ ≥ 0,   λ_n = Σ γ_k,  λ_t = μ·Σ γ_k·d_k         (2)

so that λ is in the pyramid and opposes slip. With σ = 0 contacts that slide at γ = −min d_k·w_t lift off at μ·γ;
with σ = γ the answer is Coulomb's.

D holds the directions of every contact, shape (m, width − 1, r), or of all of them, shape (1, width − 1, r). In an
anisotropic law they are as long as friction is strong that way (`corekit.roles.pyramid`), and (2) is the same.

Sources: Anitescu (2006) for σ = 0; Acary, Cadoux, Lemaréchal, Malick (2011) for the shift.
"""

from __future__ import annotations

import math

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.roles.pyramid import anisotropic_directions, least_shares, sliding_speed

__all__ = [
    "certify",
    "cone_rows",
    "contact_residuals",
    "count_rows",
    "gather_impulses",
    "spread_impulses",
    "square_root",
    "stretch_directions",
]

shares = compiled(least_shares)
slack_speed = compiled(sliding_speed)
stretch = compiled(anisotropic_directions)

_LOST = 1e-13
"""Pivot below which a row counts as dependent on others, relative to its own size."""


@compiled
def square_root(delassus: Array, root: Array, left: Array, done: IntArray) -> int:
    """Write F (R, rank) with W = F·Fᵀ by Cholesky with pivots, largest share of its own size first; returns the rank.

    Args:
        root: F, shape (R, R); columns past the rank are left.
        left, done: work, shape (R,).
    """
    rows = len(delassus)
    for i in range(rows):
        left[i] = delassus[i, i]
        done[i] = 0
    rank = 0
    while rank < rows:
        best, pivot = _LOST, -1
        for i in range(rows):
            if done[i] == 0 and left[i] > best * delassus[i, i]:
                best, pivot = left[i] / delassus[i, i], i
        if pivot < 0:
            break
        done[pivot] = 1
        inverse = 1.0 / math.sqrt(left[pivot])
        for i in range(rows):
            if done[i] == 1 and i != pivot:
                root[i, rank] = 0.0
                continue
            total = delassus[i, pivot]
            for k in range(rank):
                total -= root[i, k] * root[pivot, k]
            root[i, rank] = total * inverse
            left[i] -= root[i, rank] * root[i, rank]
        rank += 1
    return rank


@compiled
def stretch_directions(unit: Array, records: Array, directions: Array) -> None:
    """Write the D of every contact in the anisotropic law.

    Args:
        unit: as in Coulomb's law, shape (width − 1, r).
        records: (μ_f, μ_b, μ_s) of every contact, shape (m, 3).
    """
    for c in range(len(directions)):
        stretch(unit, records[c], directions[c])


@compiled
def count_rows(friction: Array, directions: int, bounded: int) -> int:
    """Rows of the program: one a contact without friction, `directions` a contact with, then the bounded rows."""
    total = bounded
    for c in range(len(friction)):
        total += directions if friction[c] > 0.0 else 1
    return total


@compiled
def cone_rows(
    root: Array, rank: int, free: Array, friction: Array, directions: Array, shift: Array, low: Array, high: Array,
    values: Array, lower: Array, upper: Array, least: Array, most: Array,
) -> None:  # fmt: skip
    """Write the rows (1) and (2), and those of bounded rows as equalities with bounded multipliers.

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
                    push = mu * directions[own, a, k]
                    bias += push * free[here + 1 + a]
                    for j in range(rank):
                        values[row, j] += push * root[here + 1 + a, j]
            lower[row], upper[row] = -bias, math.inf
            least[row], most[row] = -math.inf, math.inf
            row += 1
    for b in range(len(low)):
        here = len(friction) * width + b
        for j in range(rank):
            values[row, j] = root[here, j]
        lower[row], upper[row] = -free[here], -free[here]
        least[row], most[row] = -high[b], -low[b]
        row += 1


@compiled
def gather_impulses(
    friction: Array, directions: Array, multiplier: Array, bounded: int, impulse: Array
) -> None:
    """Write λ (R,) from the program's multipliers, see (2)."""
    alike, along, count = len(directions) == 1, directions.shape[1], directions.shape[2]
    width, row = along + 1, 0
    impulse[:] = 0.0
    for c in range(len(friction)):
        here, mu, own = c * width, friction[c], 0 if alike else c
        for k in range(count if mu > 0.0 else 1):
            share = max(-multiplier[row], 0.0)
            impulse[here] += share
            if mu > 0.0:
                for a in range(along):
                    impulse[here + 1 + a] += mu * directions[own, a, k] * share
            row += 1
    for b in range(bounded):
        impulse[len(friction) * width + b] = -multiplier[row]
        row += 1


@compiled
def spread_impulses(
    friction: Array, directions: Array, impulse: Array, share: Array, multiplier: Array
) -> None:
    """Write multipliers that give λ: the inverse of `gather_impulses`, what is beyond the pyramid left out."""
    alike, along, count = len(directions) == 1, directions.shape[1], directions.shape[2]
    width, row = along + 1, 0
    for c in range(len(friction)):
        here, mu, own = c * width, friction[c], 0 if alike else c
        if mu <= 0.0:
            multiplier[row] = -max(impulse[here], 0.0)
            row += 1
            continue
        shares(directions[own], impulse[here + 1 : here + width], share)
        left = max(impulse[here], 0.0)
        for k in range(count):
            left -= share[k] / mu
        for k in range(count):
            multiplier[row + k] = -share[k] / mu
        # what presses without sliding is shared by the first direction and its opposite
        if left > 0.0:
            one, other = directions[own, 0, 0], -directions[own, 0, count // 2]
            multiplier[row] -= other / (one + other) * left
            multiplier[row + count // 2] -= one / (one + other) * left
        row += count
    first = len(friction) * width
    for b in range(first, len(impulse)):
        multiplier[row] = -impulse[b]
        row += 1


@compiled
def contact_residuals(
    friction: Array, directions: Array, impulse: Array, share: Array, velocity: Array, slip: Array
) -> tuple[float, float, float]:
    """How far λ and w of contacts are from their laws, with γ = max(0, −min d_k·w_t):

        normal    |min(λ_n, w_n)|                                                                (3)
        friction  |min(β, Dᵀ·w_t + γ·e)| and |min(γ, μ·λ_n − eᵀβ)|,   λ_t = D·β                   (4)
        cone      max(0, eᵀβ − μ·λ_n)                                                            (5)

    Args:
        slip: γ, shape (m,), written [m/s].
    """
    alike, along, count = len(directions) == 1, directions.shape[1], directions.shape[2]
    width = along + 1
    normal, tangential, cone = 0.0, 0.0, 0.0
    for c in range(len(friction)):
        here, own = c * width, 0 if alike else c
        normal = max(normal, abs(min(impulse[here], velocity[here])))
        slip[c] = 0.0
        if friction[c] <= 0.0:
            for a in range(along):
                cone = max(cone, abs(impulse[here + 1 + a]))
            continue
        speed = velocity[here + 1 : here + width]
        slip[c] = slack_speed(directions[own], speed)
        shares(directions[own], impulse[here + 1 : here + width], share)
        margin = friction[c] * impulse[here]
        for k in range(count):
            margin -= share[k]
            if share[k] != 0.0:
                along_it = slip[c]
                for a in range(along):
                    along_it += directions[own, a, k] * speed[a]
                tangential = max(tangential, abs(min(share[k], along_it)))
        tangential = max(tangential, abs(min(slip[c], margin)))
        cone = max(cone, -margin)
    return float(normal), float(tangential), float(cone)


@compiled
def certify(
    delassus: Array, free: Array, friction: Array, directions: Array, low: Array, high: Array, impulse: Array,
    share: Array, velocity: Array, slip: Array,
) -> tuple[float, float, float]:  # fmt: skip
    """How far λ is from the contact problem with w = W·λ + w₀: (3)–(5), and |λ − clip(λ − w)| of bounded rows.

    Args:
        velocity: w, shape (R,), written. slip: γ, shape (m,), written [m/s].
    """
    rows = len(free)
    total = 0.0
    for i in range(rows):
        speed = free[i]
        for j in range(rows):
            speed += delassus[i, j] * impulse[j]
        velocity[i] = speed
        total += abs(speed) + abs(impulse[i])
    if not total < np.inf:
        return np.inf, np.inf, np.inf
    normal, tangential, cone = contact_residuals(friction, directions, impulse, share, velocity, slip)
    for b in range(len(low)):
        here = rows - len(low) + b
        target = min(max(impulse[here] - velocity[here], low[b]), high[b])
        normal = max(normal, abs(impulse[here] - target))
    return normal, tangential, cone
