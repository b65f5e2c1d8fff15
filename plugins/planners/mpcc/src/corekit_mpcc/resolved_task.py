"""Resolution of a task in its world: parameters of the ball, contact shapes and driven bodies."""

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
from corekit_mpcc.overlap import compute_penetration
from corekit_mpcc.transcription.bodies import Bodies
from corekit_mpcc.transcription.contact import ContactShape
from corekit_mpcc.transcription.gap import SUPPORTED_SHAPES

__all__ = ["Ball", "ResolvedTask", "resolve_task"]

_MAX_PENETRATION = 1e-5
"""Largest penetration [m] of an object that rests on an obstacle."""


@frozen(eq=False, kw_only=True)
class Ball:
    """The object.

    Args:
        radius, mass, moment: radius [m], mass [kg], moment of inertia about the centre [kg·m²].
        linear_damping, angular_damping: damping [N·s/m], [N·m·s].
        turns, translates: degrees of freedom.
        position, quat_wxyz: pose at the start.
        weight: force at rest [N], shape (3,).
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
class ResolvedTask:
    """A task in its world.

    Args:
        config: the task.
        ball: the object.
        bodies: the driven bodies.
        contact_shapes: shapes of the contacts.
        q: coordinates of the bodies at the start of the scenario.
        target_quat_wxyz, target_position: target pose of the object.
    """

    config: MpccConfig
    ball: Ball
    bodies: Bodies
    contact_shapes: tuple[ContactShape, ...]
    q: Array
    target_quat_wxyz: Array
    target_position: Array


def resolve_task(config: MpccConfig, task: PlanningTask) -> ResolvedTask:
    """Resolve the names of a task.

    Raises:
        ConfigError: all unknown bodies, frames and obstacles, or an object that starts or ends in an obstacle.
        CompositionError: a body without `symbolic`, or an object that is not a ball.
    """
    mistakes: list[Mistake] = []
    if config.object not in task.bodies:
        mistakes.append(_unknown_name("object", config.object, task.bodies))
    shapes = [_resolve_contact(config, i, task, mistakes) for i in range(len(config.contacts))]
    if mistakes:
        raise ConfigError(mistakes, "the task")
    ball = _measure_ball(config.object, task.bodies[config.object])
    if config.target.position is not None and not ball.translates:
        reason = "remove it: the centre of the object is fixed"
        raise ConfigError([Mistake("target.position", list(config.target.position), reason)], "the task")
    _check_overlap(config, task, ball)
    driven = {name: task.bodies[name] for name in dict.fromkeys(c.body for c in config.contacts if c.body)}
    unsupported = [name for name, body in driven.items() if "symbolic" not in body.abilities]
    if unsupported:
        raise CompositionError(
            f"planner 'ipopt-mpcc' needs the ability 'symbolic', which body {', '.join(unsupported)} does not provide."
        )
    models: dict[str, Model] = {name: body.model for name, body in driven.items()}
    quat = ball.quat_wxyz
    if config.target.rotation is not None:
        quat = _quat_product(config.target.rotation.quat_wxyz, quat)
    target = ball.position if config.target.position is None else np.array(config.target.position)
    return ResolvedTask(
        config=config,
        ball=ball,
        bodies=Bodies(models),
        contact_shapes=tuple(shape for shape in shapes if shape is not None),
        q=np.concatenate([body.start.q for body in driven.values()] or [np.zeros(0)]),
        target_quat_wxyz=quat,
        target_position=target,
    )


def _check_overlap(config: MpccConfig, task: PlanningTask, ball: Ball) -> None:
    """Raise ConfigError if the object starts or ends in an obstacle."""
    centres = {"object": ball.position}
    if config.target.position is not None:
        centres["target.position"] = np.array(config.target.position)
    mistakes = []
    for path, centre in centres.items():
        for name, obstacle in task.obstacles.items():
            penetration = compute_penetration(obstacle, centre, ball.radius)
            if penetration > _MAX_PENETRATION:
                reason = f"a ball of {ball.radius:g} m penetrates obstacle {name!r} by {penetration:.3g} m"
                mistakes.append(
                    Mistake(path, centre.round(6).tolist(), reason, "move the object or the obstacle")
                )
    if mistakes:
        raise ConfigError(mistakes, "the task")


def _quat_product(a: Array, b: Array) -> Array:
    return np.concatenate(
        [[a[0] * b[0] - a[1:] @ b[1:]], a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])]
    )


def _unknown_name(path: str, name: str, known: Mapping[str, Any]) -> Mistake:
    return Mistake(path, name, f"must be in the scenario: {', '.join(known) or 'there are none'}")


def _resolve_contact(
    config: MpccConfig, i: int, task: PlanningTask, mistakes: list[Mistake]
) -> ContactShape | None:
    contact, path = config.contacts[i], f"contacts[{i}]"
    if contact.obstacle:
        if contact.obstacle not in task.obstacles:
            mistakes.append(_unknown_name(f"{path}.obstacle", contact.obstacle, task.obstacles))
            return None
        obstacle = task.obstacles[contact.obstacle]
        return _make_contact_shape(
            contact.name, obstacle.shape, "", 0, obstacle.pose, contact.holds, path, mistakes
        )
    if contact.body not in task.bodies or contact.body == config.object:
        others = {name: body for name, body in task.bodies.items() if name != config.object}
        mistakes.append(_unknown_name(f"{path}.body", contact.body, others))
        return None
    description = task.bodies[contact.body].model.description
    if contact.frame not in description.frames:
        mistakes.append(_unknown_name(f"{path}.frame", contact.frame, dict.fromkeys(description.frames)))
        return None
    frame = description.frames.index(contact.frame)
    shapes_found = [shape for shape in description.shapes if shape.frame == frame and shape.second_frame < 0]
    if len(shapes_found) != 1:
        mistakes.append(
            Mistake(f"{path}.frame", contact.frame, f"must have one shape, it has {len(shapes_found)}")
        )
        return None
    offset = shapes_found[0].offset
    return _make_contact_shape(
        contact.name, shapes_found[0], contact.body, frame, offset, contact.holds, path, mistakes
    )


def _make_contact_shape(
    name: str,
    shape: Shape,
    body: str,
    frame: int,
    offset: Pose,
    holds: bool,
    path: str,
    mistakes: list[Mistake],
) -> ContactShape | None:
    if shape.kind not in SUPPORTED_SHAPES:
        mistakes.append(
            Mistake(path, shape.kind, f"must have a smooth distance: {', '.join(SUPPORTED_SHAPES)}")
        )
        return None
    return ContactShape(name, shape.kind, shape.size, body or None, frame, offset, holds)


def _measure_ball(name: str, body: TaskBody) -> Ball:
    """Return the parameters of a ball from its model: M and f at rest, and −∂f/∂v."""
    model: Model = body.model
    description = model.description
    units = [velocity.unit for velocity in description.velocities]
    shapes = description.shapes
    rotational, translational = (
        [i for i, unit in enumerate(units) if unit == which] for which in ("rad/s", "m/s")
    )
    is_sphere = len(shapes) == 1 and shapes[0].kind == "sphere"
    if not is_sphere or len(rotational) != 3 or len(translational) not in (0, 3) or len(units) > 6:
        raise CompositionError(
            f"planner 'ipopt-mpcc' moves a ball: body {name!r} must have one sphere, turn about its centre, and move "
            "freely or not at all, as the model `rigid` does."
        )
    mass, force, zero_inputs = model.new_mass_matrix(), np.zeros(len(units)), np.zeros(description.input_size)
    state = body.start.copy()
    state.v[:] = 0.0
    model.compute_mass_and_force(state, zero_inputs, mass, force)
    inertia, force_at_rest = mass.dense(), force.copy()
    drag = np.zeros(len(units))
    for i in range(len(units)):
        state.v[:] = 0.0
        state.v[i] = 1.0
        model.compute_mass_and_force(state, zero_inputs, mass, force)
        drag[i] = force_at_rest[i] - force[i]
    state.v[:] = 0.0
    position, rotation = np.zeros((len(description.frames), 3)), np.zeros((len(description.frames), 3, 3))
    model.compute_frame_poses(state, position, rotation)
    frame, offset = shapes[0].frame, shapes[0].offset
    moment = inertia[rotational[0], rotational[0]]
    if np.ptp(np.diag(inertia)[rotational]) > 1e-9 * moment:
        raise CompositionError(
            f"planner 'ipopt-mpcc' moves a ball: the inertia of body {name!r} is not that of a ball."
        )
    return Ball(
        radius=shapes[0].size[0],
        mass=float(inertia[translational[0], translational[0]]) if translational else 1.0,
        moment=float(moment),
        linear_damping=float(drag[translational[0]]) if translational else 0.0,
        angular_damping=float(drag[rotational[0]]),
        translates=bool(translational),
        position=position[frame] + rotation[frame] @ offset.position,
        quat_wxyz=quat_wxyz_from_rotation(rotation[frame] @ offset.rotation),
        weight=force_at_rest[translational] if translational else np.zeros(3),
    )
