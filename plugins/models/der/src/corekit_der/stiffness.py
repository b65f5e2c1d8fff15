"""Hessian of the elastic energy, added directly to the storage of a matrix.

Per pair, in the variables (e, θ_e, f, θ_f) and with the names of `elastic_forces`,

    H = Σᵢ cᵢ·gᵢ∘gᵢ + Σᵢ sᵢ·∂²(k₁, k₂, τ)ᵢ,   c = (EI₁/V, EI₂/V, GJ/V),   a∘b = a·bᵀ        (1)

The blocks of the second sum are, with M = s₁m₂ − s₂m₁ and G = s₁m₁ + s₂m₂,

    ee: [2k·t̃∘t̃ − sym(t_f × B, t̃)]/l_e² − k/(χ·l_e²)·(1 − t_e∘t_e) + sym(κb, ¼M_e − ¼s₃(t_e + t̃))/l_e²
    ff: [2k·t̃∘t̃ + sym(t_e × B, t̃)]/l_f² − k/(χ·l_f²)·(1 − t_f∘t_f) + sym(κb, ¼M_f − ¼s₃(t_f + t̃))/l_f²
    ef: {2k·t̃∘t̃ − (t_f × B)∘t̃ + t̃∘(t_e × B) − [B]× − (k/χ)·(1 + t_e∘t_f) + ½s₃·((2/χ)[t_e]× − κb∘t̃)}/(l_e·l_f)
    eθ_x: [½(κb·G_x)·t̃ − t_f × G_x/χ]/l_e,   fθ_x: [½(κb·G_x)·t̃ + t_e × G_x/χ]/l_f,   x = e, f
    θ_xθ_x: −½·κb·M_x,   θ_eθ_f: 0                                                          (2)

with sym(a, b) = a∘b + b∘a. (2) is symmetric, and exact if the tangents are at their sources. Elsewhere, with
spin = θ̇ + A·ė (see `frames`), each edge adds

    H ← H + H_θ∘A + A∘H_θ + H_θθ·A∘A  (in e),     + ∂E/∂θ·sym ∂A/∂e                         (3)
    sym ∂A/∂e = −sym(A, 2t + (a·t)·t + a)/(2·l·(1 + a·t))

Stretching adds EA·[(1/L − 1/l)·1 + t∘t/l] to ee.                                            (4)

Source: Bergou et al. (2010), appendix; the first part of (1) alone is positive semidefinite.
"""

from __future__ import annotations

from corekit.data.arrays import Array
from corekit_der.elastic_forces import pair_strain
from corekit_der.frames import compute_edges, edge_in_pair
from corekit_der.tables import BlockEntries, BlockEntryTable, Rods, RodTable
from corekit_der.vectors import Vector, add_scaled, compiled, cross, dot, inlined, row, scale, triple

__all__ = ["elastic_stiffness", "pair_gradients", "write_pair_hessian"]


@inlined
def pair_gradients(
    slope: Array, te: Vector, tf: Vector, le: float, lf: float, chi: float, kb: Vector, k1: float, k2: float,
    m1e: Vector, m2e: Vector, m1f: Vector, m2f: Vector,
) -> None:  # fmt: skip
    """Write the gradients of k₁, k₂ and τ in (e, θ_e, f, θ_f), without spin, into the rows of `slope`."""
    tilde = scale(1.0 / chi, add_scaled(te, 1.0, tf))
    b1 = scale(1.0 / chi, add_scaled(m1e, 1.0, m1f))
    b2 = scale(1.0 / chi, add_scaled(m2e, 1.0, m2f))
    f2, e2, f1, e1 = cross(tf, b2), cross(te, b2), cross(tf, b1), cross(te, b1)
    for a in range(3):
        slope[0, a] = (-k1 * tilde[a] + f2[a]) / le
        slope[0, 4 + a] = (-k1 * tilde[a] - e2[a]) / lf
        slope[1, a] = (-k2 * tilde[a] - f1[a]) / le
        slope[1, 4 + a] = (-k2 * tilde[a] + e1[a]) / lf
        slope[2, a] = 0.5 * kb[a] / le
        slope[2, 4 + a] = 0.5 * kb[a] / lf
    slope[0, 3], slope[0, 7] = -0.5 * dot(kb, m1e), -0.5 * dot(kb, m1f)
    slope[1, 3], slope[1, 7] = -0.5 * dot(kb, m2e), -0.5 * dot(kb, m2f)
    slope[2, 3], slope[2, 7] = -1.0, 1.0


