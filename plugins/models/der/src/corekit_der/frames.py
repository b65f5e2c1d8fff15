"""Frames of the edges, and the twist between two edges.

An edge e = x_end − x_start has l = |e|, t = e/l. The state stores a *source* (a, d) per edge: a unit tangent and a
director. Parallel transport from the source gives the reference director; θ turns the material directors from it:

    d₁ = P(a, t)·d,   d₂ = t × d₁,   m₁ = cos θ·d₁ + sin θ·d₂,   m₂ = t × m₁               (1)

While the source is constant, (x, θ) are true coordinates: forces are exactly −∂E/∂(x, θ) and their derivative is a
symmetric Hessian. The transport (1) turns too, so the material spin about t is

    spin = θ̇ + A·ė,   A = −(a × t)/(l·(1 + a·t))                                           (2)

A vanishes at the source, where the formulas of the literature hold. Elsewhere A corrects them (see
`elastic_forces`). `update_reference_frames` moves the sources after edges turned far.

The reference twist β of two edges is the angle from P(t_e, t_f)·m₁ᵉ to m₁ᶠ minus θ_f − θ_e. Of the values that
differ by full turns, β is the one nearest to its stored value, so a rod can twist by any number of turns. The stored
values change together with the sources. In between, β may change by up to half a turn.

Source: Bergou et al. (2010), "Discrete viscous threads", section 4 (transport in time). (2) is the connection
of that transport: the swept area on the unit sphere.
"""

from __future__ import annotations

import math

import numpy as np

from corekit.data.arrays import Array, BoolArray
from corekit_der.tables import Rods, RodTable
from corekit_der.vectors import (
    Vector,
    add_scaled,
    compiled,
    cross,
    dot,
    inlined,
    norm,
    row,
    scale,
    transport,
    triple,
)

__all__ = [
    "compute_edges",
    "edge_in_pair",
    "pair_twist",
    "transport_directors",
    "update_reference_frames",
    "update_reference_twists",
]


@compiled
def compute_edges(rods: Rods, q: Array, aux: Array) -> None:
    """Write t, l, m₁, m₂, A and a·t of every edge into `rods.edge_state`."""
    state = rods.edge_state
    for j in range(len(rods.length)):
        start, end = rods.edge[j, 0], rods.edge[j, 1]
        e = add_scaled(triple(q, end), -1.0, triple(q, start))
        length = norm(e)
        t = scale(1.0 / length, e)
        a, d = triple(aux, 6 * j), triple(aux, 6 * j + 3)
        d1 = transport(a, t, d)
        theta = q[rods.edge[j, 2]]
        m1 = add_scaled(scale(math.cos(theta), d1), math.sin(theta), cross(t, d1))
        m2 = cross(t, m1)
        cosine = dot(a, t)
        connection = scale(-1.0 / (length * (1.0 + cosine)), cross(a, t))
        for k in range(3):
            state[j, k], state[j, 4 + k], state[j, 7 + k], state[j, 10 + k] = (
                t[k],
                m1[k],
                m2[k],
                connection[k],
            )
        state[j, 3], state[j, 13] = length, cosine


@inlined
def edge_in_pair(rods: Rods, p: int, side: int) -> tuple[float, float, Vector, Vector, Vector]:
    """Return sign, length, t, m₁, m₂ of an edge of pair p in the direction of the pair."""
    j, s = rods.pair[p, side], rods.sign[p, side]
    m1, m2 = row(rods.edge_state, j, 4), scale(s, row(rods.edge_state, j, 7))
    if side == 1:
        c, d = rods.phase[p, 0], rods.phase[p, 1]
        m1, m2 = add_scaled(scale(c, m1), d, m2), add_scaled(scale(c, m2), -d, m1)
    return s, rods.edge_state[j, 3], scale(s, row(rods.edge_state, j, 0)), m1, m2


@inlined
def pair_twist(te: Vector, tf: Vector, m1e: Vector, m1f: Vector, previous: float) -> float:
    """Return τ, the angle from P(t_e, t_f)·m₁ᵉ to m₁ᶠ about t_f, on the branch nearest to `previous` [rad]."""
    u = transport(te, tf, m1e)
    angle = math.atan2(dot(cross(u, m1f), tf), dot(u, m1f))
    return angle + 2.0 * math.pi * math.floor((previous - angle) / (2.0 * math.pi) + 0.5)


