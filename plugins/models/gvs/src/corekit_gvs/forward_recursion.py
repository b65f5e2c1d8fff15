"""One sweep over all computational points: poses, velocities, Jacobians and bias, from (q, q̇, t).

World axes, each node about its own origin p, R its axes. From a node to the next, with (E, d) = exp(Ω^), the relative
velocity (y_w, y_v) = T·Ω̇ in the first one's axes, e = ḋ = y_v + y_w × d, D = R·d:

    Ω = (h/2)·(ξ₁ + ξ₂) + β·[ξ₁, ξ₂],   Z = (h/2)·(B₁ + B₂) + β·(ad_ξ₁·B₂ − ad_ξ₂·B₁),   β = √3·h²/12        (1)
    R⁺ = R·E,   p⁺ = p + D,   ω⁺ = ω + R·y_w,   v⁺ = v + ω × D + R·e                                         (2)
    α⁺ = α + ω × R·y_w + R·ẏ_w,   a⁺ = a + α × D + ω × (ω × D) + 2ω × R·e + R·ė                              (3)
    J_ω⁺ = J_ω + R·T₃·Z_w,   J_v⁺ = J_v + J_ω × D + R·((Q − d̃·T₃)·Z_w + T₃·Z_v)                              (4)

α, a are what ω̇, v̇ are at a given q̈ (none: 0), with ξ̈ = B·q̈ + ẍ₀. ξ_i = ξ(X_i) at the two Zanna points,
ξ = x₀ + B·q with x₀ and B from the tables: for an independent basis x₀ = ξ* and B are constant,
for a dependent one B = b_q and x₀ = ξ* + b − b_q·q are written anew before the sweep, so both are one.
Joints are steps with h = 1 and one point.

Columns of J are the node's active ones: those of its ancestors, then its own piece's.

Source: Mathew et al. (2022); Hochbruck and Ostermann (2010), "Exponential integrators", for the Magnus expansion.
"""

from __future__ import annotations

import math

from corekit.data.arrays import Array, IntArray
from corekit_gvs.exponential import (
    AT_POINTS,
    QD,
    ROTATION,
    SERIES,
    SHIFT,
    SLOPES,
    T3,
    T3D,
    WIDTH,
    Q,
    exponential,
    operators,
)
from corekit_gvs.tables import (
    BASES,
    CHART,
    FIXED,
    JACOBIANS,
    MIDPOINT,
    NODES,
    PIECES,
    PLACES,
    POINTS,
    RELATIVE,
    ROOT,
    SCRATCH,
    STATE,
    STEPS,
    STRAINS,
    WORLD,
    ZETAS,
    index_table,
    real,
    work,
)  # fmt: skip
from corekit_gvs.vectors import Vector, add, apply, combine, compiled, cross, get, inner, multiply, store

__all__ = ["POSES", "RATES", "ROWS", "sweep"]

POSES, RATES, ROWS = 0, 1, 2
"""How much a sweep works out: poses; velocities and bias too; J too."""


@inner
def strain_at(
    x: Array, B: Array, at: int, own: int, first: int, q: Array, v: Array, w: Array, out: Array, place: int
) -> None:  # fmt: skip
    """Write ξ, ξ̇ and ξ̈ of one point, six each; x its row of STRAINS, w = q̈, or empty for none."""
    for r in range(3):
        # two rows at once: a sum waits for itself
        value, rate, push, other, faster, harder = x[r], x[6 + r], x[12 + r], x[3 + r], x[9 + r], x[15 + r]
        row, below = at + r * own, at + (r + 3) * own
        if len(w):
            for j in range(own):
                b, c, q_j, v_j, w_j = B[row + j], B[below + j], q[first + j], v[first + j], w[first + j]
                value += b * q_j
                rate += b * v_j
                push += b * w_j
                other += c * q_j
                faster += c * v_j
                harder += c * w_j
        else:
            for j in range(own):
                b, c, q_j, v_j = B[row + j], B[below + j], q[first + j], v[first + j]
                value += b * q_j
                rate += b * v_j
                other += c * q_j
                faster += c * v_j
        out[place + r] = value
        out[place + 3 + r] = other
        out[place + 6 + r] = rate
        out[place + 9 + r] = faster
        out[place + 12 + r] = push
        out[place + 15 + r] = harder


