"""Rods that move in a plane: two coordinates a node, no frames, half the bandwidth.

In the base's x–z plane, angles about its y axis and n the tangent turned by +90° about y, n = (t_z, −t_x):

    E = ½·Σ_edges EA·L·ε² + ½·Σ_pairs EI₁·(k − k̄)²/V,   k = 2·tan(φ/2) = 2·(t_e × t_f)_y/χ          (1)

φ is the turning angle and χ = 1 + t_e·t_f. With φ_e = −n_e/l_e and φ_f = n_f/l_f, s = EI₁/V·(k − k̄), c = EI₁/V,

    ∂E/∂(e, f) = s·(2/χ)·(φ_e, φ_f)                                                            (2)
    ∂²E = [c·(2/χ)² + s·k/χ]·(φ_e, φ_f)∘(φ_e, φ_f) + s·(2/χ)·(sym(t_e, n_e)/l_e², −sym(t_f, n_f)/l_f²)   (3)

(the last on the diagonal blocks), which is `elastic` with director 2 along y and no twist.

Source: Huang, Huang, Jawed (2020), "Dynamic simulation of articulated soft robots", Nature Communications 11.
"""

from __future__ import annotations

import math

from corekit.data.arrays import Array, IntArray
from corekit_der.tables import Places, PlaceTable, Rods, RodTable
from corekit_der.vectors import compiled, inlined

__all__ = ["place_planar", "planar_forces", "planar_slopes", "planar_stiffness", "planar_strains"]


@compiled
def place_planar(rods: Rods, q: Array) -> None:
    """Write t (0, 1), l (3) and n (4, 5) of every edge into `rods.at`."""
    for j in range(len(rods.length)):
        start, end = rods.edge[j, 0], rods.edge[j, 1]
        x, z = q[end] - q[start], q[end + 1] - q[start + 1]
        length = math.sqrt(x * x + z * z)
        rods.at[j, 0], rods.at[j, 1], rods.at[j, 3] = x / length, z / length, length
        rods.at[j, 4], rods.at[j, 5] = z / length, -x / length


@inlined
def _bend(rods: Rods, p: int) -> tuple[int, int, float, float, float, float]:
    """Edges, their signs, 2/χ and k of a pair."""
    e, f = rods.pair[p, 0], rods.pair[p, 1]
    se, sf = rods.sign[p, 0], rods.sign[p, 1]
    at, s = rods.at, se * sf
    slope = 2.0 / (1.0 + s * (at[e, 0] * at[f, 0] + at[e, 1] * at[f, 1]))
    return e, f, se, sf, slope, slope * s * (at[e, 1] * at[f, 0] - at[e, 0] * at[f, 1])


@compiled
def planar_strains(rods: Rods, q: Array, out: Array) -> None:
    """Write k of every pair into the first column of `out`, (P, 3)."""
    place_planar(rods, q)
    for p in range(len(rods.rest)):
        out[p, 0] = _bend(rods, p)[5]


@compiled
def planar_forces(
    table: RodTable, q: Array, share: tuple[float, float, float], force: Array
) -> tuple[float, float]:
    """Add −∂E/∂x of (2) to `force`; returns the energies of stretching and bending [J]. `share`: see `elastic`."""
    rods = Rods(*table)
    place_planar(rods, q)
    at = rods.at
    stretching = bending = 0.0
    for j in range(len(rods.length)):
        strain = at[j, 3] / rods.length[j] - 1.0
        stretching += 0.5 * rods.axial[j] * rods.length[j] * strain * strain
        pull = share[0] * rods.axial[j] * strain
        for k in range(2):
            force[rods.edge[j, 0] + k] += pull * at[j, k]
            force[rods.edge[j, 1] + k] -= pull * at[j, k]
    for p in range(len(rods.rest)):
        e, f, se, sf, slope, curvature = _bend(rods, p)
        excess = curvature - rods.rest[p, 0]
        bending += 0.5 * rods.bend[p, 0] * excess * excess
        moment = share[1] * rods.bend[p, 0] * excess * slope
        for k in range(2):
            ge, gf = -moment * se * at[e, 4 + k] / at[e, 3], moment * sf * at[f, 4 + k] / at[f, 3]
            force[rods.where[p, 0] + k] += ge
            force[rods.where[p, 2] + k] += gf - ge
            force[rods.where[p, 4] + k] -= gf
    return stretching, bending


