"""How inertia and drag of all bodies change with q and q̇: Σ Jᵀ·∂F.

With V = (ω; v) and V̇ = (α; b), b = a − ω × v, about the body's origin, Î, Â, D̂ and L̂ of `forces` in world axes,

    F = (m; f),   m = Î·α + ω × Î·ω + v × Â·v + |v|·D̂·ω,   f = Â·b + ω × Â·v + |v|·L̂·v                     (1)

moves and turns with the body, so that by (1) of `jacobian_rates`, moments about the moving origin,

    ∂F/∂q_k = J_ω,k × F + I·J̈_k + B·J̇_k,   ∂F/∂q̇_k = 2·I·J̇_k + B·J_k,   B·x = ∂F/∂V·x − I·[V, x]             (2)

I = diag(Î, Â), and with l_ω = Î·ω, l_v = Â·v, the blocks of B are

    B_ωω = ω̃·Î − Î·ω̃ − l̃_ω + |v|·D̂,   B_ωv = ṽ·Â − l̃_v + D̂·ω·vᵀ/|v|                                     (3)
    B_vω = −Â·ṽ − l̃_v,                 B_vv = ω̃·Â − Â·ω̃ + |v|·L̂ + L̂·v·vᵀ/|v|

J̇ and J̈ are moved here from the pole O to the body: J̇_v + J̇_ω × r.
"""

from __future__ import annotations

import math

from corekit.data.arrays import Array, IntArray
from corekit_gvs.forces import add_product, body_matrices, flush
from corekit_gvs.jacobian_rates import pole
from corekit_gvs.tables import (
    BODIES,
    COLUMN,
    COLUMNS,
    FULL,
    JACOBIAN_RATES,
    JACOBIANS,
    MASSES,
    NODES,
    PIECES,
    PLACES,
    RATE_ROWS,
    SCRATCH,
    SIZE,
    STATE,
    index_table,
    real,
    work,
)  # fmt: skip
from corekit_gvs.vectors import (
    Vector,
    add,
    add_crossed,
    add_rows,
    apply,
    combine,
    cross,
    dot,
    get,
    inner,
    subtract_skew,
)

__all__ = ["add_bodies"]


@inner
def subtract_after(source: Array, at: int, x: Vector, out: Array, to: int) -> None:
    """out −= X·x̃ for a matrix X of nine numbers."""
    for r in range(0, 9, 3):
        a, b, c = source[at + r], source[at + r + 1], source[at + r + 2]
        out[to + r] -= b * x[2] - c * x[1]
        out[to + r + 1] -= c * x[0] - a * x[2]
        out[to + r + 2] -= a * x[1] - b * x[0]


@inner
def add_outer(factor: float, x: Vector, y: Vector, out: Array, to: int) -> None:
    """out += factor·x·yᵀ."""
    for r in range(3):
        for c in range(3):
            out[to + 3 * r + c] += factor * x[r] * y[c]


@inner
def body_slopes(place: Array, m: Array, B: Array, turn: Array) -> None:
    """Write the four blocks of (3), and −m̃, −f̃ of (1) into `turn`, from matrices of `body_matrices`."""
    omega, v = get(place, 12), get(place, 15)
    spin, flow, speed = apply(m, 0, omega), apply(m, 9, v), math.sqrt(dot(v, v))
    b = combine(1.0, get(place, 21), -1.0, cross(omega, v))
    moment = add(apply(m, 0, get(place, 18)), add(cross(omega, spin), cross(v, flow)))
    force = add(apply(m, 9, b), cross(omega, flow))
    B[:36] = 0.0
    turn[:18] = 0.0
    add_crossed(omega, m, 0, B, 0)
    subtract_after(m, 0, omega, B, 0)
    subtract_skew(B, 0, spin)
    add_crossed(v, m, 9, B, 9)
    subtract_skew(B, 9, flow)
    subtract_after(m, 9, v, B, 18)
    subtract_skew(B, 18, flow)
    add_crossed(omega, m, 9, B, 27)
    subtract_after(m, 9, omega, B, 27)
    if speed > 0.0:
        drag, resist = apply(m, 18, omega), apply(m, 27, v)
        moment, force = combine(1.0, moment, speed, drag), combine(1.0, force, speed, resist)
        for j in range(9):
            B[j] += speed * m[18 + j]
            B[27 + j] += speed * m[27 + j]
        add_outer(1.0 / speed, drag, v, B, 9)
        add_outer(1.0 / speed, resist, v, B, 27)
    subtract_skew(turn, 0, moment)
    subtract_skew(turn, 9, force)


