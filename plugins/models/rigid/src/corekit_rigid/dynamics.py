"""Newton's and Euler's equations about the reference point, their tangents, and the energy.

With R from body to world axes, ω in body axes, the lever r from the reference point to the centre of mass (zero if
free), world force F and torque T, and drag d_l, d_a:

    m·ẍ = m·g + F − d_l·ẋ                                                       (free only)     (1)
    I·ω̇ = −ω × I·ω + r × (Rᵀ·(m·g + F) − d_l·ω × r) + Rᵀ·T − d_a·ω                              (2)

In body axes I is constant, so the mass matrix is, and the exact velocity forces are −ω × I·ω alone. With
R → R·exp(hat δ) and n = Rᵀ·(m·g + F), the tangents K = −∂f/∂δ and D = −∂f/∂ω of (2) are

    K = −hat(r)·hat(n) − hat(Rᵀ·T)                                                              (3)
    D = hat(ω)·I − hat(I·ω) + d_l·(r·r·1 − r·rᵀ) + d_a·1                                        (4)

Source: Goldstein, Poole, Safko (2002), Classical Mechanics, 3rd edition, section 5.5.
"""

from __future__ import annotations

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit.geometry.vectors import Vector, cross, dot
from corekit_rigid.rotation import into_body, into_world, matvec, rotation_of
from corekit_rigid.solid import Solid

__all__ = ["dissipation", "dynamics", "energy", "tangent"]


@compiled
def _vector(a: Array, at: int) -> Vector:
    return (a[at], a[at + 1], a[at + 2])


@compiled
def _pull(solid: Solid, wrench: Array) -> Vector:
    """m·g + F, world axes [N]."""
    m, g = solid.mass, solid.gravity
    return (m * g[0] + wrench[0], m * g[1] + wrench[1], m * g[2] + wrench[2])


@compiled
def dynamics(solid: Solid, q: Array, v: Array, wrench: Array, mass: Array, force: Array) -> None:
    """Write M and f of (1) and (2).

    Args:
        q, v: coordinates and velocities, shapes (7,) and (6,), or (4,) and (3,).
        wrench: F [N] and T [N·m], world axes, shape (6,).
        mass: blocks of M, shape (2, 3, 3) or (1, 3, 3).
        force: f [N, N·m], like v.
    """
    at = 3 if solid.free else 0
    R = rotation_of(q, at)
    w, r = _vector(v, at), _vector(solid.lever, 0)
    F = _pull(solid, wrench)
    if solid.free:
        for i in range(3):
            force[i] = F[i] - solid.linear_damping * v[i]
            for j in range(3):
                mass[0, i, j] = solid.mass if i == j else 0.0
    n, c = into_body(R, F), cross(w, r)
    d = solid.linear_damping
    lifted = cross(r, (n[0] - d * c[0], n[1] - d * c[1], n[2] - d * c[2]))
    torque = into_body(R, _vector(wrench, 3))
    spin = cross(w, matvec(solid.inertia, w))
    for i in range(3):
        force[at + i] = lifted[i] + torque[i] - spin[i] - solid.angular_damping * w[i]
        for j in range(3):
            mass[at // 3, i, j] = solid.inertia[i, j]


@compiled
def dissipation(solid: Solid, damping: Array) -> None:
    """Write the part of D in (4) that damps, as blocks like M's."""
    r, d = _vector(solid.lever, 0), solid.linear_damping
    damping[:] = 0.0
    if solid.free:
        for i in range(3):
            damping[0, i, i] = d
    D = damping[1 if solid.free else 0]
    for i in range(3):
        D[i, i] += solid.angular_damping + d * dot(r, r)
        for j in range(3):
            D[i, j] -= d * r[i] * r[j]


@compiled
def _add_hat(a: Vector, factor: float, out: Array) -> None:
    """out += factor·hat(a)."""
    out[0, 1] -= factor * a[2]
    out[0, 2] += factor * a[1]
    out[1, 0] += factor * a[2]
    out[1, 2] -= factor * a[0]
    out[2, 0] -= factor * a[1]
    out[2, 1] += factor * a[0]


@compiled
def tangent(solid: Solid, q: Array, v: Array, wrench: Array, stiffness: Array, damping: Array) -> None:
    """Write K and D of (3) and (4) as blocks like M's."""
    at = 3 if solid.free else 0
    block = at // 3
    R = rotation_of(q, at)
    w, r = _vector(v, at), _vector(solid.lever, 0)
    stiffness[:] = 0.0
    dissipation(solid, damping)
    K, D, inertia = stiffness[block], damping[block], solid.inertia
    n = into_body(R, _pull(solid, wrench))
    # hat(a)·hat(b) = b·aᵀ − (a·b)·1
    for i in range(3):
        K[i, i] += dot(r, n)
        column = cross(w, (inertia[0, i], inertia[1, i], inertia[2, i]))
        for j in range(3):
            K[i, j] -= n[i] * r[j]
            D[j, i] += column[j]
    _add_hat(into_body(R, _vector(wrench, 3)), -1.0, K)
    _add_hat(matvec(inertia, w), -1.0, D)


@compiled
def energy(solid: Solid, q: Array, v: Array) -> tuple[float, float]:
    """Kinetic energy ½·m·ẋ² + ½·ω·I·ω and potential −m·g·x_c [J]; heights count from the world's origin."""
    at = 3 if solid.free else 0
    w = _vector(v, at)
    kinetic = 0.5 * dot(w, matvec(solid.inertia, w))
    centre = _vector(solid.anchor, 0)
    if solid.free:
        velocity = _vector(v, 0)
        kinetic += 0.5 * solid.mass * dot(velocity, velocity)
        centre = _vector(q, 0)
    out = into_world(rotation_of(q, at), _vector(solid.lever, 0))
    place = (centre[0] + out[0], centre[1] + out[1], centre[2] + out[2])
    return kinetic, -solid.mass * dot(_vector(solid.gravity, 0), place)
