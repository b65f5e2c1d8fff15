"""Natural curvature and twist of pairs, constant or as inputs.

The natural curvatures κ₁, κ₂ [1/m] and the twist [rad/m] add to the rest shape. The rest strains of a pair are

    k̄ᵢ = kᵢ(rest shape) + 2·tan(κᵢ·V/2),   τ̄ = τ(rest shape) + twist·V                       (1)

where 2·tan(φ/2) is the discrete curvature of a turning angle φ = κ·V. With c as in `stiffness`, the forces vary by

    ∂f/∂k̄ᵢ = cᵢ·∂kᵢ/∂q,   ∂k̄ᵢ/∂κᵢ = V·(1 + tan²(κᵢ·V/2))                                    (2)
"""

from __future__ import annotations

import math

from corekit.data.arrays import Array, IntArray
from corekit_der.elastic_forces import pair_strain
from corekit_der.frames import compute_edges, edge_in_pair
from corekit_der.stiffness import pair_gradients
from corekit_der.tables import Rods
from corekit_der.vectors import compiled, row

__all__ = ["add_curvature_derivatives", "set_rest_strains"]


@compiled
def set_rest_strains(
    rods: Rods, shape: Array, natural: Array, voronoi: Array, first: IntArray, count: int, inputs: Array
) -> None:
    """Write (1) into `rods.rest_strain`.

    A pair with first ≥ 0 adds the `count` inputs from that index to its `natural` (P, 3).
    """
    for p in range(len(shape)):
        V = voronoi[p]
        for i in range(3):
            value = natural[p, i]
            if first[p] >= 0 and i < count:
                value += inputs[first[p] + i]
            rods.rest_strain[p, i] = shape[p, i] + (2.0 * math.tan(0.5 * value * V) if i < 2 else value * V)


@compiled
def add_curvature_derivatives(
    rods: Rods,
    q: Array,
    aux: Array,
    natural: Array,
    voronoi: Array,
    first: IntArray,
    inputs: Array,
    out: Array,
) -> None:
    """Add ∂f/∂(inputs) of (2) to `out`, (nv, nu)."""
    compute_edges(rods, q, aux)
    g = rods.slope
    for p in range(len(natural)):
        if first[p] < 0:
            continue
        se, le, te, m1e, m2e = edge_in_pair(rods, p, 0)
        sf, lf, tf, m1f, m2f = edge_in_pair(rods, p, 1)
        chi, kb, k1, k2, _ = pair_strain(te, tf, m1e, m2e, m1f, m2f, 0.0)
        pair_gradients(g, te, tf, le, lf, chi, kb, k1, k2, m1e, m2e, m1f, m2f)
        swept_e, swept_f = (
            row(rods.edge_state, rods.pair[p, 0], 10),
            row(rods.edge_state, rods.pair[p, 1], 10),
        )
        for i in range(3):
            tangent = math.tan(0.5 * voronoi[p] * (natural[p, i] + inputs[first[p] + i])) if i < 2 else 0.0
            scale = rods.pair_stiffness[p, i] * voronoi[p] * (1.0 + tangent * tangent)
            column = first[p] + i
            for k in range(3):
                e = scale * (g[i, k] + g[i, 3] * swept_e[k])
                f = scale * (g[i, 4 + k] + g[i, 7] * swept_f[k])
                out[rods.pair_dofs[p, 0] + k, column] -= e
                out[rods.pair_dofs[p, 2] + k, column] += e - f
                out[rods.pair_dofs[p, 4] + k, column] += f
            out[rods.pair_dofs[p, 1], column] += scale * se * g[i, 3]
            out[rods.pair_dofs[p, 3], column] += scale * sf * g[i, 7]
