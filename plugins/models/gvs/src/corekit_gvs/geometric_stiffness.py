"""How a sum of generalised forces changes as its Jacobians turn, the wrenches held: ∂(Σ Jᵀ·F)/∂q at fixed F.

A step with σ_i = R·S_w,i, τ_i = R·S_v,i about its start p moves all nodes a behind it, at r_a = p_a − p, by
τ_i + σ_i × r_a. Summed over those nodes, with P = Σ f_a, m = Σ m_a, Θ = Σ r_a·f_aᵀ, its share of the force is

    Q_i = σ_i·(m + Σ r_a × f_a) + τ_i·P                                                                  (1)

and that changes with q_k in three ways:

    q_k before the step turns all of it    J_ω,k·(σ_i × m + τ_i × P + Θ·σ_i − tr(Θ)·σ_i)                  (2)
    q_k behind it moves the r_a            σ_i·Σ (τ_k × P + Θ·σ_k − tr(Θ)·σ_k), summed over k's steps     (3)
    q_k of the step itself                 Wᵀ·∂S_i/∂q_k,  W the sum of wrenches in the step's axes        (4)

The loop visits nodes backwards, so that sums are ready when they are needed; where branches meet, they add.
(4) by `second_slope`, and with b_qq for a dependent basis.
"""

from __future__ import annotations

import math

from corekit.data.arrays import Array, IntArray
from corekit_gvs.exponential import AT_POINTS, SERIES, T3, WIDTH, Q, second_slope
from corekit_gvs.tables import (
    BASES,
    CHART,
    COLUMN,
    COLUMNS,
    CURVATURES,
    FIXED,
    GATHERED,
    JACOBIANS,
    MIDPOINT,
    NODES,
    PIECES,
    PLACES,
    POINTS,
    RELATIVE,
    SCRATCH,
    SIZE,
    STATE,
    STEPS,
    SUMS,
    ZETAS,
    index_table,
    real,
    work,
)  # fmt: skip
from corekit_gvs.vectors import (
    Vector,
    add,
    add_rows,
    apply_transposed,
    combine,
    compiled,
    get,
    inner,
    multiply,
    store,
    subtract_crossed,
    subtract_skew,
)

__all__ = ["add_geometric_stiffness"]


@inner
def bracket_form(W: Array, out: Array) -> None:
    """Write X, shape (6, 6), with xᵀ·X·y = W·[x, y]."""
    m, f = get(W, 0), get(W, 3)
    out[:] = 0.0
    # m·(x_w × y_w) + f·(x_v × y_w + x_w × y_v)
    for at, other, g in ((0, 0, m), (3, 0, f), (0, 3, f)):
        out[at, other + 1] = g[2]
        out[at, other + 2] = -g[1]
        out[at + 1, other] = -g[2]
        out[at + 1, other + 2] = g[0]
        out[at + 2, other] = g[1]
        out[at + 2, other + 1] = -g[0]


@inner
def bracket_rows(W: Array, B: Array, out: Array) -> None:
    """Write Xᵀ·B, shape (6, own), of `bracket_form`."""
    m0, m1, m2, f0, f1, f2 = W[0], W[1], W[2], W[3], W[4], W[5]
    for k in range(B.shape[1]):
        w0, w1, w2, l0, l1, l2 = B[0, k], B[1, k], B[2, k], B[3, k], B[4, k], B[5, k]
        out[0, k] = m1 * w2 - m2 * w1 + f1 * l2 - f2 * l1
        out[1, k] = m2 * w0 - m0 * w2 + f2 * l0 - f0 * l2
        out[2, k] = m0 * w1 - m1 * w0 + f0 * l1 - f1 * l0
        out[3, k] = f1 * w2 - f2 * w1
        out[4, k] = f2 * w0 - f0 * w2
        out[5, k] = f0 * w1 - f1 * w0


@inner
def add_form(
    left: Array, form: Array, right: Array, factor: float, first: int, half: Array, out: Array
) -> None:
    """out[first + i, first + k] += factor·Σ left[a, k]·form[a, b]·right[b, i], arrays (6, own)."""
    own = left.shape[1]
    for a in range(6):
        f0, f1, f2 = factor * form[a, 0], factor * form[a, 1], factor * form[a, 2]
        f3, f4, f5 = factor * form[a, 3], factor * form[a, 4], factor * form[a, 5]
        for i in range(own):
            half[a, i] = (
                f0 * right[0, i]
                + f1 * right[1, i]
                + f2 * right[2, i]
                + f3 * right[3, i]
                + f4 * right[4, i]
                + f5 * right[5, i]
            )
    for i in range(own):
        h0, h1, h2, h3, h4, h5 = half[0, i], half[1, i], half[2, i], half[3, i], half[4, i], half[5, i]
        row = out[first + i, first:]
        for k in range(own):
            row[k] += (
                left[0, k] * h0
                + left[1, k] * h1
                + left[2, k] * h2
                + left[3, k] * h3
                + left[4, k] * h4
                + left[5, k] * h5
            )


