"""Force, stiffness and damping of every contact in one compiled pass.

With gap g, normal n, weights w_i of the carriers, slip u_t = (I − n·nᵀ)·Σ w_i·ẋ_i, û = u_t/|u_t|, γ of `barrier` (2),
rate of approach a = max(0, −n·Σ w_i·ẋ_i), φ, φ′, φ″ and σ, the share of a contact that is made, of `barrier` (1),

    λ = −k·φ′ + b·σ·a,     κ = −∂λ/∂g = k·φ″ + b·K₁·σ·(1 − σ)·a                                       (0)

    f_i = w_i·(λ·n − μ·λ·γ·û)                                                                       (1)
    K_ij = w_i·w_j·κ·(n − μ·γ·û)·nᵀ − λ·∇∇g,     ∇∇g of `distance` for two edges, else 0             (2)
    D_ij = w_i·w_j·{μ·λ·[(γ/|u_t|)·(I − n·nᵀ − û·ûᵀ) + γ′·û·ûᵀ] + b·σ·(n − μ·γ·û)·nᵀ}                (3)

the last term of (3) where a > 0. (2) is the exact derivative but for the turning of n in friction and approach, and on
curved obstacles; at zero slip (3) is its limit ½·K₂·μ·λ·(I − n·nᵀ), without which nothing sticks. Both are unsymmetric
where there is slip.
"""

from __future__ import annotations

import math

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit_imc.barrier import barrier, slip_share
from corekit_imc.distance import add_distance_hessian, is_edge_pair

__all__ = ["evaluate_contacts"]


@compiled
def _slip(weight: Array, velocity: Array, normal: Array, out: Array) -> float:
    """Write u_t of carriers with weights (4,) and velocities (4, 3) [m/s], and n·u; returns |u_t|²."""
    along = 0.0
    for a in range(3):
        out[a] = 0.0
        for i in range(4):
            out[a] += weight[i] * velocity[i, a]
        along += out[a] * normal[a]
    square = 0.0
    for a in range(3):
        out[a] -= along * normal[a]
        square += out[a] * out[a]
    out[3] = along
    return square


@compiled
def evaluate_contacts(
    count: int,
    gap: Array,
    normal: Array,
    tangent: Array,
    friction: Array,
    frame: IntArray,
    weight: Array,
    position: Array,
    velocity: Array,
    layer: float,
    stiffness: float,
    slip_scale: float,
    dashpot: float,
    energy: Array,
    force: Array,
    hessian: Array,
    damping: Array,
    normal_force: Array,
    tangential_force: Array,
) -> None:
    """Write (0)–(3) of the first `count` contacts into zeroed buffers; see `PotentialTerms` for their shapes."""
    columns = np.zeros((2, 12))
    slip, spin = np.zeros(4), np.zeros((3, 3))
    for c in range(count):
        if not gap[c] < layer:
            continue
        phi, slope, curvature = barrier(gap[c], layer)
        pressure, steep, mu = -stiffness * slope, stiffness * curvature, friction[c]
        n = normal[c]
        square = _slip(weight[c], velocity[c], n, slip)
        resist = 0.0
        if dashpot > 0.0 and slip[3] < 0.0 and phi > 0.0:
            made = -0.5 * slope / math.sqrt(phi)
            resist = dashpot * made
            pressure -= resist * slip[3]
            steep -= resist * slip[3] * 15.0 / layer * (1.0 - made)
        speed = math.sqrt(square)
        _, over, steepness = slip_share(speed, slip_scale)
        # γ′ − γ/u is of order u², so dividing by u² is safe down to where u² itself vanishes
        extra = (steepness - over) / square if square > 1e-200 else 0.0
        for a in range(3):
            for b in range(3):
                spin[a, b] = over * ((1.0 if a == b else 0.0) - n[a] * n[b]) + extra * slip[a] * slip[b]
        energy[c] = stiffness * phi
        normal_force[c] = pressure
        t = tangent[c]
        drag = -mu * pressure * over
        tangential_force[c, 0] = drag * (slip[0] * t[0] + slip[1] * t[1] + slip[2] * t[2])
        tangential_force[c, 1] = drag * (
            slip[0] * (n[1] * t[2] - n[2] * t[1])
            + slip[1] * (n[2] * t[0] - n[0] * t[2])
            + slip[2] * (n[0] * t[1] - n[1] * t[0])
        )
        for i in range(4):
            if frame[c, i] < 0:
                continue
            for a in range(3):
                force[c, 3 * i + a] = weight[c, i] * (pressure * n[a] + drag * slip[a])
            for j in range(4):
                shared = weight[c, i] * weight[c, j]
                if frame[c, j] < 0 or shared == 0.0:
                    continue
                for a in range(3):
                    along = shared * (n[a] - mu * over * slip[a])
                    push, pull = steep * along, resist * along
                    for b in range(3):
                        hessian[c, 3 * i + a, 3 * j + b] = push * n[b]
                        damping[c, 3 * i + a, 3 * j + b] = shared * mu * pressure * spin[a, b] + pull * n[b]
        if is_edge_pair(weight[c], frame[c], position[c], n, gap[c]):
            add_distance_hessian(weight[c], position[c], -pressure, columns, hessian[c])
