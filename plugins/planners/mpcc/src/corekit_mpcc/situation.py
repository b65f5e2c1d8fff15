"""What a task means in its world: the ball's numbers out of its model, contacts as shapes, driven bodies stacked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array
from corekit.errors import CompositionError, ConfigError, Mistake
from corekit.geometry.frames import Pose, quat_wxyz_from_rotation
from corekit.geometry.shapes import Shape
from corekit.roles.model import Model
from corekit.roles.planner import PlanningTask, TaskBody
from corekit_mpcc.config import MpccConfig
from corekit_mpcc.overlap import depth_in
from corekit_mpcc.transcription.bodies import Bodies
from corekit_mpcc.transcription.contact import Place
from corekit_mpcc.transcription.gap import SERVED

__all__ = ["Ball", "Situation", "situation_of"]

_TOUCHES = 1e-5
"""Depth [m] up to which an object rests on an obstacle."""


@frozen(eq=False, kw_only=True)
class Ball:
    """The object.

    Args:
        radius [m], mass [kg], moment [kg·m²] about its centre, damping [N·s/m] and [N·m·s].
        turns, translates: how it may move.
        position, quat_wxyz: at the start. weight: force on it at rest [N], shape (3,).
    """

    radius: float
    mass: float
    moment: float
    linear_damping: float
    angular_damping: float
    translates: bool
    position: Array
    quat_wxyz: Array
    weight: Array
    turns: bool = True


@frozen(eq=False, kw_only=True)
class Situation:
    """A task in its world.

    Args:
        config: the task. ball: the object. bodies: those that are driven. places: the contacts.
        q: coordinates of the bodies as the scenario begins.
        target_quat_wxyz, target_position: where the object is to be.
    """

    config: MpccConfig
    ball: Ball
    bodies: Bodies
    places: tuple[Place, ...]
    q: Array
    target_quat_wxyz: Array
    target_position: Array


def situation_of(config: MpccConfig, task: PlanningTask) -> Situation:
    """Look up what the task names.

    Raises:
        ConfigError: bodies, frames or obstacles that are not there; all of them.
        ConfigError: an object that begins or is to end in an obstacle.
        CompositionError: a body that cannot be driven, an object that is no ball.
    """
    mistakes: list[Mistake] = []
    if config.object not in task.bodies:
        mistakes.append(_missing("object", config.object, task.bodies))
    shapes = [_shape(config, i, task, mistakes) for i in range(len(config.contacts))]
    if mistakes:
        raise ConfigError(mistakes, "the task")
    ball = _ball(config.object, task.bodies[config.object])
    if config.target.position is not None and not ball.translates:
        said = "must be left out: the centre of the object is fixed"
        raise ConfigError([Mistake("target.position", list(config.target.position), said)], "the task")
    _stands_free(config, task, ball)
    driven = {name: task.bodies[name] for name in dict.fromkeys(c.body for c in config.contacts if c.body)}
    unable = [name for name, body in driven.items() if "symbolic" not in body.abilities]
    if unable:
        raise CompositionError(
            f"planner 'ipopt-mpcc' needs 'symbolic' of the bodies it drives, which {', '.join(unable)} cannot give."
        )
    models: dict[str, Model] = {name: body.model for name, body in driven.items()}
    quat = ball.quat_wxyz
    if config.target.rotation is not None:
        quat = _product(config.target.rotation.quat_wxyz, quat)
    target = ball.position if config.target.position is None else np.array(config.target.position)
    return Situation(
        config=config,
        ball=ball,
        bodies=Bodies(models),
        places=tuple(shape for shape in shapes if shape is not None),
        q=np.concatenate([body.start.q for body in driven.values()] or [np.zeros(0)]),
        target_quat_wxyz=quat,
        target_position=target,
    )


def _stands_free(config: MpccConfig, task: PlanningTask, ball: Ball) -> None:
    """Refuse an object that begins or is to end in an obstacle: no motion does that."""
    places = {"object": ball.position}
    if config.target.position is not None:
        places["target.position"] = np.array(config.target.position)
    mistakes = []
    for path, centre in places.items():
        for name, obstacle in task.obstacles.items():
            depth = depth_in(obstacle, centre, ball.radius)
            if depth > _TOUCHES:
                said = f"must not stand in obstacle {name!r}, where a ball of {ball.radius:g} m is {depth:.3g} m deep"
                mistakes.append(Mistake(path, centre.round(6).tolist(), said, "move the one or the other"))
    if mistakes:
        raise ConfigError(mistakes, "the task")


def _product(a: Array, b: Array) -> Array:
    return np.concatenate(
        [[a[0] * b[0] - a[1:] @ b[1:]], a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])]
    )


def _missing(path: str, found: str, there: Mapping[str, Any]) -> Mistake:
    return Mistake(path, found, f"one of the scenario's: {', '.join(there) or 'there are none'}")


def _shape(config: MpccConfig, i: int, task: PlanningTask, mistakes: list[Mistake]) -> Place | None:
    contact, path = config.contacts[i], f"contacts[{i}]"
    if contact.obstacle:
        if contact.obstacle not in task.obstacles:
            mistakes.append(_missing(f"{path}.obstacle", contact.obstacle, task.obstacles))
            return None
        obstacle = task.obstacles[contact.obstacle]
        return _place(contact.name, obstacle.shape, "", 0, obstacle.pose, contact.holds, path, mistakes)
    if contact.body not in task.bodies or contact.body == config.object:
        others = {name: body for name, body in task.bodies.items() if name != config.object}
        mistakes.append(_missing(f"{path}.body", contact.body, others))
        return None
    description = task.bodies[contact.body].model.description
    if contact.frame not in description.frames:
        mistakes.append(_missing(f"{path}.frame", contact.frame, dict.fromkeys(description.frames)))
        return None
    frame = description.frames.index(contact.frame)
    found = [shape for shape in description.shapes if shape.frame == frame and shape.second_frame < 0]
    if len(found) != 1:
        mistakes.append(
            Mistake(f"{path}.frame", contact.frame, f"must carry one shape, it carries {len(found)}")
        )
        return None
    offset = found[0].offset
    return _place(contact.name, found[0], contact.body, frame, offset, contact.holds, path, mistakes)


def _place(
    name: str,
    shape: Shape,
    body: str,
    frame: int,
    offset: Pose,
    holds: bool,
    path: str,
    mistakes: list[Mistake],
) -> Place | None:
    if shape.kind not in SERVED:
        mistakes.append(
            Mistake(path, shape.kind, f"must be a {', '.join(SERVED)}, whose smooth distance is known")
        )
        return None
    return Place(name, shape.kind, shape.size, body or None, frame, offset, holds)


def _ball(name: str, body: TaskBody) -> Ball:
    """The numbers of a ball from its model: M and f at rest, and the change of f with the velocity."""
    model: Model = body.model
    description = model.description
    units = [velocity.unit for velocity in description.velocities]
    shapes = description.shapes
    turning, moving = ([i for i, unit in enumerate(units) if unit == which] for which in ("rad/s", "m/s"))
    round_one = len(shapes) == 1 and shapes[0].kind == "sphere"
    if not round_one or len(turning) != 3 or len(moving) not in (0, 3) or len(units) > 6:
        raise CompositionError(
            f"planner 'ipopt-mpcc' moves a ball: body {name!r} must have one sphere, turn about its centre, and move "
            "freely or not at all, as the model `rigid` does."
        )
    mass, force, still = model.new_mass_matrix(), np.zeros(len(units)), np.zeros(description.input_size)
    state = body.start.copy()
    state.v[:] = 0.0
    model.compute_mass_and_force(state, still, mass, force)
    inertia, rest = mass.dense(), force.copy()
    drag = np.zeros(len(units))
    for i in range(len(units)):
        state.v[:] = 0.0
        state.v[i] = 1.0
        model.compute_mass_and_force(state, still, mass, force)
        drag[i] = rest[i] - force[i]
    state.v[:] = 0.0
    position, rotation = np.zeros((len(description.frames), 3)), np.zeros((len(description.frames), 3, 3))
    model.compute_frame_poses(state, position, rotation)
    frame, offset = shapes[0].frame, shapes[0].offset
    moment = inertia[turning[0], turning[0]]
    if np.ptp(np.diag(inertia)[turning]) > 1e-9 * moment:
        raise CompositionError(
            f"planner 'ipopt-mpcc' moves a ball: the inertia of body {name!r} is not a ball's."
        )
    return Ball(
        radius=shapes[0].size[0],
        mass=float(inertia[moving[0], moving[0]]) if moving else 1.0,
        moment=float(moment),
        linear_damping=float(drag[moving[0]]) if moving else 0.0,
        angular_damping=float(drag[turning[0]]),
        translates=bool(moving),
        position=position[frame] + rotation[frame] @ offset.position,
        quat_wxyz=quat_wxyz_from_rotation(rotation[frame] @ offset.rotation),
        weight=rest[moving] if moving else np.zeros(3),
    )
