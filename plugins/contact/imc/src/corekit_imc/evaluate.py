"""Force, stiffness and damping of every contact in one compiled pass.

With gap g, spring k, s and dashpot b of `contact_springs`, normal n, weights w_i of the material points, slip u_t =
(I − n·nᵀ)·Σ w_i·ẋ_i, û = u_t/|u_t|, γ of `barrier` (2), rate of approach a = −n·Σ w_i·ẋ_i, and depth S and contact
fraction σ of `barrier` (1) at g + s,

    λ = σ·q,   q = max(0, 2·k·S + b·a),     κ = −∂λ/∂g = 2·k·σ² + K₁·σ·(1 − σ)·q                       (0)

    f_i = w_i·(λ·n − μ·λ·γ·û)                                                                       (1)
    K_ij = w_i·w_j·κ·(n − μ·γ·û)·nᵀ − λ·∇∇g,     ∇∇g of `distance` for two edges, else 0             (2)
    D_ij = w_i·w_j·{μ·λ·[(γ/|u_t|)·(I − n·nᵀ − û·ûᵀ) + γ′·û·ûᵀ] + b·σ·(n − μ·γ·û)·nᵀ}                (3)

where q > 0; a contact never pulls. Both λ and κ are never negative, and beside the stored k·S² a contact only takes
energy. A dashpot that resists approach alone has 0 for b where a < 0. (2) is the exact derivative except for the
rotation of n in friction and approach, and on curved obstacles. At zero slip (3) is its limit ½·K₂·μ·λ·(I − n·nᵀ),
without which nothing sticks. Both are unsymmetric if there is slip.
"""

from __future__ import annotations

import math

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit_imc.barrier import depth_and_fraction, slip_factors
from corekit_imc.distance import add_distance_hessian, is_edge_pair

__all__ = ["evaluate_contacts"]


@compiled
def _slip(weight: Array, velocity: Array, normal: Array, out: Array) -> float:
    """Write u_t of material points with weights (4,) and velocities (4, 3) [m/s], and n·u; return |u_t|²."""
    normal_speed = 0.0
    for a in range(3):
        out[a] = 0.0
        for i in range(4):
            out[a] += weight[i] * velocity[i, a]
        normal_speed += out[a] * normal[a]
    square = 0.0
    for a in range(3):
        out[a] -= normal_speed * normal[a]
        square += out[a] * out[a]
    out[3] = normal_speed
    return square


@compiled
def evaluate_contacts(
    count: int, gap: Array, normal: Array, tangent: Array, friction: Array, frame: IntArray, weight: Array,
    position: Array, velocity: Array, layer: float, spring: Array, slip_scale: float, approach_only: bool,
    energy: Array, force: Array, hessian: Array, damping: Array, normal_force: Array, tangential_force: Array,
) -> None:  # fmt: skip
    """Write (0)–(3) of the first `count` contacts into zeroed buffers; see `PotentialTerms` for their shapes.

    Args:
        spring: k [N/m], s [m] and b [N·s/m] of every contact, shape (m, 3) at least.
        approach_only: whether dashpots resist approach alone.
    """
    columns = np.zeros((2, 12))
    slip, slip_matrix = np.zeros(4), np.zeros((3, 3))
    for c in range(count):
        k, shift = spring[c, 0], spring[c, 1]
        if not gap[c] + shift < layer:
            continue
        depth, fraction, complement = depth_and_fraction(gap[c] + shift, layer)
        mu, n = friction[c], normal[c]
        square = _slip(weight[c], velocity[c], n, slip)
        dashpot = 0.0 if approach_only and slip[3] > 0.0 else spring[c, 2]
        push = 2.0 * k * depth - dashpot * slip[3]
        energy[c] = k * depth * depth
        # this form of the comparison keeps what is not a number
        if push <= 0.0:
            continue
        load, dashpot_rate = fraction * push, fraction * dashpot
        kappa = 2.0 * k * fraction * fraction + 15.0 / layer * fraction * complement * push
        speed = math.sqrt(square)
        _, slip_ratio, gamma_slope = slip_factors(speed, slip_scale)
        # γ′ − γ/u is of order u², so dividing by u² is safe down to where u² itself vanishes
        curvature_term = (gamma_slope - slip_ratio) / square if square > 1e-200 else 0.0
        for a in range(3):
            for b in range(3):
                slip_matrix[a, b] = (
                    slip_ratio * ((1.0 if a == b else 0.0) - n[a] * n[b]) + curvature_term * slip[a] * slip[b]
                )
        normal_force[c] = load
        t = tangent[c]
        drag = -mu * load * slip_ratio
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
                force[c, 3 * i + a] = weight[c, i] * (load * n[a] + drag * slip[a])
            for j in range(4):
                weight_product = weight[c, i] * weight[c, j]
                if frame[c, j] < 0 or weight_product == 0.0:
                    continue
                for a in range(3):
                    direction = weight_product * (n[a] - mu * slip_ratio * slip[a])
                    stiffness_part, damping_part = kappa * direction, dashpot_rate * direction
                    for b in range(3):
                        hessian[c, 3 * i + a, 3 * j + b] = stiffness_part * n[b]
                        damping[c, 3 * i + a, 3 * j + b] = (
                            weight_product * mu * load * slip_matrix[a, b] + damping_part * n[b]
                        )
        if is_edge_pair(weight[c], frame[c], position[c], n, gap[c]):
            add_distance_hessian(weight[c], position[c], -load, columns, hessian[c])
