"""Projected Gauss–Seidel over the contacts and bounded rows of one step."""

from __future__ import annotations

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit_complementarity.local_contact import pyramid_shares, slack_speed, solve_contact

__all__ = ["impulses_of", "sweep", "variables_of"]


@compiled
def impulses_of(
    z: Array, column_scale: Array, directions: Array, lower: Array, upper: Array, impulse: Array
) -> None:
    """Impulses λ of the LCP variables z; the inverse of `variables_of` up to γ and s."""
    contacts, along, count = directions.shape
    at = 0
    for i in range(contacts):
        row = i * (along + 1)
        impulse[row] = column_scale[at] * z[at]
        for a in range(along):
            impulse[row + 1 + a] = 0.0
            for k in range(count):
                impulse[row + 1 + a] += directions[i, a, k] * column_scale[at + 1 + k] * z[at + 1 + k]
        at += count + 2
    row = contacts * (along + 1)
    for b in range(lower.size):
        first = column_scale[at] * z[at]
        if np.isfinite(lower[b]):
            impulse[row + b] = lower[b] + first
            at += 2 if np.isfinite(upper[b]) else 1
        elif np.isfinite(upper[b]):
            impulse[row + b] = upper[b] - first
            at += 1
        else:
            impulse[row + b] = first - column_scale[at + 1] * z[at + 1]
            at += 2


@compiled
def variables_of(
    impulse: Array,
    velocity: Array,
    column_scale: Array,
    directions: Array,
    lower: Array,
    upper: Array,
    share: Array,
    z: Array,
) -> None:
    """LCP variables of impulses λ and the velocities w they cause.

    Contact by contact (λ_n, β, γ) with the smallest β and γ = max(0, −min d·w_t). A bounded row is
    z = λ − lower where only that is finite, z = upper − λ where only that is, (λ − lower, s) with
    s = max(0, −w) where both are, (λ⁺, λ⁻) where none is.
    """
    contacts, along, count = directions.shape
    at = 0
    for i in range(contacts):
        row = i * (along + 1)
        pyramid_shares(directions[i], impulse[row + 1 : row + 1 + along], share)
        z[at] = impulse[row]
        for k in range(count):
            z[at + 1 + k] = share[k]
        z[at + 1 + count] = slack_speed(directions[i], velocity[row + 1 : row + 1 + along])
        at += count + 2
    row = contacts * (along + 1)
    for b in range(lower.size):
        at_rest, speed = impulse[row + b], velocity[row + b]
        if np.isfinite(lower[b]):
            z[at] = at_rest - lower[b]
            if np.isfinite(upper[b]):
                z[at + 1] = max(0.0, -speed)
                at += 1
        elif np.isfinite(upper[b]):
            z[at] = upper[b] - at_rest
        else:
            z[at], z[at + 1] = max(at_rest, 0.0), max(-at_rest, 0.0)
            at += 1
        at += 1
    for j in range(z.size):
        z[j] /= column_scale[j]


@compiled
def sweep(
    delassus: Array,
    friction: Array,
    directions: Array,
    lower: Array,
    upper: Array,
    relaxation: float,
    share: Array,
    impulse: Array,
    velocity: Array,
) -> None:
    """One pass over all contacts and bounded rows, each solved exactly with the others held.

        λ_i ← (1 − ω)·λ_i + ω·solution of contact i                                        (1)

    A proximal term 1e-10·tr(W_ii), with the current λ_i as its centre, makes a singular W_ii solvable and
    leaves the fixed points where they are. `impulse` λ and `velocity` w = W·λ + w₀ are updated in place.
    """
    contacts, along, count = directions.shape
    width = along + 1
    rows = delassus.shape[0]
    matrix = np.empty((width, width))
    free, solution, trial = np.empty(width), np.empty(width), np.empty(width)
    for i in range(contacts):
        row = i * width
        trace = 0.0
        for a in range(width):
            trace += delassus[row + a, row + a]
        if not trace > 0.0:
            continue
        for a in range(width):
            free[a] = velocity[row + a]
            for c in range(width):
                matrix[a, c] = delassus[row + a, row + c]
                free[a] -= matrix[a, c] * impulse[row + c]
            matrix[a, a] += 1e-10 * trace
            free[a] -= 1e-10 * trace * impulse[row + a]
        solve_contact(matrix, free, friction[i], directions[i], share[:count], trial, solution)
        for a in range(width):
            change = relaxation * (solution[a] - impulse[row + a])
            if change != 0.0:
                impulse[row + a] += change
                for j in range(rows):
                    velocity[j] += delassus[j, row + a] * change
    for b in range(lower.size):
        row = contacts * width + b
        diagonal = delassus[row, row]
        if not diagonal > 0.0:
            continue
        wanted = impulse[row] - relaxation * velocity[row] / diagonal
        change = min(max(wanted, lower[b]), upper[b]) - impulse[row]
        if change != 0.0:
            impulse[row] += change
            for j in range(rows):
                velocity[j] += delassus[j, row] * change
