"""Plans as replays that viewers draw."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from corekit.data.arrays import Array
from corekit.geometry.frames import rotation_from_quat_wxyz
from corekit.roles.planner import Plan, TaskBody
from corekit.roles.viewer import BodyTrack, ContactTrack, Replay
from corekit_record.replay_data import resample_outline, shape_poses

__all__ = ["plan_as_replay"]


def plan_as_replay(plan: Plan, bodies: Mapping[str, TaskBody], title: str) -> Replay:
    """Return the planned motion as a replay, without contacts, because their points are the planner's."""
    tracks = [_driven(name, plan.bodies[name].q, bodies[name]) for name in plan.bodies]
    for name, moved in plan.objects.items():
        tracks.append(_carried(name, moved.position, rotation_from_quat_wxyz(moved.quat_wxyz), bodies[name]))
    none = ContactTrack(point=np.zeros((0, 3)), force=np.zeros((0, 3)), mode=np.zeros(0, dtype=np.int64))
    return Replay(
        title=title, time=plan.time, bodies=tuple(tracks), obstacles=(), contacts=(none,) * len(plan.time)
    )


def _driven(name: str, q: Array, body: TaskBody) -> BodyTrack:
    model, state = body.model, body.start.copy()
    description, first = model.description, model.compute_outline(body.start)
    count = len(description.frames)
    outline = np.zeros((len(q), len(first.points), 3))
    position, rotation = np.zeros((len(q), count, 3)), np.zeros((len(q), count, 3, 3))
    for k, now in enumerate(q):
        state.q[:] = now
        outline[k] = resample_outline(model.compute_outline(state), len(first.points), first.starts)
        model.compute_frame_poses(state, position[k], rotation[k])
    where, turned = shape_poses(description.shapes, position, rotation)
    return BodyTrack(name, outline, np.asarray(first.radius), first.starts, description.shapes, where, turned)


def _carried(name: str, position: Array, rotation: Array, body: TaskBody) -> BodyTrack:
    """Return the track of a moved object: its outline and shapes move with its first shape."""
    model = body.model
    description, drawn = model.description, model.compute_outline(body.start)
    frames = len(description.frames)
    x, R = np.zeros((1, frames, 3)), np.zeros((1, frames, 3, 3))
    model.compute_frame_poses(body.start, x[0], R[0])
    where, turned = shape_poses(description.shapes, x, R)
    origin, axes = where[0, 0], turned[0, 0]
    own = (np.asarray(drawn.points) - origin) @ axes
    outline = position[:, None, :] + np.einsum("tij,nj->tni", rotation, own)
    shift = (where[0] - origin) @ axes
    places = position[:, None, :] + np.einsum("tij,sj->tsi", rotation, shift)
    turns = np.einsum("tij,sjk->tsik", rotation, np.einsum("ji,sjk->sik", axes, turned[0]))
    return BodyTrack(name, outline, np.asarray(drawn.radius), drawn.starts, description.shapes, places, turns)
