"""Kelvin–Voigt damping of planar rods: (1) and (2) of `viscosity` with the one strain k of `planar`."""

from __future__ import annotations

from corekit.data.arrays import Array
from corekit_der.planar import bend, compute_planar_edges
from corekit_der.tables import BlockEntries, BlockEntryTable, Rods, RodTable
from corekit_der.vectors import compiled, inlined
from corekit_der.viscosity import add_blocks, add_stretching

__all__ = ["planar_viscous_terms"]


@inlined
def _write_hessian(rods: Rods, p: int, H: Array) -> None:
    """Write the Hessian of a pair's k, (3) of `planar`, as 6 × 6 numbers."""
    e, f, se, sf, slope, curvature = bend(rods, p)
    state, le, lf = rods.edge_state, rods.edge_state[e, 3], rods.edge_state[f, 3]
    for a in range(2):
        ua, wa = -se * state[e, 4 + a] / le, sf * state[f, 4 + a] / lf
        for b in range(2):
            ub, wb = -se * state[e, 4 + b] / le, sf * state[f, 4 + b] / lf
            second = 0.5 * curvature * slope
            ee = second * ua * ub + slope * (
                state[e, a] * state[e, 4 + b] + state[e, 4 + a] * state[e, b]
            ) / (le * le)
            ff = second * wa * wb - slope * (
                state[f, a] * state[f, 4 + b] + state[f, 4 + a] * state[f, b]
            ) / (lf * lf)
            ef, fe = second * ua * wb, second * wa * ub
            row = 6 * a
            H[row + b], H[row + 2 + b], H[row + 4 + b] = ee, ef - ee, -ef
            row = 6 * (2 + a)
            H[row + b], H[row + 2 + b], H[row + 4 + b] = fe - ee, ee - ef - fe + ff, ef - ff
            row = 6 * (4 + a)
            H[row + b], H[row + 2 + b], H[row + 4 + b] = -fe, fe - ff, ff


@compiled
def planar_viscous_terms(
    table: RodTable, q: Array, v: Array, axial: Array, damping: Array, force: Array,
    block_entries: BlockEntryTable, block: Array, K: Array, D: Array,
) -> None:  # fmt: skip
    """Add the viscous forces to `force` and, where K and D have a length, their derivatives to the flat storages.

    The arguments are those of `viscous_terms`; blocks are 4 × 4 and 6 × 6.
    """
    rods, stretch, pair = Rods(*table), BlockEntries(*block_entries[:4]), BlockEntries(*block_entries[4:])
    compute_planar_edges(rods, q)
    state, gradient, turned, H = rods.edge_state, block[2], block[2, 6:], rods.nodal.reshape(-1)
    matrices = len(K) > 0
    for p in range(len(damping)):
        c = damping[p, 0]
        if c == 0.0:
            continue
        e, f, se, sf, slope, _ = bend(rods, p)
        le, lf = state[e, 3], state[f, 3]
        nodes = (rods.pair_dofs[p, 0], rods.pair_dofs[p, 2], rods.pair_dofs[p, 4])
        rate = 0.0
        for a in range(2):
            ge, gf = -slope * se * state[e, 4 + a] / le, slope * sf * state[f, 4 + a] / lf
            gradient[a], gradient[2 + a], gradient[4 + a] = -ge, ge - gf, gf
            rate += -ge * v[nodes[0] + a] + (ge - gf) * v[nodes[1] + a] + gf * v[nodes[2] + a]
        for i in range(3):
            for a in range(2):
                force[nodes[i] + a] -= c * rate * gradient[2 * i + a]
        if not matrices:
            continue
        _write_hessian(rods, p, H)
        for a in range(6):
            turned[a] = 0.0
            for b in range(6):
                turned[a] += H[6 * a + b] * v[nodes[b // 2] + b % 2]
        for a in range(6):
            for b in range(6):
                block[0, 6 * a + b] = c * (rate * H[6 * a + b] + gradient[a] * turned[b])
                block[1, 6 * a + b] = c * gradient[a] * gradient[b]
        add_blocks(pair, p, block, K, D)
    add_stretching(rods, stretch, 2, axial, v, force, block, K, D)
