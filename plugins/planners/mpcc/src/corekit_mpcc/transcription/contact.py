"""One contact between a shape and a ball as expressions, in the axes of the shape.

With x the ball's centre in the shape's axes, y = ẋ there, R the shape's rotation, Ω = vee(Rᵀ·Ṙ) and ω the ball's
angular velocity (world):

    φ = sd(x) − r,   n = ∇sd(x)/|∇sd(x)|                                                        (1)
    ν = y + r·n × (Rᵀ·ω − Ω)                     velocity of the ball over the shape            (2)
    F = n·f_z + [t₁ t₂]·D·f_t                    force on the ball                              (3)
    torque on the ball −r·R·(n × F);   on the bodies Q = ∂/∂v [F·y(q, v) + r·(n × F)·Ω(q, v)]   (4)

(4) uses the power of −F at the contact, so no Jacobian is formed. t₁ is e₁ projected on the tangent plane.

Source: CUSP, section IV-A.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
from attrs import frozen

from corekit.data.arrays import Array
from corekit.geometry.frames import Pose
from corekit_mpcc.transcription.bodies import Bodies
from corekit_mpcc.transcription.gap import signed_distance

__all__ = [
    "ContactKinematics",
    "ContactShape",
    "ContactTerms",
    "compute_contact_kinematics",
    "compute_contact_terms",
    "friction_directions",
]


@frozen(eq=False)
class ContactShape:
    """A shape that may touch the ball.

    Args:
        name: name of the contact in results.
        kind, size: kind and size of the shape.
        body, frame: body and frame of the shape; body None is fixed in the world.
        offset: pose of the shape in its frame, or in the world without a body.
        holds: whether the contact stays closed.
    """

    name: str
    kind: str
    size: tuple[float, ...]
    body: str | None
    frame: int
    offset: Pose
    holds: bool


@frozen(eq=False)
class ContactKinematics:
    """Kinematics of a contact in the shape's axes: x, y, R, Ω of (1)–(2)."""

    position: Any
    velocity: Any
    rotation: Any
    spin: Any


@frozen(eq=False)
class ContactTerms:
    """Terms of a contact: gap [m], velocity along t₁, t₂ [m/s], force and n × force in the shape's axes [N]."""

    gap: Any
    slip: Any
    force: Any
    lever: Any


def friction_directions(count: int) -> Array:
    """Return D, evenly spaced unit vectors in the tangent plane, shape (2, count)."""
    angle = 2.0 * np.pi * np.arange(count) / count
    return np.stack([np.cos(angle), np.sin(angle)])


def compute_contact_kinematics(
    shape: ContactShape, bodies: Bodies, q: Any, v: Any, centre: Any, drift: Any
) -> ContactKinematics:
    """Return the kinematics of a contact for the ball's `centre` [m] and its velocity `drift` [m/s]."""
    if shape.body is None:
        R = ca.DM(shape.offset.rotation)
        return ContactKinematics(R.T @ (centre - shape.offset.position), R.T @ drift, R, ca.DM.zeros(3))
    position, R = bodies.pose(q, shape.body, shape.frame)
    position = position + R @ shape.offset.position
    R = R @ shape.offset.rotation
    rotation_rate = ca.reshape(ca.jtimes(ca.vec(R), q, v), 3, 3)
    spin = ca.inv_skew(R.T @ rotation_rate)
    x = R.T @ (centre - position)
    y = R.T @ (drift - ca.jtimes(position, q, v)) - ca.cross(spin, x)
    return ContactKinematics(x, y, R, spin)


def compute_contact_terms(
    shape: ContactShape,
    kinematics: ContactKinematics,
    radius: Any,
    omega: Any,
    normal: Any,
    friction: Any,
    epsilon: Any,
) -> ContactTerms:
    """Return the terms (1)–(3) for the forces `normal` f_z and `friction` f_t (d, 1) [N]."""
    x = ca.SX.sym("x", 3)
    distance = signed_distance(shape.kind, shape.size, x, epsilon)
    sd, gradient = ca.substitute([distance, ca.gradient(distance, x)], [x], [ca.SX(kinematics.position)])
    n = gradient / ca.sqrt(ca.dot(gradient, gradient))
    first = ca.DM([1.0, 0.0, 0.0]) - n * n[0]
    t1 = first / ca.sqrt(ca.dot(first, first))
    t2 = ca.cross(n, t1)
    nu = kinematics.velocity + radius * ca.cross(n, kinematics.rotation.T @ omega - kinematics.spin)
    friction_force = ca.DM(friction_directions(friction.numel())) @ friction
    force = n * normal + t1 * friction_force[0] + t2 * friction_force[1]
    return ContactTerms(sd - radius, ca.vertcat(ca.dot(t1, nu), ca.dot(t2, nu)), force, ca.cross(n, force))
