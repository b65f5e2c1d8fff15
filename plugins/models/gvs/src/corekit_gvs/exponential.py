"""The exponential of SE(3), its tangent operator T, and T's first and second derivative along a motion.

With Ω = (k; l), s = k·k and the Stumpff functions c_j(s) = Σ (−s)ⁱ/(2i + j)!,  A = c₁, B = c₂, C = c₃:

    exp(Ω^) = (1 + A·k̃ + B·k̃²,  T₃·l),   T = [[T₃, 0], [Q, T₃]]                              (1)
    T₃(k) = A·1 + B·k̃ + C·k·kᵀ,   Q = d/dε T₃(k + ε·l) at ε = 0                               (2)
    c_j = 1/j! − s·c_{j+2},   dc_j/ds = ½·(j·c_{j+2} − c_{j+1})                               (3)

(3) gives every derivative with respect to s from higher Stumpff functions, so there is no division by an angle and no
branch at the straight pose. c₈ and c₉ come from their series, the lower ones by (3), which loses no digits while s is
small. A joint that turns and turns takes s far beyond that, where the series cancel: there c₁ = sin θ/θ and
c₂ = (1 − cos θ)/s, θ = √s, and the higher ones by (3) the other way, c_{j+2} = (1/j! − c_j)/s.
y = T·Ω̇ is the velocity of exp(Ω(t)^) expressed in its start frame.
"""

from __future__ import annotations

import math

from corekit.data.arrays import Array
from corekit_gvs.vectors import Vector, apply, combine, compiled, cross, dot, inner, store

__all__ = [
    "AT_POINTS",
    "K_AT",
    "SECOND",
    "SERIES",
    "SLOPES",
    "WIDTH",
    "exponential",
    "operators",
    "second_slope",
    "stumpff",
]

# places in a row of `rel`: T₃, Q, Ṫ₃, Q̇, T̈₃, Q̈ (nine each), then rotation, translation, Ω, Ω̇, Ω̈ bias, and what they
# are made of: ξ, ξ̇, ξ̈ at one or two points, and the Stumpff functions
T3, Q, T3D, QD, T3DD, QDD = 0, 9, 18, 27, 36, 45
ROTATION, SHIFT, K_AT, U_AT, W_AT = 54, 63, 66, 72, 78
AT_POINTS, SERIES = 84, 120
WIDTH = 130
SLOPES, SECOND = 1, 2
"""How many derivatives of T `operators` writes."""

_FAR = 20.0
"""s above which the series lose more digits than the quotients [rad²]."""


@inner
def stumpff(s: float, c: Array) -> None:
    """Write c₁ … c₉ of (3) into c[1:10]."""
    if s > _FAR:
        angle = math.sqrt(s)
        half = math.sin(0.5 * angle)
        c[1] = math.sin(angle) / angle
        c[2] = 2.0 * half * half / s
        factorial = 1.0
        for j in range(1, 8):
            factorial *= j
            c[j + 2] = (1.0 / factorial - c[j]) / s
        return
    terms = 4 if s < 0.1 else (8 if s < 1.0 else (14 if s < 12.0 else 30))
    eight = 1.0
    nine = 1.0
    for i in range(terms, 0, -1):
        eight = 1.0 - s * eight / ((2 * i + 7) * (2 * i + 8))
        nine = 1.0 - s * nine / ((2 * i + 8) * (2 * i + 9))
    c[8] = eight / 40320.0
    c[9] = nine / 362880.0
    c[7] = 1.0 / 5040.0 - s * c[9]
    c[6] = 1.0 / 720.0 - s * c[8]
    c[5] = 1.0 / 120.0 - s * c[7]
    c[4] = 1.0 / 24.0 - s * c[6]
    c[3] = 1.0 / 6.0 - s * c[5]
    c[2] = 0.5 - s * c[4]
    c[1] = 1.0 - s * c[3]


@inner
def fill(out: Array, at: int, a: float, b: Vector, x: Vector, y: Vector) -> None:
    """Write a·1 + b̃ + x·yᵀ + y·xᵀ."""
    out[at] = a + 2.0 * x[0] * y[0]
    out[at + 4] = a + 2.0 * x[1] * y[1]
    out[at + 8] = a + 2.0 * x[2] * y[2]
    xy = x[0] * y[1] + x[1] * y[0]
    xz = x[0] * y[2] + x[2] * y[0]
    yz = x[1] * y[2] + x[2] * y[1]
    out[at + 1] = xy - b[2]
    out[at + 3] = xy + b[2]
    out[at + 2] = xz + b[1]
    out[at + 6] = xz - b[1]
    out[at + 5] = yz - b[0]
    out[at + 7] = yz + b[0]