@compiled
def update_reference_twists(rods: Rods, q: Array, aux: Array) -> None:
    """Update β of every pair in `aux` to the shape q."""
    compute_edges(rods, q, aux)
    first = 6 * len(rods.length)
    for p in range(len(rods.rest_strain)):
        se, _, te, m1e, _ = edge_in_pair(rods, p, 0)
        sf, _, tf, m1f, _ = edge_in_pair(rods, p, 1)
        angle_difference = sf * q[rods.pair_dofs[p, 3]] - se * q[rods.pair_dofs[p, 1]]
        aux[first + p] = pair_twist(te, tf, m1e, m1f, angle_difference + aux[first + p]) - angle_difference


@compiled
def frames_outdated(table: RodTable, prescribed: BoolArray, q: Array, aux: Array) -> bool:
    """Return whether an edge turned by more than 60° from its source, or a β by more than a quarter turn.

    β changes by the area between the sources and the tangents on the unit sphere. This is less than π·sin α if
    both edges turned by at most α, so the cheap test up to 30° needs no directors.
    """
    rods = Rods(*table)
    near = True
    for j in range(len(rods.length)):
        start, end = rods.edge[j, 0], rods.edge[j, 1]
        e = add_scaled(triple(q, end), -1.0, triple(q, start))
        along_source = dot(e, triple(aux, 6 * j))
        # cos² 30° = ¾; the form of the test rejects NaN
        if not (along_source > 0.0 and along_source * along_source > 0.75 * dot(e, e)):
            near = False
            break
    if near:
        return False
    compute_edges(rods, q, aux)
    for j in range(len(rods.length)):
        if not prescribed[j] and rods.edge_state[j, 13] < 0.5:
            return True
    first = 6 * len(rods.length)
    for p in range(len(rods.rest_strain)):
        se, _, te, m1e, _ = edge_in_pair(rods, p, 0)
        sf, _, tf, m1f, _ = edge_in_pair(rods, p, 1)
        previous = sf * q[rods.pair_dofs[p, 3]] - se * q[rods.pair_dofs[p, 1]] + aux[first + p]
        if abs(pair_twist(te, tf, m1e, m1f, previous) - previous) > 0.5 * math.pi:
            return True
    return False


@compiled
def update_reference_frames(rods: Rods, prescribed: BoolArray, q: Array, v: Array, aux: Array) -> None:
    """Make the present tangent and reference director of every edge its source; θ stays, θ̇ becomes the spin (2).

    `prescribed` (E,) marks edges with a prescribed angle: their source never changes.
    """
    compute_edges(rods, q, aux)
    state = rods.edge_state
    for j in range(len(rods.length)):
        if prescribed[j]:
            continue
        start, end, angle = rods.edge[j]
        for k in range(3):
            v[angle] += state[j, 10 + k] * (v[end + k] - v[start + k])
        t, cosine, sine = row(state, j, 0), math.cos(q[angle]), math.sin(q[angle])
        d = add_scaled(scale(cosine, row(state, j, 4)), -sine, row(state, j, 7))
        d = add_scaled(d, -dot(d, t), t)
        size = norm(d)
        for k in range(3):
            aux[6 * j + k], aux[6 * j + 3 + k] = t[k], d[k] / size


@compiled
def transport_directors(tangent: Array, first: Array) -> Array:
    """Return directors (n, 3) transported along a chain of unit tangents (n, 3) from `first` (3,)."""
    out = np.empty_like(tangent)
    t = row(tangent, 0, 0)
    d = triple(first, 0)
    for j in range(len(tangent)):
        tangent_j = row(tangent, j, 0)
        d = transport(t, tangent_j, d)
        d = add_scaled(d, -dot(d, tangent_j), tangent_j)
        d = scale(1.0 / norm(d), d)
        out[j, 0], out[j, 1], out[j, 2] = d
        t = tangent_j
    return out
