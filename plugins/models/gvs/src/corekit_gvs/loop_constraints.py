"""Joints that close loops, as position rows.

With frames A and B of a loop (offsets and rotations included), in the axes of B,

    φ = log(R_Bᵀ·R_A),   r = R_Bᵀ·(p_A − p_B),   c = a·φ + b·r                                             (1)

for every direction (a, b) that the joint does not allow; a universal joint has instead of one of them
c = (R_B·e₁)·(R_A·e₂). With φ̇ = T₃(φ)⁻¹·R_Bᵀ·(ω_A − ω_B), multipliers λ are the wrench

    f = R_B·Σ λ·b,   μ = R_B·T₃(φ)⁻ᵀ·Σ λ·a + λ₁·(R_A·e₂ × R_B·e₁)                                          (2)

on A at p_A, and −f, −μ on B, also at p_A: rows are exact everywhere, not only where the loop is closed.

    T₃⁻ᵀ·x = x + ½·φ × x + g·φ × (φ × x),   g = (c₃ − 2c₄)/(2·c₂)   (Stumpff functions of φ·φ)                 (3)
"""

from __future__ import annotations

import math

from corekit.data.arrays import Array, IntArray
from corekit_gvs.exponential import stumpff
from corekit_gvs.tables import (
    COLUMN,
    COLUMNS,
    JACOBIANS,
    LOOP_FRAMES,
    LOOPS,
    NODES,
    PIECES,
    PLACES,
    SCRATCH,
    SIZE,
    STATE,
    index_table,
    real,
    work,
)  # fmt: skip
from corekit_gvs.tangent import column, push_slopes, scatter
from corekit_gvs.vectors import (
    Vector,
    add,
    apply,
    apply_transposed,
    combine,
    compiled,
    cross,
    dot,
    get,
    inner,
    multiply,
    store,
)  # fmt: skip

__all__ = ["loop_pushes", "loop_rows"]

# places in scratch: R_A, R_B (nine each), lever of A, lever of B, φ, r, Stumpff functions, R_Bᵀ·R_A, wrench
RA, RB, ARM, OTHER, PHI, GAP, C, RELATIVE_AT, PULL = 0, 9, 18, 21, 24, 27, 30, 40, 50


@inner
def logarithm(R: Array, at: int) -> Vector:
    """Rotation vector of a matrix, of length ≤ π."""
    w = (0.5 * (R[at + 7] - R[at + 5]), 0.5 * (R[at + 2] - R[at + 6]), 0.5 * (R[at + 3] - R[at + 1]))
    sine, cosine = math.sqrt(dot(w, w)), 0.5 * (R[at] + R[at + 4] + R[at + 8] - 1.0)
    angle = math.atan2(sine, cosine)
    if cosine > -0.9:
        factor = angle / sine if sine > 1e-7 else 1.0 + angle * angle / 6.0
        return (factor * w[0], factor * w[1], factor * w[2])
    # R + Rᵀ = 2·cos·1 + 2·(1 − cos)·n·nᵀ: the largest diagonal entry gives n without loss
    big = 0
    for r in range(1, 3):
        if R[at + 4 * r] > R[at + 4 * big]:
            big = r
    size = math.sqrt(max((R[at + 4 * big] - cosine) / (1.0 - cosine), 1e-300))
    scale = angle / (2.0 * (1.0 - cosine) * size)
    n = (
        scale * (R[at + big] + R[at + 3 * big]),
        scale * (R[at + 3 + big] + R[at + 3 * big + 1]),
        scale * (R[at + 6 + big] + R[at + 3 * big + 2]),
    )
    n = (n[0] - (2.0 * scale * cosine if big == 0 else 0.0), n[1] - (2.0 * scale * cosine if big == 1 else 0.0),
         n[2] - (2.0 * scale * cosine if big == 2 else 0.0))  # fmt: skip
    return n if dot(n, w) >= 0.0 else (-n[0], -n[1], -n[2])


