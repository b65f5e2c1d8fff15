"""Gauss–Seidel sweeps over contacts and bounded rows, each solved exactly while the others keep their impulses.

A contact c is solved in its cone with its own block of W and the velocity that the others cause,

    b = w_c − W_cc·λ_c,   λ_c ← solution of one contact                                           (1)
    λ_b ← clip(λ_b − w_b/W_bb, lower, upper)                                                      (2)

and w is updated with every change. A fixed point solves the problem.

Source: Jourdan, Alart, Jean (1998), A Gauss–Seidel like algorithm to solve frictional contact problems, Comput. Methods
Appl. Mech. Engrg. 155.
"""

from __future__ import annotations

import math

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit_cone.local_contact import solve_contact

__all__ = ["project_impulses", "sweep"]


@compiled
def _change(delassus: Array, row: int, value: float, impulse: Array, velocity: Array) -> None:
    """Set λ of a row and update w."""
    change = value - impulse[row]
    if change != 0.0:
        impulse[row] = value
        column = delassus[row]
        for i in range(len(velocity)):
            velocity[i] += column[i] * change


@compiled
def sweep(
    delassus: Array, width: int, friction: Array, lower: Array, upper: Array, impulse: Array, velocity: Array
) -> None:
    """Apply (1) to every contact and (2) to every bounded row.

    Args:
        impulse, velocity: λ and w = W·λ + w₀, shape (R,), changed.
    """
    contacts = len(friction)
    for c in range(contacts):
        n = c * width
        r_n, r_1, w_nn = impulse[n], impulse[n + 1], delassus[n, n]
        w_n1, w_11 = delassus[n, n + 1], delassus[n + 1, n + 1]
        b_n, b_1 = velocity[n] - w_nn * r_n - w_n1 * r_1, velocity[n + 1] - w_n1 * r_n - w_11 * r_1
        if width == 2:
            new_n, new_1, new_2 = solve_contact(w_nn, w_n1, 0.0, w_11, 0.0, 1.0, b_n, b_1, 0.0, friction[c])
        else:
            r_2, w_n2, w_12, w_22 = (
                impulse[n + 2], delassus[n, n + 2], delassus[n + 1, n + 2], delassus[n + 2, n + 2]
            )  # fmt: skip
            b_2 = velocity[n + 2] - w_n2 * r_n - w_12 * r_1 - w_22 * r_2
            new_n, new_1, new_2 = solve_contact(
                w_nn, w_n1, w_n2, w_11, w_12, w_22, b_n - w_n2 * r_2, b_1 - w_12 * r_2, b_2, friction[c]
            )
            _change(delassus, n + 2, new_2, impulse, velocity)
        _change(delassus, n, new_n, impulse, velocity)
        _change(delassus, n + 1, new_1, impulse, velocity)
    for b in range(len(lower)):
        i = contacts * width + b
        if delassus[i, i] > 0.0:
            wanted = impulse[i] - velocity[i] / delassus[i, i]
            _change(delassus, i, min(max(wanted, lower[b]), upper[b]), impulse, velocity)


@compiled
def project_impulses(width: int, friction: Array, lower: Array, upper: Array, impulse: Array) -> None:
    """Cut off what is outside of the cones, along the tangents, and outside of the bounds."""
    for c in range(len(friction)):
        n, size = c * width, 0.0
        impulse[n] = max(impulse[n], 0.0)
        for a in range(n + 1, n + width):
            size += impulse[a] ** 2
        size, radius = math.sqrt(size), friction[c] * impulse[n]
        if size > radius:
            for a in range(n + 1, n + width):
                impulse[a] *= radius / size
    for b in range(len(lower)):
        i = len(friction) * width + b
        impulse[i] = min(max(impulse[i], lower[b]), upper[b])
