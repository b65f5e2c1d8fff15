"""J̇ and J̈ of all nodes along a motion, from which the slopes of its velocities and accelerations follow.

Let V be a node's velocity and J_k its displacement by q_k, both as twists about one fixed point O in world axes. As
mixed derivatives commute,

    ∂V/∂q_k = J̇_k + [J_k, V],   ∂V̇/∂q_k = J̈_k + [J̇_k, V] + [J_k, V̇],   ∂V/∂q̇_k = J_k,   ∂V̇/∂q̇_k = 2·J̇_k + [J_k, V]   (1)

so that no slope has to be carried along. About O nothing has to be moved from node to node either: a step adds
S = Ad·T·Z to J, with (R, p), V and V̇ of the node before it and Ad = [[R, 0], [r̃·R, R]], r = p − O. In time

    X = Ad·T,   Ẋ = Ad·Ṫ + [V, X],   Ẍ = Ad·T̈ + [V, Ad·Ṫ + Ẋ] + [V̇, X]                                     (2)
    S = X·Z,    Ṡ = Ẋ·Z + X·Ż,       S̈ = Ẍ·Z + 2·Ẋ·Ż + X·Z̈                                               (3)

Rigid levers add nothing. All operators of (2) have the form [[P, 0], [Q, P]] and stand as P and Q, nine numbers each.
Rows of JACOBIAN_RATES, one column a velocity: J̇_ω, J̇_v, J̈_ω, J̈_v, three each, about O.

Source: the identity is that of Maurer and Cartan; recursions after Mathew and Renda (2024), "Analytical derivatives of
strain-based dynamic model for hybrid soft-rigid robots".
"""

from __future__ import annotations

import math

from corekit.data.arrays import Array, IntArray
from corekit_gvs.exponential import AT_POINTS, SECOND, SERIES, WIDTH, operators
from corekit_gvs.forward_recursion import commutator
from corekit_gvs.tables import (
    BASES,
    BASIS_SIZE,
    CHART,
    COLUMN,
    FIXED,
    JACOBIAN_RATES,
    MIDPOINT,
    NODES,
    PIECES,
    PLACES,
    POINTS,
    RATE_ROWS,
    RELATIVE,
    ROOT,
    SCRATCH,
    STATE,
    STEPS,
    ZETAS,
    index_table,
    real,
    work,
)  # fmt: skip
from corekit_gvs.vectors import Vector, add, add_crossed, combine, compiled, cross, get, inner, multiply

__all__ = ["jacobian_rates", "pole"]


