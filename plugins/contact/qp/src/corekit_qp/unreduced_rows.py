"""Rows of a quadratic program that solves an unreduced step: equation (15) of the vine paper for any model.

    min ½·vᵀA·v − bᵀv   subject to   J_b·v + E·λ_b = r,   J_n·v + bias_n ≥ 0                     (1)

Its multipliers are the impulses, y = −λ. The rows of friction are (2) of `contact_rows`, with J in place of F.

Source: Jitosho, Agharese, Okamura, Manchester (2021), A Dynamics Simulator for Soft Growing Robots, equation (15).
"""

from __future__ import annotations

import math

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.roles.contact_scale import contact_scales
from corekit_qp.contact_rows import contact_residuals, read_impulses, row_residual, write_multipliers

__all__ = ["measure_step_residuals", "read_step_impulses", "step_scales", "write_step_rows"]


@compiled
def _copy(source: Array | IntArray, out: Array | IntArray) -> None:
    """Write the first entries of `out`, in a loop of its own that the compiler vectorises."""
    for i in range(len(source)):
        out[i] = source[i]


@compiled
def _copy_entries(dofs: IntArray, values: Array, out_dofs: IntArray, out_values: Array) -> None:
    """Write the first rows of a program and fill their unused entries with zeros."""
    k, width = dofs.shape[1], out_dofs.shape[1]
    if k == width:
        _copy(dofs.ravel(), out_dofs.ravel())
        _copy(values.ravel(), out_values.ravel())
        return
    for i in range(len(dofs)):
        for j in range(k):
            out_dofs[i, j], out_values[i, j] = dofs[i, j], values[i, j]
        for j in range(k, width):
            out_dofs[i, j], out_values[i, j] = 0, 0.0


@compiled
def write_step_rows(
    rhs: Array, dofs: IntArray, values: Array, compliance: Array, target: Array, lower: Array, upper: Array,
    contact_dofs: IntArray, contact_values: Array, bias: Array, friction: Array, directions: Array, shift: Array,
    row_impulse: Array, impulse: Array, set_multipliers: bool, gradient: Array, out_dofs: IntArray, out_values: Array,
    bounds: Array, multiplier: Array, beta: Array,
) -> None:  # fmt: skip
    """Write the gradient and the rows of the program: constraints first, then one or r rows per contact.

    Args:
        rhs, dofs, values, compliance, target, lower, upper: b, J_b by entries, E, r, and the bounds of λ_b.
        directions: D as in `contact_rows`.
        shift: σ, shape (m,) [m/s].
        set_multipliers: whether to write the multipliers that give λ_b and λ_c.
        gradient, out_dofs, out_values, multiplier: of the program.
        bounds: lower, upper, compliance, and the bounds of the multiplier of every row, (5, rows).
        beta: workspace, shape (r,).
    """
    nb = len(dofs)
    if set_multipliers:
        for i in range(nb):
            multiplier[i] = -row_impulse[i]
        write_multipliers(friction, directions, impulse, beta, multiplier[nb:])
    contact_width, jacobian_width = contact_dofs.shape[1], out_dofs.shape[1]
    for j in range(len(rhs)):
        gradient[j] = -rhs[j]
    _copy_entries(dofs, values, out_dofs, out_values)
    _copy(target, bounds[0])
    _copy(target, bounds[1])
    _copy(compliance, bounds[2])
    multiplier_lower, multiplier_upper = bounds[3], bounds[4]
    for i in range(nb):
        multiplier_lower[i] = -upper[i]
    for i in range(nb):
        multiplier_upper[i] = -lower[i]
    alike, along, count = len(directions) == 1, directions.shape[1], directions.shape[2]
    width, row = along + 1, nb
    for c in range(len(friction)):
        here, mu, own = c * width, friction[c], 0 if alike else c
        for d in range(count if mu > 0.0 else 1):
            offset = bias[c, 0]
            for j in range(jacobian_width):
                out_dofs[row, j] = contact_dofs[here, j] if j < contact_width else 0
                out_values[row, j] = contact_values[here, j] if j < contact_width else 0.0
            if mu > 0.0:
                offset += mu * shift[c]
                for a in range(along):
                    stretch = mu * directions[own, a, d]
                    offset += stretch * bias[c, 1 + a]
                    for j in range(contact_width):
                        out_values[row, j] += stretch * contact_values[here + 1 + a, j]
            bounds[0, row], bounds[1, row], bounds[2, row] = -offset, math.inf, 0.0
            bounds[3, row], bounds[4, row] = -math.inf, math.inf
            row += 1


