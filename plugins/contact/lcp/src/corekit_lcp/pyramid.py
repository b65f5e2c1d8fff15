"""The friction pyramid of every contact, turned to slip and stretched."""

from __future__ import annotations

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit.roles.pyramid import anisotropic_directions

__all__ = ["align", "stretch_directions"]

AT_REST = 1e-9
"""Tangential speed below which slip has no direction, in units of the problem's own."""


@compiled
def align(base: Array, free: Array, directions: Array) -> None:
    """Turn every contact's pyramid so that one direction opposes its free tangential velocity.

        d_k ← R·d_k,   R·e₁ = −w₀,t/‖w₀,t‖                                                 (1)

    Friction of a contact that slides on in the same direction is then exact for any r. A contact at rest keeps the
    directions of `base`, and so does every contact in a plane, which has only two directions.

    Args:
        base: D, first column (1, 0), shape (width − 1, r).
        free: w₀, shape (R,), contact c's tangential entries at c·width + 1, …
        directions: shape (m, width − 1, r), written.
    """
    contacts, along, _ = directions.shape
    for c in range(contacts):
        x = y = 0.0
        if along == 2:
            x, y = free[c * 3 + 1], free[c * 3 + 2]
        rotate_directions(base, x, y, directions[c])


@compiled
def rotate_directions(base: Array, x: float, y: float, directions: Array) -> None:
    """Write (1) of one contact that slides at (x, y)."""
    along, count = directions.shape
    cosine, sine = 1.0, 0.0
    if along == 2:
        speed = np.sqrt(x * x + y * y)
        if AT_REST < speed < np.inf:
            cosine, sine = -x / speed, -y / speed
    for k in range(count):
        if along == 2:
            directions[0, k] = cosine * base[0, k] - sine * base[1, k]
            directions[1, k] = sine * base[0, k] + cosine * base[1, k]
        else:
            directions[0, k] = base[0, k]


@compiled
def stretch_directions(
    base: Array, free: Array, records: Array, aligned: bool, turned: Array, directions: Array
) -> None:
    """Write the directions of the anisotropic law, see `corekit.roles.pyramid`.

    Aligned ones begin at the impulse that the law opposes to the free slip: before they are stretched by A of (3)
    in `corekit.roles.friction`, its direction is −A·w₀,t.

    Args:
        base, free: as in `align`.
        records: (μ_f, μ_b, μ_s) of every contact, shape (m, 3).
        turned: workspace, as `base`.
        directions: shape (m, width − 1, r), written.
    """
    contacts, along, _ = directions.shape
    for c in range(contacts):
        x = y = 0.0
        if aligned and along == 2:
            x, y = free[c * 3 + 1], free[c * 3 + 2]
            x *= records[c, 0] if x >= 0.0 else records[c, 1]
            y *= records[c, 2]
        rotate_directions(base, x, y, turned)
        anisotropic_directions(turned, records[c], directions[c])
