"""Cables and tendons driven by their length: their tensions from the state, which the kernels then apply.

With ℓ the length of a cable, counted from that at q = 0, and u what its drive wound up,

    T = T(ℓ(q) + u) of `corekit.roles.cables`,     f = … − B_q·T,     B_q = ∂ℓ/∂q                  (1)
    cable: ℓ = ∫|τ|ds, B_q = ∫b_qᵀ·B_a ds (`forces`),     tendon: ℓ = |chord|, B_q = (chord/|chord|)·∂chord   (2)

so to f and to the part of K with T constant the channel is a tension. K has B_q·(∂T/∂ℓ)·B_qᵀ on top.       (3)
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from attrs import define

from corekit.data.arrays import Array, IntArray
from corekit.roles.cables import cable_tension
from corekit_gvs.forces import cable
from corekit_gvs.forward_recursion import strain_at
from corekit_gvs.tables import (
    ACTIONS,
    ACTUATORS,
    BASES,
    COLUMN,
    ENDS,
    PIECES,
    PLACES,
    POINTS,
    QUADRATURE,
    SCRATCH,
    SECTIONS,
    SIZE,
    STATE,
    STRAINS,
    TENDONS,
    THREAD,
    Packed,
    index_table,
    real,
    work,
)  # fmt: skip
from corekit_gvs.tangent import column, scatter
from corekit_gvs.vectors import add, apply, combine, compiled, cross, dot, get

__all__ = ["LengthDrive", "cable_length", "compute_tensions"]


@define(eq=False)
class LengthDrive:
    """A channel that winds up a cable or tendon.

    Attributes:
        channel: its input.
        stiffness: k [N/m].
        limit: T_max [N].
        rest: length at q = 0 [m].
    """

    channel: int
    stiffness: float
    limit: float
    rest: float = math.nan


@compiled
def cable_length(
    ints: IntArray, reals: Array, buffer: Array, q: Array, v: Array, channel: int, slope: Array
) -> float:
    """Return ℓ [m] of what a channel pulls and write B_q, shape (n,): (2), after a sweep with rows."""
    quadrature, pieces = index_table(ints, QUADRATURE, 4), index_table(ints, PIECES, 4)
    points, actuators = index_table(ints, POINTS, 3), index_table(ints, ACTUATORS, 2)
    strains, sections = real(ints, reals, STRAINS, 18), real(ints, reals, SECTIONS, 19)
    B, actions = real(ints, reals, BASES, 1).reshape(-1), real(ints, reals, ACTIONS, 7)
    scratch = work(ints, buffer, SCRATCH)
    x, wrench = scratch[:18], scratch[24:30]
    slope[:] = 0.0
    total = 0.0
    for i in range(len(quadrature)):
        point, piece = quadrature[i, 0], quadrature[i, 1]
        at, own, first = points[point, 0], pieces[piece, 1], pieces[piece, 3]
        for a in range(quadrature[i, 2], quadrature[i, 3]):
            if actuators[a, 0] != channel or actuators[a, 1] != THREAD:
                continue
            strain_at(strains[point], B, at, own, first, q, v, q[:0], x, 0)
            weight = sections[i, 0]
            total += weight * cable(x, actions[a], wrench)
            for r in range(6):
                for j in range(own):
                    slope[first + j] += weight * wrench[r] * B[at + r * own + j]
    tendons, ends, n = index_table(ints, TENDONS, 3), real(ints, reals, ENDS, 6), ints[SIZE]
    places, wide = work(ints, buffer, PLACES).reshape((-1, STATE)), work(ints, buffer, COLUMN)
    for i in range(len(tendons)):
        if tendons[i, 2] != channel:
            continue
        one, two = tendons[i, 0], tendons[i, 1]
        near, far = wide[: 6 * n].reshape((6, n)), wide[6 * n : 12 * n].reshape((6, n))
        scatter(ints, buffer, one, near)
        scatter(ints, buffer, two, far)
        arm, other = apply(places[one], 0, get(ends[i], 0)), apply(places[two], 0, get(ends[i], 3))
        chord = combine(1.0, add(get(places[two], 9), other), -1.0, add(get(places[one], 9), arm))
        length = math.sqrt(dot(chord, chord))
        total += length
        for k in range(n):
            start = add(column(near, 3, k), cross(column(near, 0, k), arm))
            end = add(column(far, 3, k), cross(column(far, 0, k), other))
            slope[k] += (dot(chord, end) - dot(chord, start)) / length
    return total


def compute_tensions(
    drives: Sequence[LengthDrive],
    packed: Packed,
    q: Array,
    v: Array,
    inputs: Array,
    slope: Array,
    stiffness: Array,
) -> Array:
    """Return the inputs with tensions in place of lengths; write B_q, (drives, n), and ∂T/∂ℓ, (drives,)."""
    out = inputs.copy()
    for i, drive in enumerate(drives):
        length = cable_length(*packed, q, v, drive.channel, slope[i]) - drive.rest
        out[drive.channel], stiffness[i] = cable_tension(
            length + inputs[drive.channel], drive.stiffness, drive.limit
        )
    return out