@compiled
def read_step_impulses(
    multiplier: Array, directions: Array, friction: Array, row_impulse: Array, impulse: Array
) -> None:
    """Write λ_b and λ_c from the multipliers of the program."""
    nb = len(row_impulse)
    for i in range(nb):
        row_impulse[i] = -multiplier[i]
    read_impulses(friction, directions, multiplier[nb:], 0, impulse)


@compiled
def step_scales(
    diagonal: Array, rhs: Array, dofs: IntArray, values: Array, compliance: Array, target: Array, lower: Array,
    upper: Array, contact_dofs: IntArray, contact_values: Array, bias: Array, width: int, mobility: Array,
    reference: Array,
) -> tuple[float, float]:  # fmt: skip
    """Write m and V of `corekit.roles.contact_scale`, of contacts first; return the largest V and the largest impulse.

    W and w₀ are not known here. In their place stand those of the coordinates alone, each with its own A_jj,

        W_ii = Σ_j J_ij²/A_jj + E_i,      w₀_i = |bias_i| + Σ_j |J_ij·b_j|/A_jj                   (2)

    the size of the numbers of which the program's rows are made: free velocities are smaller where constraints bear
    part of the load.

    Args:
        diagonal: A_jj, shape (n,).
    """
    contact_rows = len(contact_dofs)
    mass, speed = np.empty(contact_rows + len(dofs)), np.empty(contact_rows + len(dofs))
    largest_speed = largest_impulse = 0.0
    for i in range(contact_rows):
        mass[i], speed[i] = 0.0, abs(bias[i // width, i % width])
        for k in range(contact_dofs.shape[1]):
            j, entry = contact_dofs[i, k], contact_values[i, k]
            if diagonal[j] > 0.0:
                mass[i] += entry * entry / diagonal[j]
                speed[i] += abs(entry * rhs[j]) / diagonal[j]
        if i % width == 0:
            speed[i] = -speed[i]  # it may close
    for b in range(len(dofs)):
        i = contact_rows + b
        mass[i], speed[i] = compliance[b], abs(target[b])
        for k in range(dofs.shape[1]):
            j, entry = dofs[b, k], values[b, k]
            if diagonal[j] > 0.0:
                mass[i] += entry * entry / diagonal[j]
                speed[i] += abs(entry * rhs[j]) / diagonal[j]
    contact_scales(mass, speed, lower, upper, width, mobility, reference)
    for j in range(len(rhs)):
        largest_impulse = max(largest_impulse, abs(rhs[j]))
    for k in range(len(mobility)):
        largest_speed = max(largest_speed, reference[k])
        largest_impulse = max(largest_impulse, reference[k] / mobility[k])
    return largest_speed, largest_impulse


@compiled
def measure_step_residuals(
    dofs: IntArray, values: Array, compliance: Array, target: Array, lower: Array, upper: Array,
    contact_dofs: IntArray, contact_values: Array, bias: Array, friction: Array, directions: Array, mobility: Array,
    reference: Array, x: Array, row_impulse: Array, impulse: Array, beta: Array, velocity: Array, slip: Array,
) -> tuple[float, float, float, float, float]:  # fmt: skip
    """Residuals of λ_c and w = J_c·v + bias, and of the constraints, which count as normal; as `contact_residuals`.

    The last number is the largest impulse.
    """
    width, size, largest = directions.shape[1] + 1, 0.0, 0.0
    for row in range(len(friction) * width):
        total = bias[row // width, row % width]
        for j in range(contact_dofs.shape[1]):
            total += contact_values[row, j] * x[contact_dofs[row, j]]
        velocity[row] = total
        size += abs(total)
        largest = max(largest, abs(impulse[row]))
    normal, tangential, cone, error = contact_residuals(
        friction, directions, mobility, reference, impulse, beta, velocity, slip
    )
    for b in range(len(dofs)):
        k, total = len(friction) + b, compliance[b] * row_impulse[b] - target[b]
        for j in range(dofs.shape[1]):
            total += values[b, j] * x[dofs[b, j]]
        size += abs(total)
        largest = max(largest, abs(row_impulse[b]))
        one, relative = row_residual(row_impulse[b], total, lower[b], upper[b], mobility[k], reference[k])
        normal, error = max(normal, one), max(error, relative)
    if not size + largest < math.inf:
        return math.inf, math.inf, math.inf, math.inf, math.inf
    return normal, tangential, cone, error, largest