@inner
def place_loop(places: Array, loop: Array, frames: Array, s: Array) -> None:
    """Write what (1) to (3) need of a loop into scratch."""
    one, two = places[loop[0]], places[loop[1]]
    multiply(one, 0, frames, 3, s, RA)
    multiply(two, 0, frames, 15, s, RB)
    arm, other = apply(one, 0, get(frames, 0)), apply(two, 0, get(frames, 12))
    store(s, ARM, arm)
    apart = combine(1.0, add(get(one, 9), arm), -1.0, add(get(two, 9), other))
    store(s, OTHER, add(other, apart))  # p_A from node B
    store(s, GAP, apply_transposed(s, RB, apart))
    for r in range(3):
        for c in range(3):
            s[RELATIVE_AT + 3 * r + c] = (
                s[RB + r] * s[RA + c] + s[RB + 3 + r] * s[RA + 3 + c] + s[RB + 6 + r] * s[RA + 6 + c]
            )
    phi = logarithm(s, RELATIVE_AT)
    store(s, PHI, phi)
    stumpff(dot(phi, phi), s[C : C + 10])


@inner
def inverse(s: Array, x: Vector, sign: float) -> Vector:
    """T₃⁻ᵀ·x of (3), or with sign −1 T₃⁻¹·x."""
    phi = get(s, PHI)
    g = (s[C + 3] - 2.0 * s[C + 4]) / (2.0 * s[C + 2])
    once = cross(phi, x)
    return add(x, combine(0.5 * sign, once, g, cross(phi, once)))


@inner
def wrench_of(kind: int, frames: Array, multipliers: Array, first: int, count: int, s: Array) -> None:
    """Write μ and f of (2) into PULL."""
    a, b = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for r in range(count):
        if kind == 1 and r == 0:
            continue
        amount = multipliers[first + r]
        a = add(a, combine(amount, get(frames, 24 + 6 * r), 0.0, a))
        b = add(b, combine(amount, get(frames, 27 + 6 * r), 0.0, b))
    moment = apply(s, RB, inverse(s, a, 1.0))
    if kind == 1:
        amount = multipliers[first]
        y, z = apply(s, RA, get(frames, 27)), apply(s, RB, get(frames, 24))
        moment = add(moment, combine(amount, cross(y, z), 0.0, y))
    store(s, PULL, moment)
    store(s, PULL + 3, apply(s, RB, b))
    store(s, PULL + 6, a)


@compiled
def loop_rows(
    ints: IntArray, reals: Array, buffer: Array, unit: Array, values: Array, constraint: Array
) -> None:
    """Write J_b (rows, n) and c (rows,), after a sweep with rows; `unit` is scratch, (rows,)."""
    nodes, pieces, loops = (
        index_table(ints, NODES, 8),
        index_table(ints, PIECES, 4),
        index_table(ints, LOOPS, 5),
    )
    columns, table = index_table(ints, COLUMNS, 1).reshape(-1), real(ints, reals, LOOP_FRAMES, 61)
    places, jacobians = work(ints, buffer, PLACES).reshape((-1, STATE)), work(ints, buffer, JACOBIANS)
    s = work(ints, buffer, SCRATCH)[100:180]
    values[:] = 0.0
    unit[:] = 0.0
    for i in range(len(loops)):
        first, count, kind, frames = loops[i, 2], loops[i, 3], loops[i, 4], table[i]
        place_loop(places, loops[i], frames, s)
        phi, gap = get(s, PHI), get(s, GAP)
        for r in range(count):
            row = first + r
            if kind == 1 and r == 0:
                constraint[row] = dot(apply(s, RB, get(frames, 24)), apply(s, RA, get(frames, 27)))
            else:
                constraint[row] = dot(get(frames, 24 + 6 * r), phi) + dot(get(frames, 27 + 6 * r), gap)
            unit[row] = 1.0
            wrench_of(kind, frames, unit, first, count, s)
            unit[row] = 0.0
            moment, force = get(s, PULL), get(s, PULL + 3)
            for end in range(2):
                sign = 1.0 if end == 0 else -1.0
                about = add(moment, cross(get(s, ARM if end == 0 else OTHER), force))
                node = loops[i, end]
                active, start, at = pieces[nodes[node, 1], 0], pieces[nodes[node, 1], 2], nodes[node, 4]
                J = jacobians[6 * at : 6 * (at + active)].reshape((6, active))
                for k in range(active):
                    values[row, columns[start + k]] += sign * (
                        dot(about, column(J, 0, k)) + dot(force, column(J, 3, k))
                    )


