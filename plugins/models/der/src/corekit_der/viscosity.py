"""Kelvin–Voigt damping: the material resists the rates of its strains.

A Kelvin–Voigt material of viscosity η (in shear; a stretched one resists with 3·η) adds to the stresses of
`elastic_forces`, with the rates of ε, k₁, k₂ and τ that g·v gives (g a gradient in q, A_s the section's area),

    f = −Σ_edges 3·η·A_s·L·g·(g·v) − Σ_pairs Σᵢ cᵢ·gᵢ·(gᵢ·v),   c = (3·η·I₁, 3·η·I₂, η·J)/V       (1)
    D = Σ c·g∘g,     K = Σ c·[(g·v)·H + g∘(H·v)],     H the Hessian of a strain                (2)

D is symmetric and positive semidefinite, K is unsymmetric. A free vibration of frequency ω that stretches and bends has
the damping ratio ζ = 3·η·ω/(2·E), as in model `gvs`. Half edges of two materials in series share a strain as their
compliances r do, which holds below the materials' own frequencies E/(3·η); with the retardation time T = 3·η/E, or η/G,

    c = (stiffness of the pair)·(r_e·T_e + r_f·T_f)                                            (3)

Natural curvature that changes in time is not resisted: the rates are those of the shape.

Source: Linn, Lang, Tuganov (2013), "Geometrically exact Cosserat rods with Kelvin–Voigt type viscous damping".
"""

from __future__ import annotations

import numpy as np

from corekit.data.arrays import Array
from corekit_der.elastic_forces import pair_strain
from corekit_der.frames import compute_edges, edge_in_pair
from corekit_der.graph import Graph, compliance_fractions
from corekit_der.stiffness import pair_gradients, write_pair_hessian
from corekit_der.tables import BlockEntries, BlockEntryTable, Rods, RodTable
from corekit_der.vectors import Vector, add_scaled, compiled, inlined, row, scale, triple

__all__ = ["add_blocks", "add_stretching", "viscous_coefficients", "viscous_terms"]


def viscous_coefficients(graph: Graph) -> tuple[Array, Array]:
    """Return 3·η·A_s of every edge, (E,) [N·s], and c of (3) of every pair, (P, 3) [N·m·s]."""
    if not graph.viscosity.any():
        return np.zeros_like(graph.axial), np.zeros_like(graph.pair_stiffness)
    time = graph.viscosity[:, None] * graph.retardation
    shares = (compliance_fractions(graph) * time[graph.pair]).sum(axis=1)
    return graph.axial * time[:, 0], graph.pair_stiffness * shares


@inlined
def _write_gradient(
    gradient: Array, slope: Array, i: int, se: float, sf: float, Ae: Vector, Af: Vector
) -> None:
    """Write gᵢ in far node, θ_e, common node, θ_f, far node, (11,), from its form without spin."""
    for a in range(3):
        ge = slope[i, a] + slope[i, 3] * Ae[a]
        gf = slope[i, 4 + a] + slope[i, 7] * Af[a]
        gradient[a], gradient[4 + a], gradient[8 + a] = -ge, ge - gf, gf
    gradient[3], gradient[7] = se * slope[i, 3], sf * slope[i, 7]


@inlined
def _add_connection(B: Array, rods: Rods, aux: Array, j: int, first: int, torque: float) -> None:
    """Add ∂g/∂θ·sym ∂A/∂e of edge j, whose nodes stand at `first` and `first` + 4: (3) of `stiffness`."""
    t, length, A = row(rods.edge_state, j, 0), rods.edge_state[j, 3], row(rods.edge_state, j, 10)
    cosine = rods.edge_state[j, 13]
    turn = add_scaled(scale(2.0 + cosine, t), 1.0, triple(aux, 6 * j))
    factor = -0.5 * torque / (length * (1.0 + cosine))
    for a in range(3):
        for b in range(3):
            value = factor * (A[a] * turn[b] + turn[a] * A[b])
            B[first + a, first + b] += value
            B[first + 4 + a, first + 4 + b] += value
            B[first + a, first + 4 + b] -= value
            B[first + 4 + a, first + b] -= value


@inlined
def add_blocks(entries: BlockEntries, index: int, block: Array, K: Array, D: Array) -> None:
    """Add the first two rows of `block` to the flat storages K and D, at the element `index`."""
    base, kind = entries.base[index], entries.kind[index]
    for k in range(len(entries.entry)):
        K[base + entries.table[kind, k]] += block[0, entries.entry[k]]
        D[base + entries.table[kind, k]] += block[1, entries.entry[k]]


