"""A base that moves: what the ability `free-base` promises."""

from __future__ import annotations

import numpy as np
from attrs import evolve

from corekit.data.state import State
from corekit.errors import ConfigError
from corekit.geometry.frames import Pose, rotation_from_rpy
from corekit_testing.conformance.check import Check, NotApplicable, check, expect_close
from corekit_testing.conformance.model_states import Probe, points_of, rest_state
from corekit_testing.conformance.subject import Subject, skew_context

__all__ = ["BASE"]


@check("base-placed", "a base that moves stands and moves as placed, and carries the body along", "free-base")
def base_placed(subject: Subject) -> None:
    try:
        probe = Probe(subject, evolve(skew_context(), free_base=True))
    except ConfigError as error:
        raise NotApplicable("its base cannot move with these options") from error
    place, turn = np.array([0.4, -1.2, 0.7]), rotation_from_rpy((0.9, -0.6, 2.2))
    velocity, spin = np.array([0.3, 0.5, -0.8]), np.array([-1.1, 0.4, 0.6])
    frame, local = points_of(probe.model, 1.0)
    for state in probe.states:
        before, turned_before = probe.poses(state)
        own = (before - before[0]) @ turned_before[0]
        shape = np.einsum("ji,njk->nik", turned_before[0], turned_before)
        probe.model.place_base(state, place, turn, velocity, spin)
        position, rotation = probe.poses(state)
        size = 1.0 + float(np.abs(own).max())
        expect_close("place of the base [m]", position[0], place, 1e-12 * size)
        expect_close("axes of the base", rotation[0], turn, 1e-12)
        expect_close("places of the frames from the base [m]", (position - place) @ turn, own, 1e-11 * size)
        turned_with = np.einsum("ji,njk->nik", turn, rotation)
        if "point-jacobian" not in subject.spec.provides:
            expect_close("axes of the frames from the base", turned_with, shape, 1e-11)
            continue
        # a frame whose points all move alike does not turn, as that of a node, and keeps its axes
        still = [k for k in range(len(rotation)) if not _turns(probe, state, k)]
        expect_close("axes of frames that do not turn", rotation[still], turned_before[still], 1e-11)
        expect_close(
            "axes of the frames from the base",
            np.delete(turned_with, still, 0), np.delete(shape, still, 0), 1e-11,
        )  # fmt: skip
        lever = local @ turn.T
        moved = probe.rows(state, np.zeros_like(frame), local) @ state.v
        fast = 1.0 + float(np.abs(moved).max())
        wanted = velocity + np.cross(spin, lever)
        expect_close("velocity of points of the base [m/s]", moved, wanted, 1e-11 * fast)


def _turns(probe: Probe, state: State, frame: int) -> bool:
    """Whether points of a frame move differently."""
    rows = probe.rows(state, np.full(4, frame), np.vstack([np.zeros(3), np.eye(3)]))
    return frame == 0 or bool(np.any(rows[1:] != rows[0]))


@check("outline-carried", "what is drawn at rest goes with the base, as the frames do")
def outline_carried(subject: Subject) -> None:
    here = skew_context()
    turn = rotation_from_rpy((-0.7, 0.5, 1.1))
    there = evolve(
        here,
        base=Pose(np.array([-1.3, 0.8, 0.5]), turn @ here.base.rotation),
        gravity=turn @ here.gravity,
    )
    found = []
    for context in (here, there):
        model = subject.build(context)
        rest, frames = rest_state(model), len(model.description.frames)
        position, rotation = np.zeros((frames, 3)), np.zeros((frames, 3, 3))
        model.compute_frame_poses(rest, position, rotation)
        drawn = model.compute_outline(rest).points
        own = [(each - context.base.position) @ context.base.rotation for each in (position, drawn)]
        found.append([np.nan_to_num(each) for each in own])  # `answers-finite` tells those
    (frames_here, drawn_here), (frames_there, drawn_there) = found
    size = 1.0 + float(np.abs(frames_here).max(initial=0.0))
    if not len(drawn_here) or not np.allclose(frames_here, frames_there, rtol=0.0, atol=1e-6 * size):
        raise NotApplicable("draws nothing, or its rest in the axes of the base depends on where that is")
    expect_close("outline in the axes of another base [m]", drawn_there, drawn_here, 1e-6 * size)


BASE: tuple[Check, ...] = (base_placed, outline_carried)
