"""Loads that depend on how a rod lies: drag of slender bodies, and forces at nodes that may turn with it.

Drag of an edge on either of its nodes, half an edge each (so the last node has its share):

    F = −(L/2)·[c_n·1 + (c_t − c_n)·t∘t]·ẋ                                                 (1)

A force u at a node is Rᵀ·u in the base's axes, or follows the material axes of an edge there:

    F = u₁·m₁ + u₂·m₂ + u₃·t                                                              (2)
    δF = [u₃·δe⊥ − t·(u₁m₁ + u₂m₂)·δe]/l + (u₁m₂ − u₂m₁)·(δθ + A·δe)                        (3)

Neither (1) nor (2) has a potential, so their part of K is not symmetric.

Source of (1): Gray and Hancock (1955), "The propulsion of sea-urchin spermatozoa", J. Exp. Biology 32(4).
"""

from __future__ import annotations

from corekit.data.arrays import Array
from corekit_der.frames import place_edges
from corekit_der.tables import Places, Rods
from corekit_der.vectors import along, compiled, inlined, row, scaled

__all__ = ["add_drag", "add_drag_slopes", "add_following", "following_slopes"]


@inlined
def _along_edge(rods: Rods, j: int, v: Array, node: int, width: int) -> float:
    """t·ẋ of a node, in space (`width` 3) or in the plane (2)."""
    total = 0.0
    for k in range(width):
        total += rods.at[j, k] * v[node + k]
    return total


@compiled
def add_drag(rods: Rods, drag: Array, width: int, v: Array, force: Array) -> None:
    """Add (1) at the tangents in `rods.at`; `drag` holds ½L·(c_n, c_t), (E, 2) [N·s/m]; `width` coordinates a node."""
    for j in range(len(drag)):
        across, extra = drag[j, 0], drag[j, 1] - drag[j, 0]
        if across == 0.0 and extra == 0.0:
            continue
        for side in range(2):
            x = rods.edge[j, side]
            speed = extra * _along_edge(rods, j, v, x, width)
            for k in range(width):
                force[x + k] -= across * v[x + k] + speed * rods.at[j, k]


@compiled
def add_drag_slopes(
    rods: Rods, drag: Array, width: int, v: Array, edge: Places, block: Array, K: Array, D: Array
) -> None:
    """Add −∂F/∂x and −∂F/∂ẋ of (1) to the flat storages of two matrices of one kind, from `rods.at`.

    `edge` says where an edge's block of 2·`width` rows stands; `block` is work space, (2, 36).
    """
    n = 2 * width
    for j in range(len(drag)):
        across, extra = drag[j, 0], drag[j, 1] - drag[j, 0]
        if across == 0.0 and extra == 0.0:
            continue
        t, length = rods.at[j], rods.at[j, 3]
        block[:] = 0.0
        for side in range(2):
            x = rods.edge[j, side]
            speed = _along_edge(rods, j, v, x, width)
            for a in range(width):
                for b in range(width):
                    r, own = width * side + a, width * side + b
                    one = 1.0 if a == b else 0.0
                    block[1, n * r + own] = across * one + extra * t[a] * t[b]
                    # d(t·(t·u)) = (1 − t∘t)·δe·(t·u)/l + t·(u − t·(t·u))·δe/l
                    slope = speed * (one - t[a] * t[b]) + t[a] * (v[x + b] - speed * t[b])
                    slope *= extra / length
                    block[0, n * r + b] -= slope
                    block[0, n * r + width + b] += slope
        base, kind = edge.base[j], edge.kind[j]
        for k in range(len(edge.entry)):
            K[base + edge.table[kind, k]] += block[0, edge.entry[k]]
            D[base + edge.table[kind, k]] += block[1, edge.entry[k]]


@compiled
def add_following(rods: Rods, node: int, edge: int, u: Array, force: Array) -> None:
    """Add (2) at the node with first index `node`, from `rods.at`."""
    t, m1, m2 = row(rods.at, edge, 0), row(rods.at, edge, 4), row(rods.at, edge, 7)
    for k in range(3):
        force[node + k] += u[0] * m1[k] + u[1] * m2[k] + u[2] * t[k]


@compiled
def following_slopes(rods: Rods, q: Array, aux: Array, edge: int, u: Array, out: Array) -> None:
    """Write (3) as δF = out·(δx_start, δθ, δx_end), out (3, 7)."""
    place_edges(rods, q, aux)
    t, m1, m2 = row(rods.at, edge, 0), row(rods.at, edge, 4), row(rods.at, edge, 7)
    swept, length = row(rods.at, edge, 10), rods.at[edge, 3]
    side, spun = along(scaled(u[0], m1), u[1], m2), along(scaled(u[0], m2), -u[1], m1)
    for a in range(3):
        out[a, 3] = spun[a]
        for b in range(3):
            perpendicular = (1.0 if a == b else 0.0) - t[a] * t[b]
            slope = (u[2] * perpendicular - t[a] * side[b]) / length + spun[a] * swept[b]
            out[a, b], out[a, 4 + b] = -slope, slope
