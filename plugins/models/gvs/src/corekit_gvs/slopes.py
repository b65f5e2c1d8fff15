"""How a sweep's velocities and bias change with q and q̇: exact, column by column along with the sweep.

Let S = T·Z, so that the relative velocity of a step is y = S·q̇ in its start frame. As mixed derivatives commute,

    ∂y/∂q_k = Ṡ_k + [S_k, y],   ∂ẏ/∂q_k = S̈_k + [Ṡ_k, y] + [S_k, ẏ],   ∂y/∂q̇ = S,   ∂ẏ/∂q̇ = Ṡ + ∂y/∂q      (1)
    d_k = S_v + S_w × d,   ∂e/∂q_k = y_v,k + y_w,k × d + y_w × d_k,   ∂e/∂q̇ = d_k,   ∂ė/∂q̇ = 2·∂e/∂q       (2)

with Ṡ = Ṫ·Z + T·Ż, S̈ = T̈·Z + 2Ṫ·Ż + T·Z̈. A column turns everything after it: ∂(R·x)/∂q_k = J_ω,k × R·x + R·∂x/∂q_k.
Then (2) and (3) of `sweep` are differentiated term by term. Rows of SLOPE_ROWS, one column a velocity:

    ∂ω/∂q, ∂v/∂q, ∂α/∂q, ∂a/∂q, ∂α/∂q̇, ∂a/∂q̇   (three each; ∂ω/∂q̇ = J_ω, ∂v/∂q̇ = J_v)

Source: the identity is that of Maurer and Cartan; recursions after Mathew and Renda (2024), "Analytical derivatives of
strain-based dynamic model for hybrid soft-rigid robots".
"""

from __future__ import annotations

import math

from corekit.data.arrays import Array, IntArray
from corekit_gvs.exponential import AT_POINTS, QD, SECOND, SERIES, SHIFT, T3, T3D, WIDTH, Q, operators
from corekit_gvs.sweep import commutator
from corekit_gvs.tables import (
    BASES,
    BASIS_SIZE,
    CHART,
    COLUMN,
    FIXED,
    JACOBIANS,
    MIDPOINT,
    NODES,
    PIECES,
    PLACES,
    POINTS,
    RELATIVE,
    ROOT,
    SIZE,
    SLOPE_ROWS,
    SLOPES_OF_STATE,
    STATE,
    STEPS,
    ZETAS,
    real,
    whole,
    work,
)  # fmt: skip
from corekit_gvs.vectors import Vector, add, apply, combine, compiled, cross, get, inner

__all__ = ["slopes"]


@inner
def add_blocks(P: Array, at: int, Z: Array, S: Array, factor: float) -> None:
    """S += factor·[[P₃, 0], [P_Q, P₃]]·Z for two blocks of `rel`, nine numbers each."""
    for r in range(3):
        a0, a1, a2 = factor * P[at + 3 * r], factor * P[at + 3 * r + 1], factor * P[at + 3 * r + 2]
        b0, b1, b2 = factor * P[at + 9 + 3 * r], factor * P[at + 10 + 3 * r], factor * P[at + 11 + 3 * r]
        for k in range(Z.shape[1]):
            S[r, k] += a0 * Z[0, k] + a1 * Z[1, k] + a2 * Z[2, k]
            S[3 + r, k] += (
                b0 * Z[0, k] + b1 * Z[1, k] + b2 * Z[2, k] + a0 * Z[3, k] + a1 * Z[4, k] + a2 * Z[5, k]
            )


@inner
def add_bracket(S: Array, w: Vector, l: Vector, out: Array) -> None:  # noqa: E741
    """out += [S, (w; l)]."""
    w0, w1, w2 = w
    l0, l1, l2 = l
    for k in range(S.shape[1]):
        a0, a1, a2, b0, b1, b2 = S[0, k], S[1, k], S[2, k], S[3, k], S[4, k], S[5, k]
        out[0, k] += a1 * w2 - a2 * w1
        out[1, k] += a2 * w0 - a0 * w2
        out[2, k] += a0 * w1 - a1 * w0
        out[3, k] += b1 * w2 - b2 * w1 + a1 * l2 - a2 * l1
        out[4, k] += b2 * w0 - b0 * w2 + a2 * l0 - a0 * l2
        out[5, k] += b0 * w1 - b1 * w0 + a0 * l1 - a1 * l0


