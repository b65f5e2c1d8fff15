"""Elasticity of planar rods: two coordinates per node, no frames, half the bandwidth.

In the base's x–z plane, angles about its y axis and n the tangent turned by +90° about y, n = (t_z, −t_x):

    E = ½·Σ_edges EA·L·ε² + ½·Σ_pairs EI₁·(k − k̄)²/V,   k = 2·tan(φ/2) = 2·(t_e × t_f)_y/χ          (1)

φ is the turning angle and χ = 1 + t_e·t_f. With φ_e = −n_e/l_e and φ_f = n_f/l_f, s = EI₁/V·(k − k̄), c = EI₁/V,

    ∂E/∂(e, f) = s·(2/χ)·(φ_e, φ_f)                                                            (2)
    ∂²E = [c·(2/χ)² + s·k/χ]·(φ_e, φ_f)∘(φ_e, φ_f) + s·(2/χ)·(sym(t_e, n_e)/l_e², −sym(t_f, n_f)/l_f²)   (3)

(the last on the diagonal blocks). This is `elastic_forces` with director 2 along y and no twist.

Source: Huang, Huang, Jawed (2020), "Dynamic simulation of articulated soft robots", Nature Communications 11.
"""

from __future__ import annotations

import math

from corekit.data.arrays import Array, IntArray
from corekit_der.tables import BlockEntries, BlockEntryTable, Rods, RodTable
from corekit_der.vectors import compiled, inlined

__all__ = [
    "add_planar_curvature_derivatives",
    "bend",
    "compute_planar_edges",
    "planar_forces",
    "planar_stiffness",
    "planar_strains",
]


@compiled
def compute_planar_edges(rods: Rods, q: Array) -> None:
    """Write t (0, 1), l (3) and n (4, 5) of every edge into `rods.edge_state`."""
    for j in range(len(rods.length)):
        start, end = rods.edge[j, 0], rods.edge[j, 1]
        x, z = q[end] - q[start], q[end + 1] - q[start + 1]
        length = math.sqrt(x * x + z * z)
        rods.edge_state[j, 0], rods.edge_state[j, 1], rods.edge_state[j, 3] = x / length, z / length, length
        rods.edge_state[j, 4], rods.edge_state[j, 5] = z / length, -x / length


@inlined
def bend(rods: Rods, p: int) -> tuple[int, int, float, float, float, float]:
    """Return the edges, their signs, 2/χ and k of a pair."""
    e, f = rods.pair[p, 0], rods.pair[p, 1]
    se, sf = rods.sign[p, 0], rods.sign[p, 1]
    state, s = rods.edge_state, se * sf
    slope = 2.0 / (1.0 + s * (state[e, 0] * state[f, 0] + state[e, 1] * state[f, 1]))
    return e, f, se, sf, slope, slope * s * (state[e, 1] * state[f, 0] - state[e, 0] * state[f, 1])


@compiled
def planar_strains(rods: Rods, q: Array, out: Array) -> None:
    """Write k of every pair into the first column of `out`, (P, 3)."""
    compute_planar_edges(rods, q)
    for p in range(len(rods.rest_strain)):
        out[p, 0] = bend(rods, p)[5]


