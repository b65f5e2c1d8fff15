"""Frames of the edges, and the twist between two edges.

An edge e = x_end − x_start has l = |e|, t = e/l. Its reference director is carried from a *source* (a, d), a
unit tangent and a director kept in the state, and its material directors are turned by θ from there:

    d₁ = P(a, t)·d,   d₂ = t × d₁,   m₁ = cos θ·d₁ + sin θ·d₂,   m₂ = t × m₁               (1)

While the source stays, (x, θ) are true coordinates: forces are exactly −∂E/∂(x, θ) and their derivative is a
symmetric Hessian. The material spin about t is not θ̇ alone, as the transport (1) turns too:

    spin = θ̇ + A·ė,   A = −(a × t)/(l·(1 + a·t))                                           (2)

A vanishes at the source, so formulas of the literature, which hold there, are corrected by A everywhere else
(see `elastic`). When edges have turned far the source is moved to them (`move_sources`).

The reference twist β of two edges is the angle from P(t_e, t_f)·m₁ᵉ to m₁ᶠ less θ_f − θ_e; of the values that
differ by full turns the one nearest to the last known is taken, so rods may be twisted by any number of turns. The
last known ones are renewed with the sources, so β may change by up to half a turn in between.

Source: Bergou et al. (2010), "Discrete viscous threads", section 4 (transport in time); (2) is the connection
of that transport, the area swept on the unit sphere.
"""

from __future__ import annotations

import math

import numpy as np

from corekit.data.arrays import Array, BoolArray
from corekit_der.tables import Rods, RodTable
from corekit_der.vectors import (
    Vector,
    along,
    compiled,
    cross,
    dot,
    inlined,
    norm,
    row,
    scaled,
    transport,
    triple,
)

__all__ = [
    "directors_along",
    "follow_twist",
    "move_sources",
    "oriented",
    "place_edges",
    "twist",
]


@compiled
def place_edges(rods: Rods, q: Array, aux: Array) -> None:
    """Write t, l, m₁, m₂, A and a·t of every edge into `rods.at`."""
    at = rods.at
    for j in range(len(rods.length)):
        start, end = rods.edge[j, 0], rods.edge[j, 1]
        e = along(triple(q, end), -1.0, triple(q, start))
        length = norm(e)
        t = scaled(1.0 / length, e)
        a, d = triple(aux, 6 * j), triple(aux, 6 * j + 3)
        d1 = transport(a, t, d)
        theta = q[rods.edge[j, 2]]
        m1 = along(scaled(math.cos(theta), d1), math.sin(theta), cross(t, d1))
        m2 = cross(t, m1)
        cosine = dot(a, t)
        swept = scaled(-1.0 / (length * (1.0 + cosine)), cross(a, t))
        for k in range(3):
            at[j, k], at[j, 4 + k], at[j, 7 + k], at[j, 10 + k] = t[k], m1[k], m2[k], swept[k]
        at[j, 3], at[j, 13] = length, cosine


@inlined
def oriented(rods: Rods, p: int, side: int) -> tuple[float, float, Vector, Vector, Vector]:
    """Sign, length, t, m₁, m₂ of an edge of pair p as the pair traverses it."""
    j, s = rods.pair[p, side], rods.sign[p, side]
    m1, m2 = row(rods.at, j, 4), scaled(s, row(rods.at, j, 7))
    if side == 1:
        c, d = rods.phase[p, 0], rods.phase[p, 1]
        m1, m2 = along(scaled(c, m1), d, m2), along(scaled(c, m2), -d, m1)
    return s, rods.at[j, 3], scaled(s, row(rods.at, j, 0)), m1, m2


@inlined
def twist(te: Vector, tf: Vector, m1e: Vector, m1f: Vector, near: float) -> float:
    """τ = angle from P(t_e, t_f)·m₁ᵉ to m₁ᶠ about t_f, the value nearest to `near` [rad]."""
    u = transport(te, tf, m1e)
    angle = math.atan2(dot(cross(u, m1f), tf), dot(u, m1f))
    return angle + 2.0 * math.pi * math.floor((near - angle) / (2.0 * math.pi) + 0.5)


@compiled
def follow_twist(rods: Rods, q: Array, aux: Array) -> None:
    """Continue β of every pair in `aux` to the shape q."""
    place_edges(rods, q, aux)
    first = 6 * len(rods.length)
    for p in range(len(rods.rest)):
        se, _, te, m1e, _ = oriented(rods, p, 0)
        sf, _, tf, m1f, _ = oriented(rods, p, 1)
        turned = sf * q[rods.where[p, 3]] - se * q[rods.where[p, 1]]
        aux[first + p] = twist(te, tf, m1e, m1f, turned + aux[first + p]) - turned


@compiled
def has_left(table: RodTable, held: BoolArray, q: Array, aux: Array) -> bool:
    """Whether an edge has turned by more than 60° from its source, or a β by more than a quarter turn from its own.

    β changes by the area between the sources and the tangents on the unit sphere, which is less than π·sin α where
    both edges have turned by at most α: up to 30° nothing needs to be placed.
    """
    rods = Rods(*table)
    near = True
    for j in range(len(rods.length)):
        start, end = rods.edge[j, 0], rods.edge[j, 1]
        e = along(triple(q, end), -1.0, triple(q, start))
        along_source = dot(e, triple(aux, 6 * j))
        # cos² 30° = ¾; written so that what is not finite is not near
        if not (along_source > 0.0 and along_source * along_source > 0.75 * dot(e, e)):
            near = False
            break
    if near:
        return False
    place_edges(rods, q, aux)
    for j in range(len(rods.length)):
        if not held[j] and rods.at[j, 13] < 0.5:
            return True
    first = 6 * len(rods.length)
    for p in range(len(rods.rest)):
        se, _, te, m1e, _ = oriented(rods, p, 0)
        sf, _, tf, m1f, _ = oriented(rods, p, 1)
        near = sf * q[rods.where[p, 3]] - se * q[rods.where[p, 1]] + aux[first + p]
        if abs(twist(te, tf, m1e, m1f, near) - near) > 0.5 * math.pi:
            return True
    return False


@compiled
def move_sources(rods: Rods, held: BoolArray, q: Array, v: Array, aux: Array) -> None:
    """Make the present tangent and reference director of every edge its source; θ stays, θ̇ becomes the spin (2).

    `held` (E,) is true for edges whose angle follows a given motion: their source stays for life.
    """
    place_edges(rods, q, aux)
    at = rods.at
    for j in range(len(rods.length)):
        if held[j]:
            continue
        start, end, angle = rods.edge[j]
        for k in range(3):
            v[angle] += at[j, 10 + k] * (v[end + k] - v[start + k])
        t, cosine, sine = row(at, j, 0), math.cos(q[angle]), math.sin(q[angle])
        d = along(scaled(cosine, row(at, j, 4)), -sine, row(at, j, 7))
        d = along(d, -dot(d, t), t)
        size = norm(d)
        for k in range(3):
            aux[6 * j + k], aux[6 * j + 3 + k] = t[k], d[k] / size


@compiled
def directors_along(tangent: Array, first: Array) -> Array:
    """Directors carried in space along a chain of unit tangents (n, 3), from `first` (3,), made orthogonal to it."""
    out = np.empty_like(tangent)
    t = row(tangent, 0, 0)
    d = triple(first, 0)
    for j in range(len(tangent)):
        now = row(tangent, j, 0)
        d = transport(t, now, d)
        d = along(d, -dot(d, now), now)
        d = scaled(1.0 / norm(d), d)
        out[j, 0], out[j, 1], out[j, 2] = d
        t = now
    return out
