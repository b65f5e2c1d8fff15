"""Scenes in which detectors are looked at: two shapes askew at a given gap, and a crowd of all served kinds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from corekit.data.contacts import ContactSet
from corekit.geometry.shape_specs import shape_kinds, shape_spec
from corekit_testing.conformance.check import CheckFailed, NotApplicable
from corekit_testing.conformance.shape_scenes import (
    GAPS,
    Given,
    Scene,
    analytic_gap,
    can_place,
    is_endless,
    is_flat,
    measured,
    random_rotation,
)
from corekit_testing.conformance.subject import Subject

__all__ = ["CROWD", "crowd", "entries", "least", "placed_pairs", "prepared", "scenes", "settle"]

_TRIALS = 4
_FAR = 0.5
"""Between the origins of two shapes at first [m]."""
_MOVES = 20
CROWD = 9
"""Seed of the first crowd."""
_ROUNDING = 1e-15
"""Of a gap between shapes of some centimetres [m]: nearer than this none is placed."""


def placed_pairs(subject: Subject) -> list[tuple[str, str]]:
    """Served pairs of kinds that scenes can hold, in the order of a detector's; what has no end stands second."""
    known, given = shape_kinds(), subject.shapes
    pairs: set[tuple[str, str]] = set()
    for a, b in subject.build().supported_pairs:
        if {a, b} <= set(known) and can_place(a, given) and can_place(b, given):
            first, second = is_endless(a, given), is_endless(b, given)
            if not (first and second):
                pairs.add((b, a) if first else (a, b))
    if not pairs:
        raise NotApplicable("serves no pair of kinds that the kit can place")
    return sorted(pairs)


def pair_scene(
    random: np.random.Generator, kinds: tuple[str, str], gap: float, detector: Any, given: Given
) -> Scene:
    """Two shapes askew with roughly this gap; the second is an obstacle if it has no end, else a body's.

    The distance is exact where the gap has a formula.
    """
    endless = is_endless(kinds[1], given)
    scene = Scene(kinds, int(endless), random, given)
    away = random.normal(size=3)
    away /= np.linalg.norm(away)
    rotation = random_rotation(random)
    if is_flat(kinds[1]):
        away = rotation @ np.array(shape_spec(kinds[1]).plane_normal)
    scene.place(1, 0.1 * random.normal(size=3), rotation, 0.2 * random_rotation(random)[:, 0])
    start = scene.poses.position[1] + _FAR * away
    scene.place(0, start, random_rotation(random), 0.2 * random_rotation(random)[:, 0])
    detector.prepare(scene.table, detector.supported_pairs)
    if kinds in GAPS or kinds[::-1] in GAPS:
        # along a line the gap grows at most as fast as the distance, so this never oversteps
        for _ in range(60):
            missing = analytic_gap(scene, 0, 1) - gap
            if abs(missing) < _ROUNDING:
                break
            scene.shift(0, -0.9 * missing * away)
    elif endless and not is_flat(kinds[1]):
        _leave(scene, detector)
        settle(scene, detector, gap)
    return scene


def _leave(scene: Scene, detector: Any) -> None:
    """Move shape 0 out of shape 1, which has no end, along its axes: up its z axis, if there is room."""
    middle = scene.poses.position[1].copy()
    up = scene.poses.rotation[1][:, ::-1].T
    for away in (*up, *-up, np.zeros(3)):
        scene.shift(0, middle + _FAR * away - scene.poses.position[0])
        found = measured(detector, scene, scene.poses)
        if found.gap[least(found)] > 0.0:
            return
    raise CheckFailed(
        f"{_FAR} m along its axes no place is outside of the {scene.kinds[1]}: give it sizes, --shape NAME=SIZES"
    )


def settle(scene: Scene, detector: Any, gap: float) -> None:
    """Move shape 0 along its normals until the least gap is about this one [m]."""
    for _ in range(_MOVES):
        found = measured(detector, scene, scene.poses)
        low = least(found)
        missing = gap - float(found.gap[low])
        if abs(missing) < 1e-9:
            return
        towards = 1.0 if found.shape[low, 0] == 0 else -1.0
        scene.shift(0, towards * missing * found.normal[low])


def prepared(subject: Subject, scene: Scene) -> Any:
    """A detector that has read the scene."""
    detector = subject.build()
    detector.prepare(scene.table, detector.supported_pairs)
    return detector


def scenes(subject: Subject, gap: float) -> Iterator[tuple[tuple[str, str], Scene, Any]]:
    """Scenes of every pair of kinds that the subject serves, with a detector prepared for each."""
    random = np.random.default_rng(6)
    for kinds in placed_pairs(subject):
        for _ in range(_TRIALS):
            detector = subject.build()
            yield kinds, pair_scene(random, kinds, gap, detector, subject.shapes), detector


def least(found: ContactSet) -> int:
    """Which contact has the least gap."""
    return int(found.gap[: found.count].argmin())


def crowd(subject: Subject, seed: int = CROWD) -> tuple[Scene, Any]:
    """Many shapes of the served kinds near each other."""
    kinds = {kind for pair in placed_pairs(subject) for kind in pair}
    flats = sorted(kind for kind in kinds if is_endless(kind, subject.shapes))
    random = np.random.default_rng(seed)
    scene = Scene((*sorted(kinds - set(flats)) * 3, *flats), len(flats), random, subject.shapes)
    for i, kind in enumerate(scene.kinds):
        place = np.array([0.0, 0.0, -0.4]) if kind in flats else 0.25 * random.normal(size=3)
        rotation = np.eye(3) if kind in flats else random_rotation(random)
        scene.place(i, place, rotation, 0.2 * random_rotation(random)[:, 0])
    return scene, prepared(subject, scene)


def entries(found: ContactSet) -> set[tuple[int, int, int]]:
    """Id and shapes of every contact."""
    return {(int(found.id[c]), int(found.shape[c, 0]), int(found.shape[c, 1])) for c in range(found.count)}
