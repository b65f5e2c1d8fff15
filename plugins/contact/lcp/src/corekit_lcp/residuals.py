"""Physical residuals of a solution, from its impulses alone, in the contact problem as given."""

from __future__ import annotations

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, BoolArray
from corekit.roles.contact_laws import bounded_residual, pyramid_residuals, relative_velocity

__all__ = ["measure_residuals"]


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

    They are those of `corekit.roles.contact_laws` for a pyramid and for bounded rows, which count as normal. The
    variables, scales and regularisation of the LCP do not enter.

    Args:
        delassus, free, friction, lower, upper: of the whole problem.
        directions: D of each contact, shape (m, width − 1, r); r = 0 without friction.
        dropped: contacts that were left out of the LCP, shape (m,).
        impulse: λ, shape (R,).
        beta: workspace, shape (r,).
        velocity: w, shape (R,), written [m/s].
    Returns:
        The largest normal, friction and cone residual, and the largest of all three for the kept contacts; infinite
        if a number is not finite.
    """
    width, rows = directions.shape[1] + 1, free.size
    relative_velocity(delassus, free, impulse, velocity)
    total = 0.0
    for i in range(rows):
        total += abs(velocity[i]) + abs(impulse[i])
    if not total < np.inf:
        return np.inf, np.inf, np.inf, np.inf
    normal, tangential, cone, kept = 0.0, 0.0, 0.0, 0.0
    for c in range(friction.size):
        row = c * width
        of_normal, of_friction, of_cone = abs(min(impulse[row], velocity[row])), 0.0, 0.0
        is_loaded = False
        for a in range(width):
            is_loaded = is_loaded or impulse[row + a] != 0.0
        if is_loaded:  # without an impulse, the others hold at every velocity
            of_normal, of_friction, of_cone, _ = pyramid_residuals(
                directions[c], friction[c], impulse[row : row + width], velocity[row : row + width], beta
            )
        if not dropped[c]:
            kept = max(kept, of_normal, of_friction, of_cone)
        normal, tangential, cone = max(normal, of_normal), max(tangential, of_friction), max(cone, of_cone)
    first = rows - lower.size
    of_bounded = bounded_residual(impulse[first:], velocity[first:], lower, upper)
    normal, kept = max(normal, of_bounded), max(kept, of_bounded)
    return float(normal), float(tangential), float(cone), float(kept)