@compiled
def planar_forces(
    table: RodTable, q: Array, weights: tuple[float, float, float], force: Array
) -> tuple[float, float]:
    """Add −∂E/∂x of (2) to `force` and return the energies of stretching and bending [J]."""
    rods = Rods(*table)
    compute_planar_edges(rods, q)
    state = rods.edge_state
    stretching = bending = 0.0
    for j in range(len(rods.length)):
        strain = state[j, 3] / rods.length[j] - 1.0
        stretching += 0.5 * rods.axial[j] * rods.length[j] * strain * strain
        tension = weights[0] * rods.axial[j] * strain
        for k in range(2):
            force[rods.edge[j, 0] + k] += tension * state[j, k]
            force[rods.edge[j, 1] + k] -= tension * state[j, k]
    for p in range(len(rods.rest_strain)):
        e, f, se, sf, slope, curvature = bend(rods, p)
        excess = curvature - rods.rest_strain[p, 0]
        bending += 0.5 * rods.pair_stiffness[p, 0] * excess * excess
        moment = weights[1] * rods.pair_stiffness[p, 0] * excess * slope
        for k in range(2):
            ge, gf = -moment * se * state[e, 4 + k] / state[e, 3], moment * sf * state[f, 4 + k] / state[f, 3]
            force[rods.pair_dofs[p, 0] + k] += ge
            force[rods.pair_dofs[p, 2] + k] += gf - ge
            force[rods.pair_dofs[p, 4] + k] -= gf
    return stretching, bending


@compiled
def planar_stiffness(table: RodTable, q: Array, block_entries: BlockEntryTable, out: Array) -> None:
    """Add the Hessian (3) to the flat storage of a matrix; blocks are 4 × 4 and 6 × 6, see `stiffness`."""
    rods, stretch, pair = Rods(*table), BlockEntries(*block_entries[:4]), BlockEntries(*block_entries[4:])
    compute_planar_edges(rods, q)
    state, H, B = rods.edge_state, rods.block, rods.nodal.reshape(-1)
    for p in range(len(rods.rest_strain)):
        e, f, se, sf, slope, curvature = bend(rods, p)
        c = rods.pair_stiffness[p, 0]
        s = c * (curvature - rods.rest_strain[p, 0])
        second = c * slope * slope + 0.5 * s * curvature * slope
        moment = s * slope
        le, lf = state[e, 3], state[f, 3]
        for a in range(2):
            ua, wa = -se * state[e, 4 + a] / le, sf * state[f, 4 + a] / lf
            for b in range(2):
                ub, wb = -se * state[e, 4 + b] / le, sf * state[f, 4 + b] / lf
                bend_e = (state[e, a] * state[e, 4 + b] + state[e, 4 + a] * state[e, b]) / (le * le)
                bend_f = (state[f, a] * state[f, 4 + b] + state[f, 4 + a] * state[f, b]) / (lf * lf)
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
        length, rest, EA = state[j, 3], rods.length[j], rods.axial[j]
        for i in range(2):
            for k in range(2):
                value = EA * state[j, i] * state[j, k] / length
                if i == k:
                    value += EA * (1.0 / rest - 1.0 / length)
                B[4 * i + k] = B[4 * (i + 2) + k + 2] = value
                B[4 * (i + 2) + k] = B[4 * i + k + 2] = -value
        base, kind = stretch.base[j], stretch.kind[j]
        for k in range(len(stretch.entry)):
            out[base + stretch.table[kind, k]] += B[stretch.entry[k]]


@compiled
def add_planar_curvature_derivatives(
    rods: Rods, q: Array, natural: Array, voronoi: Array, first: IntArray, inputs: Array, out: Array
) -> None:
    """Add ∂f/∂(curvature inputs) to `out`, (nv, nu): equation (2) of `actuation`."""
    compute_planar_edges(rods, q)
    state = rods.edge_state
    for p in range(len(natural)):
        if first[p] < 0:
            continue
        e, f, se, sf, slope, _ = bend(rods, p)
        tangent = math.tan(0.5 * voronoi[p] * (natural[p, 0] + inputs[first[p]]))
        scale = rods.pair_stiffness[p, 0] * voronoi[p] * (1.0 + tangent * tangent) * slope
        for k in range(2):
            ge, gf = -scale * se * state[e, 4 + k] / state[e, 3], scale * sf * state[f, 4 + k] / state[f, 3]
            out[rods.pair_dofs[p, 0] + k, first[p]] -= ge
            out[rods.pair_dofs[p, 2] + k, first[p]] += ge - gf
            out[rods.pair_dofs[p, 4] + k, first[p]] += gf
