"""From the records of a run to what a viewer draws."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from corekit.data.arrays import Array
from corekit.data.contacts import ContactRecord
from corekit.geometry.frames import rotation_from_quat_wxyz
from corekit.roles.viewer import BodyTrack, ContactTrack, ObstacleTrack, Replay
from corekit_record.replay_data import contact_track, shape_poses, shapes_from_text

if TYPE_CHECKING:
    from corekit_record.results import Results

__all__ = ["outline_of", "replay_of"]


def replay_of(results: Results) -> Replay:
    """Return everything needed to draw a run, without contacts that were left out."""
    frames = results.array("frame_position", 0, 3)
    turned = rotation_from_quat_wxyz(results.array("frame_quat_wxyz", 0, 4))
    return Replay(
        title=results.title,
        time=results.time,
        bodies=tuple(_body_track(results, i, frames, turned) for i in range(len(results.bodies))),
        obstacles=_obstacle_tracks(results),
        contacts=tuple(_contact_track(results, k) for k in range(len(results.time))),
    )


def outline_of(results: Results, index: int) -> Array:
    """Return the points of a body's polylines [m], shape (T, n, 3)."""
    return results.array("outline", 0, 3)[:, _points(results, index)].astype(float)


def _points(results: Results, index: int) -> slice:
    """Return where the points of a body's polylines stand among those of all."""
    ends = [*results["body_first_point"][1:], None]
    return slice(int(results["body_first_point"][index]), ends[index])


def _contact_track(results: Results, k: int) -> ContactTrack:
    record = ContactRecord() if "contacts" in results.left_out else results.contacts(k)
    return contact_track(
        record.point, record.normal, record.tangent, record.normal_impulse, record.tangential_impulse,
        record.mode, float(results["step_length"][k]),
    )  # fmt: skip


def _body_track(results: Results, index: int, frames: Array, turned: Array) -> BodyTrack:
    shapes = shapes_from_text(results["body_shapes"][index])
    first = int(results["body_first_frame"][index])
    position, rotation = shape_poses(shapes, frames[:, first:], turned[:, first:])
    outline, points = outline_of(results, index), _points(results, index)
    starts = np.array(results.labels("polyline_start"), dtype=np.int64)
    own = (starts >= points.start) & (starts < points.start + outline.shape[1])
    return BodyTrack(
        name=results.bodies[index],
        outline=outline,
        radius=results["outline_radius"][points] if outline.shape[1] else np.zeros(0),
        starts=starts[own] - points.start,
        shapes=shapes,
        shape_position=position,
        shape_rotation=rotation,
    )


def _obstacle_tracks(results: Results) -> tuple[ObstacleTrack, ...]:
    shapes = results.obstacle_shapes
    position = results.array("obstacle_position", 0, 3)
    turned = rotation_from_quat_wxyz(results.array("obstacle_quat_wxyz", 0, 4))
    return tuple(
        ObstacleTrack(name, shape, position[:, i], turned[:, i])
        for i, (name, shape) in enumerate(zip(results.obstacles, shapes, strict=True))
    )
