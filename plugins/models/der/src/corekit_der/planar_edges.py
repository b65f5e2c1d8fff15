"""Frames of planar edges: following forces, and Jacobians of material points.

The axes (n, y, t) of an edge, with n of `planar`, are those of a spatial rod with director 2 along the base's y axis.
With e = x_b − x_a, l = |e|, and u and r of `loads` (2) and `frame_points` (1) in those axes,

    F = u₁·n + u₃·t,                            δF = (u₃·n − u₁·t)·(n·δe)/l                    (1)
    x = ½·(x_a + x_b) + r₁·n + r₂·y + r₃·t,     ẋ = ½·(ẋ_a + ẋ_b) + (r₃·n − r₁·t)·(n·ė)/l      (2)

The constraint to the plane carries u₂. All functions read the edge state of `compute_planar_edges`.
"""

from __future__ import annotations

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit_der.tables import Rods

__all__ = [
    "planar_edge_axes",
    "planar_edge_middles",
    "planar_edge_point_jacobians",
    "planar_follower",
    "planar_follower_derivatives",
]

_Y = (0.0, 1.0, 0.0)


def planar_edge_middles(rods: Rods, q: Array, edges: IntArray) -> Array:
    """Return ½·(x_a + x_b) in the plane, (k, 2) [m]."""
    ends = q[rods.edge[edges, :2, None] + np.arange(2)]
    return np.asarray(0.5 * (ends[:, 0] + ends[:, 1]))


def planar_edge_axes(rods: Rods, edges: IntArray) -> Array:
    """Return the axes (n, y, t) as columns in the base's axes, (k, 3, 3)."""
    axes = np.zeros((len(edges), 3, 3))
    axes[:, 0, 0], axes[:, 2, 0] = rods.edge_state[edges, 4], rods.edge_state[edges, 5]
    axes[:, :, 1] = _Y
    axes[:, 0, 2], axes[:, 2, 2] = rods.edge_state[edges, 0], rods.edge_state[edges, 1]
    return axes


def planar_edge_point_jacobians(
    rods: Rods, edge: IntArray, local: Array, axes: Array, dofs: IntArray, values: Array
) -> None:
    """Write ẋ of (2) for points `local` (c, 3) of edges `edge` (c,): dofs (c, 4), values (c, 3, 4) in world axes.

    `axes` (3, 2) maps from the plane to the world.
    """
    tangent, normal, length = rods.edge_state[edge, 0:2], rods.edge_state[edge, 4:6], rods.edge_state[edge, 3]
    arm = (local[:, 2:] * normal - local[:, :1] * tangent) / length[:, None]
    turned = np.einsum("wa,ca,ck->cwk", axes, arm, normal)
    dofs[:, 0:2] = rods.edge[edge, :1] + np.arange(2)
    dofs[:, 2:4] = rods.edge[edge, 1:2] + np.arange(2)
    values[:, :, 0:2] = 0.5 * axes - turned
    values[:, :, 2:4] = 0.5 * axes + turned


def planar_follower(rods: Rods, edge: int) -> Array:
    """Return ∂F/∂u of (1), (2, 3)."""
    state = rods.edge_state[edge]
    return np.array([[state[4], 0.0, state[0]], [state[5], 0.0, state[1]]])


def planar_follower_derivatives(rods: Rods, edge: int, u: Array) -> Array:
    """Return ∂F/∂(x_a, x_b) of (1), (2, 4)."""
    tangent, normal, length = rods.edge_state[edge, 0:2], rods.edge_state[edge, 4:6], rods.edge_state[edge, 3]
    slope = np.outer(u[2] * normal - u[0] * tangent, normal) / length
    return np.hstack([-slope, slope])