@inner
def add_pair(out: Array, at: int, x: Vector, y: Vector) -> None:
    """Add x·yᵀ + y·xᵀ."""
    for r in range(3):
        for c in range(3):
            out[at + 3 * r + c] += x[r] * y[c] + x[c] * y[r]


@compiled
def exponential(k: Vector, l: Vector, c: Array, out: Array) -> None:  # noqa: E741 - the note's letter
    """Write T₃, rotation and translation of (1), and leave the Stumpff functions in c."""
    s = dot(k, k)
    stumpff(s, c)
    A, B, C = c[1], c[2], c[3]
    fill(out, T3, A, (B * k[0], B * k[1], B * k[2]), k, (0.5 * C * k[0], 0.5 * C * k[1], 0.5 * C * k[2]))
    fill(
        out,
        ROTATION,
        1.0 - B * s,
        (A * k[0], A * k[1], A * k[2]),
        k,
        (0.5 * B * k[0], 0.5 * B * k[1], 0.5 * B * k[2]),
    )
    store(out, SHIFT, apply(out, T3, l))


@compiled
def operators(
    k: Vector, l: Vector, u: Vector, m: Vector, w: Vector, n: Vector, order: int, c: Array, out: Array  # noqa: E741
) -> None:  # fmt: skip
    """Write Q, and with order ≥ 1 Ṫ, with order 2 T̈, for Ω = (k; l), Ω̇ = (u; m), Ω̈ = (w; n); after `exponential`.

    A dual part ε runs along l, time along Ω̇: s_ε = 2k·l, ṡ = 2k·u, ṡ_ε = 2(k·m + l·u), s̈ = 2(u·u + k·w), …
    """
    B, C = c[2], c[3]
    A1, B1, C1 = 0.5 * (c[3] - c[2]), 0.5 * (2.0 * c[4] - c[3]), 0.5 * (3.0 * c[5] - c[4])
    se = 2.0 * dot(k, l)
    Ce = C1 * se
    fill(out, Q, A1 * se, combine(B1 * se, k, B, l), k, combine(0.5 * Ce, k, C, l))
    if order < 1:
        return
    A2 = 0.25 * (3.0 * c[5] - 3.0 * c[4] + c[3])
    B2 = 0.25 * (8.0 * c[6] - 5.0 * c[5] + c[4])
    C2 = 0.25 * (15.0 * c[7] - 7.0 * c[6] + c[5])
    st = 2.0 * dot(k, u)
    ste = 2.0 * (dot(k, m) + dot(l, u))
    At, Bt, Ct = A1 * st, B1 * st, C1 * st
    Be = B1 * se
    Ate, Bte, Cte = A2 * st * se + A1 * ste, B2 * st * se + B1 * ste, C2 * st * se + C1 * ste
    fill(out, T3D, At, combine(Bt, k, B, u), k, combine(0.5 * Ct, k, C, u))
    b = combine(1.0, combine(Bte, k, Be, u), 1.0, combine(Bt, l, B, m))
    y = combine(1.0, combine(0.5 * Cte, k, Ce, u), 1.0, combine(Ct, l, C, m))
    fill(out, QD, Ate, b, k, y)
    add_pair(out, QD, u, (C * l[0], C * l[1], C * l[2]))
    if order < 2:
        return
    A3 = 0.125 * (15.0 * c[7] - 15.0 * c[6] + 6.0 * c[5] - c[4])
    B3 = 0.125 * (48.0 * c[8] - 33.0 * c[7] + 9.0 * c[6] - c[5])
    C3 = 0.125 * (105.0 * c[9] - 57.0 * c[8] + 12.0 * c[7] - c[6])
    stt = 2.0 * (dot(u, u) + dot(k, w))
    stte = 2.0 * (2.0 * dot(u, m) + dot(l, w) + dot(k, n))
    Att, Btt, Ctt = A2 * st * st + A1 * stt, B2 * st * st + B1 * stt, C2 * st * st + C1 * stt
    Atte = A3 * st * st * se + A2 * (2.0 * st * ste + stt * se) + A1 * stte
    Btte = B3 * st * st * se + B2 * (2.0 * st * ste + stt * se) + B1 * stte
    Ctte = C3 * st * st * se + C2 * (2.0 * st * ste + stt * se) + C1 * stte
    b = combine(1.0, combine(Btt, k, 2.0 * Bt, u), B, w)
    y = combine(1.0, combine(0.5 * Ctt, k, 2.0 * Ct, u), C, w)
    fill(out, T3DD, Att, b, k, y)
    add_pair(out, T3DD, u, (C * u[0], C * u[1], C * u[2]))
    b = combine(1.0, combine(Btte, k, Btt, l), 1.0, combine(2.0 * Bte, u, 2.0 * Bt, m))
    b = combine(1.0, b, 1.0, combine(Be, w, B, n))
    y = combine(1.0, combine(0.5 * Ctte, k, Ctt, l), 1.0, combine(2.0 * Cte, u, 2.0 * Ct, m))
    y = combine(1.0, y, 1.0, combine(Ce, w, C, n))
    fill(out, QDD, Atte, b, k, y)
    add_pair(out, QDD, u, combine(1.0, combine(2.0 * Ct, l, Ce, u), 2.0 * C, m))
    add_pair(out, QDD, l, (C * w[0], C * w[1], C * w[2]))


