"""Compiled loops of `contact_slopes`, over tables of contacts and frames."""

from __future__ import annotations

import math

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray

__all__ = ["add_changes", "add_covectors", "add_slopes", "locate", "turn_frames"]


@compiled
def _cross(a: Array, b: Array, out: Array) -> None:
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]


@compiled
def add_covectors(
    contacts: IntArray, coefficients: Array, place: IntArray, speed: Array, spin: Array, rotation: Array, n: Array,
    t: Array, weight: Array, local: Array, of_n: Array, of_t: Array, of_weight: Array, of_local: Array,
) -> None:  # fmt: skip
    """Add (2) of one term.

    Args:
        contacts, coefficients: of the term, (c,) and (c, width).
        place: of the frame of every material point among the frames, −1 where unused, shape (k, 4).
        speed, spin, rotation: ẋ, ω, (f, 3), and R of the frames, (f, 3, 3).
        n, t, weight, local: of all contacts, (k, 3), (k, 3), (k, 4), (k, 4, 3).
        of_n, of_t, of_weight, of_local: their covectors.
    """
    width = coefficients.shape[1]
    across, force, u, moved, arm, pushed = np.zeros((6, 3))
    for i in range(len(contacts)):
        c = contacts[i]
        zero = coefficients[i, 0]
        one = coefficients[i, 1] if width > 1 else 0.0
        two = coefficients[i, 2] if width > 2 else 0.0
        _cross(n[c], t[c], across)
        for x in range(3):
            force[x] = zero * n[c, x] + one * t[c, x] + two * across[x]
            u[x] = 0.0
        for p in range(4):
            f = place[c, p]
            if f < 0:
                continue
            for x in range(3):
                arm[x] = 0.0
                for y in range(3):
                    arm[x] += rotation[f, x, y] * local[c, p, y]
            _cross(spin[f], arm, moved)
            _cross(force, spin[f], pushed)
            for x in range(3):
                moved[x] += speed[f, x]
                u[x] += weight[c, p] * moved[x]
                of_weight[c, p] += force[x] * moved[x]
                for y in range(3):
                    of_local[c, p, y] += weight[c, p] * rotation[f, x, y] * pushed[x]
        _cross(t[c], u, moved)
        _cross(u, n[c], pushed)
        for x in range(3):
            of_n[c, x] += zero * u[x] + two * moved[x]
            of_t[c, x] += one * u[x] + two * pushed[x]


@compiled
def turn_frames(
    frames: IntArray, axis: int, size: float, position: Array, rotation: Array, out_position: Array, out_rotation: Array
) -> None:  # fmt: skip
    """Write the poses of some frames displaced along a world axis, 0 to 2, or turned about it, 3 to 5."""
    k = axis % 3
    b, c = (k + 1) % 3, (k + 2) % 3
    cos, sin = math.cos(size), math.sin(size)
    for f in frames:
        if axis < 3:
            out_position[f, k] = position[f, k] + size
            continue
        for j in range(3):
            out_rotation[f, b, j] = cos * rotation[f, b, j] - sin * rotation[f, c, j]
            out_rotation[f, c, j] = sin * rotation[f, b, j] + cos * rotation[f, c, j]


@compiled
def locate(ids: IntArray, count: int, found: IntArray, out: IntArray) -> None:
    """Write where contacts stand among those found, −1 for one that is not; they mostly come in the same order."""
    at = 0
    for i in range(len(ids)):
        out[i] = -1
        for k in range(count):
            place = (at + k) % count
            if found[place] == ids[i]:
                out[i] = place
                at = place + 1
                break


@compiled
def add_changes(
    at: IntArray, sign: float, n: Array, t: Array, weight: Array, local: Array, gap: Array,
    moved_n: Array, moved_t: Array, moved_weight: Array, moved_local: Array, moved_gap: Array,
    of_n: Array, of_t: Array, of_weight: Array, of_local: Array, of_gap: Array,
) -> None:  # fmt: skip
    """Add sign times the change of every contact that is found; counted from the base, which keeps rounding small.

    Args:
        at: where contacts are among those found, −1 for one that is not, shape (k,).
        n, t, weight, local, gap: of the base. moved_n, …: of those found. of_n, …: changes, as long as the base.
    """
    for c in range(len(at)):
        a = at[c]
        if a < 0:
            continue
        of_gap[c] += sign * (moved_gap[a] - gap[c])
        for x in range(3):
            of_n[c, x] += sign * (moved_n[a, x] - n[c, x])
            of_t[c, x] += sign * (moved_t[a, x] - t[c, x])
        for p in range(4):
            of_weight[c, p] += sign * (moved_weight[a, p] - weight[c, p])
            for x in range(3):
                of_local[c, p, x] += sign * (moved_local[a, p, x] - local[c, p, x])


@compiled
def add_slopes(
    mover: IntArray, axis: IntArray, scale: Array, n: Array, t: Array, weight: Array, local: Array, gap: Array,
    of_n: Array, of_t: Array, of_weight: Array, of_local: Array, of_gap: Array, out: Array,
) -> None:  # fmt: skip
    """Add covectors of what the detector says times its changes to those of twists of frames, shape (2, f, 3).

    Args:
        mover: of every pass, the frame that moves each contact, or −1, shape (p, k). axis: of every pass, shape (p,).
        scale: by which its changes are multiplied, shape (p, k).
        n, t, weight, local, gap: changes, shape (p, k, …). of_n, …: covectors, shape (k, …).
    """
    for p in range(len(axis)):
        for c in range(len(of_gap)):
            if mover[p, c] < 0:
                continue
            value = of_gap[c] * gap[p, c]
            for x in range(3):
                value += of_n[c, x] * n[p, c, x] + of_t[c, x] * t[p, c, x]
            for i in range(4):
                value += of_weight[c, i] * weight[p, c, i]
                for x in range(3):
                    value += of_local[c, i, x] * local[p, c, i, x]
            out[axis[p] // 3, mover[p, c], axis[p] % 3] += scale[p, c] * value
