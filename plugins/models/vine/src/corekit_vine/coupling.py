"""What couples pins: the part of the matrices K and C of `pin_values` beside their diagonals.

    τ_j += −Σ_k K_jk·(θ_k − θ*_k) − Σ_k C_jk·θ̇_k,   k ≠ j,     U += ½·Σ_jk K_jk·(θ_j − θ*_j)·(θ_k − θ*_k)   (1)

on body 2j, and its opposite on body 2j − 1. A coupling is known at one length, so only a `telescope`, whose pins keep
their stiffness however far it grows, may have one.
"""

from __future__ import annotations

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit_vine.chain import pin_spacing
from corekit_vine.config import VineConfig
from corekit_vine.dynamics import pin_curvature, pin_rate
from corekit_vine.pin_values import is_matrix, pin_matrix

__all__ = [
    "add_coupling",
    "add_coupling_derivatives",
    "build_coupling",
    "coupling_energy",
    "coupling_width",
]


def build_coupling(config: VineConfig) -> Array:
    """Return K and C with zeros on their diagonals, shape (2, N, N), or (2, 0, 0) where nothing couples pins."""
    given = (config.joint_stiffness, config.joint_damping)
    if not any(is_matrix(values) for values in given):
        return np.zeros((2, 0, 0))
    links, out = config.links, np.zeros((2, config.links, config.links))
    for k, values in enumerate(given):
        if values is not None and is_matrix(values):
            out[k] = pin_matrix(values, links) * (1.0 - np.eye(links))
    return out


def coupling_width(links: int) -> int:
    """Return the half-width of bands that hold the robot's own K and a coupling of all its pins."""
    return max(5, 6 * (links - 1))


@compiled
def _angle(scalars: Array, lengths: Array, pins: Array, q: Array, inputs: Array, j: int) -> float:
    """Return θ_j − θ*_j [rad]."""
    spacing = pin_spacing(lengths, j)
    return spacing * pin_curvature(scalars, pins, spacing, q, inputs, j)


@compiled
def add_coupling(
    coupling: Array,
    scalars: Array,
    lengths: Array,
    pins: Array,
    q: Array,
    v: Array,
    inputs: Array,
    force: Array,
) -> None:
    """Add the torques of (1)."""
    for k in range(coupling.shape[1]):
        angle = _angle(scalars, lengths, pins, q, inputs, k)
        rate = pin_rate(scalars, v, inputs, k)
        for j in range(coupling.shape[1]):
            torque = -coupling[0, j, k] * angle - coupling[1, j, k] * rate
            force[6 * j + 2] += torque
            if j > 0:
                force[6 * j - 1] -= torque


@compiled
def add_coupling_derivatives(coupling: Array, stiffness: Array, damping: Array) -> None:
    """Add K and C of (1) to lower bands of `coupling_width`."""
    for j in range(coupling.shape[1]):
        for k in range(j):
            for i, sign in ((6 * j + 2, 1.0), (6 * j - 1, -1.0)):
                stiffness[i - 6 * k - 2, 6 * k + 2] += sign * coupling[0, j, k]
                damping[i - 6 * k - 2, 6 * k + 2] += sign * coupling[1, j, k]
                if k > 0:
                    stiffness[i - 6 * k + 1, 6 * k - 1] -= sign * coupling[0, j, k]
                    damping[i - 6 * k + 1, 6 * k - 1] -= sign * coupling[1, j, k]


@compiled
def coupling_energy(
    coupling: Array, scalars: Array, lengths: Array, pins: Array, q: Array, inputs: Array
) -> float:
    """Return U of (1) [J]."""
    energy = 0.0
    for j in range(coupling.shape[1]):
        angle = _angle(scalars, lengths, pins, q, inputs, j)
        for k in range(j):
            energy += coupling[0, j, k] * angle * _angle(scalars, lengths, pins, q, inputs, k)
    return energy