@inner
def second_slope(k: Vector, l: Vector, m: Vector, f: Vector, c: Array, out: Array) -> None:  # noqa: E741
    """Write H of Wᵀ·(∂T/∂Ω_a)·e_b, shape (6, 6), for W = (m; f): with g = m·T₃(k)·x,

        ∂g/∂k = 2k·(A′·m + B′·(m × k) + C′·(m·k)·k)·x + B·(x × m) + C·((k·x)·m + (m·k)·x)         (4)

    and H's blocks are H₃(m) + d/dε H₃(f)(k + ε·l), H₃(f); H₃(f), 0. c holds the Stumpff functions of k.
    """
    B, C = c[2], c[3]
    A1, B1, C1 = 0.5 * (c[3] - c[2]), 0.5 * (2.0 * c[4] - c[3]), 0.5 * (3.0 * c[5] - c[4])
    A2 = 0.25 * (3.0 * c[5] - 3.0 * c[4] + c[3])
    B2 = 0.25 * (8.0 * c[6] - 5.0 * c[5] + c[4])
    C2 = 0.25 * (15.0 * c[7] - 7.0 * c[6] + c[5])
    se = 2.0 * dot(k, l)
    mk, fk, fl = dot(m, k), dot(f, k), dot(f, l)
    of_m = combine(1.0, combine(A1, m, B1, cross(m, k)), C1 * mk, k)
    of_f = combine(1.0, combine(A1, f, B1, cross(f, k)), C1 * fk, k)
    slope = combine(1.0, combine(A2 * se, f, B2 * se, cross(f, k)), C2 * se * fk, k)
    slope = combine(1.0, slope, B1, cross(f, l))
    slope = combine(1.0, slope, C1, combine(fl, k, fk, l))
    Be, Ce = B1 * se, C1 * se
    skew_m, skew_f = combine(B, m, Be, f), (B * f[0], B * f[1], B * f[2])
    row_k = combine(C, m, Ce, f)
    diagonal_m, diagonal_f = C * mk + Ce * fk + C * fl, C * fk
    for r in range(3):
        for j in range(3):
            out[r, j] = (
                2.0 * k[r] * (of_m[j] + slope[j]) + 2.0 * l[r] * of_f[j] + row_k[r] * k[j] + C * f[r] * l[j]
            )
            out[r, 3 + j] = 2.0 * k[r] * of_f[j] + C * f[r] * k[j]
        out[r, r] += diagonal_m
        out[r, 3 + r] += diagonal_f
    # x × m = −m̃·x
    for part, at in ((skew_m, 0), (skew_f, 3)):
        out[0, at + 1] += part[2]
        out[0, at + 2] -= part[1]
        out[1, at] -= part[2]
        out[1, at + 2] += part[0]
        out[2, at] += part[1]
        out[2, at + 1] -= part[0]
    for r in range(3):
        for j in range(3):
            out[3 + r, j] = out[r, 3 + j]
            out[3 + r, 3 + j] = 0.0
