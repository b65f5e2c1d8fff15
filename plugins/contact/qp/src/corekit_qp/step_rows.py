"""The rows of a whole step as those of a quadratic program: eq. (15) of the vine paper for any model.

    min ½·vᵀA·v − bᵀv   subject to   J_b·v + E·λ_b = r,   J_n·v + bias_n ≥ 0                     (1)

Its multipliers are the impulses, y = −λ. Friction's rows are those of `rows`, equation (2), with J in place of F.

Source: Jitosho, Agharese, Okamura, Manchester (2021), A Dynamics Simulator for Soft Growing Robots, equation (15).
"""

from __future__ import annotations

import math

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.linalg.array_table import block, index_matrix, matrix, vector
from corekit_qp.rows import contact_residuals, gather_impulses, spread_impulses

__all__ = ["certify_step", "step_impulses", "step_rows"]


@compiled
def _copy(given: Array | IntArray, out: Array | IntArray) -> None:
    """Write the first entries of `out`: in a loop of its own the processor takes many numbers at a time."""
    for i in range(len(given)):
        out[i] = given[i]


@compiled
def _copy_entries(dofs: IntArray, values: Array, out_dofs: IntArray, out_values: Array) -> None:
    """Write the first rows of a program, places that they do not have as zeros."""
    k, room = dofs.shape[1], out_dofs.shape[1]
    if k == room:
        _copy(dofs.ravel(), out_dofs.ravel())
        _copy(values.ravel(), out_values.ravel())
        return
    for i in range(len(dofs)):
        for j in range(k):
            out_dofs[i, j], out_values[i, j] = dofs[i, j], values[i, j]
        for j in range(k, room):
            out_dofs[i, j], out_values[i, j] = 0, 0.0


@compiled
def step_rows(
    step: IntArray, contact_dofs: IntArray, contact_values: Array, bias: Array, friction: Array, shift: Array,
    row_impulse: Array, impulse: Array, guesses: bool, program: IntArray,
) -> None:  # fmt: skip
    """Write the program's gradient and rows: bilateral ones first, then one or `r` a contact.

    Args:
        step: right, dofs, values, compliance, target, lower and upper of a `StepProgram`, as one table.
        shift: σ, shape (m,) [m/s].
        guesses: whether to write the multipliers that give λ_b and λ_c.
        program: gradient, dofs, values, bounds (lower, upper, compliance, least and most of every row, (5, rows)),
            multiplier, x, directions D as in `rows`, and room for r numbers, as one table.
    """
    right, dofs, values = vector(step, 0), index_matrix(step, 1), matrix(step, 2)
    compliance, target, lower, upper = vector(step, 3), vector(step, 4), vector(step, 5), vector(step, 6)
    gradient, out_dofs, out_values = vector(program, 0), index_matrix(program, 1), matrix(program, 2)
    bounds, multiplier = matrix(program, 3), vector(program, 4)
    directions, share = block(program, 6), vector(program, 7)
    nb = len(dofs)
    if guesses:
        for i in range(nb):
            multiplier[i] = -row_impulse[i]
        spread_impulses(friction, directions, impulse, share, multiplier[nb:])
    wide, room = contact_dofs.shape[1], out_dofs.shape[1]
    for j in range(len(right)):
        gradient[j] = -right[j]
    _copy_entries(dofs, values, out_dofs, out_values)
    _copy(target, bounds[0])
    _copy(target, bounds[1])
    _copy(compliance, bounds[2])
    least, most = bounds[3], bounds[4]
    for i in range(nb):
        least[i] = -upper[i]
    for i in range(nb):
        most[i] = -lower[i]
    alike, along, count = len(directions) == 1, directions.shape[1], directions.shape[2]
    width, row = along + 1, nb
    for c in range(len(friction)):
        here, mu, own = c * width, friction[c], 0 if alike else c
        for d in range(count if mu > 0.0 else 1):
            offset = bias[c, 0]
            for j in range(room):
                out_dofs[row, j] = contact_dofs[here, j] if j < wide else 0
                out_values[row, j] = contact_values[here, j] if j < wide else 0.0
            if mu > 0.0:
                offset += mu * shift[c]
                for a in range(along):
                    push = mu * directions[own, a, d]
                    offset += push * bias[c, 1 + a]
                    for j in range(wide):
                        out_values[row, j] += push * contact_values[here + 1 + a, j]
            bounds[0, row], bounds[1, row], bounds[2, row] = -offset, math.inf, 0.0
            bounds[3, row], bounds[4, row] = -math.inf, math.inf
            row += 1


@compiled
def step_impulses(program: IntArray, friction: Array, row_impulse: Array, impulse: Array) -> None:
    """Write λ_b and λ_c from the program's multipliers; `program` as in `step_rows`."""
    multiplier, nb = vector(program, 4), len(row_impulse)
    for i in range(nb):
        row_impulse[i] = -multiplier[i]
    gather_impulses(friction, block(program, 6), multiplier[nb:], 0, impulse)


@compiled
def certify_step(
    contact_dofs: IntArray, contact_values: Array, bias: Array, friction: Array, directions: Array, x: Array,
    impulse: Array, share: Array, velocity: Array, slip: Array,
) -> tuple[float, float, float]:  # fmt: skip
    """How far λ_c and w = J_c·v + bias are from the contact laws, see `rows.contact_residuals`."""
    width = directions.shape[1] + 1
    for c in range(len(friction)):
        for a in range(width):
            row = c * width + a
            total = bias[c, a]
            for j in range(contact_dofs.shape[1]):
                total += contact_values[row, j] * x[contact_dofs[row, j]]
            velocity[row] = total
    return contact_residuals(friction, directions, impulse, share, velocity, slip)