@inner
def add_swept(x: Array, i: int, w: Vector, out: Array, o: int, sign: float) -> None:
    """out[o:o+3] += sign·x[i:i+3] × w, column by column."""
    w0, w1, w2 = sign * w[0], sign * w[1], sign * w[2]
    for k in range(x.shape[1]):
        a, b, c = x[i, k], x[i + 1, k], x[i + 2, k]
        out[o, k] += b * w2 - c * w1
        out[o + 1, k] += c * w0 - a * w2
        out[o + 2, k] += a * w1 - b * w0


@inner
def turn_rows(R: Array, x: Array, i: int, out: Array, o: int) -> None:
    """out[o:o+3] = R·x[i:i+3], column by column."""
    for r in range(3):
        a, b, c = R[3 * r], R[3 * r + 1], R[3 * r + 2]
        for k in range(x.shape[1]):
            out[o + r, k] = a * x[i, k] + b * x[i + 1, k] + c * x[i + 2, k]


@inner
def zeta_rates(
    h: float, kind: int, x: Array, B: Array, one: int, two: int, size: int, own: int, dependent: bool,
    rate: Array, second: Array,
) -> None:  # fmt: skip
    """Write Ż and Z̈ along the motion; x holds ξ, ξ̇, ξ̈ of one or two points, 18 numbers each."""
    for k in range(6 * own):
        rate[k] = 0.0
        second[k] = 0.0
    share = h if kind == MIDPOINT else 0.5 * h
    if dependent:
        for k in range(6 * own):
            rate[k] = share * B[size + one + k]
            second[k] = share * B[2 * size + one + k]
            if kind != MIDPOINT:
                rate[k] += share * B[size + two + k]
                second[k] += share * B[2 * size + two + k]
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


@inner
def local_slopes(rel: Array, sources: Array, out: Array) -> None:
    """Write, in the start frame, rows of (1), (2): S 0–5, ∂y/∂q 6–11, ∂ẏ/∂q 12–17, ∂ẏ/∂q̇ 18–23, d_k 24–26,
    ∂e/∂q 27–29, ∂ė/∂q 30–32; `sources` are Z, Ż, Z̈, (3, 6, own).
    """
    S, y, yd, rates, own = out[0:6], out[6:12], out[12:18], out[18:24], out.shape[1]
    u, m, w, n, d = get(rel, 72), get(rel, 75), get(rel, 78), get(rel, 81), get(rel, SHIFT)
    y_w = apply(rel, T3, u)
    y_v = add(apply(rel, Q, u), apply(rel, T3, m))
    z_w = add(apply(rel, T3D, u), apply(rel, T3, w))
    z_v = add(add(apply(rel, QD, u), apply(rel, T3D, m)), add(apply(rel, Q, w), apply(rel, T3, n)))
    e = add(y_v, cross(y_w, d))
    # S = T·Z, Ṡ = Ṫ·Z + T·Ż, S̈ = T̈·Z + 2Ṫ·Ż + T·Z̈; one call in a loop compiles faster than six
    out[:24] = 0.0
    for blocks, source, target, factor in (
        (0, 0, 0, 1.0), (1, 0, 1, 1.0), (0, 1, 1, 1.0), (2, 0, 2, 1.0), (1, 1, 2, 2.0), (0, 2, 2, 1.0),
    ):  # fmt: skip
        add_blocks(rel, 18 * blocks, sources[source], out[6 * target : 6 * target + 6], factor)
    for r in range(6):
        for k in range(own):
            rates[r, k] = y[r, k]
    for source, target, w, l in ((6, 12, y_w, y_v), (0, 12, z_w, z_v), (0, 6, y_w, y_v)):  # noqa: E741
        add_bracket(out[source : source + 6], w, l, out[target : target + 6])
    for r in range(6):
        for k in range(own):
            rates[r, k] += y[r, k]
    for r in range(3):
        for k in range(own):
            out[24 + r, k], out[27 + r, k], out[30 + r, k] = S[3 + r, k], y[3 + r, k], yd[3 + r, k]
    for source, target, arm, sign in (
        (0, 24, d, 1.0), (6, 27, d, 1.0), (24, 27, y_w, -1.0), (12, 30, d, 1.0), (24, 30, z_w, -1.0), (6, 30, e, 1.0),
        (27, 30, y_w, -1.0),
    ):  # fmt: skip
        add_swept(out, source, arm, out, target, sign)


