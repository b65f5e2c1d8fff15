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

import math
from enum import IntEnum
from typing import Final, NamedTuple, final

import numpy as np
from attrs import frozen

from corekit.compiled import compiled
from corekit.data.arrays import Array, BoolArray, IntArray
from corekit.roles.pyramid import pyramid_coefficients, sliding_speed

__all__ = ["ContactModes", "ContactTerms", "Mode", "find_modes"]

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


_STICKS, _CORNER, _SIDE, _CONE = map(int, Mode)
"""The same for kernels."""


class ContactTerms(NamedTuple):
    """The closed contacts of a solution, as they were evaluated.

    Args:
        rows: J, shape (k, width, nv). impulse: λ, shape (k, width).
        by_velocity, by_impulse: P_w, with what turns the cone's friction, and P_λ, shape (k, width, width).
        held: H, shape (k, width). size: of the largest of its terms.
        given: Jᵀ·λ, shape (nv,).
    """

    rows: Array
    impulse: Array
    by_velocity: Array
    by_impulse: Array
    held: Array
    size: float
    given: Array

    @classmethod
    def none(cls, width: int, nv: int) -> ContactTerms:
        """Those of no contact."""
        rows, square = np.zeros((0, width)), np.zeros((0, width, width))
        return cls(np.zeros((0, width, nv)), rows, square, square, rows, 0.0, np.zeros(nv))


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
        return (self.mode == _CORNER) | (self.mode == _SIDE)

    def equations(
        self, rows: Array, place: IntArray, velocity: Array, bias: Array, impulse: Array, friction: Array,
        directions: Array | None,
    ) -> ContactTerms:  # fmt: skip
        """H and its terms.

        Args:
            rows: J of contacts, shape (m·width, nv), of which the closed ones are those at `place`, shape (k,).
            velocity: v, shape (nv,). bias, impulse: of the closed ones, shape (k, width). friction: μ, shape (k,).
            directions: d_k of them, shape (k, width − 1, r), or None for the cone.
        """
        (k, width), nv = bias.shape, len(velocity)
        corners = np.zeros((k, width - 1, 1)) if directions is None or not directions.size else directions
        own, square, held, given = (
            np.empty((k, width, nv)), np.zeros((3, k, width, width)), np.empty((k, width)), np.zeros(nv)
        )  # fmt: skip
        size = _write_terms(
            self.mode, self.corner, rows, place, velocity, bias, impulse, friction, corners, own, square[0], square[1],
            square[2], held, given,
        )  # fmt: skip
        return ContactTerms(own, impulse, square[0], square[1], held, size, given)

    def pull_directions(
        self, friction: Array, directions: Array, velocity: Array, impulse: Array, of_held: Array
    ) -> Array:
        """The covector of d_k for that of H, shape (k, width − 1, r).

        Args:
            friction, directions, velocity: as of `equations`. impulse, of_held: λ and the covector, (k, width).
        """
        out, count = np.zeros(directions.shape), directions.shape[2]
        for c in np.flatnonzero(self.turns & (friction > 0.0)).tolist():
            first, second, y = self.corner[c], (self.corner[c] + 1) % count, of_held[c]
            if self.mode[c] == Mode.CORNER:
                out[c, :, first] = -friction[c] * impulse[c, 0] * y[1:]
                continue
            # e = N⁻¹·1 with d_k and d_{k+1} for the rows of N, so that ∂e = −N⁻¹·∂N·e
            rows = directions[c][:, [first, second]].T
            normal, lever = np.linalg.solve(rows, np.ones(2)), np.linalg.solve(rows.T, impulse[c, 1:])
            out[c, :, first] = y[2] * velocity[c, 1:] - y[1] * lever[0] * normal
            out[c, :, second] = -y[2] * velocity[c, 1:] - y[1] * lever[1] * normal
        return out


def find_modes(
    impulse: Array, velocity: Array, speed: float, friction: Array, directions: Array | None
) -> ContactModes:
    """Find what every contact of a solution does.

    Args:
        impulse, velocity: λ and w of the contacts, shape (m, width).
        speed: of bodies at contacts, with which velocities are compared [m/s].
        friction: μ, shape (m,). directions: d_k of the pyramids, shape (m, width − 1, r); None for the cone.
    """
    m, width = impulse.shape
    mode, corner = np.empty((2, m), dtype=np.int64)
    corners = np.zeros((m, width - 1, 0)) if directions is None else directions
    degenerate = _write_modes(impulse, velocity, speed, friction, corners, directions is None, mode, corner)
    index = np.flatnonzero(mode >= 0)
    return ContactModes(index, mode[index], corner[index], degenerate)