@inner
def moved_rows(x: Array, i: int, r: Vector, out: Array, to: int) -> None:
    """out[to:to + 3] = x_v + x_ω × r, column by column; x_ω in rows i to i + 2, x_v in the next three."""
    r0, r1, r2 = r
    for k in range(x.shape[1]):
        out[to, k] = x[i + 3, k] + x[i + 1, k] * r2 - x[i + 2, k] * r1
        out[to + 1, k] = x[i + 4, k] + x[i + 2, k] * r0 - x[i, k] * r2
        out[to + 2, k] = x[i + 5, k] + x[i, k] * r1 - x[i + 1, k] * r0


@inner
def add_bodies(
    ints: IntArray, reals: Array, buffer: Array, last: int, stiffness: Array, damping: Array
) -> None:
    """Add Jᵀ·∂F of all bodies to K and D, after `jacobian_rates`."""
    nodes, pieces, masses = (
        index_table(ints, NODES, 8),
        index_table(ints, PIECES, 4),
        index_table(ints, MASSES, 1).reshape(-1),
    )
    columns, bodies = index_table(ints, COLUMNS, 1).reshape(-1), real(ints, reals, BODIES, 25)
    places, jacobians = work(ints, buffer, PLACES).reshape((-1, STATE)), work(ints, buffer, JACOBIANS)
    rows, full, wide = (
        work(ints, buffer, JACOBIAN_RATES),
        work(ints, buffer, FULL),
        work(ints, buffer, COLUMN),
    )
    scratch, n = work(ints, buffer, SCRATCH), ints[SIZE]
    B, turn, m = scratch[:36], scratch[36:54], scratch[100:136]
    O = pole(places, last)  # noqa: E741 - the note's letter
    for i in range(len(masses)):
        node = masses[i]
        piece, at = nodes[node, 1], nodes[node, 4]
        active, start = pieces[piece, 0], pieces[piece, 2]
        J = jacobians[6 * at : 6 * (at + active)].reshape((6, active))
        rates = rows[RATE_ROWS * at : RATE_ROWS * (at + active)].reshape((RATE_ROWS, active))
        body_matrices(places[node], bodies[i], m)
        body_slopes(places[node], m, B, turn)
        in_q = full[: active * active].reshape((active, active))
        in_v = full[n * n : n * n + active * active].reshape((active, active))
        if i == 0 or nodes[masses[i - 1], 1] != piece:
            in_q[:] = 0.0
            in_v[:] = 0.0
        in_time = wide[: 6 * active].reshape((6, active))
        of_q = wide[6 * active : 12 * active].reshape((6, active))
        of_v = wide[12 * active : 18 * active].reshape((6, active))
        lever = combine(1.0, get(places[node], 9), -1.0, O)
        moved_rows(rates, 0, lever, in_time, 0)
        moved_rows(rates, 6, lever, in_time, 3)
        wide[6 * active : 18 * active] = 0.0
        for block in range(4):
            to, of = 3 * (block // 2), 3 * (block % 2)
            add_rows(1.0, B, 9 * block, J, of, of_v, to)
            if of == 0:
                add_rows(1.0, B, 9 * block, rates, 0, of_q, to)
            else:
                add_rows(1.0, B, 9 * block, in_time, 0, of_q, to)
        add_rows(1.0, m, 0, rates, 6, of_q, 0)
        add_rows(1.0, m, 9, in_time, 3, of_q, 3)
        add_rows(2.0, m, 0, rates, 0, of_v, 0)
        add_rows(2.0, m, 9, in_time, 0, of_v, 3)
        add_rows(1.0, turn, 0, J, 0, of_q, 0)
        add_rows(1.0, turn, 9, J, 0, of_q, 3)
        add_product(J, of_q, in_q, False)
        add_product(J, of_v, in_v, False)
        if i == len(masses) - 1 or nodes[masses[i + 1], 1] != piece:
            flush(in_q, columns[start : start + active], False, stiffness)
            flush(in_v, columns[start : start + active], False, damping)
