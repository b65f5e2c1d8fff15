"""One contact between a shape and a ball as expressions, all in the axes of the shape.

With x the ball's centre in the shape's axes, y = ẋ there, R the shape's rotation, Ω = vee(Rᵀ·Ṙ) and ω the ball's
angular velocity (world):

    φ = sd(x) − r,   n = ∇sd(x)/|∇sd(x)|                                                        (1)
    ν = y + r·n × (Rᵀ·ω − Ω)                     velocity of the ball over the shape            (2)
    F = n·f_z + [t₁ t₂]·D·f_t                    force on the ball                              (3)
    torque on the ball −r·R·(n × F);   on the bodies Q = ∂/∂v [F·y(q, v) + r·(n × F)·Ω(q, v)]   (4)

(4) is the power of −F at the contact, so no Jacobian is formed. t₁ is e₁ without its part along n.

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

__all__ = ["Place", "Tip", "Touch", "friction_directions", "tip_of", "touch_of"]


@frozen(eq=False)
class Place:
    """A shape that may touch the ball.

    Args:
        name: what results call the contact.
        kind, size: the shape.
        body, frame: who carries it; body None stands still.
        offset: pose of the shape in its frame, in the world where nobody carries it.
        holds: whether it keeps touching.
    """

    name: str
    kind: str
    size: tuple[float, ...]
    body: str | None
    frame: int
    offset: Pose
    holds: bool


@frozen(eq=False)
class Tip:
    """State of a contact in the shape's axes: x, y, R, Ω of (1)–(2)."""

    position: Any
    velocity: Any
    rotation: Any
    turning: Any


@frozen(eq=False)
class Touch:
    """What a contact does: gap [m], velocity along t₁, t₂ [m/s], force and n × force in the shape's axes [N]."""

    gap: Any
    slip: Any
    force: Any
    lever: Any


def friction_directions(count: int) -> Array:
    """D, unit vectors in the tangent plane evenly around, shape (2, count)."""
    angle = 2.0 * np.pi * np.arange(count) / count
    return np.stack([np.cos(angle), np.sin(angle)])


def tip_of(place: Place, bodies: Bodies, q: Any, v: Any, centre: Any, drift: Any) -> Tip:
    """The state of a contact from the bodies' and the ball's: centre [m] and its velocity `drift` [m/s]."""
    if place.body is None:
        R = ca.DM(place.offset.rotation)
        return Tip(R.T @ (centre - place.offset.position), R.T @ drift, R, ca.DM.zeros(3))
    position, R = bodies.pose(q, place.body, place.frame)
    position = position + R @ place.offset.position
    R = R @ place.offset.rotation
    turned = ca.reshape(ca.jtimes(ca.vec(R), q, v), 3, 3)
    spin = ca.inv_skew(R.T @ turned)
    x = R.T @ (centre - position)
    y = R.T @ (drift - ca.jtimes(position, q, v)) - ca.cross(spin, x)
    return Tip(x, y, R, spin)


def touch_of(
    place: Place, tip: Tip, radius: Any, omega: Any, normal: Any, friction: Any, epsilon: Any
) -> Touch:
    """Equations (1)–(3); `normal` f_z, `friction` f_t (d, 1) [N]."""
    x = ca.SX.sym("x", 3)
    distance = signed_distance(place.kind, place.size, x, epsilon)
    sd, slope = ca.substitute([distance, ca.gradient(distance, x)], [x], [ca.SX(tip.position)])
    n = slope / ca.sqrt(ca.dot(slope, slope))
    first = ca.DM([1.0, 0.0, 0.0]) - n * n[0]
    t1 = first / ca.sqrt(ca.dot(first, first))
    t2 = ca.cross(n, t1)
    nu = tip.velocity + radius * ca.cross(n, tip.rotation.T @ omega - tip.turning)
    pushed = ca.DM(friction_directions(friction.numel())) @ friction
    force = n * normal + t1 * pushed[0] + t2 * pushed[1]
    return Touch(sd - radius, ca.vertcat(ca.dot(t1, nu), ca.dot(t2, nu)), force, ca.cross(n, force))
