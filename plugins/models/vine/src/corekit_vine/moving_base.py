"""Inertia and weight of the bodies on a base that moves.

A particle at s from the base's origin, in world axes, that moves by the base's twist (V, ω) and its body's (x, y, t),

    ẋ = V + ω × s + ṡ,      columns e_i of V, e_j × s of ω, s_k = ∂s/∂k of the body                     (1)
    a = ω × (ω × s) + 2·ω × ṡ + s̈,      M = Σ m·J_c·J_b,   f = Σ m·J_c·F,   F = g − a                   (2)

s̈ is the part of rates. The mass of a body stands at s = x·E₁ + y·E₂, and its rotary inertia is that of its axes as
particles without columns of V and without weight: with J across and J_x along the body, ½·J_x of b and of the normal
E₁ × E₂, J − ½·J_x of a. The base itself is a ball at its origin. Moving the base by δ turns s and its rates, not ω:

    K = −Σ m·(∂J_c·F − J_c·∂a),      D = Σ m·J_c·∂a/∂v                                                  (3)
    ∂s/∂δ_i = e_i × s,   ∂a/∂ω_i = e_i × (ω × s) + ω × (e_i × s) + 2·e_i × ṡ,   ∂a/∂k̇ = 2·ω × s_k + ∂s̈/∂k̇

Everything else, springs and rows between the bodies, is what it is on a base that stands.
"""

from __future__ import annotations

import math
from typing import Final

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.geometry.vectors import Vector, add, add_scaled, cross, dot, row, scaled, subtract

__all__ = ["BASE", "add_inertia", "add_inertia_derivatives"]

BASE: Final = 6
"""Velocities of the base."""
_OWN: Final = 9
"""Columns of a particle: V, ω and those of its body."""
_ZERO: Final = (0.0, 0.0, 0.0)
# rows of a particle's table: s, ṡ, s̈; s_x, s_y, s_t; ∂s_t/∂t, ∂ṡ/∂t, ∂s̈/∂t, ∂s̈/∂ṫ
_PLACE, _RATE, _CHANGE, _COLUMN, _TURN, _RATE_TURN, _CHANGE_TURN, _CHANGE_RATE = 0, 1, 2, 3, 6, 7, 8, 9


@compiled
def _unit(i: int) -> Vector:
    return (1.0 if i == 0 else 0.0, 1.0 if i == 1 else 0.0, 1.0 if i == 2 else 0.0)


@compiled
def _write(table: Array, i: int, a: Vector) -> None:
    table[i, 0], table[i, 1], table[i, 2] = a


@compiled
def _particle(k: int, rotation: Array, q: Array, v: Array, i: int, table: Array) -> None:
    """Write the table of particle k of body i: its place, or its axes a, b and normal."""
    first = (rotation[0, 0], rotation[1, 0], rotation[2, 0])
    second = (rotation[0, 2], rotation[1, 2], rotation[2, 2])
    table[:] = 0.0
    if k == 0:
        _write(table, _PLACE, add_scaled(scaled(first, q[3 * i]), q[3 * i + 1], second))
        _write(table, _RATE, add_scaled(scaled(first, v[3 * i]), v[3 * i + 1], second))
        _write(table, _COLUMN, first)
        _write(table, _COLUMN + 1, second)
    elif k == 3:
        _write(table, _PLACE, cross(first, second))
    else:
        c, s, spin = math.cos(q[3 * i + 2]), math.sin(q[3 * i + 2]), v[3 * i + 2]
        along = add_scaled(scaled(first, c), s, second)
        across = add_scaled(scaled(first, -s), c, second)
        place, column = along, across
        if k == 2:
            place, column = across, scaled(along, -1.0)
        _write(table, _PLACE, place)
        _write(table, _RATE, scaled(column, spin))
        _write(table, _CHANGE, scaled(place, -spin * spin))
        _write(table, _COLUMN + 2, column)
        _write(table, _TURN, scaled(place, -1.0))
        _write(table, _RATE_TURN, scaled(place, -spin))
        _write(table, _CHANGE_TURN, scaled(column, -spin * spin))
        _write(table, _CHANGE_RATE, scaled(place, -2.0 * spin))


