"""Gauss–Seidel sweeps and the merit of `newton` for W by blocks; linear in the number of contacts.

A contact reads its velocity from those of its bodies, is solved exactly, and moves its bodies at once:

    b = J_c·v + w₀ − W_cc·λ_c,   λ_c ← solution of one contact,   v ← v + G·J_cᵀ·Δλ_c               (1)

Sweeps go through the contacts forward and backward in turn.
"""

from __future__ import annotations

import math

from corekit.compiled import check_signals, compiled
from corekit.data.arrays import Array
from corekit.roles.contact_blocks import ContactBlocks
from corekit_cone.local_contact import solve_split_contact, split_contact
from corekit_cone.touches import Touches, add_touches, normal_of_touches, relative_of_touches

__all__ = ["block_merit", "split_contacts", "sweep_touches", "write_diagonal"]


@compiled
def write_diagonal(blocks: ContactBlocks, width: int, diagonal: Array) -> None:
    """Write W_cc of every contact, shape (m, 3, 3); without a second tangent its entries are those of 1."""
    for c in range(len(diagonal)):
        for i in range(3):
            for j in range(3):
                diagonal[c, i, j] = 1.0 if i == j and i >= width else 0.0
        for e in range(blocks.first[c], blocks.first[c + 1]):
            at, n = blocks.place[e], blocks.size[e]
            for i in range(width):
                for j in range(width):
                    for d in range(n):
                        diagonal[c, i, j] += blocks.jacobian[at + i * n + d] * blocks.response[at + j * n + d]


@compiled
def block_merit(
    diagonal: Array, width: int, friction: Array, reference: Array, impulse: Array, velocity: Array
) -> float:
    """The squared norm of (1) and (2) of `newton`, each as a velocity relative to its reference."""
    total = 0.0
    for c in range(len(diagonal)):
        n, normal = c * width, diagonal[c, 0, 0]
        lateral = diagonal[c, 1, 1] if width == 2 else 0.5 * (diagonal[c, 1, 1] + diagonal[c, 2, 2])
        lateral = lateral if lateral > 0.0 else normal
        y_n = max(impulse[n] - velocity[n] / normal, 0.0)
        own, size = ((impulse[n] - y_n) * normal) ** 2, 0.0
        for a in range(n + 1, n + width):
            size += (impulse[a] - velocity[a] / lateral) ** 2
        size, radius = math.sqrt(size), friction[c] * y_n
        factor = radius / size if size > radius else 1.0
        for a in range(n + 1, n + width):
            own += ((impulse[a] - factor * (impulse[a] - velocity[a] / lateral)) * lateral) ** 2
        total += own / reference[c] ** 2
    return float(total) if total < math.inf else math.inf


@compiled
def split_contacts(diagonal: Array, axes: Array) -> None:
    """Write W_nn and what `split_contact` returns of every contact, shape (m, 7)."""
    for c in range(len(diagonal)):
        D = diagonal[c]
        axes[c, 0] = D[0, 0]
        axes[c, 1], axes[c, 2], axes[c, 3], axes[c, 4], axes[c, 5], axes[c, 6] = split_contact(
            D[0, 0], D[0, 1], D[0, 2], D[1, 1], D[1, 2], D[2, 2]
        )


@compiled
def sweep_touches(
    touches: Touches, width: int, diagonal: Array, axes: Array, friction: Array, free: Array, impulse: Array,
    count: int,
) -> None:  # fmt: skip
    """Apply (1) to every contact, forward and then backward, `count` times.

    Args:
        touches: with v = G·Jᵀ·λ, changed.
        axes: of `split_contacts`.
        impulse: λ (R,), changed.
    """
    contacts = len(diagonal)
    for turn in range(2 * count):
        check_signals()
        for k in range(contacts):
            c = k if turn & 1 == 0 else contacts - 1 - k
            n, D, a = c * width, diagonal[c], axes[c]
            x, y, z = impulse[n], impulse[n + 1], impulse[n + 2] if width == 3 else 0.0
            if x == y == z == 0.0 and normal_of_touches(touches, c) + free[n] >= 0.0:
                continue
            b_n, b_1, b_2 = relative_of_touches(touches, c)
            b_n += free[n] - (D[0, 0] * x + D[0, 1] * y + D[0, 2] * z)
            b_1 += free[n + 1] - (D[1, 0] * x + D[1, 1] * y + D[1, 2] * z)
            b_2 += (free[n + 2] if width == 3 else 0.0) - (D[2, 0] * x + D[2, 1] * y + D[2, 2] * z)
            new_n, new_1, new_2 = solve_split_contact(
                a[0], a[1], a[2], a[3], a[4], a[5], a[6], b_n, b_1, b_2, friction[c]
            )
            if new_n == x and new_1 == y and new_2 == z:
                continue
            impulse[n], impulse[n + 1] = new_n, new_1
            if width == 3:
                impulse[n + 2] = new_2
            add_touches(touches, c, new_n - x, new_1 - y, new_2 - z)
