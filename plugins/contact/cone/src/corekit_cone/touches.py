"""The touches of `ContactBlocks` in parts of six velocities, so that each loop over one has a fixed length.

A body of n velocities has ⌈n/6⌉ parts, the last one filled with zeros; rigid bodies have one. With v as rows of six and
each touch as many entries as its body has parts,

    w_c = Σ_e J_e·v_row(e) + w₀_c,    v_row += G_e·J_eᵀ·λ_c                                        (1)
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.roles.contact_blocks import ContactBlocks

__all__ = [
    "Touches",
    "add_touches",
    "multiply_touches",
    "new_touches",
    "normal_of_touches",
    "relative_of_touches",
]

_PART: Final = 6


class Touches(NamedTuple):
    """The entries of (1).

    Attributes:
        first: entries of contact c are first[c] ≤ e < first[c + 1], shape (m + 1,).
        row: of v, per entry, shape (E,).
        jacobian, response: J_e and (G_e·J_eᵀ)ᵀ, three rows of six each, shape (E, 18).
        velocity: v, shape (rows, 6); workspace.
    """

    first: IntArray
    row: IntArray
    jacobian: Array
    response: Array
    velocity: Array


def new_touches(blocks: ContactBlocks, width: int) -> Touches:
    """Return the entries of a problem's blocks."""
    contacts = len(blocks.first) - 1
    row_of: IntArray = np.zeros(blocks.velocity_count, dtype=np.int64)
    rows, entries = _number_rows(blocks, row_of)
    found = Touches(
        np.empty(contacts + 1, dtype=np.int64), np.empty(entries, dtype=np.int64), np.zeros((entries, 3 * _PART)),
        np.zeros((entries, 3 * _PART)), np.zeros((rows, _PART)),
    )  # fmt: skip
    _copy(blocks, width, row_of, found)
    return found


@compiled
def _number_rows(blocks: ContactBlocks, row_of: IntArray) -> tuple[int, int]:
    """Write the first row of v of the body whose velocities begin at each place; count rows and entries."""
    rows, entries = 0, 0
    for b in range(len(blocks.body_first) - 1):
        begin, end = blocks.body_first[b], blocks.body_first[b + 1]
        if begin < end:
            e = blocks.body_touch[begin]
            parts = (blocks.size[e] + _PART - 1) // _PART
            row_of[blocks.velocity[e]] = rows
            rows += parts
            entries += parts * (end - begin)
    return rows, entries


@compiled
def _copy(blocks: ContactBlocks, width: int, row_of: IntArray, touches: Touches) -> None:
    """Fill the entries."""
    at = 0
    for c in range(len(blocks.first) - 1):
        touches.first[c] = at
        for e in range(blocks.first[c], blocks.first[c + 1]):
            n, place, row = blocks.size[e], blocks.place[e], row_of[blocks.velocity[e]]
            for begin in range(0, n, _PART):
                touches.row[at] = row
                for a in range(width):
                    for j in range(min(_PART, n - begin)):
                        source, target = place + a * n + begin + j, a * _PART + j
                        touches.jacobian[at, target] = blocks.jacobian[source]
                        touches.response[at, target] = blocks.response[source]
                row += 1
                at += 1
    touches.first[len(blocks.first) - 1] = at


@compiled
def add_touches(touches: Touches, contact: int, x: float, y: float, z: float) -> None:
    """Add the response to an impulse (x, y, z) of one contact to v."""
    for e in range(touches.first[contact], touches.first[contact + 1]):
        g, v = touches.response[e], touches.velocity[touches.row[e]]
        for j in range(_PART):
            v[j] += g[j] * x + g[_PART + j] * y + g[2 * _PART + j] * z


@compiled
def normal_of_touches(touches: Touches, contact: int) -> float:
    """The first component of w_c − w₀_c."""
    x = 0.0
    for e in range(touches.first[contact], touches.first[contact + 1]):
        J, v = touches.jacobian[e], touches.velocity[touches.row[e]]
        for j in range(_PART):
            x += J[j] * v[j]
    return x


@compiled
def relative_of_touches(touches: Touches, contact: int) -> tuple[float, float, float]:
    """The three components of w_c − w₀_c."""
    x = y = z = 0.0
    for e in range(touches.first[contact], touches.first[contact + 1]):
        J, v = touches.jacobian[e], touches.velocity[touches.row[e]]
        for j in range(_PART):
            x += J[j] * v[j]
            y += J[_PART + j] * v[j]
            z += J[2 * _PART + j] * v[j]
    return x, y, z


@compiled
def multiply_touches(touches: Touches, width: int, free: Array, impulse: Array, out: Array) -> None:
    """Write v and w = W·λ + w₀ (R,) by (1)."""
    contacts = len(touches.first) - 1
    touches.velocity[:] = 0.0
    for c in range(contacts):
        n = c * width
        x, y, z = impulse[n], impulse[n + 1], impulse[n + 2] if width == 3 else 0.0
        if x != 0.0 or y != 0.0 or z != 0.0:
            add_touches(touches, c, x, y, z)
    for c in range(contacts):
        n = c * width
        x, y, z = relative_of_touches(touches, c)
        out[n], out[n + 1] = x + free[n], y + free[n + 1]
        if width == 3:
            out[n + 2] = z + free[n + 2]