@compiled
def add_stretching(
    rods: Rods, entries: BlockEntries, width: int, axial: Array, v: Array, force: Array, block: Array, K: Array,
    D: Array,
) -> None:  # fmt: skip
    """Add (1) of stretching to `force`, and (2) where K and D have a length; a node has `width` coordinates."""
    for j in range(len(axial)):
        if axial[j] == 0.0:
            continue
        state, start, end = rods.edge_state[j], rods.edge[j, 0], rods.edge[j, 1]
        rate, per_length = 0.0, axial[j] / rods.length[j]
        for k in range(width):
            rate += state[k] * (v[end + k] - v[start + k])
        for a in range(width):
            force[start + a] += per_length * rate * state[a]
            force[end + a] -= per_length * rate * state[a]
            for b in range(width):
                one = 1.0 if a == b else 0.0
                turned = v[end + b] - v[start + b] - rate * state[b]
                stiff = per_length * (rate * (one - state[a] * state[b]) + state[a] * turned) / state[3]
                damped = per_length * state[a] * state[b]
                for quarter in range(4):
                    at = 2 * width * (width * (quarter // 2) + a) + width * (quarter % 2) + b
                    sign = 1.0 if quarter in (0, 3) else -1.0
                    block[0, at], block[1, at] = sign * stiff, sign * damped
        if len(K) > 0:
            add_blocks(entries, j, block, K, D)


@inlined
def _add_pair_blocks(rods: Rods, p: int, c: float, stress: float, v: Array, block: Array) -> None:
    """Add (2) of one strain of a pair to the rows 0 and 1 of `block`; H is in `rods.nodal`, g in row 2."""
    far, angle_e, common, angle_f, end = rods.pair_dofs[p]
    B, gradient = rods.nodal, block[2]
    for a in range(11):
        turned = B[a, 3] * v[angle_e] + B[a, 7] * v[angle_f]
        for b in range(3):
            turned += B[a, b] * v[far + b] + B[a, 4 + b] * v[common + b] + B[a, 8 + b] * v[end + b]
        for b in range(11):
            block[0, 11 * a + b] += stress * B[a, b]
            block[0, 11 * b + a] += c * gradient[b] * turned
            block[1, 11 * a + b] += c * gradient[a] * gradient[b]


@compiled
def viscous_terms(
    table: RodTable, q: Array, aux: Array, v: Array, axial: Array, damping: Array, force: Array,
    block_entries: BlockEntryTable, block: Array, K: Array, D: Array,
) -> None:  # fmt: skip
    """Add (1) to `force` and, where K and D have a length, (2) to their flat storages.

    Args:
        axial, damping: of `viscous_coefficients`.
        block: workspace, (3, 121).
    """
    rods, stretch, pair = Rods(*table), BlockEntries(*block_entries[:4]), BlockEntries(*block_entries[4:])
    compute_edges(rods, q, aux)
    H, B, slope = rods.block, rods.nodal, rods.slope
    gradient, matrices = block[2], len(K) > 0
    for p in range(len(damping)):
        if damping[p].max() == 0.0:
            continue
        e, f = rods.pair[p, 0], rods.pair[p, 1]
        se, le, te, m1e, m2e = edge_in_pair(rods, p, 0)
        sf, lf, tf, m1f, m2f = edge_in_pair(rods, p, 1)
        far, angle_e, common, angle_f, end = rods.pair_dofs[p]
        chi, kb, k1, k2, _ = pair_strain(te, tf, m1e, m2e, m1f, m2f, 0.0)
        pair_gradients(slope, te, tf, le, lf, chi, kb, k1, k2, m1e, m2e, m1f, m2f)
        block[:2] = 0.0
        for i in range(3):
            _write_gradient(
                gradient, slope, i, se, sf, row(rods.edge_state, e, 10), row(rods.edge_state, f, 10)
            )
            rate = gradient[3] * v[angle_e] + gradient[7] * v[angle_f]
            for a in range(3):
                rate += (
                    gradient[a] * v[far + a] + gradient[4 + a] * v[common + a] + gradient[8 + a] * v[end + a]
                )
            c = damping[p, i]
            stress = c * rate
            for a in range(3):
                force[far + a] -= stress * gradient[a]
                force[common + a] -= stress * gradient[4 + a]
                force[end + a] -= stress * gradient[8 + a]
            force[angle_e] -= stress * gradient[3]
            force[angle_f] -= stress * gradient[7]
            if not matrices:
                continue
            s1, s2, s3 = 1.0 if i == 0 else 0.0, 1.0 if i == 1 else 0.0, 1.0 if i == 2 else 0.0
            write_pair_hessian(
                rods, p, H, B, se, sf, te, tf, le, lf, chi, kb, k1, k2, m1e, m2e, m1f, m2f, s1, s2, s3
            )
            _add_connection(B, rods, aux, e, 0, gradient[3])
            _add_connection(B, rods, aux, f, 4, gradient[7])
            _add_pair_blocks(rods, p, c, stress, v, block)
        if matrices:
            add_blocks(pair, p, block, K, D)
    add_stretching(rods, stretch, 3, axial, v, force, block, K, D)
