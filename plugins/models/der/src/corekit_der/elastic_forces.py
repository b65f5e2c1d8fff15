"""Elastic energy and forces of a graph of rods.

    E_s = ½·Σ_edges EA·L·ε²,   ε = l/L − 1                                                 (1)
    E_b = ½·Σ_pairs [EI₁·(k₁ − k̄₁)² + EI₂·(k₂ − k̄₂)²]/V                                    (2)
    E_t = ½·Σ_pairs GJ·(τ − τ̄)²/V                                                          (3)

For a pair of edges e, f with V half the sum of their rest lengths,

    χ = 1 + t_e·t_f,   κb = 2·t_e × t_f/χ,   k₁ = ½·κb·(m₂ᵉ + m₂ᶠ),   k₂ = −½·κb·(m₁ᵉ + m₁ᶠ)   (4)

With s₁ = EI₁/V·(k₁ − k̄₁), s₂ and s₃ alike, the gradients without spin of the material frames are

    g_e = (−k·t̃ + t_f × B)/l_e + s₃·κb/(2·l_e),   g_f = (−k·t̃ − t_e × B)/l_f + s₃·κb/(2·l_f)     (5)
    g_θe = −½·κb·G_e − s₃,   g_θf = −½·κb·G_f + s₃                                          (6)
    t̃ = (t_e + t_f)/χ,   k = s₁k₁ + s₂k₂,   B = [s₁(m₂ᵉ + m₂ᶠ) − s₂(m₁ᵉ + m₁ᶠ)]/χ,   G = s₁m₁ + s₂m₂

The spin is θ̇ + A·ė, so the gradients at fixed θ are

    ∂E/∂e = g_e + g_θe·A_e,   ∂E/∂f = g_f + g_θf·A_f,   ∂E/∂θ = g_θ                          (7)

Source: Bergou et al. (2008), (2010); Panetta et al. (2019), "X-shells", supplement (derivatives).
"""

from __future__ import annotations

from corekit.data.arrays import Array
from corekit_der.frames import compute_edges, edge_in_pair, pair_twist
from corekit_der.tables import Rods, RodTable
from corekit_der.vectors import Vector, add_scaled, compiled, cross, dot, inlined, row, scale

__all__ = ["compute_strains", "elastic_forces", "pair_strain"]


@inlined
def pair_strain(
    te: Vector, tf: Vector, m1e: Vector, m2e: Vector, m1f: Vector, m2f: Vector, previous: float
) -> tuple[float, Vector, float, float, float]:
    """Return χ, κb, k₁, k₂, τ of (4)."""
    chi = 1.0 + dot(te, tf)
    kb = scale(2.0 / chi, cross(te, tf))
    k1 = 0.5 * (dot(kb, m2e) + dot(kb, m2f))
    k2 = -0.5 * (dot(kb, m1e) + dot(kb, m1f))
    return chi, kb, k1, k2, pair_twist(te, tf, m1e, m1f, previous)


@compiled
def compute_strains(rods: Rods, q: Array, aux: Array, out: Array) -> None:
    """Write k₁, k₂, τ of every pair, (P, 3) [–]."""
    compute_edges(rods, q, aux)
    for p in range(len(rods.rest_strain)):
        se, _, te, m1e, m2e = edge_in_pair(rods, p, 0)
        sf, _, tf, m1f, m2f = edge_in_pair(rods, p, 1)
        previous = sf * q[rods.pair_dofs[p, 3]] - se * q[rods.pair_dofs[p, 1]] + aux[6 * len(rods.length) + p]
        _, _, out[p, 0], out[p, 1], out[p, 2] = pair_strain(te, tf, m1e, m2e, m1f, m2f, previous)


@compiled
def elastic_forces(
    table: RodTable, q: Array, aux: Array, weights: tuple[float, float, float], force: Array
) -> tuple[float, float, float]:
    """Add −∂E/∂(x, θ) to `force` and return the energies (1), (2), (3) [J].

    `weights` scales the forces of stretching, bending and twisting.
    """
    rods = Rods(*table)
    compute_edges(rods, q, aux)
    stretching = bending = twisting = 0.0
    for j in range(len(rods.length)):
        strain = rods.edge_state[j, 3] / rods.length[j] - 1.0
        stretching += 0.5 * rods.axial[j] * rods.length[j] * strain * strain
        tension = weights[0] * rods.axial[j] * strain
        start, end = rods.edge[j, 0], rods.edge[j, 1]
        for k in range(3):
            force[start + k] += tension * rods.edge_state[j, k]
            force[end + k] -= tension * rods.edge_state[j, k]
    for p in range(len(rods.rest_strain)):
        se, le, te, m1e, m2e = edge_in_pair(rods, p, 0)
        sf, lf, tf, m1f, m2f = edge_in_pair(rods, p, 1)
        far, angle_e, common, angle_f, end = rods.pair_dofs[p]
        previous = sf * q[angle_f] - se * q[angle_e] + aux[6 * len(rods.length) + p]
        chi, kb, k1, k2, tau = pair_strain(te, tf, m1e, m2e, m1f, m2f, previous)
        d1, d2, d3 = k1 - rods.rest_strain[p, 0], k2 - rods.rest_strain[p, 1], tau - rods.rest_strain[p, 2]
        s1, s2, s3 = (
            rods.pair_stiffness[p, 0] * d1,
            rods.pair_stiffness[p, 1] * d2,
            rods.pair_stiffness[p, 2] * d3,
        )
        bending += 0.5 * (s1 * d1 + s2 * d2)
        twisting += 0.5 * s3 * d3
        s1, s2, s3 = weights[1] * s1, weights[1] * s2, weights[2] * s3
        # (5), (6)
        middle = scale(-(s1 * k1 + s2 * k2) / chi, add_scaled(te, 1.0, tf))
        middle = add_scaled(middle, 0.5 * s3, kb)
        binormal_sum = add_scaled(
            scale(s1 / chi, add_scaled(m2e, 1.0, m2f)), -s2 / chi, add_scaled(m1e, 1.0, m1f)
        )
        ge = scale(1.0 / le, add_scaled(middle, 1.0, cross(tf, binormal_sum)))
        gf = scale(1.0 / lf, add_scaled(middle, -1.0, cross(te, binormal_sum)))
        gte = -0.5 * (s1 * dot(kb, m1e) + s2 * dot(kb, m2e)) - s3
        gtf = -0.5 * (s1 * dot(kb, m1f) + s2 * dot(kb, m2f)) + s3
        # (7)
        ge = add_scaled(ge, gte, row(rods.edge_state, rods.pair[p, 0], 10))
        gf = add_scaled(gf, gtf, row(rods.edge_state, rods.pair[p, 1], 10))
        for k in range(3):
            force[far + k] += ge[k]
            force[common + k] += gf[k] - ge[k]
            force[end + k] -= gf[k]
        force[angle_e] -= se * gte
        force[angle_f] -= sf * gtf
    return stretching, bending, twisting
