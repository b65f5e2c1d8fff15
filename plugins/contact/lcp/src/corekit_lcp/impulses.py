"""From LCP variables to impulses, and from guessed impulses to LCP variables."""

from __future__ import annotations

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.roles.pyramid import pyramid_coefficients, sliding_speed

__all__ = ["read_impulses", "write_variables"]


@compiled
def read_impulses(
    z: Array,
    column_scale: Array,
    row: IntArray,
    coefficient: Array,
    offset: Array,
    rows: IntArray,
    impulse: Array,
) -> None:
    """Write λ = C·c·z + λ₀ in the rows of the whole problem; rows of contacts that are left out are zero.

    Args:
        z, column_scale: shape (n,).
        row, coefficient, offset: the map of `assemble`.
        rows: index of each kept row in the whole problem, shape (R′,).
        impulse: λ, shape (R,), written [N·s].
    """
    impulse[:] = 0.0
    for i in range(rows.size):
        impulse[rows[i]] = offset[i]
    for j in range(z.size):
        physical = column_scale[j] * z[j]
        if physical != 0.0:
            for a in range(2):
                if coefficient[j, a] != 0.0:
                    impulse[rows[row[j] + a]] += coefficient[j, a] * physical


@compiled
def write_variables(
    impulse: Array,
    rows: IntArray,
    delassus: Array,
    free: Array,
    directions: Array,
    lower: Array,
    upper: Array,
    column_scale: Array,
    beta: Array,
    z: Array,
) -> None:
    """Write the variables z of a guessed λ: the smallest β, and γ and s from the velocities that it causes.

    Args:
        impulse: λ in the rows of the whole problem, shape (R,) [N·s].
        rows: index of each kept row in the whole problem, shape (R′,).
        delassus, free: W and w₀ of the kept rows.
        directions, lower, upper, column_scale: as in `assemble` and `equilibrate`.
        beta: workspace, shape (r,); r ≥ 2·(width − 1) unless it is 0.
        z: shape (n,), written.
    """
    z[:] = 0.0
    is_zero = True
    for i in rows:
        is_zero = is_zero and impulse[i] == 0.0
    if is_zero:
        return
    contacts, along, count = directions.shape
    tangential, speed = beta[:along], beta[along : 2 * along]
    at = 0
    for i in range(contacts):
        first = i * (along + 1)
        z[at] = max(impulse[rows[first]], 0.0)
        if count:
            for a in range(along):
                tangential[a] = impulse[rows[first + 1 + a]]
                speed[a] = row_speed(delassus, free, rows, impulse, first + 1 + a)
            pyramid_coefficients(directions[i], tangential, z[at + 1 : at + 1 + count])
            z[at + 1 + count] = sliding_speed(directions[i], speed)
        at += count + 2
    for b in range(lower.size):
        i = rows.size - lower.size + b
        value = min(max(impulse[rows[i]], lower[b]), upper[b])
        if np.isfinite(lower[b]):
            z[at] = value - lower[b]
            if np.isfinite(upper[b]):
                z[at + 1] = max(0.0, -row_speed(delassus, free, rows, impulse, i))
                at += 1
        elif np.isfinite(upper[b]):
            z[at] = upper[b] - value
        else:
            z[at], z[at + 1] = max(value, 0.0), max(-value, 0.0)
            at += 1
        at += 1
    for j in range(z.size):
        z[j] /= column_scale[j]


@compiled
def row_speed(delassus: Array, free: Array, rows: IntArray, impulse: Array, i: int) -> float:
    """w_i = (W·λ + w₀)_i of a kept row [m/s]."""
    speed = free[i]
    for j in range(rows.size):
        speed += delassus[i, j] * impulse[rows[j]]
    return speed
