"""The inertia of `gyroscopic` as CasADi expressions: Lagrange's equations, differentiated by CasADi."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import casadi as ca

if TYPE_CHECKING:
    from corekit_der.symbolic import RodExpressionData

__all__ = ["spin_force", "spin_mass"]


def spin_mass(parts: RodExpressionData, mass: Any, q: Any) -> Any:
    """Return Σ I·(b∘b − its entry of θ), (n, n): s = b·v by (2) of `frames`, I in the diagonal `mass` (n,)."""
    total = ca.DM.zeros(len(parts.mass), len(parts.mass))
    for j, (start, end, angle) in enumerate(parts.rods.edge.tolist()):
        if parts.mass[angle] == 0.0:
            continue
        edge, source = q[end : end + 3] - q[start : start + 3], ca.DM(parts.aux[6 * j : 6 * j + 3])
        length = ca.norm_2(edge)
        connection = -ca.cross(source, edge) / (length * (length + ca.dot(source, edge)))
        rows = [ca.DM(0)] * len(parts.mass)
        for k in range(3):
            rows[start + k], rows[end + k] = -connection[k], connection[k]
        swept, turned = ca.vertcat(*rows), ca.DM.zeros(len(parts.mass))
        turned[angle] = 1.0
        total += mass[angle] * (swept @ swept.T + swept @ turned.T + turned @ swept.T)
    return total


def spin_force(parts: RodExpressionData, mass: Any, q: Any, v: Any) -> Any:
    """Return ∂T/∂q − (dp/dt without accelerations), (n, 1), of the momentum p and the energy T of `spin_mass`."""
    momentum = spin_mass(parts, mass, q) @ v
    return ca.gradient(0.5 * ca.dot(momentum, v), q) - ca.jtimes(momentum, q, v)
