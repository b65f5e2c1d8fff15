"""Residuals of impulses in the contact laws: those of the report, and the natural map of the cone that decides.

With w = W·λ + w₀ and, for each contact, the cone K = { |λ_t| ≤ μ·λ_n } and ŵ = (w_n + μ·|w_t|, w_t), Coulomb's law
with non-penetration is K* ∋ ŵ ⊥ λ ∈ K (`cone`), or with P the projection and any ρ > 0

    λ = P_K(λ − ρ·ŵ)                                                                              (1)

The error of a contact is the velocity |λ − P_K(λ − ρ·ŵ)|/ρ with ρ = width/tr W_cc; of a bounded row it is
|λ − clip(λ − ρ·w, lower, upper)|/ρ with ρ = 1/W_bb. It is measured relative to the reference velocities V of
`corekit.roles.contact_scale`.

Source: De Saxcé, Feng (1998), The bipotential method, Math. Comput. Modelling 28.
"""

from __future__ import annotations

import math

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit.roles.contact_laws import bounded_residual, cone_distance, coulomb_residuals
from corekit.roles.contact_scale import contact_scales

__all__ = ["measure_error", "measure_errors", "measure_residuals", "set_scales"]


@compiled
def set_scales(
    diagonal: Array, free: Array, lower: Array, upper: Array, width: int, rho: Array, reference: Array
) -> None:
    """Write ρ = 1/m and the reference velocities of every contact and bounded row, shape (m + p,).

    Args:
        diagonal: of W, shape (R,).
    """
    contact_scales(diagonal, free, lower, upper, width, rho, reference)
    for k in range(len(rho)):
        rho[k] = 1.0 / rho[k]


@compiled
def measure_error(
    width: int, friction: Array, lower: Array, upper: Array, rho: Array, reference: Array, impulse: Array,
    velocity: Array,
) -> float:  # fmt: skip
    """The largest error of a contact or bounded row, relative to V; infinite if a number is not finite."""
    contacts, worst, total = len(friction), 0.0, 0.0
    for i in range(len(impulse)):
        total += abs(velocity[i]) + abs(impulse[i])
    if not total < math.inf:
        return math.inf
    for c in range(contacts):
        n = c * width
        error = cone_distance(impulse[n : n + width], velocity[n : n + width], friction[c], rho[c]) / rho[c]
        worst = max(worst, error / reference[c])
    for b in range(len(lower)):
        i, k = contacts * width + b, contacts + b
        moved = min(max(impulse[i] - rho[k] * velocity[i], lower[b]), upper[b])
        worst = max(worst, abs(impulse[i] - moved) / rho[k] / reference[k])
    return float(worst)


@compiled
def measure_errors(
    width: int, friction: Array, rho: Array, reference: Array, impulse: Array, velocity: Array, errors: Array
) -> tuple[float, float]:
    """Write the error of every contact, relative to V, shape (m,); return the largest and the sum of squares."""
    largest = total = 0.0
    for c in range(len(friction)):
        n = c * width
        error = cone_distance(impulse[n : n + width], velocity[n : n + width], friction[c], rho[c]) / rho[c]
        errors[c] = error / reference[c]
        largest, total = max(largest, errors[c]), total + errors[c] ** 2
    return (largest, total) if total < math.inf else (math.inf, math.inf)


@compiled
def measure_residuals(
    width: int, friction: Array, lower: Array, upper: Array, impulse: Array, velocity: Array
) -> tuple[float, float, float]:
    """Return the largest normal, friction and cone residual of λ and w, see `corekit.roles.contact_laws`.

    Bounded rows count as normal. All are infinite if a number is not finite.
    """
    normal, tangential, cone, total = 0.0, 0.0, 0.0, 0.0
    for i in range(len(impulse)):
        total += abs(velocity[i]) + abs(impulse[i])
    if not total < math.inf:
        return math.inf, math.inf, math.inf
    for c in range(len(friction)):
        n = c * width
        found = coulomb_residuals(impulse[n : n + width], velocity[n : n + width], friction[c])
        normal, tangential, cone = max(normal, found[0]), max(tangential, found[1]), max(cone, found[2])
    first = len(friction) * width
    of_bounded = bounded_residual(impulse[first:], velocity[first:], lower, upper)
    return float(max(normal, of_bounded)), float(tangential), float(cone)