@compiled
def _jacobian(table: Array, placed: float, c: int) -> Vector:
    """J_c of (1)."""
    if c < 3:
        return scaled(_unit(c), placed)
    if c < BASE:
        return cross(_unit(c - 3), row(table, _PLACE))
    return row(table, _COLUMN + c - BASE)


@compiled
def _acceleration(spin: Vector, s: Vector, rate: Vector, change: Vector) -> Vector:
    """a of (2)."""
    return add(add_scaled(cross(spin, cross(spin, s)), 2.0, cross(spin, rate)), change)


@compiled
def add_inertia(
    rotation: Array, base: Array, inertia: Array, q: Array, v: Array, gravity: Array, moving: float, table: Array,
    where: IntArray, mass: Array, force: Array,
) -> None:  # fmt: skip
    """Add M and f of (2).

    Args:
        rotation: of the base, (3, 3). base: its own mass and moment of inertia.
        inertia: mass of every body, and those of its axes as particles, (n, 4).
        q, v: of the bodies, after those of the base in `force`; v begins with the base.
        moving: 1, or 0 to leave out a. table: scratch, (10, 3).
        where: index in `mass` of each body's block, (n, 9, 9).
    """
    spin = (moving * v[3], moving * v[4], moving * v[5])
    weight = (gravity[0], gravity[1], gravity[2])
    for i in range(3):
        mass[where[0, i, i]] += base[0]
        mass[where[0, 3 + i, 3 + i]] += base[1]
        force[i] += base[0] * weight[i]
    for i in range(len(inertia)):
        for k in range(4):
            placed = 1.0 if k == 0 else 0.0
            _particle(k, rotation, q, v[BASE:], i, table)
            a = _acceleration(
                spin, row(table, _PLACE), scaled(row(table, _RATE), moving), scaled(row(table, _CHANGE), moving)
            )  # fmt: skip
            load = subtract(scaled(weight, placed), a)
            for c in range(_OWN):
                own = scaled(_jacobian(table, placed, c), inertia[i, k])
                force[c if c < BASE else c + 3 * i] += dot(own, load)
                for b in range(_OWN):
                    mass[where[i, c, b]] += dot(own, _jacobian(table, placed, b))


@compiled
def add_inertia_derivatives(
    rotation: Array, inertia: Array, q: Array, v: Array, gravity: Array, table: Array, where: IntArray, K: Array,
    D: Array,
) -> None:  # fmt: skip
    """Add K and D of (3); arguments as in `add_inertia`."""
    spin, weight = (v[3], v[4], v[5]), (gravity[0], gravity[1], gravity[2])
    for i in range(len(inertia)):
        for k in range(4):
            placed = 1.0 if k == 0 else 0.0
            _particle(k, rotation, q, v[BASE:], i, table)
            s, rate, change = row(table, _PLACE), row(table, _RATE), row(table, _CHANGE)
            load = subtract(scaled(weight, placed), _acceleration(spin, s, rate, change))
            for b in range(3, _OWN):
                e, moved = _unit(b - 3), row(table, _COLUMN + max(b - BASE, 0))
                if b < BASE:
                    by_place = _acceleration(spin, cross(e, s), cross(e, rate), cross(e, change))
                    by_rate = add_scaled(
                        add(cross(e, cross(spin, s)), cross(spin, cross(e, s))), 2.0, cross(e, rate)
                    )
                else:
                    turns = b == _OWN - 1
                    by_place = _acceleration(
                        spin, moved, row(table, _RATE_TURN) if turns else _ZERO,
                        row(table, _CHANGE_TURN) if turns else _ZERO,
                    )  # fmt: skip
                    by_rate = scaled(cross(spin, moved), 2.0)
                    if turns:
                        by_rate = add(by_rate, row(table, _CHANGE_RATE))
                for c in range(_OWN):
                    own, m = _jacobian(table, placed, c), inertia[i, k]
                    turned = _ZERO
                    if 3 <= c < BASE:
                        turned = cross(_unit(c - 3), cross(e, s) if b < BASE else moved)
                    elif c >= BASE and b < BASE:
                        turned = cross(e, own)
                    elif c == b and c == _OWN - 1:
                        turned = row(table, _TURN)
                    K[where[i, c, b]] -= m * (dot(turned, load) - dot(own, by_place))
                    D[where[i, c, b]] += m * dot(own, by_rate)