@inner
def add_brackets(
    B1: Array, B2: Array, W: Array, factor: float, first: int, rows: Array, out: Array
) -> None:  # fmt: skip
    """out[first + i, first + k] += factor·W·([B₁k, B₂i] − [B₂k, B₁i]); columns of B are mostly zeros."""
    own = B1.shape[1]
    one, two = rows[:6], rows[6:]
    bracket_rows(W, B1, one)
    bracket_rows(W, B2, two)
    for i in range(own):
        row = out[first + i, first:]
        for b in range(6):
            near, far = factor * B1[b, i], factor * B2[b, i]
            if near != 0.0 or far != 0.0:
                for k in range(own):
                    row[k] += far * one[b, k] - near * two[b, k]


@inner
def add_curvature(
    curvatures: Array, at: int, own: int, W: Array, factor: float, first: int, out: Array
) -> None:
    """out[first + i, first + k] += factor·W·b_qq[i, k]."""
    for i in range(own):
        for k in range(own):
            value, place = 0.0, at + 6 * (i * own + k)
            for r in range(6):
                value += W[r] * curvatures[place + r]
            out[first + i, first + k] += factor * value


@inner
def add_own(
    h: float, kind: int, rel: Array, c: Array, moment: Vector, force: Vector, Z: Array, B: Array, one: int, two: int,
    curvatures: Array, at: int, next_at: int, x: Array, rows: Array, first: int, sign: float, scratch: Array,
    out: Array,
) -> None:  # fmt: skip
    """Add sign·(4)."""
    own = Z.shape[1]
    form = scratch[:36].reshape((6, 6))
    k, l = get(rel, 66), get(rel, 69)  # noqa: E741
    second_slope(k, l, moment, force, c, form)
    add_form(Z, form, Z, sign, first, rows[:6], out)
    # Tᵀ·W, for what Z itself does
    W = scratch[36:42]
    store(W, 0, add(apply_transposed(rel, T3, moment), apply_transposed(rel, Q, force)))
    store(W, 3, apply_transposed(rel, T3, force))
    if kind == MIDPOINT:
        if at >= 0:
            add_curvature(curvatures, at, own, W, sign * h, first, out)
        return
    beta = math.sqrt(3.0) * h * h / 12.0
    B1, B2 = B[one : one + 6 * own].reshape((6, own)), B[two : two + 6 * own].reshape((6, own))
    # ∂Z_i/∂q_k = β·([B₁k, B₂i] − [B₂k, B₁i]) + (h/2)·(b_qq,1 + b_qq,2) + β·(ad_ξ₁·b_qq,2 − ad_ξ₂·b_qq,1)
    add_brackets(B1, B2, W, sign * beta, first, rows, out)
    if at < 0:
        return
    bracket_form(W, form)
    pulled = scratch[42:48]
    for index, place, factor, weight in ((18, at, -beta, 0.5 * h), (0, next_at, beta, 0.5 * h)):
        for b in range(6):
            pulled[b] = weight * W[b]
            for a in range(6):
                pulled[b] += factor * x[index + a] * form[a, b]
        add_curvature(curvatures, place, own, pulled, sign, first, out)


@inner
def gather(total: Array, push: Array, D: Vector, above: Array) -> None:
    """Add a node's own wrench to its sums (m, P, Θ), move them to the node before, and add them to that one's."""
    for r in range(6):
        total[r] += push[r]
    for r in range(3):
        for s in range(3):
            total[6 + 3 * r + s] += D[r] * total[3 + s]
    for r in range(15):
        above[r] += total[r]


@inner
def step_maps(before: Array, rel: Array, total: Array, out: Array) -> None:
    """Write what maps a column of Z to σ (from Z_ω), to τ × P + Θ·σ − tr(Θ)·σ (from Z_ω, from Z_v), and −m̃."""
    P, trace = get(total, 3), total[6] + total[10] + total[14]
    out[9:36] = 0.0
    multiply(before, 0, rel, T3, out, 0)
    multiply(before, 0, rel, Q, out, 36)
    subtract_crossed(P, out, 36, out, 9)
    subtract_crossed(P, out, 0, out, 18)
    subtract_skew(out, 27, get(total, 0))
    multiply(total, 6, out, 0, out, 36)
    for j in range(9):
        out[9 + j] += out[36 + j] - trace * out[j]


