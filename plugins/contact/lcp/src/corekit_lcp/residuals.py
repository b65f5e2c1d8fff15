"""Residuals of a solution in the contact laws, from its impulses alone: in m/s and N·s, or relative ones."""

from __future__ import annotations

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, BoolArray
from corekit.roles.contact_laws import pyramid_residuals, relative_velocity

__all__ = ["measure_residuals"]


@compiled
def measure_residuals(
    delassus: Array, free: Array, friction: Array, directions: Array, lower: Array, upper: Array, mobility: Array,
    reference: Array, velocity_unit: float, impulse_unit: float, dropped: BoolArray, impulse: Array, beta: Array,
    velocity: Array,
) -> tuple[float, float, float, float, float]:  # fmt: skip
    """Measure the residuals of impulses λ in the contact problem, with all contacts.

    They are those of `corekit.roles.contact_laws` for a pyramid and for bounded rows, which count as normal. The
    variables, scales and regularisation of the LCP do not enter.

    Args:
        delassus, free, friction, lower, upper, mobility, reference: of the whole problem in units of its own.
        directions: D of each contact, shape (m, width − 1, r); r = 0 without friction.
        velocity_unit, impulse_unit: these units [m/s], [N·s].
        dropped: contacts that were left out of the LCP, shape (m,).
        impulse: λ, shape (R,).
        beta: workspace, shape (r,).
        velocity: w, shape (R,), written.
    Returns:
        The largest normal, friction and cone residual [m/s or N·s], the largest relative to the problem's scale, and
        that of the kept contacts; infinite if a number is not finite.
    """
    width, rows = directions.shape[1] + 1, free.size
    relative_velocity(delassus, free, impulse, velocity)
    total = 0.0
    for i in range(rows):
        total += abs(velocity[i]) + abs(impulse[i])
    if not total < np.inf:
        return np.inf, np.inf, np.inf, np.inf, np.inf
    normal, tangential, cone, worst, kept = 0.0, 0.0, 0.0, 0.0, 0.0
    own, speed = np.empty(width), np.empty(width)
    for c in range(friction.size):
        row, is_loaded, error = c * width, False, 0.0
        for a in range(width):
            is_loaded = is_loaded or impulse[row + a] != 0.0
        for turn in range(2):
            by_impulse = impulse_unit if turn else mobility[c] / reference[c]
            by_velocity = velocity_unit if turn else 1.0 / reference[c]
            for a in range(width):
                own[a], speed[a] = by_impulse * impulse[row + a], by_velocity * velocity[row + a]
            of_normal, of_friction, of_cone = abs(min(own[0], speed[0])), 0.0, 0.0
            if is_loaded:  # without an impulse, the others hold at every velocity
                of_normal, of_friction, of_cone, _ = pyramid_residuals(
                    directions[c], friction[c], own, speed, beta
                )
            if turn:
                normal, tangential, cone = (
                    max(normal, of_normal),
                    max(tangential, of_friction),
                    max(cone, of_cone),
                )
            else:
                error = max(of_normal, of_friction, of_cone)
        worst = max(worst, error)
        if not dropped[c]:
            kept = max(kept, error)
    first = rows - lower.size
    for b in range(lower.size):
        i, k = first + b, friction.size + b
        held = min(max(impulse[i] - velocity[i] / mobility[k], lower[b]), upper[b])
        error = mobility[k] / reference[k] * abs(impulse[i] - held)
        worst, kept = max(worst, error), max(kept, error)
        held = min(max(impulse[i] - velocity_unit / impulse_unit * velocity[i], lower[b]), upper[b])
        normal = max(normal, impulse_unit * abs(impulse[i] - held))
    return float(normal), float(tangential), float(cone), float(worst), float(kept)
