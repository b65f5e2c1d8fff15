"""What contacts do in a step, and the equations that hold them to it while the step changes a little.

With λ the impulse of a contact, w its velocity J·v⁺ + bias in the contact's axes, μ friction and d_k the corners of
a pyramid's section, of which neighbours share a side with the normal e, e·d_k = e·d_{k+1} = 1:

    | open                | λ = 0                                               |
    | sticks              | w_n = 0, w_t = 0                                    |
    | slides at a corner  | w_n = 0, λ_t − μ·λ_n·d_k = 0                        |
    | slides along a side | w_n = 0, e·λ_t − μ·λ_n = 0, (d_k − d_{k+1})·w_t = 0 |
    | slides, cone        | w_n = 0, λ_t + μ·λ_n·w_t/|w_t| = 0                  |                     (1)

Each but the first has as many equations H(w, λ) = 0 as the contact has rows. Without friction a contact is one that
slides at μ = 0.

Where both sides of a complementarity are zero (a contact that grazes, one that sticks with its friction at the bound,
friction at the corner of a side that nothing turns) the step has a kink. Then (1) is that of the mode taken, whose
derivative is one-sided, and the contact is counted as degenerate. One that does not slip with its friction at the bound
is taken to stick: beside it others stick below theirs, which take what a change asks for.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final, final

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array, BoolArray, IntArray
from corekit.roles.pyramid import pyramid_coefficients, sliding_speed

__all__ = ["ContactModes", "Mode", "find_modes"]

_CLOSED: Final = 1e-12
"""λ_n from which a contact is closed, relative to the largest."""
_KINK: Final = 1e-8
"""Of both sides of a complementarity, relative to their scales: below, the step has a kink."""


class Mode(IntEnum):
    """What a closed contact does."""

    STICKS = 0
    CORNER = 1
    SIDE = 2
    CONE = 3


@final
@frozen(eq=False)
class ContactModes:
    """The closed contacts of a solution.

    Args:
        index: among the contacts of the step, shape (k,).
        mode: of each, shape (k,). corner: the first corner of those that slide by a pyramid, shape (k,).
        degenerate: how many contacts, open ones too, are at a kink.
    """

    index: IntArray
    mode: IntArray
    corner: IntArray
    degenerate: int

    @property
    def turns(self) -> BoolArray:
        """Which of them slide at a corner or a side, whose equations the directions of a pyramid enter, shape (k,)."""
        return (self.mode == Mode.CORNER) | (self.mode == Mode.SIDE)

    def equations(
        self, friction: Array, directions: Array | None, velocity: Array
    ) -> tuple[Array, Array, Array]:
        """P_w and P_λ of H = P_w·w + P_λ·λ and ∂(P_λ·λ)/∂w per μ·λ_n, each of shape (k, width, width).

        Args:
            friction: μ of them, shape (k,).
            directions: d_k of them, shape (k, width − 1, r), or None for the cone.
            velocity: w of them, shape (k, width).
        """
        count, width = velocity.shape
        by_velocity, by_impulse, turning = np.zeros((3, count, width, width))
        for c, mode in enumerate(self.mode):
            w, p = by_velocity[c], by_impulse[c]
            w[0, 0] = 1.0
            if mode == Mode.STICKS:
                w[1:, 1:] = np.eye(width - 1)
            elif mode == Mode.CORNER:
                p[1:, 1:] = np.eye(width - 1)
                if friction[c] and directions is not None:
                    p[1:, 0] = -friction[c] * directions[c, :, self.corner[c]]
            elif mode == Mode.SIDE:
                assert directions is not None
                one = directions[c, :, self.corner[c]]
                other = directions[c, :, (self.corner[c] + 1) % directions.shape[2]]
                p[1, 1:] = np.linalg.solve(np.stack([one, other]), np.ones(2))
                p[1, 0] = -friction[c]
                w[2, 1:] = one - other
            else:
                slip = velocity[c, 1:]
                speed = np.linalg.norm(slip)
                p[1:, 1:], p[1:, 0] = np.eye(width - 1), friction[c] * slip / speed
                turning[c, 1:, 1:] = (np.eye(width - 1) - np.outer(slip, slip) / speed**2) / speed
        return by_velocity, by_impulse, turning


def find_modes(
    impulse: Array, velocity: Array, speed: float, friction: Array, directions: Array | None
) -> ContactModes:
    """Find what every contact of a solution does.

    Args:
        impulse, velocity: λ and w of the contacts, shape (m, width).
        speed: of bodies at contacts, with which velocities are compared [m/s].
        friction: μ, shape (m,). directions: d_k of the pyramids, shape (m, width − 1, r); None for the cone.
    """
    load = impulse[:, 0].max(initial=0.0)
    index: list[int] = []
    modes: list[tuple[int, int]] = []
    degenerate = 0
    for c, (own, slip, mu) in enumerate(zip(impulse, velocity, friction, strict=True)):
        closed = own[0] > _CLOSED * load
        degenerate += max(own[0] / load if load else 0.0, abs(slip[0]) / speed) <= _KINK
        if not closed:
            continue
        index.append(c)
        found, is_kink = _mode(own, slip, mu, None if directions is None else directions[c], speed)
        modes.append(found)
        degenerate += is_kink
    mode, corner = np.array(modes, dtype=np.int64).reshape(-1, 2).T
    return ContactModes(np.array(index, dtype=np.int64), mode, corner, degenerate)


def _mode(
    own: Array, slip: Array, mu: float, directions: Array | None, speed: float
) -> tuple[tuple[int, int], bool]:
    """Mode and corner of a closed contact, and whether it is at a kink."""
    bound = mu * own[0]
    if bound == 0.0:
        return (Mode.CORNER, 0), False
    if directions is None:
        slack, moved = 1.0 - np.linalg.norm(own[1:]) / bound, np.linalg.norm(slip[1:]) / speed
        slides = moved > max(abs(slack), _KINK)
        return (Mode.CONE if slides else Mode.STICKS, 0), bool(max(slack, moved) <= _KINK)
    share = np.empty(directions.shape[1])
    pyramid_coefficients(directions, own[1:], share)
    share /= bound
    slack, moved = 1.0 - share.sum(), sliding_speed(directions, slip[1:]) / speed
    is_kink = bool(max(slack, moved) <= _KINK)
    if moved <= max(abs(slack), _KINK):
        return (Mode.STICKS, 0), is_kink
    first = int(np.argmax(share))
    if len(own) == 2:
        return (Mode.CORNER, first), is_kink
    count = len(share)
    ahead, behind = (first + 1) % count, (first - 1) % count
    second = ahead if share[ahead] >= share[behind] else behind
    # along a side the slip is the same in both corners' directions
    across = abs((directions[:, first] - directions[:, second]) @ slip[1:]) / speed
    if share[second] > across:
        return (Mode.SIDE, first if second == ahead else second), bool(is_kink or share[second] <= _KINK)
    return (Mode.CORNER, first), bool(is_kink or max(share[second], across) <= _KINK)
