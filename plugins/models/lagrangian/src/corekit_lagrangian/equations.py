"""Lagrange's equations of a system, as CasADi expressions.

With T(q, v) quadratic in v, potentials V(q), a Rayleigh function R(q, v) and further forces Q(q, v, u),

    d/dt ∂T/∂v − ∂T/∂q = −∂V/∂q − ∂R/∂v + Q                                               (1)
    M = ∂²T/∂v²,   f = ∂T/∂q − ∂(∂T/∂v)/∂q·v − ∂V/∂q − ∂R/∂v + Q,   M·v̇ = f               (2)
    K = −∂f/∂q,   D = −∂f/∂v,   K_w = −∂(f − M·w)/∂q                                       (3)

and for a point at x̂ in a frame at x(q) with the axes R(q):

    ∂(x + R·x̂)/∂q = ∂x/∂q + Σ_k x̂_k·∂R_k/∂q                                              (4)

Source: Goldstein, Poole, Safko (2002), Classical Mechanics, 3rd ed., equations (1.57) and (1.70).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi as ca
from attrs import frozen

from corekit.errors import PluginError
from corekit_lagrangian.system import System

__all__ = ["Equations", "derive"]


@frozen(eq=False)
class Equations:
    """Expressions in q, v, u, an acceleration w and parameters p, columns; frames are in the world.

    Args:
        mass, force: M and f of (2). terms: named parts of f.
        kinetic, potential: energies [J].
        positions, rotations: of every frame, (3, 1) and (3, 3).
    """

    q: Any
    v: Any
    u: Any
    w: Any
    p: Any
    mass: Any
    force: Any
    terms: Mapping[str, Any]
    kinetic: Any
    potential: Any
    positions: tuple[Any, ...]
    rotations: tuple[Any, ...]

    @property
    def symbols(self) -> list[Any]:
        """The arguments q, v, u, w, p."""
        return [self.q, self.v, self.u, self.w, self.p]


def derive(system: System, parameters: Any) -> Equations:
    """Write equations (2) of a system.

    Args:
        parameters: the symbols of its options, and R₀ of a base that moves, a column.
    Raises:
        PluginError: no coordinates, no kinetic energy, or one that is not quadratic in the velocities.
    """
    q, v = system.q, system.v
    if not system.rest:
        raise PluginError(f"{system.owner} has no coordinates: define() calls system.coordinates(...)")
    momentum = ca.gradient(system.kinetic, v)
    mass = ca.jacobian(momentum, v)
    if ca.depends_on(mass, ca.vertcat(v, system.u)):
        raise PluginError(f"{system.owner}: the kinetic energy is not quadratic in the velocities")
    sparsity = mass.sparsity()
    idle = [each.name for i, each in enumerate(system.units) if not sparsity.has_nz(i, i)]
    if idle:
        raise PluginError(f"{system.owner}: nothing that moves with {', '.join(idle)} has mass")
    terms = {"inertial": ca.gradient(system.kinetic, q) - ca.jtimes(momentum, q, v)}
    for name, energy in system.potentials.items():
        terms[name] = -ca.gradient(energy, q)
    terms["dissipation"] = -ca.gradient(system.rayleigh, v)
    for name, force in system.forces.items():
        terms[name] = terms.get(name, 0) + force
    turn, origin = system.turn, system.origin
    return Equations(
        q, v, system.u, ca.SX.sym("w", q.numel()), parameters, mass, sum(terms.values(), start=ca.SX.zeros(q.numel())),
        terms, system.kinetic, sum(system.potentials.values(), start=ca.SX(0)),
        tuple(origin + turn @ position for position, _ in system.frames.values()),
        tuple(turn @ rotation for _, rotation in system.frames.values()),
    )  # fmt: skip