@inner
def bracket_linear(a: Array, i: int, b: Array, j: int) -> Vector:
    """Linear part of [a, b]."""
    return add(cross(get(a, i + 3), get(b, j)), cross(get(a, i), get(b, j + 3)))


@inner
def step_vectors(h: float, kind: int, s: Array, rel: Array, at: int) -> None:
    """Write Ω, Ω̇ and the bias of Ω̈ of (1) from ξ, ξ̇, ξ̈ at one or two points (18 numbers each) in s."""
    if kind == MIDPOINT:
        for r in range(18):
            rel[at + r] = h * s[r]
        return
    beta = math.sqrt(3.0) * h * h / 12.0
    for r in range(18):
        rel[at + r] = 0.5 * h * (s[r] + s[18 + r])
    o, u, w = at, at + 6, at + 12
    store(rel, o, combine(1.0, get(rel, o), beta, cross(get(s, 0), get(s, 18))))
    store(rel, o + 3, combine(1.0, get(rel, o + 3), beta, bracket_linear(s, 0, s, 18)))
    rate = add(cross(get(s, 6), get(s, 18)), cross(get(s, 0), get(s, 24)))
    store(rel, u, combine(1.0, get(rel, u), beta, rate))
    rate = add(bracket_linear(s, 6, s, 18), bracket_linear(s, 0, s, 24))
    store(rel, u + 3, combine(1.0, get(rel, u + 3), beta, rate))
    bias = add(add(cross(get(s, 12), get(s, 18)), cross(get(s, 0), get(s, 30))), cross(get(s, 6), get(s, 24)))
    store(rel, w, combine(1.0, get(rel, w), beta, add(bias, cross(get(s, 6), get(s, 24)))))
    bias = add(add(bracket_linear(s, 12, s, 18), bracket_linear(s, 0, s, 30)), bracket_linear(s, 6, s, 24))
    store(rel, w + 3, combine(1.0, get(rel, w + 3), beta, add(bias, bracket_linear(s, 6, s, 24))))


@inner
def commutator(
    factor: float, x: Array, i: int, j: int, B: Array, first: int, second: int, own: int, Z: Array
) -> None:  # fmt: skip
    """Add factor·(ad_x₁·B₂ − ad_x₂·B₁) to Z, with x₁, x₂ at places i, j of x and B₁, B₂ at `first`, `second` of B."""
    a0, a1, a2, a3, a4, a5 = x[i], x[i + 1], x[i + 2], x[i + 3], x[i + 4], x[i + 5]
    b0, b1, b2, b3, b4, b5 = x[j], x[j + 1], x[j + 2], x[j + 3], x[j + 4], x[j + 5]
    one, two = B[first : first + 6 * own].reshape((6, own)), B[second : second + 6 * own].reshape((6, own))
    out = Z.reshape((6, own))
    for k in range(own):
        p0, p1, p2, p3, p4, p5 = two[0, k], two[1, k], two[2, k], two[3, k], two[4, k], two[5, k]
        r0, r1, r2, r3, r4, r5 = one[0, k], one[1, k], one[2, k], one[3, k], one[4, k], one[5, k]
        out[0, k] += factor * (a1 * p2 - a2 * p1 - b1 * r2 + b2 * r1)
        out[1, k] += factor * (a2 * p0 - a0 * p2 - b2 * r0 + b0 * r2)
        out[2, k] += factor * (a0 * p1 - a1 * p0 - b0 * r1 + b1 * r0)
        out[3, k] += factor * (a4 * p2 - a5 * p1 + a1 * p5 - a2 * p4 - b4 * r2 + b5 * r1 - b1 * r5 + b2 * r4)
        out[4, k] += factor * (a5 * p0 - a3 * p2 + a2 * p3 - a0 * p5 - b5 * r0 + b3 * r2 - b2 * r3 + b0 * r5)
        out[5, k] += factor * (a3 * p1 - a4 * p0 + a0 * p4 - a1 * p3 - b3 * r1 + b4 * r0 - b0 * r4 + b1 * r3)


