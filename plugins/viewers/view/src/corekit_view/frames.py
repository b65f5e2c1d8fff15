"""Selection of the frames of a replay for drawing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from attrs import evolve

from corekit.data.arrays import Array, BoolArray, IntArray
from corekit.errors import ConfigError, Mistake, ResultsError
from corekit.roles.viewer import BodyTrack, Replay
from corekit_view.tubes import polylines

__all__ = ["drop_non_finite", "key_frames", "select", "thin_frames", "thin_outlines"]

FARTHEST = 1e12
"""Of what is drawn [m]: squares of more have no room in the numbers of viewers."""
LEAST_POINTS = 16
NEAR = 0.2
"""Distance, relative to that of key frames, below which two frames look alike."""


def select(replay: Replay, index: IntArray) -> Replay:
    """Return the replay with only the frames `index`."""
    return evolve(
        replay,
        time=replay.time[index],
        bodies=tuple(
            evolve(
                body,
                outline=body.outline[index],
                shape_position=body.shape_position[index],
                shape_rotation=body.shape_rotation[index],
            )
            for body in replay.bodies
        ),
        obstacles=tuple(
            evolve(obstacle, position=obstacle.position[index], rotation=obstacle.rotation[index])
            for obstacle in replay.obstacles
        ),
        contacts=tuple(replay.contacts[int(i)] for i in index),
    )


def drop_non_finite(replay: Replay) -> Replay:
    """Return the replay without frames whose positions are not finite, or beyond `FARTHEST`.

    Raises:
        ResultsError: no frame remains, or a track does not have one entry per frame.
    """
    frames = len(replay.time)
    lengths = {len(replay.contacts), *(len(body.outline) for body in replay.bodies)}
    lengths |= {len(body.shape_position) for body in replay.bodies}
    lengths |= {len(obstacle.position) for obstacle in replay.obstacles}
    if lengths != {frames}:
        raise ResultsError(
            f"replay {replay.title!r} has {frames} times but tracks of {sorted(lengths)} frames"
        )
    fine = np.isfinite(replay.time)
    for body in replay.bodies:
        fine &= _finite(body.outline) & _finite(body.shape_position) & _finite(body.shape_rotation)
    for obstacle in replay.obstacles:
        fine &= _finite(obstacle.position) & _finite(obstacle.rotation)
    if not fine.any():
        reason = (
            f"all of its frames have positions that are not finite, or beyond {FARTHEST:g} m"
            if frames
            else "it has no frames"
        )
        raise ResultsError(f"replay {replay.title!r} cannot be drawn: {reason}")
    return replay if fine.all() else select(replay, np.flatnonzero(fine))


def _finite(values: Array) -> BoolArray:
    # false of NaN, too
    return np.array([(np.abs(frame) <= FARTHEST).all() for frame in values], dtype=bool)


def thin_frames(replay: Replay, most: int) -> Replay:
    """Return at most `most` evenly spread frames, including the first and the last."""
    count = len(replay.time)
    if count <= most:
        return replay
    index = np.unique(np.round(np.linspace(0, count - 1, most)).astype(np.int64))
    return select(replay, index if most > 1 else np.array([count - 1]))


def thin_outlines(replay: Replay, stride: int) -> Replay:
    """Return every stride-th outline point, with the ends and at least 16 points per polyline."""
    return replay if stride <= 1 else evolve(replay, bodies=tuple(_coarser(b, stride) for b in replay.bodies))


def _coarser(body: BodyTrack, stride: int) -> BodyTrack:
    keep: list[IntArray] = []
    starts: list[int] = []
    for line in polylines(body.starts, body.outline.shape[1]):
        count = line.stop - line.start
        wanted = min(count, max(LEAST_POINTS, -(-count // stride)))
        starts.append(sum(len(part) for part in keep))
        keep.append(line.start + np.round(np.linspace(0, count - 1, wanted)).astype(np.int64))
    if not keep:
        return body
    index = np.concatenate(keep)
    first = np.array(starts, dtype=np.int64)
    return evolve(body, outline=body.outline[:, index], radius=body.radius[index], starts=first)


def key_frames(replay: Replay, panels: int, times: Sequence[float] = ()) -> IntArray:
    """Return the key frames, spread evenly over the mean of time and motion.

    With s(t) = ∫ mean‖ẋ‖ dt over all outline and shape points, key frames have equal distances in

        t / t_end + s(t) / s(t_end)                                                       (1)

    The key frame nearest to the first contact moves to it, unless the first or last frame looks like it.

    Args:
        replay: the run.
        panels: count of key frames.
        times: instants [s]; the nearest frames replace the automatic ones.
    Raises:
        ConfigError: an instant farther from the run than one frame is from the next.
    """
    time, count = replay.time, len(replay.time)
    reach = np.diff(time).max(initial=0.0)
    allowed = f"must be within what was recorded, {time[0]:g} to {time[-1]:g} s"
    late = [(i, t) for i, t in enumerate(times) if not time[0] - reach <= t <= time[-1] + reach]
    if late:
        raise ConfigError([Mistake(f"times[{i}]", t, allowed) for i, t in late], "the picture")
    if len(times):
        return np.array(sorted({int(np.argmin(np.abs(time - t))) for t in times}), dtype=np.int64)
    if panels >= count:
        return np.arange(count)
    if panels == 1:
        return np.array([count - 1])
    moved = np.zeros(count)
    for body in replay.bodies:
        for points in (body.outline, body.shape_position):
            if points.shape[1]:
                moved[1:] += np.linalg.norm(np.diff(points, axis=0), axis=2).mean(axis=1)
    progress = _share(np.cumsum(np.concatenate([[0.0], np.diff(time)]))) + _share(np.cumsum(moved))
    wanted = np.linspace(progress[0], progress[-1], panels)
    frames = [int(np.argmin(np.abs(progress - value))) for value in wanted]
    frames[0], frames[-1] = 0, count - 1
    touching = [i for i, contact in enumerate(replay.contacts) if np.any(contact.mode > 0)]
    spacing = (progress[-1] - progress[0]) / (panels - 1)
    if touching and panels > 2 and min(np.abs(progress[[0, -1]] - progress[touching[0]])) > NEAR * spacing:
        inner = min(range(1, panels - 1), key=lambda i: abs(frames[i] - touching[0]))
        frames[inner] = touching[0]
    return np.array(sorted(set(frames)), dtype=np.int64)


def _share(cumulative: Array) -> Array:
    total = cumulative[-1]
    return cumulative / total if total > 0 else np.linspace(0.0, 1.0, len(cumulative))
