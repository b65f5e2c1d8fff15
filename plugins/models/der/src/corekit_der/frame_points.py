"""Poses of node and edge frames, and Jacobians of their material points.

A node frame has the base's axes and does not turn: ẋ_p = ẋ. An edge frame lies at x = (1 − c)·x_a + c·x_b, c = ½, and
has the axes m₁, m₂, t; the frame of a clamped edge lies at its node, c = 0 or 1. With e = x_b − x_a, l = |e| and the
spin of `frames`, the velocity of its material point r is

    ẋ_p = (1 − c)·ẋ_a + c·ẋ_b + [r₃·ė⊥ − t·(r₁·m₁ + r₂·m₂)·ė]/l + (r₁·m₂ − r₂·m₁)·(θ̇ + A·ė),   ė⊥ = ė − t·(t·ė)   (1)
"""

from __future__ import annotations

from corekit.data.arrays import Array, IntArray
from corekit_der.frames import compute_edges
from corekit_der.tables import Rods
from corekit_der.vectors import add_scaled, compiled, row, scale

__all__ = ["edge_point_jacobians", "edge_poses", "node_point_jacobians", "node_poses", "place_edges"]


@compiled
def node_poses(
    q: Array, node: IntArray, axes: Array, origin: Array, base: Array, position: Array, rotation: Array
) -> None:
    """Write the world positions (k, 3) of nodes and the base's rotation (k, 3, 3).

    `node` (k,) contains first indices. `axes` (3, 2 or 3) maps from the base, or its plane, to the world.
    """
    for i in range(len(node)):
        for a in range(3):
            total = origin[a]
            for k in range(axes.shape[1]):
                total += axes[a, k] * q[node[i] + k]
            position[i, a] = total
            for b in range(3):
                rotation[i, a, b] = base[a, b]


@compiled
def node_point_jacobians(node: IntArray, axes: Array, frame: IntArray, dofs: IntArray, values: Array) -> None:
    """Write the Jacobians of nodes `frame` (c,): dofs (c, 2 or 3) and values (c, 3, 2 or 3) equal to `axes`."""
    for c in range(len(frame)):
        for k in range(axes.shape[1]):
            dofs[c, k] = node[frame[c]] + k
            for a in range(3):
                values[c, a, k] = axes[a, k]


@compiled
def edge_poses(
    rods: Rods, q: Array, aux: Array, edges: IntArray, along: Array, position: Array, rotation: Array
) -> None:
    """Write points (k, 3) at c, `along` (k,), and axes m₁, m₂, t (k, 3, 3) of `edges`, in the base's axes."""
    compute_edges(rods, q, aux)
    for k in range(len(edges)):
        j = edges[k]
        start, end = rods.edge[j, 0], rods.edge[j, 1]
        for a in range(3):
            position[k, a] = (1.0 - along[k]) * q[start + a] + along[k] * q[end + a]
            rotation[k, a, 0] = rods.edge_state[j, 4 + a]
            rotation[k, a, 1] = rods.edge_state[j, 7 + a]
            rotation[k, a, 2] = rods.edge_state[j, a]


@compiled
def place_edges(axes: Array, origin: Array, position: Array, rotation: Array) -> None:
    """Bring points (k, 3) and axes (k, 3, 3) from the base's axes to the world's, in place."""
    for i in range(len(position)):
        point = row(position, i, 0)
        for a in range(3):
            total = origin[a]
            for k in range(3):
                total += axes[a, k] * point[k]
            position[i, a] = total
        for b in range(3):
            m = (rotation[i, 0, b], rotation[i, 1, b], rotation[i, 2, b])
            for a in range(3):
                rotation[i, a, b] = axes[a, 0] * m[0] + axes[a, 1] * m[1] + axes[a, 2] * m[2]


@compiled
def edge_point_jacobians(
    rods: Rods, q: Array, aux: Array, edge: IntArray, along: Array, local: Array, axes: Array, dofs: IntArray,
    values: Array,
) -> None:  # fmt: skip
    """Write (1) for points `local` (c, 3) of edges `edge` (c,): dofs (c, 7) and values (c, 3, 7) in world axes.

    `along` (c,) holds the c of (1). Points with a negative edge index are skipped. `axes` (3, 3) maps from the base to
    the world.
    """
    compute_edges(rods, q, aux)
    for c in range(len(edge)):
        j = edge[c]
        if j < 0:
            continue
        t, m1, m2 = row(rods.edge_state, j, 0), row(rods.edge_state, j, 4), row(rods.edge_state, j, 7)
        connection, length = row(rods.edge_state, j, 10), rods.edge_state[j, 3]
        side = add_scaled(scale(local[c, 0], m1), local[c, 1], m2)
        spun = add_scaled(scale(local[c, 0], m2), -local[c, 1], m1)
        for k in range(3):
            dofs[c, k] = rods.edge[j, 0] + k
            dofs[c, 4 + k] = rods.edge[j, 1] + k
        dofs[c, 3] = rods.edge[j, 2]
        for w in range(3):
            values[c, w, 3] = axes[w, 0] * spun[0] + axes[w, 1] * spun[1] + axes[w, 2] * spun[2]
        for k in range(3):
            for w in range(3):
                arm = 0.0
                for a in range(3):
                    perpendicular = (1.0 if a == k else 0.0) - t[a] * t[k]
                    slope = (local[c, 2] * perpendicular - t[a] * side[k]) / length + spun[a] * connection[k]
                    arm += axes[w, a] * slope
                values[c, w, k] = (1.0 - along[c]) * axes[w, k] - arm
                values[c, w, 4 + k] = along[c] * axes[w, k] + arm