@inner
def step_columns(
    h: float, kind: int, x: Array, B: Array, first: int, second: int, own: int, Z: Array
) -> None:  # fmt: skip
    """Write Z of (1)."""
    if kind == MIDPOINT:
        for k in range(6 * own):
            Z[k] = h * B[first + k]
        return
    for k in range(6 * own):
        Z[k] = 0.5 * h * (B[first + k] + B[second + k])
    commutator(math.sqrt(3.0) * h * h / 12.0, x, 0, 18, B, first, second, own, Z)


@inner
def move_columns(J: Array, up: Array, width: int, D: Vector) -> None:
    """Write J of (4) as far as it stems from the node before; the remaining columns are zeroed."""
    d0, d1, d2 = D
    for k in range(width):
        r0, r1, r2 = up[0, k], up[1, k], up[2, k]
        J[0, k] = r0
        J[1, k] = r1
        J[2, k] = r2
        J[3, k] = up[3, k] + r1 * d2 - r2 * d1
        J[4, k] = up[4, k] + r2 * d0 - r0 * d2
        J[5, k] = up[5, k] + r0 * d1 - r1 * d0
    for r in range(6):
        for k in range(width, J.shape[1]):
            J[r, k] = 0.0


@inner
def add_columns(J: Array, start: int, Z: Array, P: Array, U: Array) -> None:
    """Add a step's own columns of (4): P = R·T₃, U = R·(Q − d̃·T₃)."""
    p0, p1, p2, p3, p4, p5, p6, p7, p8 = P[0], P[1], P[2], P[3], P[4], P[5], P[6], P[7], P[8]
    u0, u1, u2, u3, u4, u5, u6, u7, u8 = U[0], U[1], U[2], U[3], U[4], U[5], U[6], U[7], U[8]
    for k in range(Z.shape[1]):
        w0, w1, w2, l0, l1, l2 = Z[0, k], Z[1, k], Z[2, k], Z[3, k], Z[4, k], Z[5, k]
        J[0, start + k] += p0 * w0 + p1 * w1 + p2 * w2
        J[1, start + k] += p3 * w0 + p4 * w1 + p5 * w2
        J[2, start + k] += p6 * w0 + p7 * w1 + p8 * w2
        J[3, start + k] += u0 * w0 + u1 * w1 + u2 * w2 + p0 * l0 + p1 * l1 + p2 * l2
        J[4, start + k] += u3 * w0 + u4 * w1 + u5 * w2 + p3 * l0 + p4 * l1 + p5 * l2
        J[5, start + k] += u6 * w0 + u7 * w1 + u8 * w2 + p6 * l0 + p7 * l1 + p8 * l2


@inner
def end_operators(R: Array, rel: Array, P: Array, U: Array, scratch: Array) -> None:
    """Write P = R·T₃ and U = R·(Q − d̃·T₃)."""
    multiply(R, 0, rel, T3, P, 0)
    d0, d1, d2 = rel[SHIFT], rel[SHIFT + 1], rel[SHIFT + 2]
    for c in range(3):
        t0, t1, t2 = rel[T3 + c], rel[T3 + 3 + c], rel[T3 + 6 + c]
        scratch[c] = rel[Q + c] - (d1 * t2 - d2 * t1)
        scratch[3 + c] = rel[Q + 3 + c] - (d2 * t0 - d0 * t2)
        scratch[6 + c] = rel[Q + 6 + c] - (d0 * t1 - d1 * t0)
    multiply(R, 0, scratch, 0, U, 0)


