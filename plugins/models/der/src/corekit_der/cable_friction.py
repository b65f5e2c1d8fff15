"""What friction in its guides leaves of a cable's tension along a limb.

Beside a limb a cable turns where pairs of edges bend, by φ at a pair with the strains k = (k₁, k₂), |k| = 2·tan(φ/2).
By the capstan equation of `corekit.roles.cables`, from the drive at the start of the limb on, the tension T is at edge
j and on average in pair p

    T·g_j,  g_j = exp(−μ·Σ_{r<j} φ_r)        T·g_p,  g_p = exp(−μ·Σ_{r<p} φ_r)·m(μ·φ_p)              (1)
    φ = 2·atan(s/2),   s = √(|k|² + ε²) − ε                                                        (2)

ε = 1e-5 keeps φ smooth where the limb is straight.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.roles.cables import mean_capstan_factor
from corekit_der.tables import Rods

__all__ = ["SMOOTHING", "Shares", "order_pairs", "shares_of", "turns"]

SMOOTHING = 1e-5
"""ε of (2)."""


class Shares(NamedTuple):
    """g of (1) for the m pairs and the edges of a cable, and its derivatives in the turns.

    Attributes:
        pair, edge: g, (m,) and (e,).
        pair_slope, edge_slope: ∂g/∂φ, (m, m) and (e, m).
    """

    pair: Array
    edge: Array
    pair_slope: Array
    edge_slope: Array


def order_pairs(rods: Rods, edges: IntArray, pairs: IntArray) -> Array:
    """Return where pairs stand among the edges of a limb: half a step behind an edge or before one, shape (m,)."""
    place = {int(edge): i for i, edge in enumerate(edges)}
    found = np.zeros(len(pairs))
    for row, p in enumerate(pairs):
        # a pair runs out of its first edge and into its second one, both along themselves if their sign is 1
        sides = ((int(rods.pair[p, 0]), rods.sign[p, 0]), (int(rods.pair[p, 1]), -rods.sign[p, 1]))
        found[row] = next(place[edge] + 0.5 * side for edge, side in sides if edge in place)
    return found


def turns(strain: Array) -> tuple[Array, Array]:
    """φ of (2) of pairs with the strains (m, 3), and its derivatives in k₁ and k₂, (m, 2)."""
    bent = strain[:, :2]
    size = np.sqrt(np.einsum("pi,pi->p", bent, bent) + SMOOTHING**2)
    s = size - SMOOTHING
    return 2.0 * np.arctan(0.5 * s), bent / (size * (1.0 + 0.25 * s * s))[:, None]


def shares_of(friction: float, place: Array, edges: int, turn: Array) -> Shares:
    """g of (1) for pairs at `place` among the edges, and its derivatives."""
    before_pair = (place < place[:, None]).astype(float)
    before_edge = (place < np.arange(edges)[:, None]).astype(float)
    reaching, edge = np.exp(-friction * (before_pair @ turn)), np.exp(-friction * (before_edge @ turn))
    mean, slope = np.array([mean_capstan_factor(friction * each) for each in turn]).reshape(-1, 2).T
    pair = reaching * mean
    return Shares(
        pair,
        edge,
        np.diag(reaching * friction * slope) - friction * pair[:, None] * before_pair,
        -friction * edge[:, None] * before_edge,
    )