@inner
def pole(places: Array, last: int) -> Vector:
    """O: a node in the middle, so that levers are no longer than the robot."""
    return get(places[last // 2], 9)


@inner
def add_bracket(w: Vector, l: Vector, source: Array, at: int, out: Array, to: int) -> None:  # noqa: E741
    """out += [(w; l), X] for an operator X of (2)."""
    add_crossed(w, source, at, out, to)
    add_crossed(w, source, at + 9, out, to + 9)
    add_crossed(l, source, at, out, to + 9)


@inner
def step_operators(before: Array, O: Vector, rel: Array, out: Array) -> None:  # noqa: E741 - the note's letter
    """Write X, Ẋ and Ẍ of (2), 18 numbers each, of a step whose T, Ṫ and T̈ stand in `rel`."""
    omega, v, alpha = get(before, 12), get(before, 15), get(before, 18)
    r = combine(1.0, get(before, 9), -1.0, O)
    speed = combine(1.0, v, -1.0, cross(omega, r))
    push = combine(1.0, get(before, 21), -1.0, add(cross(omega, v), cross(alpha, r)))
    for at in range(0, 54, 18):
        multiply(before, 0, rel, at, out, at)
        multiply(before, 0, rel, at + 9, out, at + 9)
        add_crossed(r, out, at, out, at + 9)
    add_bracket(omega, speed, out, 18, out, 36)
    add_bracket(omega, speed, out, 0, out, 18)
    add_bracket(omega, speed, out, 18, out, 36)
    add_bracket(alpha, push, out, 0, out, 36)


@inner
def add_mapped(X: Array, at: int, Z: Array, factor: float, out: Array, row: int, start: int) -> None:
    """out[row:row + 6, start:] += factor·X·Z for an operator X of (2)."""
    for r in range(3):
        a0, a1, a2 = factor * X[at + 3 * r], factor * X[at + 3 * r + 1], factor * X[at + 3 * r + 2]
        b0, b1, b2 = factor * X[at + 9 + 3 * r], factor * X[at + 10 + 3 * r], factor * X[at + 11 + 3 * r]
        upper, lower = out[row + r, start:], out[row + 3 + r, start:]
        for k in range(Z.shape[1]):
            upper[k] += a0 * Z[0, k] + a1 * Z[1, k] + a2 * Z[2, k]
            lower[k] += (
                b0 * Z[0, k] + b1 * Z[1, k] + b2 * Z[2, k] + a0 * Z[3, k] + a1 * Z[4, k] + a2 * Z[5, k]
            )


@inner
def zeta_rates(
    h: float, kind: int, x: Array, B: Array, one: int, two: int, size: int, own: int, dependent: bool,
    rate: Array, second: Array,
) -> None:  # fmt: skip
    """Write Ż and Z̈ along the motion; x holds ξ, ξ̇, ξ̈ of one or two points, 18 numbers each."""
    for k in range(6 * own):
        rate[k] = 0.0
        second[k] = 0.0
    term_factors = h if kind == MIDPOINT else 0.5 * h
    if dependent:
        for k in range(6 * own):
            rate[k] = term_factors * B[size + one + k]
            second[k] = term_factors * B[2 * size + one + k]
            if kind != MIDPOINT:
                rate[k] += term_factors * B[size + two + k]
                second[k] += term_factors * B[2 * size + two + k]
    if kind == MIDPOINT:
        return
    beta = math.sqrt(3.0) * h * h / 12.0
    for target, strain, shift, factor in (
        (0, 6, 0, 1.0),
        (1, 12, 0, 1.0),
        (0, 0, 1, 1.0),
        (1, 6, 1, 2.0),
        (1, 0, 2, 1.0),
    ):
        # an independent basis does not change, but its strain does
        if shift > 0 and not dependent:
            break
        out = rate if target == 0 else second
        commutator(beta * factor, x, strain, strain + 18, B, shift * size + one, shift * size + two, own, out)


@compiled
def jacobian_rates(ints: IntArray, reals: Array, buffer: Array, last: int) -> None:
    """Write JACOBIAN_RATES of the first `last` nodes, after a sweep with rows over them at q̈."""
    nodes, pieces, points = (
        index_table(ints, NODES, 8),
        index_table(ints, PIECES, 4),
        index_table(ints, POINTS, 3),
    )
    steps = real(ints, reals, STEPS, 13)
    B, size = real(ints, reals, BASES, 1).reshape(-1), ints[BASIS_SIZE]
    places, relative = work(ints, buffer, PLACES).reshape((-1, STATE)), work(ints, buffer, RELATIVE)
    zetas, columns, rows = (
        work(ints, buffer, ZETAS),
        work(ints, buffer, COLUMN),
        work(ints, buffer, JACOBIAN_RATES),
    )
    X, O = work(ints, buffer, SCRATCH)[:54], pole(places, last)  # noqa: E741
    for i in range(last):
        kind, active, own = nodes[i, 2], pieces[nodes[i, 1], 0], pieces[nodes[i, 1], 1]
        if kind == ROOT:
            continue
        parent, at = nodes[i, 0], RATE_ROWS * nodes[i, 4]
        up, width = RATE_ROWS * nodes[parent, 4], pieces[nodes[parent, 1], 0]
        out = rows[at : at + RATE_ROWS * active].reshape((RATE_ROWS, active))
        above = rows[up : up + RATE_ROWS * width].reshape((RATE_ROWS, width))
        for r in range(RATE_ROWS):
            for k in range(width):
                out[r, k] = above[r, k]
            for k in range(width, active):
                out[r, k] = 0.0
        if kind in (FIXED, CHART):
            continue
        h, point, rel = steps[i, 0], nodes[i, 3], relative[WIDTH * i : WIDTH * (i + 1)]
        one, two = points[point, 0], points[point, 0]
        if kind != MIDPOINT:
            two = points[point + 1, 0]
        operators(
            get(rel, 66), get(rel, 69), get(rel, 72), get(rel, 75), get(rel, 78), get(rel, 81), SECOND, rel[SERIES:],
            rel,
        )  # fmt: skip
        step_operators(places[parent], O, rel, X)
        Z, start = zetas[6 * nodes[i, 6] : 6 * (nodes[i, 6] + own)].reshape((6, own)), active - own
        add_mapped(X, 18, Z, 1.0, out, 0, start)
        add_mapped(X, 36, Z, 1.0, out, 6, start)
        dependent = points[point, 2] >= 0
        if kind == MIDPOINT and not dependent:
            continue
        rate, second = columns[: 6 * own], columns[6 * own : 12 * own]
        zeta_rates(h, kind, rel[AT_POINTS:SERIES], B, one, two, size, own, dependent, rate, second)
        add_mapped(X, 0, rate.reshape((6, own)), 1.0, out, 0, start)
        add_mapped(X, 18, rate.reshape((6, own)), 2.0, out, 6, start)
        add_mapped(X, 0, second.reshape((6, own)), 1.0, out, 6, start)
