"""Names, units, inputs, frames and collision shapes of a vine robot."""

from __future__ import annotations

import numpy as np

from corekit.data.arrays import Array
from corekit.geometry.shapes import Shape
from corekit.roles.model import Channel, ChannelKind, Coordinate, ModelDescription
from corekit_vine.config import VineConfig
from corekit_vine.mounted import BASE, BASE_COORDINATES, BASE_VELOCITIES

__all__ = ["describe_robot"]


def describe_robot(config: VineConfig, plane: Array | None) -> ModelDescription:
    """Return the description of a robot in the plane (origin and two axes, shape (3, 3)); None if its base moves."""
    base = plane is None
    bodies, links = range(config.bodies), config.links
    rates = links if config.growth_input == "links" else 1
    channels = [Channel("growth-rate", "m/s", rates, ChannelKind.VELOCITY, sign="grows longer")]
    if config.growth == "pressure":
        channels = [Channel("pressure", "Pa", 1, ChannelKind.VELOCITY, sign="grows longer")]
    turns = "turns from the plane's first axis to its second"
    channels.append(Channel("heading", "rad", 1, ChannelKind.POSITION, sign=turns))
    if config.is_damped:
        channels.append(
            Channel("heading-rate", "rad/s", 1, ChannelKind.VELOCITY, sign=turns, rate_of="heading")
        )
    if config.actuators:
        channels.append(Channel("curvature", "1/m", len(config.actuators), ChannelKind.POSITION))
    channels.append(Channel("tip-force", "N", 2))
    coordinates = (
        *(BASE_COORDINATES if base else ()),
        *_of_bodies(config, ("x", "m"), ("y", "m"), ("angle", "rad")),
    )
    velocities = (
        *(BASE_VELOCITIES if base else ()),
        *_of_bodies(config, ("vx", "m/s"), ("vy", "m/s"), ("spin", "rad/s")),
    )
    shapes = _shapes(config)
    first = np.arange(max(len(shapes) - 1, 0), dtype=np.int64)
    return ModelDescription(
        coordinates=coordinates,
        velocities=velocities,
        inputs=tuple(channels),
        frames=("base", *(f"body-{i + 1}-end" for i in bodies)),
        shapes=shapes,
        excluded_pairs=np.column_stack([first, first + 1]),
        # lengths of the links, and q and v of the start of a step
        aux=0 if config.form == "telescope" else links + len(coordinates) + len(velocities),
        constraint_count=links * (6 if config.irreversible else 5),
        jacobian_width=3 + (BASE if base else 0),
        plane=plane,
        doubts=config.doubts,
    )


def _of_bodies(config: VineConfig, *names: tuple[str, str]) -> tuple[Coordinate, ...]:
    return tuple(
        Coordinate(f"body-{i + 1}-{name}", unit) for i in range(config.bodies) for name, unit in names
    )


def _shapes(config: VineConfig) -> tuple[Shape, ...]:
    """Return spheres at the pins and the tip, or capsules between pins; frames of pins have even indices."""
    radius = (0.5 * config.diameter,)
    ends = range(2, config.bodies + 1, 2)
    if config.collision == "points":
        return tuple(Shape("sphere", radius, frame=end, friction=config.friction) for end in ends)
    if config.collision == "links":
        return tuple(
            Shape("edge", radius, frame=end - 2, second_frame=end, friction=config.friction) for end in ends
        )
    return ()
