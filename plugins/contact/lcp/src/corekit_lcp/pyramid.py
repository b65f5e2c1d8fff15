"""The friction pyramid: how contacts turn it, and the kernel's choice of its variables, compiled."""

from __future__ import annotations

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit.roles.pyramid import least_shares, sliding_speed

__all__ = ["align", "shares", "slack_speed"]

shares = compiled(least_shares)
slack_speed = compiled(sliding_speed)

AT_REST = 1e-9
"""Tangential speed below which there is no direction of sliding [m/s]."""


@compiled
def align(base: Array, free: Array, directions: Array) -> None:
    """Turn every contact's pyramid so that one direction opposes its free tangential velocity.

        d_k ← R·d_k,   R·e₁ = −w₀,t/‖w₀,t‖                                                 (1)

    Friction on a contact that slides straight on is then exact, whatever r. A contact at rest keeps the
    directions of `base`, and so does every contact in a plane, where two directions are all there are.

    Args:
        base: D, first column (1, 0), shape (width − 1, r).
        free: w₀, shape (R,), contact c's tangential entries at c·width + 1, … [m/s].
        directions: shape (m, width − 1, r), written.
    """
    contacts, along, count = directions.shape
    for c in range(contacts):
        cosine, sine = 1.0, 0.0
        if along == 2:
            x, y = free[c * 3 + 1], free[c * 3 + 2]
            speed = np.sqrt(x * x + y * y)
            if AT_REST < speed < np.inf:
                cosine, sine = -x / speed, -y / speed
        for k in range(count):
            if along == 2:
                directions[c, 0, k] = cosine * base[0, k] - sine * base[1, k]
                directions[c, 1, k] = sine * base[0, k] + cosine * base[1, k]
            else:
                directions[c, 0, k] = base[0, k]
