"""Loads that depend on the configuration: drag of slender bodies, and following forces at nodes.

Drag of an edge on each of its two nodes, half an edge each:

    F = −(L/2)·[c_n·1 + (c_t − c_n)·t∘t]·ẋ                                                 (1)

A force u at a node is Rᵀ·u in the base's axes. A following force turns with the material axes of an edge:

    F = u₁·m₁ + u₂·m₂ + u₃·t                                                              (2)
    δF = [u₃·δe⊥ − t·(u₁m₁ + u₂m₂)·δe]/l + (u₁m₂ − u₂m₁)·(δθ + A·δe)                        (3)

Neither (1) nor (2) has a potential, so their part of K is not symmetric.

Source of (1): Gray and Hancock (1955), "The propulsion of sea-urchin spermatozoa", J. Exp. Biology 32(4).
"""

from __future__ import annotations

from corekit.data.arrays import Array
from corekit_der.frames import compute_edges
from corekit_der.tables import BlockEntries, Rods
from corekit_der.vectors import add_scaled, compiled, inlined, row, scale

__all__ = ["add_drag", "add_drag_derivatives", "add_following", "add_world_force", "following_derivatives"]


@inlined
def _along_edge(rods: Rods, j: int, v: Array, node: int, width: int) -> float:
    """Return t·ẋ of a node, in space (`width` 3) or in the plane (2)."""
    total = 0.0
    for k in range(width):
        total += rods.edge_state[j, k] * v[node + k]
    return total


@compiled
def add_drag(rods: Rods, drag: Array, width: int, v: Array, force: Array) -> None:
    """Add (1) for the edge state; `drag` = ½L·(c_n, c_t), (E, 2) [N·s/m]; a node has `width` coordinates."""
    for j in range(len(drag)):
        across, extra = drag[j, 0], drag[j, 1] - drag[j, 0]
        if across == 0.0 and extra == 0.0:
            continue
        for side in range(2):
            x = rods.edge[j, side]
            speed = extra * _along_edge(rods, j, v, x, width)
            for k in range(width):
                force[x + k] -= across * v[x + k] + speed * rods.edge_state[j, k]


@compiled
def add_drag_derivatives(
    rods: Rods, drag: Array, width: int, v: Array, edge: BlockEntries, block: Array, K: Array, D: Array
) -> None:
    """Add −∂F/∂x and −∂F/∂ẋ of (1) for the edge state to the flat storages of two matrices of one kind.

    `edge` locates an edge's block of 2·`width` rows; `block` is a workspace, (2, 36).
    """
    n = 2 * width
    for j in range(len(drag)):
        across, extra = drag[j, 0], drag[j, 1] - drag[j, 0]
        if across == 0.0 and extra == 0.0:
            continue
        t, length = rods.edge_state[j], rods.edge_state[j, 3]
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
def add_world_force(rotation: Array, node: int, u: Array, force: Array) -> None:
    """Add Rᵀ·u, u (3,) in world axes, at the node with first index `node`."""
    for k in range(3):
        force[node + k] += u[0] * rotation[0, k] + u[1] * rotation[1, k] + u[2] * rotation[2, k]


@compiled
def add_following(rods: Rods, node: int, edge: int, u: Array, force: Array) -> None:
    """Add (2) at the node with first index `node`, for the edge state."""
    t, m1, m2 = row(rods.edge_state, edge, 0), row(rods.edge_state, edge, 4), row(rods.edge_state, edge, 7)
    for k in range(3):
        force[node + k] += u[0] * m1[k] + u[1] * m2[k] + u[2] * t[k]


@compiled
def following_derivatives(rods: Rods, q: Array, aux: Array, edge: int, u: Array, out: Array) -> None:
    """Write (3) as δF = out·(δx_start, δθ, δx_end), out (3, 7)."""
    compute_edges(rods, q, aux)
    t, m1, m2 = row(rods.edge_state, edge, 0), row(rods.edge_state, edge, 4), row(rods.edge_state, edge, 7)
    connection, length = row(rods.edge_state, edge, 10), rods.edge_state[edge, 3]
    side, spun = add_scaled(scale(u[0], m1), u[1], m2), add_scaled(scale(u[0], m2), -u[1], m1)
    for a in range(3):
        out[a, 3] = spun[a]
        for b in range(3):
            perpendicular = (1.0 if a == b else 0.0) - t[a] * t[b]
            slope = (u[2] * perpendicular - t[a] * side[b]) / length + spun[a] * connection[b]
            out[a, b], out[a, 4 + b] = -slope, slope
