"""Projected Gauss–Seidel over the contacts and bounded rows of one step."""

from __future__ import annotations

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit.roles.pyramid import pyramid_coefficients, sliding_speed
from corekit_complementarity.local_contact import solve_contact

__all__ = ["compute_impulses", "compute_variables", "sweep"]


@compiled
def compute_impulses(
    z: Array, column_scale: Array, directions: Array, lower: Array, upper: Array, impulse: Array
) -> None:
    """Compute the impulses λ of the LCP variables z; the inverse of `compute_variables` up to γ and s."""
    contacts, tangent_count, direction_count = directions.shape
    column = 0
    for i in range(contacts):
        row = i * (tangent_count + 1)
        impulse[row] = column_scale[column] * z[column]
        for a in range(tangent_count):
            impulse[row + 1 + a] = 0.0
            for k in range(direction_count):
                impulse[row + 1 + a] += directions[i, a, k] * column_scale[column + 1 + k] * z[column + 1 + k]
        column += direction_count + 2
    row = contacts * (tangent_count + 1)
    for b in range(lower.size):
        first = column_scale[column] * z[column]
        if np.isfinite(lower[b]):
            impulse[row + b] = lower[b] + first
            column += 2 if np.isfinite(upper[b]) else 1
        elif np.isfinite(upper[b]):
            impulse[row + b] = upper[b] - first
            column += 1
        else:
            impulse[row + b] = first - column_scale[column + 1] * z[column + 1]
            column += 2


@compiled
def compute_variables(
    impulse: Array, velocity: Array, column_scale: Array, directions: Array, lower: Array, upper: Array,
    coefficients: Array, z: Array,
) -> None:  # fmt: skip
    """Compute the LCP variables of impulses λ and the velocities w that they cause.

    Contact by contact (λ_n, β, γ) with the smallest β and γ = max(0, −min d·w_t). A bounded row is z = λ −
    lower if only that bound is finite, z = upper − λ if only that one is, (λ − lower, s) with s = max(0, −w)
    if both are, (λ⁺, λ⁻) if none is.
    """
    contacts, tangent_count, direction_count = directions.shape
    column = 0
    for i in range(contacts):
        row = i * (tangent_count + 1)
        pyramid_coefficients(directions[i], impulse[row + 1 : row + 1 + tangent_count], coefficients)
        z[column] = impulse[row]
        for k in range(direction_count):
            z[column + 1 + k] = coefficients[k]
        z[column + 1 + direction_count] = sliding_speed(
            directions[i], velocity[row + 1 : row + 1 + tangent_count]
        )
        column += direction_count + 2
    row = contacts * (tangent_count + 1)
    for b in range(lower.size):
        value, speed = impulse[row + b], velocity[row + b]
        if np.isfinite(lower[b]):
            z[column] = value - lower[b]
            if np.isfinite(upper[b]):
                z[column + 1] = max(0.0, -speed)
                column += 1
        elif np.isfinite(upper[b]):
            z[column] = upper[b] - value
        else:
            z[column], z[column + 1] = max(value, 0.0), max(-value, 0.0)
            column += 1
        column += 1
    for j in range(z.size):
        z[j] /= column_scale[j]


@compiled
def sweep(
    delassus: Array, friction: Array, directions: Array, lower: Array, upper: Array, relaxation: float,
    coefficients: Array, impulse: Array, velocity: Array,
) -> None:  # fmt: skip
    """Solve each contact and bounded row exactly once, with all others fixed.

        λ_i ← (1 − ω)·λ_i + ω·solution of contact i                                        (1)

    A proximal term 1e-10·tr(W_ii), centred at the current λ_i, makes a singular W_ii regular without moving
    the fixed points. `impulse` λ and `velocity` w = W·λ + w₀ are updated in place.
    """
    contacts, tangent_count, direction_count = directions.shape
    width = tangent_count + 1
    rows = delassus.shape[0]
    matrix = np.empty((width, width))
    free_velocity, solution, trial = np.empty(width), np.empty(width), np.empty(width)
    for i in range(contacts):
        row = i * width
        trace = 0.0
        for a in range(width):
            trace += delassus[row + a, row + a]
        if not trace > 0.0:
            continue
        for a in range(width):
            free_velocity[a] = velocity[row + a]
            for c in range(width):
                matrix[a, c] = delassus[row + a, row + c]
                free_velocity[a] -= matrix[a, c] * impulse[row + c]
            matrix[a, a] += 1e-10 * trace
            free_velocity[a] -= 1e-10 * trace * impulse[row + a]
        solve_contact(
            matrix, free_velocity, friction[i], directions[i], coefficients[:direction_count], trial, solution
        )
        for a in range(width):
            increment = relaxation * (solution[a] - impulse[row + a])
            if increment != 0.0:
                impulse[row + a] += increment
                for j in range(rows):
                    velocity[j] += delassus[j, row + a] * increment
    for b in range(lower.size):
        row = contacts * width + b
        diagonal = delassus[row, row]
        if not diagonal > 0.0:
            continue
        target = impulse[row] - relaxation * velocity[row] / diagonal
        increment = min(max(target, lower[b]), upper[b]) - impulse[row]
        if increment != 0.0:
            impulse[row] += increment
            for j in range(rows):
                velocity[j] += delassus[j, row] * increment