@compiled
def planar_stiffness(table: RodTable, q: Array, places: PlaceTable, out: Array) -> None:
    """Add the Hessian (3) to a matrix's flat storage; arguments as in `stiffness`, blocks 4 × 4 and 6 × 6."""
    rods, stretch, pair = Rods(*table), Places(*places[:4]), Places(*places[4:])
    place_planar(rods, q)
    at, H, B = rods.at, rods.block, rods.nodal.reshape(-1)
    for p in range(len(rods.rest)):
        e, f, se, sf, slope, curvature = _bend(rods, p)
        c = rods.bend[p, 0]
        s = c * (curvature - rods.rest[p, 0])
        second = c * slope * slope + 0.5 * s * curvature * slope
        moment = s * slope
        le, lf = at[e, 3], at[f, 3]
        for a in range(2):
            ua, wa = -se * at[e, 4 + a] / le, sf * at[f, 4 + a] / lf
            for b in range(2):
                ub, wb = -se * at[e, 4 + b] / le, sf * at[f, 4 + b] / lf
                bend_e = (at[e, a] * at[e, 4 + b] + at[e, 4 + a] * at[e, b]) / (le * le)
                bend_f = (at[f, a] * at[f, 4 + b] + at[f, 4 + a] * at[f, b]) / (lf * lf)
                H[a, b] = second * ua * ub + moment * bend_e
                H[2 + a, 2 + b] = second * wa * wb - moment * bend_f
                H[a, 2 + b] = second * ua * wb
                H[2 + b, a] = H[a, 2 + b]
        for a in range(2):
            for b in range(2):
                ee, ef, fe, ff = H[a, b], H[a, 2 + b], H[2 + a, b], H[2 + a, 2 + b]
                B[6 * a + b], B[6 * a + 2 + b], B[6 * a + 4 + b] = ee, ef - ee, -ef
                r = 6 * (2 + a)
                B[r + b], B[r + 2 + b], B[r + 4 + b] = fe - ee, ee - ef - fe + ff, ef - ff
                r = 6 * (4 + a)
                B[r + b], B[r + 2 + b], B[r + 4 + b] = -fe, fe - ff, ff
        base, kind = pair.base[p], pair.kind[p]
        for k in range(len(pair.entry)):
            out[base + pair.table[kind, k]] += B[pair.entry[k]]
    for j in range(len(rods.length)):
        length, rest, EA = at[j, 3], rods.length[j], rods.axial[j]
        for i in range(2):
            for k in range(2):
                value = EA * at[j, i] * at[j, k] / length
                if i == k:
                    value += EA * (1.0 / rest - 1.0 / length)
                B[4 * i + k] = B[4 * (i + 2) + k + 2] = value
                B[4 * (i + 2) + k] = B[4 * i + k + 2] = -value
        base, kind = stretch.base[j], stretch.kind[j]
        for k in range(len(stretch.entry)):
            out[base + stretch.table[kind, k]] += B[stretch.entry[k]]


@compiled
def planar_slopes(
    rods: Rods, q: Array, natural: Array, voronoi: Array, first: IntArray, inputs: Array, out: Array
) -> None:
    """Add ∂f/∂(curvature inputs) to `out`, (nv, nu): equation (2) of `actuation`."""
    place_planar(rods, q)
    at = rods.at
    for p in range(len(natural)):
        if first[p] < 0:
            continue
        e, f, se, sf, slope, _ = _bend(rods, p)
        tangent = math.tan(0.5 * voronoi[p] * (natural[p, 0] + inputs[first[p]]))
        scale = rods.bend[p, 0] * voronoi[p] * (1.0 + tangent * tangent) * slope
        for k in range(2):
            ge, gf = -scale * se * at[e, 4 + k] / at[e, 3], scale * sf * at[f, 4 + k] / at[f, 3]
            out[rods.where[p, 0] + k, first[p]] -= ge
            out[rods.where[p, 2] + k, first[p]] += ge - gf
            out[rods.where[p, 4] + k, first[p]] += gf