@compiled
def sweep(
    ints: IntArray, reals: Array, buffer: Array, q: Array, v: Array, aux: Array, acceleration: Array, first: int,
    last: int, level: int,
) -> None:  # fmt: skip
    """Work out the nodes from `first` up to `last`: PLACES, and by level JACOBIANS, RELATIVE and ZETAS of the buffer.

    The nodes before `first` are known to this level. `acceleration` is q̈, or empty.
    """
    nodes, pieces, points = (
        index_table(ints, NODES, 8),
        index_table(ints, PIECES, 4),
        index_table(ints, POINTS, 3),
    )
    steps, strains = real(ints, reals, STEPS, 13), real(ints, reals, STRAINS, 18)
    B = real(ints, reals, BASES, 1).reshape(-1)
    world = real(ints, reals, WORLD, 1).reshape(-1)
    places, jacobians = work(ints, buffer, PLACES).reshape((-1, STATE)), work(ints, buffer, JACOBIANS)
    relative = work(ints, buffer, RELATIVE).reshape((-1, WIDTH))
    zetas, scratch = work(ints, buffer, ZETAS), work(ints, buffer, SCRATCH)
    P, U, other = scratch[46:55], scratch[55:64], scratch[64:73]
    for i in range(first, last):
        place, kind, piece = places[i], nodes[i, 2], nodes[i, 1]
        if kind == ROOT:
            for r in range(9):
                place[r] = world[6 + r]
            for r in range(3):
                place[9 + r] = world[3 + r]
            for r in range(12, STATE):
                place[r] = 0.0
            continue
        before, up = places[nodes[i, 0]], nodes[nodes[i, 0], 4]
        active, own, begin = pieces[piece, 0], pieces[piece, 1], pieces[piece, 3]
        width = pieces[nodes[nodes[i, 0], 1], 0]
        J = jacobians[6 * nodes[i, 4] : 6 * (nodes[i, 4] + active)].reshape((6, active))
        above = jacobians[6 * up : 6 * (up + width)].reshape((6, width))
        omega, alpha = get(before, 12), get(before, 18)
        if kind in (FIXED, CHART):
            if kind == FIXED:
                table, at = steps[i], 1
            else:
                table, at = aux, nodes[i, 5]
            multiply(before, 0, table, at, place, 0)
            lever = apply(before, 0, get(table, at + 9))
            store(place, 9, add(get(before, 9), lever))
            if level >= RATES:
                turn = cross(omega, lever)
                store(place, 12, omega)
                store(place, 15, add(get(before, 15), turn))
                store(place, 18, alpha)
                store(place, 21, add(get(before, 21), add(cross(alpha, lever), cross(omega, turn))))
            if level >= ROWS:
                move_columns(J, above, width, lever)
            continue
        h, point, rel = steps[i, 0], nodes[i, 3], relative[i]
        s, c = rel[AT_POINTS:SERIES], rel[SERIES:]
        one, two = points[point, 0], points[point, 0]
        strain_at(strains[point], B, one, own, begin, q, v, acceleration, s, 0)
        if kind != MIDPOINT:
            two = points[point + 1, 0]
            strain_at(strains[point + 1], B, two, own, begin, q, v, acceleration, s, 18)
        step_vectors(h, kind, s, rel, 66)
        k, l = get(rel, 66), get(rel, 69)  # noqa: E741
        exponential(k, l, c, rel)
        multiply(before, 0, rel, ROTATION, place, 0)
        d = get(rel, SHIFT)
        D = apply(before, 0, d)
        store(place, 9, add(get(before, 9), D))
        if level == POSES:
            continue
        u, m, w, n = get(rel, 72), get(rel, 75), get(rel, 78), get(rel, 81)
        operators(k, l, u, m, w, n, SLOPES, c, rel)
        y_w = apply(rel, T3, u)
        e = add(add(apply(rel, Q, u), apply(rel, T3, m)), cross(y_w, d))
        z_w = add(apply(rel, T3D, u), apply(rel, T3, w))
        z_v = add(add(apply(rel, QD, u), apply(rel, T3D, m)), add(apply(rel, Q, w), apply(rel, T3, n)))
        e_dot = add(z_v, add(cross(z_w, d), cross(y_w, e)))
        turning, moving = apply(before, 0, y_w), apply(before, 0, e)
        swept = cross(omega, D)
        store(place, 12, add(omega, turning))
        store(place, 15, add(get(before, 15), add(swept, moving)))
        store(place, 18, add(alpha, add(cross(omega, turning), apply(before, 0, z_w))))
        bias = add(cross(alpha, D), cross(omega, add(swept, combine(2.0, moving, 0.0, moving))))
        store(place, 21, add(get(before, 21), add(bias, apply(before, 0, e_dot))))
        if level < ROWS:
            continue
        Z = zetas[6 * nodes[i, 6] : 6 * (nodes[i, 6] + own)]
        step_columns(h, kind, s, B, one, two, own, Z)
        end_operators(before, rel, P, U, other)
        move_columns(J, above, width, D)
        add_columns(J, active - own, Z.reshape((6, own)), P, U)