@inlined
def _write_second_derivatives(
    H: Array, te: Vector, tf: Vector, le: float, lf: float, chi: float, kb: Vector, k: float, s3: float,
    Ge: Vector, Gf: Vector, Me: Vector, Mf: Vector,
) -> None:  # fmt: skip
    """Write (2) into H."""
    tilde = scale(1.0 / chi, add_scaled(te, 1.0, tf))
    B = scale(1.0 / chi, add_scaled(Me, 1.0, Mf))
    fB, eB = cross(tf, B), cross(te, B)
    # x∘y of the off-diagonal block as one vector product: −[B]× + (s₃/χ)·[t_e]×
    w = add_scaled(scale(-1.0, B), s3 / chi, te)
    ve = add_scaled(scale(0.25, Me), -0.25 * s3, add_scaled(te, 1.0, tilde))
    vf = add_scaled(scale(0.25, Mf), -0.25 * s3, add_scaled(tf, 1.0, tilde))
    see, sff, sef, kc = 1.0 / (le * le), 1.0 / (lf * lf), 1.0 / (le * lf), k / chi
    for a in range(3):
        for b in range(3):
            tt = 2.0 * k * tilde[a] * tilde[b]
            one = kc if a == b else 0.0
            H[a, b] = see * (
                tt
                - fB[a] * tilde[b]
                - tilde[a] * fB[b]
                - one
                + kc * te[a] * te[b]
                + kb[a] * ve[b]
                + ve[a] * kb[b]
            )
            H[4 + a, 4 + b] = sff * (
                tt
                + eB[a] * tilde[b]
                + tilde[a] * eB[b]
                - one
                + kc * tf[a] * tf[b]
                + kb[a] * vf[b]
                + vf[a] * kb[b]
            )
            H[a, 4 + b] = sef * (
                tt
                - fB[a] * tilde[b]
                + tilde[a] * eB[b]
                - one
                - kc * te[a] * tf[b]
                - 0.5 * s3 * kb[a] * tilde[b]
            )
    H[0, 5] -= sef * w[2]
    H[0, 6] += sef * w[1]
    H[1, 4] += sef * w[2]
    H[1, 6] -= sef * w[0]
    H[2, 4] -= sef * w[1]
    H[2, 5] += sef * w[0]
    be, bf = 0.5 * dot(kb, Ge), 0.5 * dot(kb, Gf)
    fe, ff, ee, ef = cross(tf, Ge), cross(tf, Gf), cross(te, Ge), cross(te, Gf)
    for a in range(3):
        H[a, 3] = (be * tilde[a] - fe[a] / chi) / le
        H[a, 7] = (bf * tilde[a] - ff[a] / chi) / le
        H[3, 4 + a] = (be * tilde[a] + ee[a] / chi) / lf
        H[4 + a, 7] = (bf * tilde[a] + ef[a] / chi) / lf
    H[3, 3], H[7, 7], H[3, 7] = -0.5 * dot(kb, Me), -0.5 * dot(kb, Mf), 0.0


@inlined
def _add_spin(H: Array, first: int, A: Vector) -> None:
    """Add (3) for the edge with variables from `first` on; H remains symmetric."""
    angle = first + 3
    for a in range(3):
        for b in range(8):
            H[first + a, b] += A[a] * H[angle, b]
    for a in range(3):
        for b in range(8):
            H[b, first + a] += A[a] * H[b, angle]


@inlined
def _write_nodal_block(H: Array, B: Array) -> None:
    """Write the Hessian B (11, 11) of a pair in first far node, θ_e, common node, θ_f, second far node."""
    for a in range(3):
        for b in range(3):
            ee, ef, fe, ff = H[a, b], H[a, 4 + b], H[4 + a, b], H[4 + a, 4 + b]
            B[a, b], B[a, 4 + b], B[a, 8 + b] = ee, ef - ee, -ef
            B[4 + a, b], B[4 + a, 4 + b], B[4 + a, 8 + b] = fe - ee, ee - ef - fe + ff, ef - ff
            B[8 + a, b], B[8 + a, 4 + b], B[8 + a, 8 + b] = -fe, fe - ff, ff
    for angle in (3, 7):
        for a in range(3):
            e, f = H[angle, a], H[angle, 4 + a]
            B[angle, a], B[angle, 4 + a], B[angle, 8 + a] = -e, e - f, f
            B[a, angle], B[4 + a, angle], B[8 + a, angle] = -e, e - f, f
        B[angle, 3], B[angle, 7] = H[angle, 3], H[angle, 7]


@inlined
def write_pair_hessian(
    rods: Rods, p: int, H: Array, B: Array, se: float, sf: float, te: Vector, tf: Vector, le: float, lf: float,
    chi: float, kb: Vector, k1: float, k2: float, m1e: Vector, m2e: Vector, m1f: Vector, m2f: Vector,
    s1: float, s2: float, s3: float,
) -> None:  # fmt: skip
    """Write Σ sᵢ·∂²(k₁, k₂, τ)ᵢ of a pair into B (11, 11), without ∂A/∂e; H (8, 8) is a workspace."""
    Ge, Gf = add_scaled(scale(s1, m1e), s2, m2e), add_scaled(scale(s1, m1f), s2, m2f)
    Me, Mf = add_scaled(scale(s1, m2e), -s2, m1e), add_scaled(scale(s1, m2f), -s2, m1f)
    _write_second_derivatives(H, te, tf, le, lf, chi, kb, s1 * k1 + s2 * k2, s3, Ge, Gf, Me, Mf)
    for a in range(8):
        for b in range(a, 8):
            H[b, a] = H[a, b]
    _write_spun_block(rods, p, H, B, se, sf)


