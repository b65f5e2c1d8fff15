"""Physical residuals of a solution, from its impulses alone, in the contact problem as given."""

from __future__ import annotations

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, BoolArray
from corekit.linalg.vectors import copy_vector
from corekit_lcp.pyramid import compute_coefficients, compute_slip_speed

__all__ = ["measure_residuals"]


@compiled
def friction_residuals(
    directions: Array, impulse: Array, velocity: Array, friction: float, beta: Array
) -> tuple[float, float]:
    """Residuals (2) and (3) of one contact, from its D, λ, w and μ."""
    along, count = directions.shape
    compute_coefficients(directions, impulse[1:], beta)
    slip = compute_slip_speed(directions, velocity[1:])
    margin, sliding = friction * impulse[0], 0.0
    for k in range(count):
        margin -= beta[k]
        if beta[k] != 0.0:
            speed = slip
            for a in range(along):
                speed += directions[a, k] * velocity[1 + a]
            sliding = max(sliding, abs(min(beta[k], speed)))
    return max(sliding, abs(min(slip, margin))), max(0.0, -margin)


@compiled
def measure_residuals(
    delassus: Array,
    free: Array,
    friction: Array,
    directions: Array,
    lower: Array,
    upper: Array,
    dropped: BoolArray,
    impulse: Array,
    beta: Array,
    velocity: Array,
) -> tuple[float, float, float, float]:
    """Measure the residuals of impulses λ in the contact problem, unscaled and with all contacts.

    With w = W·λ + w₀, the smallest β of λ_t = D·β and γ = max(0, −min d·w_t),

        normal    |min(λ_n, w_n)|, and |λ − clip(λ − w, lower, upper)| of bounded rows      (1)
        friction  |min(β, Dᵀ·w_t + γ·e)| and |min(γ, μ·λ_n − eᵀβ)|                          (2)
        cone      max(0, eᵀβ − μ·λ_n)                                                      (3)

    The variables, scales and regularisation of the LCP do not enter.

    Args:
        delassus, free, friction, lower, upper: of the whole problem.
        directions: D of each contact, shape (m, width − 1, r); r = 0 without friction.
        dropped: contacts that were left out of the LCP, shape (m,).
        impulse: λ, shape (R,).
        beta: workspace, shape (r,).
        velocity: w, shape (R,), written [m/s].
    Returns:
        The largest of (1), of (2), of (3), and of all three for the kept contacts; infinite if a number is not finite.
    """
    _, along, count = directions.shape
    width = along + 1
    rows = free.size
    copy_vector(free, velocity)
    for j in range(rows):
        if impulse[j] != 0.0:
            from_row = delassus[j]  # W is symmetric
            for i in range(rows):
                velocity[i] += from_row[i] * impulse[j]
    normal, tangential, cone, kept = 0.0, 0.0, 0.0, 0.0
    for c in range(friction.size):
        row = c * width
        normal_impulse = impulse[row]
        normal_residual = abs(min(normal_impulse, velocity[row]))
        friction_residual, cone_residual = 0.0, 0.0
        is_loaded = normal_impulse != 0.0
        for a in range(1, width):
            is_loaded = is_loaded or impulse[row + a] != 0.0
        if count == 0:
            for a in range(along):
                cone_residual = max(cone_residual, abs(impulse[row + 1 + a]))
        elif is_loaded:  # without an impulse, (2) and (3) hold at every velocity
            friction_residual, cone_residual = friction_residuals(
                directions[c], impulse[row : row + width], velocity[row : row + width], friction[c], beta
            )
        if not dropped[c]:
            kept = max(kept, normal_residual, friction_residual, cone_residual)
        normal = max(normal, normal_residual)
        tangential = max(tangential, friction_residual)
        cone = max(cone, cone_residual)
    for b in range(lower.size):
        row = rows - lower.size + b
        step = min(max(impulse[row] - velocity[row], lower[b]), upper[b])
        normal = max(normal, abs(impulse[row] - step))
        kept = max(kept, abs(impulse[row] - step))
    total = 0.0
    for i in range(rows):
        total += abs(velocity[i]) + abs(impulse[i])
    if not total < np.inf:
        return np.inf, np.inf, np.inf, np.inf
    return float(normal), float(tangential), float(cone), float(kept)