@compiled
def loop_pushes(
    ints: IntArray, reals: Array, buffer: Array, multipliers: Array, node_wrenches: Array, out: Array
) -> None:
    """Write the wrenches of (2) at the nodes, and Jᵀ·∂(wrenches)/∂q into `out`, (n, n); after a sweep with rows."""
    loops, table = index_table(ints, LOOPS, 5), real(ints, reals, LOOP_FRAMES, 61)
    places, wide, n = work(ints, buffer, PLACES).reshape((-1, STATE)), work(ints, buffer, COLUMN), ints[SIZE]
    s = work(ints, buffer, SCRATCH)[100:180]
    one_J, two_J = wide[: 6 * n].reshape((6, n)), wide[6 * n : 12 * n].reshape((6, n))
    W, V = wide[12 * n : 18 * n].reshape((6, n)), wide[18 * n : 24 * n].reshape((6, n))
    node_wrenches[:] = 0.0
    out[:] = 0.0
    for i in range(len(loops)):
        one, two, kind, frames = loops[i, 0], loops[i, 1], loops[i, 4], table[i]
        place_loop(places, loops[i], frames, s)
        wrench_of(kind, frames, multipliers, loops[i, 2], loops[i, 3], s)
        moment, force, a, phi = get(s, PULL), get(s, PULL + 3), get(s, PULL + 6), get(s, PHI)
        arm, other = get(s, ARM), get(s, OTHER)
        about, counter = add(moment, cross(arm, force)), add(moment, cross(other, force))
        for r in range(3):
            node_wrenches[one, r] += about[r]
            node_wrenches[one, 3 + r] += force[r]
            node_wrenches[two, r] -= counter[r]
            node_wrenches[two, 3 + r] -= force[r]
        scatter(ints, buffer, one, one_J)
        scatter(ints, buffer, two, two_J)
        c2, c3, c4, c5, c6 = s[C + 2], s[C + 3], s[C + 4], s[C + 5], s[C + 6]
        g = (c3 - 2.0 * c4) / (2.0 * c2)
        slope = 0.5 * (3.0 * c5 - c4) - (4.0 * c6 - c5)
        g_slope = (slope - 2.0 * g * 0.5 * (2.0 * c4 - c3)) / (2.0 * c2)
        turned, amount = cross(phi, a), float(multipliers[loops[i, 2]])
        y, z = apply(s, RA, get(frames, 27)), apply(s, RB, get(frames, 24))
        straight = moment if kind == 0 else combine(1.0, moment, -amount, cross(y, z))
        for k in range(n):
            near, far = column(one_J, 0, k), column(two_J, 0, k)
            dphi = inverse(s, apply_transposed(s, RB, combine(1.0, near, -1.0, far)), -1.0)
            bent = add(cross(dphi, turned), cross(phi, cross(dphi, a)))
            bent = combine(g, bent, 2.0 * g_slope * dot(phi, dphi), cross(phi, turned))
            dmoment = add(cross(far, straight), apply(s, RB, add(combine(0.5, cross(dphi, a), 0.0, a), bent)))
            if kind == 1:
                change = add(cross(cross(near, y), z), cross(y, cross(far, z)))
                dmoment = add(dmoment, combine(amount, change, 0.0, y))
            dforce, swing = cross(far, force), cross(near, arm)
            moved = combine(1.0, add(column(one_J, 3, k), swing), -1.0, column(two_J, 3, k))
            here = add(dmoment, add(cross(swing, force), cross(arm, dforce)))
            there = add(dmoment, add(cross(moved, force), cross(other, dforce)))
            for r in range(3):
                W[r, k] = here[r]
                W[3 + r, k] = dforce[r]
                V[r, k] = there[r]
                V[3 + r, k] = dforce[r]
        push_slopes(ints, buffer, one, W, 1.0, out)
        push_slopes(ints, buffer, two, V, -1.0, out)