@inlined
def _write_spun_block(rods: Rods, p: int, H: Array, B: Array, se: float, sf: float) -> None:
    """Write B from H, which is without spin and for edges along the pair."""
    _add_spin(H, 0, row(rods.edge_state, rods.pair[p, 0], 10))
    _add_spin(H, 4, row(rods.edge_state, rods.pair[p, 1], 10))
    if se < 0.0 or sf < 0.0:
        for a in range(8):
            H[3, a] *= se
            H[a, 3] *= se
            H[7, a] *= sf
            H[a, 7] *= sf
    _write_nodal_block(H, B)


@compiled
def elastic_stiffness(
    table: RodTable, q: Array, aux: Array, block_entries: BlockEntryTable, out: Array
) -> None:
    """Add the Hessian to the flat storage `out` of a matrix.

    `places` locates the 6 × 6 block of every edge and the 11 × 11 block of every pair.
    """
    rods, stretch, pair = Rods(*table), BlockEntries(*block_entries[:4]), BlockEntries(*block_entries[4:])
    compute_edges(rods, q, aux)
    torque, H, g, B = rods.torque, rods.block, rods.slope, rods.nodal
    flat = B.reshape(-1)
    torque[:] = 0.0
    for p in range(len(rods.rest_strain)):
        se, le, te, m1e, m2e = edge_in_pair(rods, p, 0)
        sf, lf, tf, m1f, m2f = edge_in_pair(rods, p, 1)
        previous = sf * q[rods.pair_dofs[p, 3]] - se * q[rods.pair_dofs[p, 1]] + aux[6 * len(rods.length) + p]
        chi, kb, k1, k2, tau = pair_strain(te, tf, m1e, m2e, m1f, m2f, previous)
        c1, c2, c3 = rods.pair_stiffness[p, 0], rods.pair_stiffness[p, 1], rods.pair_stiffness[p, 2]
        s1, s2 = c1 * (k1 - rods.rest_strain[p, 0]), c2 * (k2 - rods.rest_strain[p, 1])
        s3 = c3 * (tau - rods.rest_strain[p, 2])
        Ge, Gf = add_scaled(scale(s1, m1e), s2, m2e), add_scaled(scale(s1, m1f), s2, m2f)
        Me, Mf = add_scaled(scale(s1, m2e), -s2, m1e), add_scaled(scale(s1, m2f), -s2, m1f)
        torque[rods.pair[p, 0]] -= se * (0.5 * dot(kb, Ge) + s3)
        torque[rods.pair[p, 1]] -= sf * (0.5 * dot(kb, Gf) - s3)
        pair_gradients(g, te, tf, le, lf, chi, kb, k1, k2, m1e, m2e, m1f, m2f)
        _write_second_derivatives(H, te, tf, le, lf, chi, kb, s1 * k1 + s2 * k2, s3, Ge, Gf, Me, Mf)
        for a in range(8):
            for b in range(a, 8):
                H[a, b] += c1 * g[0, a] * g[0, b] + c2 * g[1, a] * g[1, b] + c3 * g[2, a] * g[2, b]
                H[b, a] = H[a, b]
        _write_spun_block(rods, p, H, B, se, sf)
        base, kind = pair.base[p], pair.kind[p]
        for k in range(len(pair.entry)):
            out[base + pair.table[kind, k]] += flat[pair.entry[k]]
    for j in range(len(rods.length)):
        t, length, rest = row(rods.edge_state, j, 0), rods.edge_state[j, 3], rods.length[j]
        EA, A, cosine = rods.axial[j], row(rods.edge_state, j, 10), rods.edge_state[j, 13]
        a = triple(aux, 6 * j)
        turn = add_scaled(scale(2.0 + cosine, t), 1.0, a)
        connection = -0.5 * torque[j] / (length * (1.0 + cosine))
        for i in range(3):
            for k in range(3):
                value = EA * t[i] * t[k] / length + connection * (A[i] * turn[k] + turn[i] * A[k])
                if i == k:
                    value += EA * (1.0 / rest - 1.0 / length)
                flat[6 * i + k] = flat[6 * (i + 3) + k + 3] = value
                flat[6 * (i + 3) + k] = flat[6 * i + k + 3] = -value
        base, kind = stretch.base[j], stretch.kind[j]
        for k in range(len(stretch.entry)):
            out[base + stretch.table[kind, k]] += flat[stretch.entry[k]]