@inner
def move_slopes(up: Array, J: Array, width: int, before: Array, D: Vector, out: Array) -> None:
    """Carry the rows of a node over a rigid lever D that turns with it: (2), (3) of `sweep` with y = e = 0."""
    omega, alpha = get(before, 12), get(before, 18)
    swept = cross(omega, D)
    for r in range(SLOPES_OF_STATE):
        for k in range(width):
            out[r, k] = up[r, k]
        for k in range(width, out.shape[1]):
            out[r, k] = 0.0
    head, above, arm = out[:, :width], J[:, :width], up[:, :width]
    # ∂D = J_ω × D
    for k in range(width):
        t0, t1, t2 = above[0, k], above[1, k], above[2, k]
        moved = cross((t0, t1, t2), D)
        w = (arm[0, k], arm[1, k], arm[2, k])
        a = (arm[6, k], arm[7, k], arm[8, k])
        b = (arm[12, k], arm[13, k], arm[14, k])
        spin = add(cross(w, D), cross(omega, moved))
        bias = add(add(cross(a, D), cross(alpha, moved)), add(cross(w, swept), cross(omega, spin)))
        rate = cross((t0, t1, t2), D)
        other = add(cross(b, D), add(cross((t0, t1, t2), swept), cross(omega, rate)))
        for r in range(3):
            head[3 + r, k] += spin[r]
            head[9 + r, k] += bias[r]
            head[15 + r, k] += other[r]


@inner
def add_step_slopes(
    before: Array, J: Array, up: Array, rel: Array, local: Array, start: int, out: Array, wide: Array
) -> None:
    """Add what a step's own motion does: J is that of the node before, `local` the rows of `local_slopes`."""
    omega = get(before, 12)
    alpha = get(before, 18)
    u, m, w, n, d = get(rel, 72), get(rel, 75), get(rel, 78), get(rel, 81), get(rel, SHIFT)
    y_w = apply(rel, T3, u)
    y_v = add(apply(rel, Q, u), apply(rel, T3, m))
    z_w = add(apply(rel, T3D, u), apply(rel, T3, w))
    z_v = add(add(apply(rel, QD, u), apply(rel, T3D, m)), add(apply(rel, Q, w), apply(rel, T3, n)))
    e = add(y_v, cross(y_w, d))
    e_dot = add(z_v, add(cross(z_w, d), cross(y_w, e)))
    turning, moving = apply(before, 0, y_w), apply(before, 0, e)
    spinning, pushing = apply(before, 0, z_w), apply(before, 0, e_dot)
    # columns of the nodes before: everything of the step turns with them
    for k in range(J.shape[1]):
        t = (J[0, k], J[1, k], J[2, k])
        w_k = (up[0, k], up[1, k], up[2, k])
        turn_k, move_k = cross(t, turning), cross(t, moving)
        spin_k = add(add(cross(w_k, turning), cross(omega, turn_k)), cross(t, spinning))
        twice = add(cross(w_k, moving), cross(omega, move_k))
        push_k = add(combine(2.0, twice, 1.0, cross(t, pushing)), (0.0, 0.0, 0.0))
        fast, faster = cross(t, turning), cross(t, moving)
        for r in range(3):
            out[r, k] += turn_k[r]
            out[3 + r, k] += move_k[r]
            out[6 + r, k] += spin_k[r]
            out[9 + r, k] += push_k[r]
            out[12 + r, k] += fast[r]
            out[15 + r, k] += 2.0 * faster[r]
    # the step's own columns
    for r, to in ((6, 0), (27, 3), (12, 6), (30, 9), (0, 12), (24, 15), (18, 18)):
        turn_rows(before, local, r, wide, to)
    for k in range(local.shape[1]):
        c = start + k
        turn_k, move_k = (wide[0, k], wide[1, k], wide[2, k]), (wide[3, k], wide[4, k], wide[5, k])
        s_k, d_k = (wide[12, k], wide[13, k], wide[14, k]), (wide[15, k], wide[16, k], wide[17, k])
        spin = cross(omega, turn_k)
        lever = cross(omega, d_k)
        bias = add(
            add(cross(alpha, d_k), cross(omega, lever)), combine(2.0, cross(omega, move_k), 0.0, lever)
        )
        fast = cross(omega, s_k)
        for r in range(3):
            out[r, c] += turn_k[r]
            out[3 + r, c] += move_k[r] + lever[r]
            out[6 + r, c] += spin[r] + wide[6 + r, k]
            out[9 + r, c] += bias[r] + wide[9 + r, k]
            out[12 + r, c] += fast[r] + wide[18 + r, k]
            out[15 + r, c] += 2.0 * lever[r] + 2.0 * move_k[r]


