"""Viewers on a small replay of a rod that falls onto a floor."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from attrs import evolve

from corekit.data.arrays import Array
from corekit.errors import CorekitError
from corekit.geometry.shapes import Shape
from corekit.roles.viewer import ObstacleTrack, Replay
from corekit_testing.conformance.answers import answer_checks
from corekit_testing.conformance.check import Check, CheckFailed, check, expect
from corekit_testing.conformance.subject import Answer, Session, Subject
from corekit_testing.conformance.viewer_abilities import ABILITY_CHECKS, reference_replay

__all__ = ["CHECKS", "reference_replay"]


def _refuses(viewer: Any, replay: Replay, path: Path, what: str) -> None:
    """Expect an error meant for the user, and nothing in the folder that was not there."""
    before = sorted(path.parent.rglob("*"))
    try:
        viewer.render(replay, path)
    except CorekitError:
        left = [each.name for each in sorted(path.parent.rglob("*")) if each not in before]
        expect(not left, f"{what}: after the refusal {', '.join(left)} is left")
        return
    except Exception as error:
        raise CheckFailed(f"{what} is refused by a bare {type(error).__name__}: {error}") from error
    raise CheckFailed(f"{what} is not refused")


@check("writes-file", "every suffix it names gives a file that is not empty, and nothing beside it")
def writes_file(subject: Subject) -> None:
    viewer = subject.build()
    expect(viewer.suffixes, "names no suffix")
    for suffix in viewer.suffixes:
        expect(suffix.startswith("."), f"the suffix {suffix!r} does not begin with a dot")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, f"picture{suffix}")
            viewer.render(reference_replay(), path)
            expect(path.is_file(), f"writes no {path.name}")
            expect(path.stat().st_size > 100, f"writes {path.stat().st_size} bytes to {path.name}")
            beside = [each.name for each in Path(folder).iterdir() if each != path]
            expect(not beside, f"leaves {', '.join(beside)} beside {path.name}")


@check("draws-what-moves", "another motion is another file, from wherever it is looked at")
def draws_what_moves(subject: Subject) -> None:
    viewer = subject.build()
    one, two = reference_replay(), reference_replay()
    # along all axes: who looks along one of them sees the others
    two.bodies[0].outline[...] += np.linspace(0.0, 0.3, 6)[:, None]
    expect(_rendered(viewer, one) != _rendered(viewer, two), "a straight and a bent rod give the same file")


@check("draws-every-instant", "what happens after the first instant is drawn too")
def draws_every_instant(subject: Subject) -> None:
    viewer = subject.build()
    one, two = reference_replay(), reference_replay()
    two.bodies[0].outline[1:] += 0.2
    two.bodies[0].shape_position[1:] += 0.2
    same = _rendered(viewer, one) == _rendered(viewer, two)
    expect(not same, "a rod that is elsewhere at all instants but the first gives the same file")


@check("draws-contacts", "contacts and their forces are drawn")
def draws_contacts(subject: Subject) -> None:
    viewer, one = subject.build(), reference_replay()
    pushed = evolve(
        one, contacts=tuple(evolve(each, force=each.force[:, [2, 0, 1]]) for each in one.contacts)
    )
    drawn = _rendered(viewer, one)
    expect(
        drawn != _rendered(viewer, reference_replay(contacts=False)),
        "with and without contacts: the same file",
    )
    expect(drawn != _rendered(viewer, pushed), "with forces in other directions it is the same file")


@check("draws-obstacles", "obstacles are drawn where they are")
def draws_obstacles(subject: Subject) -> None:
    viewer, one = subject.build(), reference_replay()
    ball = ObstacleTrack(
        "ball", Shape("sphere", (0.1,)), np.tile([0.2, 0.1, 0.3], (5, 1)), one.obstacles[0].rotation
    )
    moved = evolve(ball, position=ball.position + 0.15)
    files = [_rendered(viewer, evolve(one, obstacles=each)) for each in (one.obstacles, (ball,), (moved,))]
    expect(files[0] != files[1], "a floor and a ball are the same file")
    expect(files[1] != files[2], "a ball elsewhere is the same file")


@check("draws-without-contacts", "a replay without any contact, and one of a single frame, are drawn")
def draws_without_contacts(subject: Subject) -> None:
    viewer = subject.build()
    for replay in (reference_replay(contacts=False), reference_replay(1)):
        expect(len(_rendered(viewer, replay)) > 100, "the file is empty")


@check("nothing-on-failure", "what cannot be written is refused in words and leaves nothing behind")
def nothing_on_failure(subject: Subject) -> None:
    viewer = subject.build()
    with tempfile.TemporaryDirectory() as folder:
        _refuses(viewer, reference_replay(), Path(folder, "picture.nonsense"), "a foreign suffix")
    for suffix in viewer.suffixes:
        with tempfile.TemporaryDirectory() as folder:
            occupied = Path(folder, f"picture{suffix}")
            occupied.mkdir()
            _refuses(viewer, reference_replay(), occupied, "a path that is a folder")


def _rendered(viewer: Any, replay: Replay) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"picture{viewer.suffixes[0]}")
        viewer.render(replay, path)
        return path.read_bytes()


class ViewerSession(Session):
    """The replay, whole and cut short."""

    questions = 2

    def ask(self, index: int) -> Answer:
        replay = reference_replay(4 - index)
        body, obstacle = replay.bodies[0], replay.obstacles[0]
        handed: dict[str, Array] = {
            "time": replay.time, "outline": body.outline, "radius": body.radius,
            "shape_position": body.shape_position, "shape_rotation": body.shape_rotation,
            "obstacle position": obstacle.position, "obstacle rotation": obstacle.rotation,
            "point": replay.contacts[-1].point, "force": replay.contacts[-1].force,
        }  # fmt: skip
        before = {name: values.copy() for name, values in handed.items()}
        file = np.frombuffer(_rendered(self.component, replay), dtype=np.uint8).copy()
        return Answer({name: (before[name], values) for name, values in handed.items()}, {"file": file})


CHECKS: tuple[Check, ...] = (
    *(each for each in answer_checks(ViewerSession) if each.name != "answers-own-memory"),
    writes_file,
    draws_what_moves,
    draws_every_instant,
    draws_obstacles,
    draws_without_contacts,
    draws_contacts,
    nothing_on_failure,
    *ABILITY_CHECKS,
)
"""Checks of the viewer role; its answers are files, which share no memory."""
