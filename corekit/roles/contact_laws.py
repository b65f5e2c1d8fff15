"""The laws of contact as residuals, for authors of contact solvers; the kernel checks every answer by the same.

A contact has an impulse λ = (λ_n, λ_t), a relative velocity w = (w_n, w_t) and a coefficient of friction μ. Every
law of friction demands

    normal    |min(λ_n, w_n)| = 0                                                             (1)
    cone      max(0, |λ_t| − μ·λ_n) = 0,   μ the largest in any direction                     (2)
    friction  min(|λ_t|, max(0, w_t·λ_t/|λ_t|)) = 0: friction never drives a contact          (3)

Coulomb's law is stricter. With K = { |λ_t| ≤ μ·λ_n }, ŵ = (w_n + μ·|w_t|, w_t), the projections P_K onto the cone and
P onto the disk of radius μ·λ_n, and any ρ > 0,

    λ = P_K(λ − ρ·ŵ)   and   λ_t = P(λ_t − ρ·w_t)                                             (4)

With a pyramid D of friction directions (`corekit.roles.pyramid`), λ_t = D·β and γ = max(0, −min_k d_k·w_t), it is

    |min(β, Dᵀ·w_t + γ·e)| = 0,   |min(γ, μ·λ_n − eᵀβ)| = 0,   max(0, eᵀβ − μ·λ_n) = 0        (5)

and of a bounded row |λ − clip(λ − w, lower, upper)| = 0                                      (6)

Residuals compare N·s with m/s as numbers (ρ = 1 kg⁻¹). The functions are compiled, and kernels may call
them. Numbers must be finite: comparisons lose a NaN.

Source: De Saxcé, Feng (1998), The bipotential method, Math. Comput. Modelling 28.
"""

from __future__ import annotations

import math

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit.roles.pyramid import pyramid_coefficients, sliding_speed

__all__ = [
    "bounded_residual",
    "cone_distance",
    "coulomb_residuals",
    "law_residuals",
    "project_on_cone",
    "pyramid_residuals",
    "relative_velocity",
]


@compiled
def relative_velocity(delassus: Array, free: Array, impulse: Array, velocity: Array) -> None:
    """Write w = W·λ + w₀, shape (R,) [m/s]; rows without impulse cost nothing."""
    rows = len(free)
    for i in range(rows):
        velocity[i] = free[i]
    for j in range(rows):
        if impulse[j] != 0.0:
            column, factor = delassus[j], impulse[j]  # W is symmetric
            for i in range(rows):
                velocity[i] += column[i] * factor


@compiled
def law_residuals(impulse: Array, velocity: Array, mu: float) -> tuple[float, float, float]:
    """Return (1), (3) and (2) of one contact: normal, friction, cone.

    Args:
        impulse, velocity: λ [N·s] and w [m/s] of the contact, shape (width,).
    """
    squared = power = 0.0
    for a in range(1, len(impulse)):
        squared += impulse[a] * impulse[a]
        power += impulse[a] * velocity[a]
    size = math.sqrt(squared)
    driven = min(size, max(power / size, 0.0)) if size > 0.0 else 0.0
    return abs(min(impulse[0], velocity[0])), driven, max(size - mu * impulse[0], 0.0)


@compiled
def project_on_cone(normal: float, tangential: float, mu: float) -> tuple[float, float]:
    """Project a vector on K: return the normal part of P_K and the factor of the tangential part.

    Args:
        normal: y_n. tangential: |y_t|.
    """
    if mu * tangential <= -normal:  # first: without friction and slip the next one holds, too
        return 0.0, 0.0
    if tangential <= mu * normal:
        return normal, 1.0
    on_axis = (normal + mu * tangential) / (1.0 + mu * mu)
    return on_axis, (mu * on_axis / tangential if tangential > 0.0 else 0.0)


@compiled
def cone_distance(impulse: Array, velocity: Array, mu: float, rho: float) -> float:
    """|λ − P_K(λ − ρ·ŵ)| of one contact [N·s].

    Args:
        impulse, velocity: λ [N·s] and w [m/s], shape (width,).
        rho: ρ [1/kg], for example width/tr W_cc.
    """
    slip = size = 0.0
    for a in range(1, len(impulse)):
        slip += velocity[a] * velocity[a]
        moved = impulse[a] - rho * velocity[a]
        size += moved * moved
    normal = impulse[0] - rho * (velocity[0] + mu * math.sqrt(slip))
    on_axis, factor = project_on_cone(normal, math.sqrt(size), mu)
    total = (impulse[0] - on_axis) ** 2
    for a in range(1, len(impulse)):
        total += (impulse[a] - factor * (impulse[a] - rho * velocity[a])) ** 2
    return math.sqrt(total)


@compiled
def coulomb_residuals(impulse: Array, velocity: Array, mu: float) -> tuple[float, float, float]:
    """Return (1), the larger distance of (4), and (2) of one contact: normal, friction, cone.

    Args:
        impulse, velocity: as in `law_residuals`.
    """
    radius = max(mu * impulse[0], 0.0)
    load = size = 0.0
    for a in range(1, len(impulse)):
        load += impulse[a] ** 2
        size += (impulse[a] - velocity[a]) ** 2
    load, size = math.sqrt(load), math.sqrt(size)
    factor = radius / size if size > radius else 1.0
    change = 0.0
    for a in range(1, len(impulse)):
        change += (impulse[a] - factor * (impulse[a] - velocity[a])) ** 2
    friction = max(cone_distance(impulse, velocity, mu, 1.0), math.sqrt(change))
    return abs(min(impulse[0], velocity[0])), friction, max(load - radius, 0.0)


@compiled
def pyramid_residuals(
    directions: Array, mu: float, impulse: Array, velocity: Array, share: Array
) -> tuple[float, float, float, float]:
    """Return (1), the larger two and the third of (5), and γ of one contact: normal, friction, cone, slip [m/s].

    Args:
        directions: D, shape (width − 1, r); r = 0 is a contact without friction, as is μ = 0.
        impulse, velocity: as in `law_residuals`.
        share: β, shape (r,), written [N·s].
    """
    along, count = directions.shape
    normal = abs(min(impulse[0], velocity[0]))
    friction = cone = slip = 0.0
    if count == 0 or mu <= 0.0:
        for a in range(along):
            cone = max(cone, abs(impulse[1 + a]))
        return normal, friction, cone, slip
    slip = sliding_speed(directions, velocity[1:])
    pyramid_coefficients(directions, impulse[1:], share)
    margin = mu * impulse[0]
    for k in range(count):
        margin -= share[k]
        if share[k] != 0.0:
            speed = slip
            for a in range(along):
                speed += directions[a, k] * velocity[1 + a]
            friction = max(friction, abs(min(share[k], speed)))
    return normal, max(friction, abs(min(slip, margin))), max(-margin, 0.0), slip


@compiled
def bounded_residual(impulse: Array, velocity: Array, lower: Array, upper: Array) -> float:
    """Return the largest (6) of bounded rows, each argument of shape (p,)."""
    worst = 0.0
    for b in range(len(lower)):
        worst = max(worst, abs(impulse[b] - min(max(impulse[b] - velocity[b], lower[b]), upper[b])))
    return worst
