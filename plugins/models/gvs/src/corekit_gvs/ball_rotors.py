"""Armature of spherical joints: rotors that turn with ω, as much about any axis, whatever the coordinates count from.

By ω = T₃ᵀ·k̇ of `exponential`, with a the armature and ½·a·ω·ω the kinetic energy,

    M = a·T₃·T₃ᵀ,   f − M·w = −a·T₃·u,   u = T₃ᵀ·w + g,   g = (dT₃ᵀ/dt)·k̇                            (1)

With A, B, C functions of s = k·k, primes by s, p = k·k̇ and n = k̇·k̇

    g = 2·p·Y′ + C·(p·k̇ + n·k),   Y⁽ⁱ⁾ = A⁽ⁱ⁾·k̇ − B⁽ⁱ⁾·k × k̇ + p·C⁽ⁱ⁾·k                               (2)
    ∂g/∂k_j = 2·k̇_j·Y′ + 2·p·(2·k_j·Y″ − B′·e_j × k̇ + C′·(k̇_j·k + p·e_j))
              + 2·k_j·C′·(p·k̇ + n·k) + C·(k̇_j·k̇ + n·e_j)                                            (3)
    ∂g/∂k̇_j = 2·k_j·Y′ + 2·p·(A′·e_j − B′·k × e_j + C′·k_j·k) + C·(k_j·k̇ + p·e_j + 2·k̇_j·k)           (4)
"""

from __future__ import annotations

from corekit.data.arrays import Array, IntArray
from corekit_gvs.ball_torques import blend, slope, unit
from corekit_gvs.exponential import stumpff
from corekit_gvs.tables import BALLS, SCRATCH, real, work
from corekit_gvs.vectors import Vector, add, combine, cross, dot, get, inner

__all__ = ["add_ball_rotor_mass", "add_ball_rotor_slopes", "add_ball_rotors", "ball_rotor_energy"]


@inner
def _given(w: Array, first: int) -> Vector:
    """w of a turn; zero where there is none."""
    return get(w, first) if len(w) > 0 else (0.0, 0.0, 0.0)


@inner
def _push(c: Array, k: Vector, rate: Vector, w: Vector) -> Vector:
    """u of (1)."""
    p = dot(k, rate)
    steep = blend(0.5 * (c[3] - c[2]), -0.5 * (2.0 * c[4] - c[3]), 0.5 * (3.0 * c[5] - c[4]), k, rate)
    g = combine(2.0 * p, steep, c[3], combine(p, rate, dot(rate, rate), k))
    return add(blend(c[1], -c[2], c[3], k, w), g)


@inner
def add_ball_rotors(
    ints: IntArray, reals: Array, buffer: Array, q: Array, v: Array, w: Array, share: float, force: Array
) -> None:
    """Add a share of f − M·w of (1)."""
    balls, c = real(ints, reals, BALLS, 6), work(ints, buffer, SCRATCH)[200:210]
    for i in range(len(balls)):
        first, a = int(balls[i, 0]), share * balls[i, 5]
        if a == 0.0:
            continue
        k, rate = get(q, first), get(v, first)
        stumpff(dot(k, k), c)
        f = blend(c[1], c[2], c[3], k, _push(c, k, rate, _given(w, first)))
        for r in range(3):
            force[first + r] -= a * f[r]


@inner
def add_ball_rotor_mass(ints: IntArray, reals: Array, buffer: Array, q: Array, mass: Array) -> None:
    """Add M of (1)."""
    balls, c = real(ints, reals, BALLS, 6), work(ints, buffer, SCRATCH)[200:210]
    for i in range(len(balls)):
        first, a = int(balls[i, 0]), balls[i, 5]
        if a == 0.0:
            continue
        k = get(q, first)
        stumpff(dot(k, k), c)
        for j in range(3):
            column = blend(c[1], c[2], c[3], k, blend(c[1], -c[2], c[3], k, unit(j)))
            for r in range(3):
                mass[first + r, first + j] += a * column[r]


@inner
def ball_rotor_energy(ints: IntArray, reals: Array, buffer: Array, q: Array, v: Array) -> float:
    """½·a·ω·ω of all."""
    balls, c = real(ints, reals, BALLS, 6), work(ints, buffer, SCRATCH)[200:210]
    energy = 0.0
    for i in range(len(balls)):
        first, a = int(balls[i, 0]), balls[i, 5]
        if a != 0.0:
            k = get(q, first)
            stumpff(dot(k, k), c)
            omega = blend(c[1], -c[2], c[3], k, get(v, first))
            energy += 0.5 * a * dot(omega, omega)
    return energy


@inner
def add_ball_rotor_slopes(
    ints: IntArray,
    reals: Array,
    buffer: Array,
    q: Array,
    v: Array,
    w: Array,
    stiffness: Array,
    damping: Array,
) -> None:
    """Add −∂/∂k and −∂/∂k̇ of (1)."""
    balls, c = real(ints, reals, BALLS, 6), work(ints, buffer, SCRATCH)[200:210]
    for i in range(len(balls)):
        first, a = int(balls[i, 0]), balls[i, 5]
        if a == 0.0:
            continue
        k, rate, given = get(q, first), get(v, first), _given(w, first)
        stumpff(dot(k, k), c)
        p, n = dot(k, rate), dot(rate, rate)
        A1, B1, C1 = 0.5 * (c[3] - c[2]), 0.5 * (2.0 * c[4] - c[3]), 0.5 * (3.0 * c[5] - c[4])
        A2, B2 = 0.25 * (3.0 * c[5] - 3.0 * c[4] + c[3]), 0.25 * (8.0 * c[6] - 5.0 * c[5] + c[4])
        C2 = 0.25 * (15.0 * c[7] - 7.0 * c[6] + c[5])
        steep, bent = blend(A1, -B1, C1, k, rate), blend(A2, -B2, C2, k, rate)
        both, u = combine(p, rate, n, k), _push(c, k, rate, given)
        for j in range(3):
            e = unit(j)
            k_j, rate_j = dot(e, k), dot(e, rate)
            inside = combine(C1, combine(rate_j, k, p, e), -B1, cross(e, rate))
            by_place = combine(2.0 * rate_j, steep, 2.0 * p, combine(2.0 * k_j, bent, 1.0, inside))
            by_place = combine(1.0, by_place, 2.0 * k_j * C1, both)
            by_place = combine(1.0, by_place, c[3], combine(rate_j, rate, n, e))
            by_place = add(by_place, slope(c, -1.0, k, given, j))
            by_rate = combine(2.0 * k_j, steep, 2.0 * p, blend(A1, -B1, C1, k, e))
            by_rate = combine(1.0, by_rate, c[3], combine(k_j, rate, p, e))
            by_rate = combine(1.0, by_rate, 2.0 * c[3] * rate_j, k)
            by_place = add(slope(c, 1.0, k, u, j), blend(c[1], c[2], c[3], k, by_place))
            by_rate = blend(c[1], c[2], c[3], k, by_rate)
            for r in range(3):
                stiffness[first + r, first + j] += a * by_place[r]
                damping[first + r, first + j] += a * by_rate[r]