@compiled
def slopes(
    ints: IntArray, reals: Array, buffer: Array, aux: Array, last: int
) -> None:  # fmt: skip
    """Write SLOPE_ROWS of the first `last` nodes, after a sweep with rows over them at q̈."""
    nodes, pieces, points = whole(ints, NODES, 8), whole(ints, PIECES, 4), whole(ints, POINTS, 3)
    steps = real(ints, reals, STEPS, 13)
    B = real(ints, reals, BASES, 1).reshape(-1)
    places, jacobians = work(ints, buffer, PLACES).reshape((-1, STATE)), work(ints, buffer, JACOBIANS)
    relative = work(ints, buffer, RELATIVE).reshape((-1, WIDTH))
    zetas, columns = work(ints, buffer, ZETAS), work(ints, buffer, COLUMN)
    rows = work(ints, buffer, SLOPE_ROWS)
    n, size = ints[SIZE], ints[BASIS_SIZE]
    for i in range(last):
        kind, piece = nodes[i, 2], nodes[i, 1]
        active, own = pieces[piece, 0], pieces[piece, 1]
        out = rows[SLOPES_OF_STATE * nodes[i, 4] : SLOPES_OF_STATE * (nodes[i, 4] + active)].reshape(
            (SLOPES_OF_STATE, active)
        )
        if kind == ROOT:
            continue
        parent = nodes[i, 0]
        before, at, width = places[parent], nodes[parent, 4], pieces[nodes[parent, 1], 0]
        J = jacobians[6 * at : 6 * (at + width)].reshape((6, width))
        up = rows[SLOPES_OF_STATE * at : SLOPES_OF_STATE * (at + width)].reshape((SLOPES_OF_STATE, width))
        if kind in (FIXED, CHART):
            lever = get(steps[i], 10) if kind == FIXED else get(aux, nodes[i, 5] + 9)
            move_slopes(up, J, width, before, apply(before, 0, lever), out)
            continue
        h, point, rel = steps[i, 0], nodes[i, 3], relative[i]
        move_slopes(up, J, width, before, apply(before, 0, get(rel, SHIFT)), out)
        one, two = points[point, 0], points[point, 0]
        if kind != MIDPOINT:
            two = points[point + 1, 0]
        x, c = rel[AT_POINTS:SERIES], rel[SERIES:]
        operators(
            get(rel, 66), get(rel, 69), get(rel, 72), get(rel, 75), get(rel, 78), get(rel, 81), SECOND, c, rel
        )
        sources = columns[: 18 * own]
        rate, second = sources[6 * own : 12 * own], sources[12 * own :]
        zeta_rates(h, kind, x, B, one, two, size, own, points[point, 2] >= 0, rate, second)
        local = rows_of(columns, 18 * n, 33, own)
        sources[: 6 * own] = zetas[6 * nodes[i, 6] : 6 * (nodes[i, 6] + own)]
        local_slopes(rel, sources.reshape((3, 6, own)), local)
        add_step_slopes(before, J, up, rel, local, active - own, out, rows_of(columns, 51 * n, 21, own))


@inner
def rows_of(columns: Array, at: int, count: int, own: int) -> Array:
    """A part of the columns' scratch as (count, own)."""
    return columns[at : at + count * own].reshape((count, own))
