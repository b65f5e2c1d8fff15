"""Physical residuals of an answer, from its impulses alone, in the problem as it was given."""

from __future__ import annotations

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, BoolArray
from corekit_lcp.copying import copy
from corekit_lcp.pyramid import shares, slack_speed

__all__ = ["certify"]


@compiled
def friction_faults(
    directions: Array, impulse: Array, velocity: Array, friction: float, share: Array
) -> tuple[float, float]:
    """(2) and (3) of one contact, from its own D, λ, w and μ."""
    along, count = directions.shape
    shares(directions, impulse[1:], share)
    slack = slack_speed(directions, velocity[1:])
    margin, sliding = friction * impulse[0], 0.0
    for k in range(count):
        margin -= share[k]
        if share[k] != 0.0:
            speed = slack
            for a in range(along):
                speed += directions[a, k] * velocity[1 + a]
            sliding = max(sliding, abs(min(share[k], speed)))
    return max(sliding, abs(min(slack, margin))), max(0.0, -margin)


@compiled
def certify(
    delassus: Array,
    free: Array,
    friction: Array,
    directions: Array,
    lower: Array,
    upper: Array,
    dropped: BoolArray,
    impulse: Array,
    share: Array,
    velocity: Array,
) -> tuple[float, float, float, float]:
    """How far impulses λ are from solving the contact problem, all contacts counted, unscaled.

    With w = W·λ + w₀, the smallest β of λ_t = D·β and γ = max(0, −min d·w_t),

        normal    |min(λ_n, w_n)|, and |λ − clip(λ − w, lower, upper)| of bounded rows      (1)
        friction  |min(β, Dᵀ·w_t + γ·e)| and |min(γ, μ·λ_n − eᵀβ)|                          (2)
        cone      max(0, eᵀβ − μ·λ_n)                                                      (3)

    Nothing of the LCP's own variables, scales or regularisation enters: this is the certificate.

    Args:
        delassus, free, friction, lower, upper: of the whole problem.
        directions: D of each contact, shape (m, width − 1, r); r = 0 without friction.
        dropped: contacts that were left out of the LCP, shape (m,).
        impulse: λ, shape (R,).
        share: work, shape (r,).
        velocity: w, shape (R,), written [m/s].
    Returns:
        The largest of (1), of (2), of (3), and of all three without the contacts left out; infinite where
        anything is not a finite number.
    """
    _, along, count = directions.shape
    width = along + 1
    rows = free.size
    copy(free, velocity)
    for j in range(rows):
        if impulse[j] != 0.0:
            from_row = delassus[j]  # W is symmetric
            for i in range(rows):
                velocity[i] += from_row[i] * impulse[j]
    normal, tangential, cone, kept = 0.0, 0.0, 0.0, 0.0
    for c in range(friction.size):
        row = c * width
        push = impulse[row]
        normal_fault = abs(min(push, velocity[row]))
        sliding_fault, cone_fault = 0.0, 0.0
        pushed = push != 0.0
        for a in range(1, width):
            pushed = pushed or impulse[row + a] != 0.0
        if count == 0:
            for a in range(along):
                cone_fault = max(cone_fault, abs(impulse[row + 1 + a]))
        elif pushed:  # without any impulse, (2) and (3) hold at every velocity
            sliding_fault, cone_fault = friction_faults(
                directions[c], impulse[row : row + width], velocity[row : row + width], friction[c], share
            )
        if not dropped[c]:
            kept = max(kept, normal_fault, sliding_fault, cone_fault)
        normal = max(normal, normal_fault)
        tangential = max(tangential, sliding_fault)
        cone = max(cone, cone_fault)
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