@inner
def add_step_turning(
    maps: Array, Z: Array, J: Array, columns: IntArray, first: int, sign: float, G: Array, rows: Array, out: Array
) -> None:  # fmt: skip
    """Add sign·((2) + (3)) of a step; J is that of the node before, in the given columns; `maps` by `step_maps`."""
    own, count = Z.shape[1], len(columns)
    begin = columns[0] if count else 0
    together = count > 0
    for j in range(count):
        together = together and columns[j] == begin + j
    rows[:] = 0.0
    sigma, pulled = rows[:3], rows[3:]
    add_rows(1.0, maps, 0, Z, 0, sigma, 0)
    add_rows(1.0, maps, 9, Z, 0, pulled, 0)
    add_rows(1.0, maps, 18, Z, 3, pulled, 0)
    for r in range(3):
        for k in range(own):
            G[r, first + k] += pulled[r, k]
    add_rows(1.0, maps, 27, sigma, 0, pulled, 0)
    for k in range(own):
        row, t0, t1, t2 = out[first + k], sign * pulled[0, k], sign * pulled[1, k], sign * pulled[2, k]
        if together:
            part = row[begin:]
            for j in range(count):
                part[j] += J[0, j] * t0 + J[1, j] * t1 + J[2, j] * t2
        else:
            for j in range(count):
                row[columns[j]] += J[0, j] * t0 + J[1, j] * t1 + J[2, j] * t2
    for k in range(own):
        row, s0, s1, s2 = out[first + k, first:], sign * sigma[0, k], sign * sigma[1, k], sign * sigma[2, k]
        for j in range(own):
            row[j] += s0 * G[0, first + j] + s1 * G[1, first + j] + s2 * G[2, first + j]
    # whatever is behind the piece has later columns, and few of them where branches part; the turn of a planar or free
    # joint, behind its shift with earlier ones, needs none: a shift has σ = 0
    for j in range(first + own, G.shape[1]):
        g0, g1, g2 = sign * G[0, j], sign * G[1, j], sign * G[2, j]
        if g0 != 0.0 or g1 != 0.0 or g2 != 0.0:
            for k in range(own):
                out[first + k, j] += sigma[0, k] * g0 + sigma[1, k] * g1 + sigma[2, k] * g2


@inner
def add_later(source: Array, first: int, target: Array) -> None:
    """target += source, (3, n), from a column on."""
    for r in range(3):
        for j in range(first, source.shape[1]):
            target[r, j] += source[r, j]


@compiled
def add_geometric_stiffness(
    ints: IntArray, reals: Array, buffer: Array, node_wrenches: Array, last: int, sign: float, out: Array
) -> None:  # fmt: skip
    """Add sign·∂(Σ Jᵀ·F)/∂q of the first `last` nodes, after a sweep with rows; F: moments and forces, world axes."""
    nodes, pieces, points = (
        index_table(ints, NODES, 8),
        index_table(ints, PIECES, 4),
        index_table(ints, POINTS, 3),
    )
    columns = index_table(ints, COLUMNS, 1).reshape(-1)
    steps = real(ints, reals, STEPS, 13)
    B, curvatures = real(ints, reals, BASES, 1).reshape(-1), real(ints, reals, CURVATURES, 1).reshape(-1)
    places, jacobians = work(ints, buffer, PLACES).reshape((-1, STATE)), work(ints, buffer, JACOBIANS)
    relative, zetas = work(ints, buffer, RELATIVE).reshape((-1, WIDTH)), work(ints, buffer, ZETAS)
    sums, scratch = work(ints, buffer, SUMS).reshape((-1, 15)), work(ints, buffer, SCRATCH)
    wide, n = work(ints, buffer, COLUMN), ints[SIZE]
    gathered = work(ints, buffer, GATHERED).reshape((-1, 3, n))
    small = scratch[46:100]
    gathered[:last] = 0.0
    sums[:last] = 0.0
    for i in range(last - 1, 0, -1):
        total, kind, piece, parent = sums[i], nodes[i, 2], nodes[i, 1], nodes[i, 0]
        before, own, first = places[parent], pieces[piece, 1], pieces[piece, 3]
        G = gathered[i]
        gather(total, node_wrenches[i], combine(1.0, get(places[i], 9), -1.0, get(before, 9)), sums[parent])
        least = nodes[i, 7]
        if kind in (FIXED, CHART) or own == 0:
            add_later(G, least, gathered[parent])
            continue
        at, width, start = nodes[parent, 4], pieces[nodes[parent, 1], 0], pieces[nodes[parent, 1], 2]
        J = jacobians[6 * at : 6 * (at + width)].reshape((6, width))
        rel = relative[i]
        x, c = rel[AT_POINTS:SERIES], rel[SERIES:]
        Z = zetas[6 * nodes[i, 6] : 6 * (nodes[i, 6] + own)].reshape((6, own))
        above = columns[start : start + width]
        step_maps(before, rel, total, small)
        add_step_turning(small, Z, J, above, first, sign, G, wide[: 6 * own].reshape((6, own)), out)
        add_later(G, least, gathered[parent])
        point = nodes[i, 3]
        one, two, near, far = points[point, 0], points[point, 0], points[point, 2], points[point, 2]
        if kind != MIDPOINT:
            two, far = points[point + 1, 0], points[point + 1, 2]
        # r × f summed: the skew part of Θ
        lever = (total[11] - total[13], total[12] - total[8], total[7] - total[9])
        moment = apply_transposed(before, 0, add(get(total, 0), lever))
        force = apply_transposed(before, 0, get(total, 3))
        rows = wide[: 12 * own].reshape((12, own))
        add_own(
            steps[i, 0], kind, rel, c, moment, force, Z, B, one, two, curvatures, near, far, x, rows, first, sign,
            small, out,
        )  # fmt: skip
