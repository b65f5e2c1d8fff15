"""One contact with a friction pyramid, solved exactly.

With impulse λ = (λ_n, λ_t) and relative velocity v = P·λ + u of one contact, all other impulses fixed,

    0 ≤ λ_n ⊥ v_n ≥ 0                                                                      (1)
    λ_t = D·β,  β ≥ 0,  eᵀβ ≤ μ·λ_n,  0 ≤ Dᵀv_t + γ·e ⊥ β,  0 ≤ γ ⊥ μ·λ_n − eᵀβ            (2)

λ_t lies in a polygon with corners μ·λ_n·d_k. A solution separates (λ = 0), sticks (v = 0), or slides on a
corner or on an edge of the polygon: each is a linear system of at most three unknowns, and there are 2 + 2r
of them. The solution is the one that violates its own inequalities least; without rounding it violates none.
D has unit columns in the order of their angle. The number of rows per contact is 3, or 2 in a plane, where D
= (1, −1).
"""

from __future__ import annotations

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit.linalg.vectors import copy_vector
from corekit.roles.pyramid import pyramid_coefficients

__all__ = ["solve_contact"]


@compiled
def solve_sticking(matrix: Array, velocity: Array, impulse: Array) -> bool:
    """λ = −P⁻¹·u by elimination for 2 or 3 rows; return False if P is singular."""
    a, d = matrix[0, 0], matrix[1, 1]
    b = matrix[0, 1]
    if not a > 0.0:
        return False
    d -= b * b / a
    if not d > 0.0:
        return False
    rhs = -velocity[1] + velocity[0] * b / a
    if velocity.size == 2:
        impulse[1] = rhs / d
        impulse[0] = -(velocity[0] + b * impulse[1]) / a
        return True
    c, e = matrix[0, 2], matrix[1, 2] - matrix[0, 2] * b / a
    f = matrix[2, 2] - c * c / a - e * e / d
    if not f > 0.0:
        return False
    last = -velocity[2] + velocity[0] * c / a - e * rhs / d
    impulse[2] = last / f
    impulse[1] = (rhs - e * impulse[2]) / d
    impulse[0] = -(velocity[0] + b * impulse[1] + c * impulse[2]) / a
    return True


@compiled
def solve_sliding(
    matrix: Array, velocity: Array, friction: float, directions: Array, one: int, two: int, impulse: Array
) -> float:
    """Slide on corner `one` (two = one) or on the edge from corner `one` to `two`; write λ, return the violation.

    The unknowns are x = λ_n and y, λ = x·(1, μ·d_one) + y·(0, d_two − d_one), from v_n = 0 and, on an edge,
    (d_two − d_one)·v_t = 0. The violation is the largest of 0 ≤ y ≤ μ·x (as a speed, by P_nn) and of
    d_one·v_t = min_k d_k·v_t ≤ 0; infinite if the system is singular.
    """
    width = velocity.size
    normal_from_x, normal_from_y = matrix[0, 0], 0.0
    for a in range(width - 1):
        normal_from_x += matrix[0, 1 + a] * friction * directions[a, one]
        normal_from_y += matrix[0, 1 + a] * (directions[a, two] - directions[a, one])
    x, y = 0.0, 0.0
    if one == two:
        if not normal_from_x > 0.0:
            return np.inf
        x = -velocity[0] / normal_from_x
    else:
        edge_from_x, edge_from_y, edge_free = 0.0, 0.0, 0.0
        for a in range(width - 1):
            row_x, row_y = matrix[1 + a, 0], 0.0
            for c in range(width - 1):
                row_x += matrix[1 + a, 1 + c] * friction * directions[c, one]
                row_y += matrix[1 + a, 1 + c] * (directions[c, two] - directions[c, one])
            edge_from_x += (directions[a, two] - directions[a, one]) * row_x
            edge_from_y += (directions[a, two] - directions[a, one]) * row_y
            edge_free += (directions[a, two] - directions[a, one]) * velocity[1 + a]
        determinant = normal_from_x * edge_from_y - normal_from_y * edge_from_x
        if determinant == 0.0:
            return np.inf
        x = (-velocity[0] * edge_from_y + normal_from_y * edge_free) / determinant
        y = (-normal_from_x * edge_free + edge_from_x * velocity[0]) / determinant
    impulse[0] = x
    for a in range(width - 1):
        impulse[1 + a] = friction * x * directions[a, one] + y * (directions[a, two] - directions[a, one])
    violation = matrix[0, 0] * max(-x, -y, y - friction * x)
    speed_one, least_speed = 0.0, np.inf
    for k in range(directions.shape[1]):
        direction_speed = 0.0
        for a in range(width - 1):
            speed = velocity[1 + a]
            for c in range(width):
                speed += matrix[1 + a, c] * impulse[c]
            direction_speed += directions[a, k] * speed
        least_speed = min(least_speed, direction_speed)
        if k == one:
            speed_one = direction_speed
    return max(violation, speed_one - least_speed, speed_one)


@compiled
def solve_contact(
    matrix: Array, velocity: Array, friction: float, directions: Array, coefficients: Array, trial: Array,
    impulse: Array,
) -> None:  # fmt: skip
    """Solve (1)–(2) for one contact.

    Args:
        matrix: P, symmetric positive semidefinite, shape (width, width) [1/kg].
        velocity: u, relative velocity without this contact's impulse, shape (width,) [m/s].
        friction: μ.
        directions: D, shape (width − 1, r).
        coefficients, trial: workspaces, shapes (r,) and (width,).
        impulse: λ, shape (width,), out [N·s].
    """
    count = directions.shape[1]
    impulse[:] = 0.0
    if velocity[0] >= 0.0:
        return
    if matrix[0, 0] > 0.0:
        impulse[0] = -velocity[0] / matrix[0, 0]
    if friction <= 0.0 or count == 0:
        return
    best = np.inf
    if solve_sticking(matrix, velocity, trial):
        pyramid_coefficients(directions, trial[1:], coefficients)
        excess = -friction * trial[0]
        for k in range(count):
            excess += coefficients[k]
        best = matrix[0, 0] * max(-trial[0], excess, 0.0)
        copy_vector(trial, impulse)
    edges = 2 if velocity.size == 3 else 1
    for k in range(count):
        for to in range(edges):
            if best <= 0.0:
                return
            violation = solve_sliding(matrix, velocity, friction, directions, k, (k + to) % count, trial)
            if violation < best:
                best = violation
                copy_vector(trial, impulse)
    impulse[0] = max(impulse[0], 0.0)
