"""The friction pyramid: its directions, and what it makes of a tangential impulse and of a tangential velocity.

The variables (λ_n, β₁…β_r, γ) of a contact in an `LCPProblem` say more than its impulse: many β ≥ 0 give the
same λ_t = D·β. What poses the problem and what solves it contact by contact must choose alike:

    β = argmin eᵀβ  subject to  D·β = λ_t, β ≥ 0,        γ = max(0, −min_k d_k·w_t)        (1)

The directions of Coulomb's law are unit vectors. Those of the anisotropic law of `roles.friction` are the corners of
its set F over μ = max(μ_f, μ_b, μ_s), so that μ·λ_n·d_k are the corners of λ_n·F and (1) stays as it is.

`pyramid_coefficients`, `sliding_speed` and `anisotropic_directions` are compiled, and kernels may call them.
"""

from __future__ import annotations

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array

__all__ = ["anisotropic_directions", "pyramid_coefficients", "pyramid_directions", "sliding_speed"]


def pyramid_directions(width: int, count: int) -> Array:
    """D: unit columns in the order of their angle, each with its exact opposite, shape (width − 1, r).

    Args:
        width: rows per contact, 2 in a plane, else 3.
        count: r, even; in a plane there are only two directions, whatever `count` says.
    """
    if width == 2:
        return np.array([[1.0, -1.0]])
    angle = 2.0 * np.pi * np.arange(count // 2) / count
    half = np.array([np.cos(angle), np.sin(angle)])
    return np.ascontiguousarray(np.hstack([half, -half]))


@compiled
def anisotropic_directions(unit: Array, record: Array, directions: Array) -> None:
    """Write the directions of the anisotropic law: unit ones stretched to the edge of F, over its largest coefficient.

    They keep their order, as F is convex. A record of zeros leaves the unit directions.

    Args:
        unit: unit columns in the order of their angle, shape (width − 1, r).
        record: (μ_f, μ_b, μ_s).
        directions: D, shape (width − 1, r), written.
    """
    largest = max(record[0], record[1], record[2])
    forward = backward = sideways = 1.0
    if largest > 0.0:
        forward, backward, sideways = record[0] / largest, record[1] / largest, record[2] / largest
    for k in range(unit.shape[1]):
        directions[0, k] = unit[0, k] * (forward if unit[0, k] <= 0.0 else backward)
        if unit.shape[0] == 2:
            directions[1, k] = unit[1, k] * sideways


@compiled
def pyramid_coefficients(directions: Array, tangential: Array, share: Array) -> None:
    """Write the β of (1): at most two neighbouring directions carry.

    Args:
        directions: D, columns in the order of their angle, corners of a convex polygon, shape (width − 1, r).
        tangential: λ_t, shape (width − 1,) [N·s].
        share: β, shape (r,), written [N·s].
    """
    count = share.size
    share[:] = 0.0
    if count == 0:
        return
    if tangential.size == 1:
        for k in range(count):
            share[k] = max(tangential[0] / directions[0, k], 0.0)
        return
    x, y = tangential[0], tangential[1]
    if x == 0.0 and y == 0.0:
        return
    best, chosen, one, two = -np.inf, 0, 0.0, 0.0
    for k in range(count):
        j = k + 1 if k + 1 < count else 0
        area = directions[0, k] * directions[1, j] - directions[1, k] * directions[0, j]
        here = (x * directions[1, j] - y * directions[0, j]) / area
        after = (directions[0, k] * y - directions[1, k] * x) / area
        if min(here, after) > best:
            best, chosen, one, two = min(here, after), k, here, after
    share[chosen] = max(one, 0.0)
    share[(chosen + 1) % count] = max(two, 0.0)


@compiled
def sliding_speed(directions: Array, velocity: Array) -> float:
    """The γ of (1): the sliding speed as the pyramid sees it [m/s].

    Args:
        directions: D, shape (width − 1, r).
        velocity: w_t, shape (width − 1,) [m/s].
    """
    slack = 0.0
    for k in range(directions.shape[1]):
        speed = 0.0
        for a in range(directions.shape[0]):
            speed += directions[a, k] * velocity[a]
        slack = max(slack, -speed)
    return slack
