"""The constants of a body, read by every kernel, and how they come from the options."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from corekit.data.arrays import Array
from corekit.geometry.frames import Pose
from corekit.geometry.shapes import Shape
from corekit_rigid.config import RigidConfig
from corekit_rigid.inertia import hull

__all__ = ["Solid", "shapes_of", "solid_of"]


class Solid(NamedTuple):
    """A rigid body as seen from its reference point: the centre of mass if free, else the point that stays.

    Attributes:
        free: whether the reference point moves; its position is then q[:3] and its velocity v[:3].
        mass: m [kg].
        inertia: I about the reference point, body axes [kg·m²], shape (3, 3).
        reference: the reference point in the shape's axes [m], shape (3,).
        lever: from the reference point to the centre of mass, body axes [m], shape (3,); zero if free.
        anchor: where the reference point is while the body is at its base, world [m], shape (3,).
        gravity: gravitational acceleration in the world [m/s²], shape (3,).
        linear_damping, angular_damping: [N·s/m] and [N·m·s].
    """

    free: bool
    mass: float
    inertia: Array
    reference: Array
    lever: Array
    anchor: Array
    gravity: Array
    linear_damping: float
    angular_damping: float


def solid_of(config: RigidConfig, base: Pose, gravity: Array) -> Solid:
    """The constants of the body that `config` describes, at `base`."""
    mass, centre, inertia = config.mass_properties()
    reference = centre if config.pivot is None else np.array(config.pivot)
    lever = centre - reference
    # parallel axes
    inertia = inertia + mass * (lever @ lever * np.eye(3) - np.outer(lever, lever))
    return Solid(
        free=not config.fixed_centre,
        mass=float(mass),
        inertia=np.ascontiguousarray(inertia),
        reference=reference.astype(np.float64),
        lever=lever.astype(np.float64),
        anchor=np.array(base.position + base.rotation @ reference, dtype=np.float64),
        gravity=np.array(gravity, dtype=np.float64),
        linear_damping=float(config.linear_damping),
        angular_damping=float(config.angular_damping),
    )


def shapes_of(config: RigidConfig) -> tuple[Shape, ...]:
    """The collision shapes on frame 0, at its origin; a file gives whole edges and lengths, shapes have halves."""
    size = config.sizes
    if config.hulls:
        return tuple(
            Shape("polytope", (), friction=config.friction, vertices=hull(points)[0])
            for points in config.hulls.values()
        )
    if config.shape == "box":
        size = tuple(edge / 2.0 for edge in size)
    elif config.shape != "sphere":
        size = (size[0], size[1] / 2.0)
    kind = "cylinder" if config.shape == "disk" else config.shape
    return (Shape(kind, size, friction=config.friction),)
