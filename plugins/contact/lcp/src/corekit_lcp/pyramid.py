"""What a tangential impulse and a tangential velocity look like to the friction pyramid."""

from __future__ import annotations

import numpy as np
from numba import njit

from corekit.data.arrays import Array

__all__ = ["shares", "slack_speed"]


@njit(cache=True)
def shares(directions: Array, tangential: Array, share: Array) -> None:
    """The β ≥ 0 of least sum with D·β = λ_t: at most two neighbouring directions carry.

    Args:
        directions: D, unit columns in the order of their angle, shape (width − 1, r).
        tangential: λ_t, shape (width − 1,) [N·s].
        share: β, shape (r,), written [N·s].
    """
    count = share.size
    share[:] = 0.0
    if count == 0:
        return
    if tangential.size == 1:
        for k in range(count):
            share[k] = max(directions[0, k] * tangential[0], 0.0)
        return
    best, chosen, one, two = -np.inf, 0, 0.0, 0.0
    for k in range(count):
        j = (k + 1) % count
        area = directions[0, k] * directions[1, j] - directions[1, k] * directions[0, j]
        here = (tangential[0] * directions[1, j] - tangential[1] * directions[0, j]) / area
        after = (directions[0, k] * tangential[1] - directions[1, k] * tangential[0]) / area
        if min(here, after) > best:
            best, chosen, one, two = min(here, after), k, here, after
    share[chosen] = max(one, 0.0)
    share[(chosen + 1) % count] = max(two, 0.0)


@njit(cache=True)
def slack_speed(directions: Array, velocity: Array) -> float:
    """γ = max(0, −min_k d_k·w_t): the sliding speed as the pyramid sees it [m/s]."""
    slack = 0.0
    for k in range(directions.shape[1]):
        speed = 0.0
        for a in range(directions.shape[0]):
            speed += directions[a, k] * velocity[a]
        slack = max(slack, -speed)
    return slack
