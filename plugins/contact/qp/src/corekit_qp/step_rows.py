"""The rows of a whole step as those of a quadratic program: eq. (15) of the vine paper for any model.

    min ½·vᵀA·v − bᵀv   subject to   J_b·v + E·λ_b = r,   J_n·v + bias_n ≥ 0                     (1)

Its multipliers are the impulses, y = −λ. Friction's rows are those of `rows`, equation (2), with J in place of F.

Source: Jitosho, Agharese, Okamura, Manchester (2021), A Dynamics Simulator for Soft Growing Robots, equation (15).
"""

from __future__ import annotations

import math

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit_qp.rows import contact_residuals, gather_impulses, spread_impulses

__all__ = ["certify_step", "step_impulses", "step_rows"]


@compiled
def step_rows(
    right: Array, dofs: IntArray, values: Array, compliance: Array, target: Array, lower: Array, upper: Array,
    contact_dofs: IntArray, contact_values: Array, bias: Array, friction: Array, directions: Array, shift: Array,
    row_impulse: Array, impulse: Array, share: Array, guesses: bool,
    gradient: Array, out_dofs: IntArray, out_values: Array, bounds: Array, multiplier: Array,
) -> None:  # fmt: skip
    """Write the program's gradient and rows: bilateral ones first, then one or `r` a contact.

    Args:
        directions: D, shape (width − 1, r). shift: σ, shape (m,) [m/s].
        share: work, shape (r,). guesses: whether to write the multipliers that give λ_b and λ_c.
        bounds: lower, upper, compliance, least and most of every row, shape (5, rows).
    """
    nb, k = dofs.shape
    if guesses:
        for i in range(nb):
            multiplier[i] = -row_impulse[i]
        spread_impulses(friction, directions, impulse, share, multiplier[nb:])
    wide, room = contact_dofs.shape[1], out_dofs.shape[1]
    for j in range(len(right)):
        gradient[j] = -right[j]
    for i in range(nb):
        for j in range(room):
            out_dofs[i, j] = dofs[i, j] if j < k else 0
            out_values[i, j] = values[i, j] if j < k else 0.0
        bounds[0, i] = bounds[1, i] = target[i]
        bounds[2, i] = compliance[i]
        bounds[3, i], bounds[4, i] = -upper[i], -lower[i]
    along, count = directions.shape
    width, row = along + 1, nb
    for c in range(len(friction)):
        here, mu = c * width, friction[c]
        for d in range(count if mu > 0.0 else 1):
            offset = bias[c, 0]
            for j in range(room):
                out_dofs[row, j] = contact_dofs[here, j] if j < wide else 0
                out_values[row, j] = contact_values[here, j] if j < wide else 0.0
            if mu > 0.0:
                offset += mu * shift[c]
                for a in range(along):
                    push = mu * directions[a, d]
                    offset += push * bias[c, 1 + a]
                    for j in range(wide):
                        out_values[row, j] += push * contact_values[here + 1 + a, j]
            bounds[0, row], bounds[1, row], bounds[2, row] = -offset, math.inf, 0.0
            bounds[3, row], bounds[4, row] = -math.inf, math.inf
            row += 1


@compiled
def step_impulses(
    friction: Array, directions: Array, multiplier: Array, row_impulse: Array, impulse: Array
) -> None:
    """Write λ_b and λ_c from the program's multipliers."""
    nb = len(row_impulse)
    for i in range(nb):
        row_impulse[i] = -multiplier[i]
    gather_impulses(friction, directions, multiplier[nb:], 0, impulse)


@compiled
def certify_step(
    contact_dofs: IntArray, contact_values: Array, bias: Array, friction: Array, directions: Array, x: Array,
    impulse: Array, share: Array, velocity: Array, slip: Array,
) -> tuple[float, float, float]:  # fmt: skip
    """How far λ_c and w = J_c·v + bias are from the contact laws, see `rows.contact_residuals`."""
    width = directions.shape[0] + 1
    for c in range(len(friction)):
        for a in range(width):
            row = c * width + a
            total = bias[c, a]
            for j in range(contact_dofs.shape[1]):
                total += contact_values[row, j] * x[contact_dofs[row, j]]
            velocity[row] = total
    return contact_residuals(friction, directions, impulse, share, velocity, slip)
