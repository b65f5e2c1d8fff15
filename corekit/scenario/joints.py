"""From `[[joints]]` and mounted bases to the joints of a world."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from corekit.data.signals import Constant
from corekit.errors import CompositionError, ConfigError, Mistake
from corekit.geometry.frames import Pose, rotation_from_rpy
from corekit.roles.body import Body
from corekit.roles.joint import BodyFrame, Joint
from corekit.roles.obstacles import GivenMotion, Obstacle
from corekit.scenario.checks import WORLD
from corekit.scenario.error_text import hint_for
from corekit.scenario.schema import Base, ScenarioTables

__all__ = ["base_pose", "joints_of"]


def base_pose(base: Base) -> Pose:
    """Return the pose that a table gives at time 0: in the world, or in the frame that carries the base."""
    position, angles = np.zeros(3), np.zeros(3)
    base.position.value(0.0, position)
    base.rotation_rpy.value(0.0, angles)
    return Pose(position, rotation_from_rpy(angles))


def joints_of(scenario: ScenarioTables, bodies: Sequence[Body], obstacles: Sequence[Obstacle]) -> list[Joint]:
    """Make the welds of moving bases, named `BODY.base`, and the joints of a scenario.

    Raises:
        ConfigError: frames that do not exist.
        CompositionError: a body that moves in its plane alone.
    """
    named = {body.name: body for body in bodies}
    surroundings: dict[str, GivenMotion] = {obstacle.name: obstacle for obstacle in obstacles}
    surroundings[WORLD] = GivenMotion(Constant((0.0, 0.0, 0.0)), Constant((0.0, 0.0, 0.0)))
    joints: list[Joint] = []
    for table in scenario.bodies:
        base, own = table.base, BodyFrame(named[table.name], 0)
        if base.mount is not None:
            carrier = _carrier(base.mount, named, surroundings, f"bodies.{table.name}.base.mount")
            joints.append(Joint(f"{table.name}.base", "weld", own, carrier))
        elif base.moves:
            joints.append(
                Joint(f"{table.name}.base", "weld", own, GivenMotion(base.position, base.rotation_rpy))
            )
    for each in scenario.joints:
        path = f"joints.{each.name}.between"
        first = _carrier(each.between[0], named, {}, f"{path}[0]")
        second = _carrier(each.between[1], named, surroundings, f"{path}[1]")
        assert isinstance(first, BodyFrame)
        if isinstance(second, BodyFrame) and second.body is first.body:
            raise ConfigError(
                [Mistake(path, list(each.between), "must be of two bodies")], f"joint {each.name!r}"
            )
        joints.append(Joint(each.name, each.kind, first, second, each.place, each.axis))
    for joint in joints:
        for end in (joint.first, joint.second):
            if isinstance(end, BodyFrame) and end.body.description.plane is not None:
                raise CompositionError(
                    f"joint {joint.name!r}: body {end.body.name!r} moves in a plane alone and cannot be held by a joint"
                )
    return joints


def _carrier(
    name: str, bodies: Mapping[str, Body], surroundings: Mapping[str, GivenMotion], path: str
) -> BodyFrame | GivenMotion:
    """Return what a name means: `BODY.FRAME`, an obstacle, or the world."""
    if name in surroundings:
        return surroundings[name]
    body_name, _, frame = name.partition(".")
    body = bodies.get(body_name)
    frames = () if body is None else body.description.frames
    if body is None or frame not in frames:
        known = [f"{body_name}.{each}" for each in frames]
        hint = hint_for(name, known)
        raise ConfigError([Mistake(path, name, f"must be one of {', '.join(known)}", hint)], path)
    return BodyFrame(body, frame=frames.index(frame))
