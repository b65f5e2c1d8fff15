"""Residuals of impulses in the contact laws: those of the report, and the natural map of the cone that decides.

With w = W·λ + w₀ and, for each contact, the cone K = { |λ_t| ≤ μ·λ_n } and ŵ = (w_n + μ·|w_t|, w_t), Coulomb's law
with non-penetration is K* ∋ ŵ ⊥ λ ∈ K (`cone`), or with P the projection and any ρ > 0

    λ = P_K(λ − ρ·ŵ)                                                                              (1)

The error of a contact is the velocity |λ − P_K(λ − ρ·ŵ)|/ρ with ρ = width/tr W_cc; of a bounded row it is
|λ − clip(λ − ρ·w, lower, upper)|/ρ with ρ = 1/W_bb. It is measured relative to

    V_c = max(V, s_b·√W_nn),   V_b = √W_bb·max(s_c, s_b),   s = max |w₀ᵢ|/√Wᵢᵢ                    (2)

where V is the largest free velocity of a contact, with its normal part only if the contact closes, s_c the same with
the root of the mobility, and s_b that of bounded rows. s² is an energy, so that units and scales cancel.

Source: De Saxcé, Feng (1998), The bipotential method, Math. Comput. Modelling 28.
"""

from __future__ import annotations

import math

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit.roles.contact_laws import bounded_residual, cone_distance, coulomb_residuals

__all__ = ["measure_error", "measure_errors", "measure_residuals", "set_scales"]

_TINY = 1e-300


@compiled
def set_scales(delassus: Array, free: Array, width: int, contacts: int, rho: Array, reference: Array) -> None:
    """Write ρ and the reference velocities (2) of every contact and bounded row, shape (m + p,)."""
    speed, of_contacts, of_bounded = 0.0, 0.0, 0.0
    rows, begin = len(free), contacts * width
    for c in range(contacts):
        n, trace = c * width, 0.0
        for i in range(n, n + width):
            trace += delassus[i, i]
            size = max(-free[i], 0.0) if i == n else abs(free[i])
            speed = max(speed, size)
            if delassus[i, i] > 0.0:
                of_contacts = max(of_contacts, size / math.sqrt(delassus[i, i]))
        rho[c] = width / trace if trace > 0.0 else 1.0
    for i in range(begin, rows):
        if delassus[i, i] > 0.0:
            of_bounded = max(of_bounded, abs(free[i]) / math.sqrt(delassus[i, i]))
    for c in range(contacts):
        reference[c] = max(speed, of_bounded * math.sqrt(max(delassus[c * width, c * width], 0.0)), _TINY)
    for i in range(begin, rows):
        mobility = max(delassus[i, i], 0.0)
        rho[contacts + i - begin] = 1.0 / mobility if mobility > 0.0 else 1.0
        reference[contacts + i - begin] = max(math.sqrt(mobility) * max(of_contacts, of_bounded), _TINY)


@compiled
def measure_error(
    width: int, friction: Array, lower: Array, upper: Array, rho: Array, reference: Array, impulse: Array,
    velocity: Array,
) -> float:  # fmt: skip
    """The largest error of a contact or bounded row, relative to (2); infinite if a number is not finite."""
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
    """Write the error of every contact, relative to (2), shape (m,); return the largest and the sum of squares."""
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