@compiled
def _write_modes(
    impulse: Array, velocity: Array, speed: float, friction: Array, directions: Array, is_cone: bool, mode: IntArray,
    corner: IntArray,
) -> int:  # fmt: skip
    """Write mode, −1 of an open contact, and corner of every contact; return how many are at a kink."""
    load, degenerate = 0.0, 0
    for c in range(len(impulse)):
        load = max(load, impulse[c, 0])
    share = np.empty(directions.shape[2])
    for c in range(len(impulse)):
        own, slip = impulse[c], velocity[c]
        pressed = own[0] / load if load > 0.0 else 0.0
        if max(pressed, abs(slip[0]) / speed) <= _KINK:
            degenerate += 1
        mode[c], corner[c] = -1, 0
        if not own[0] > _CLOSED * load:
            continue
        mode[c], is_kink = _STICKS, False
        bound = friction[c] * own[0]
        if bound == 0.0:
            mode[c] = _CORNER
        elif is_cone:
            held, moved = 0.0, 0.0
            for a in range(1, len(own)):
                held, moved = held + own[a] ** 2, moved + slip[a] ** 2
            slack, moved = 1.0 - math.sqrt(held) / bound, math.sqrt(moved) / speed
            if moved > max(abs(slack), _KINK):
                mode[c] = _CONE
            is_kink = max(slack, moved) <= _KINK
        else:
            mode[c], corner[c], is_kink = _mode_of_pyramid(own, slip, bound, speed, directions[c], share)
        if is_kink:
            degenerate += 1
    return degenerate


@compiled
def _mode_of_pyramid(
    own: Array, slip: Array, bound: float, speed: float, directions: Array, share: Array
) -> tuple[int, int, bool]:
    """Mode and corner of a closed contact with a pyramid, and whether it is at a kink."""
    pyramid_coefficients(directions, own[1:], share)
    share /= bound
    slack, moved = 1.0 - share.sum(), sliding_speed(directions, slip[1:]) / speed
    is_kink = max(slack, moved) <= _KINK
    if moved <= max(abs(slack), _KINK):
        return _STICKS, 0, is_kink
    first, count = int(np.argmax(share)), len(share)
    if len(own) == 2:
        return _CORNER, first, is_kink
    ahead, behind = (first + 1) % count, (first - 1) % count
    second = ahead if share[ahead] >= share[behind] else behind
    # along a side the slip is the same in both corners' directions
    across = 0.0
    for a in range(2):
        across += (directions[a, first] - directions[a, second]) * slip[1 + a]
    across = abs(across) / speed
    if share[second] > across:
        return _SIDE, (first if second == ahead else second), is_kink or share[second] <= _KINK
    return _CORNER, first, is_kink or max(share[second], across) <= _KINK


@compiled
def _write_equations(
    mode: IntArray, corner: IntArray, friction: Array, directions: Array, velocity: Array, by_velocity: Array,
    by_impulse: Array, turning: Array,
) -> None:  # fmt: skip
    """Write (1) into zeros."""
    width = velocity.shape[1]
    for c in range(len(mode)):
        w, p = by_velocity[c], by_impulse[c]
        w[0, 0] = 1.0
        if mode[c] == _STICKS:
            for a in range(1, width):
                w[a, a] = 1.0
        elif mode[c] == _CORNER:
            for a in range(1, width):
                p[a, a], p[a, 0] = 1.0, -friction[c] * directions[c, a - 1, corner[c]]
        elif mode[c] == _SIDE:
            one, other = directions[c, :, corner[c]], directions[c, :, (corner[c] + 1) % directions.shape[2]]
            area = one[0] * other[1] - one[1] * other[0]
            p[1, 1], p[1, 2] = (other[1] - one[1]) / area, (one[0] - other[0]) / area
            p[1, 0] = -friction[c]
            w[2, 1], w[2, 2] = one[0] - other[0], one[1] - other[1]
        else:
            speed = 0.0
            for a in range(1, width):
                speed += velocity[c, a] ** 2
            speed = math.sqrt(speed)
            for a in range(1, width):
                p[a, a], p[a, 0] = 1.0, friction[c] * velocity[c, a] / speed
                for b in range(1, width):
                    own = 1.0 if a == b else 0.0
                    turning[c, a, b] = (own - velocity[c, a] * velocity[c, b] / speed**2) / speed


@compiled
def _write_terms(
    mode: IntArray, corner: IntArray, rows: Array, place: IntArray, velocity: Array, bias: Array, impulse: Array,
    friction: Array, directions: Array, own: Array, by_velocity: Array, by_impulse: Array, turning: Array, held: Array,
    given: Array,
) -> float:  # fmt: skip
    """Write J, P_w, P_λ, H = P_w·w + P_λ·λ and Jᵀ·λ; return the size of the largest term of H."""
    (k, width), nv, largest = bias.shape, len(velocity), 0.0
    slip, moved = np.empty((k, width)), 0.0
    for c in range(k):
        for a in range(width):
            moved = 0.0
            for j in range(nv):
                own[c, a, j] = rows[place[c] * width + a, j]
                moved += own[c, a, j] * velocity[j]
                given[j] += own[c, a, j] * impulse[c, a]
            slip[c, a] = moved + bias[c, a]
            held[c, a] = abs(moved) + abs(bias[c, a])
    _write_equations(mode, corner, friction, directions, slip, by_velocity, by_impulse, turning)
    for c in range(k):
        force = 0.0
        for a in range(width):
            force = max(force, abs(impulse[c, a]))
        for a in range(width):
            total, binds = 0.0, False
            for b in range(width):
                total += by_velocity[c, a, b] * slip[c, b] + by_impulse[c, a, b] * impulse[c, b]
                binds = binds or by_impulse[c, a, b] != 0.0
            largest = max(largest, force if binds else held[c, a])
            held[c, a] = total
        for a in range(width):
            for b in range(width):
                by_velocity[c, a, b] += turning[c, a, b] * friction[c] * impulse[c, 0]
    return largest
