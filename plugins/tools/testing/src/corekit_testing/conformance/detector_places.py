"""Where detectors put contacts, what they call them, and what they do with shapes deep in each other.

The contact point lies between the two surfaces, and the material points of a side are there: with a lever from them to
the surface friction would turn a ball too little, or not at all. An edge is carried by its two frames, which move its
axis, and so its side lies on the axis, under the point.
"""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np

from corekit.data.arrays import Array
from corekit.data.contacts import Candidates, ContactSet
from corekit.geometry.shape_specs import shape_spec
from corekit.geometry.shapes import ShapePoses
from corekit_testing.conformance.check import Check, NotApplicable, check, expect, expect_close
from corekit_testing.conformance.detector_scenes import (
    CROWD,
    crowd,
    entries,
    least,
    placed_pairs,
    scenes,
    settle,
)
from corekit_testing.conformance.shape_scenes import SOLIDS, Scene, is_endless, measured, outside
from corekit_testing.conformance.subject import Subject

__all__ = ["PLACES"]

_NEAR = 1e-6
"""How far a place may be off [m]: some detectors iterate."""
_TOUCH = 1e-6
"""Gap to either side of touching [m]."""
_SAME = 0.999
"""Cosine of the angle within which a normal counts as the same."""
_DRAWN = 40
"""Corners of a drawn surface that are looked at."""
_OFF = 1e-2
"""How far such a corner may be off, relative to the radius of the kit's ball."""
_DEEP = 0.9, 0.5, 0.1, 0.01
"""Distances of the origins of shapes in each other [m], as shares of a size of theirs."""


def _off_surface(scene: Scene, poses: ShapePoses, i: int, point: Array) -> float | None:
    """Signed distance of a point from shape i [m]; None of a kind without a formula."""
    kind, size = scene.kinds[i], scene.table.size[i]
    if kind == "half-space":
        return float(poses.rotation[i, :, 2] @ (point - poses.position[i]))
    if kind == "edge":
        along = poses.end[i] - poses.position[i]
        t = np.clip((point - poses.position[i]) @ along / (along @ along), 0.0, 1.0)
        return float(np.linalg.norm(point - poses.position[i] - t * along)) - float(size[0])
    if kind not in SOLIDS:
        return None
    return outside(kind, size, (point - poses.position[i]) @ poses.rotation[i])


@check("point-between", "the contact point with the least gap lies between the two surfaces")
def point_between(subject: Subject) -> None:
    compared = False
    for gap in (0.01, -0.004):
        for kinds, scene, detector in scenes(subject, gap):
            found = measured(detector, scene, scene.poses)
            low = least(found)
            low_gap, point, slack = float(found.gap[low]), found.point[low], _NEAR
            for i, kind in enumerate(kinds):
                away = _off_surface(scene, scene.poses, i, point)
                if away is None:
                    continue
                compared = True
                expect(
                    min(low_gap, 0.0) - slack <= away <= max(low_gap, 0.0) + slack,
                    f"{'–'.join(kinds)} with a gap of {low_gap:.4g} m: the point is {away:.4g} m from the surface of "
                    f"the {kind}",
                )
    if not compared:
        raise NotApplicable("serves no kind whose surface has a formula here")


@check(
    "carriers-at-point", "the material points of both sides are at the contact point; of an edge on its axis"
)
def carriers_at_point(subject: Subject) -> None:
    for kinds, scene, detector in scenes(subject, 0.01):
        found = measured(detector, scene, scene.poses)
        for c in range(found.count):
            for side, shape in enumerate(found.shape[c]):
                place = _side(found, c, scene, int(shape), scene.poses)
                if place is None:
                    continue
                arm = found.point[c] - place
                if scene.kinds[shape] == "edge":
                    arm = np.cross(arm, found.normal[c])
                expect_close(
                    f"{'–'.join(kinds)}: from the point to the material points of side {side + 1} [m]",
                    arm, np.zeros(3), _NEAR,
                )  # fmt: skip


def _side(found: ContactSet, c: int, scene: Scene, shape: int, poses: ShapePoses) -> Array | None:
    """Where the material points of a shape are together [m]; None of an obstacle."""
    own = {int(scene.frame[shape]), int(scene.second[shape])} - {-1}
    taken = [slot for slot, frame in enumerate(found.frame[c]) if int(frame) in own]
    if not taken:
        return None
    frame, weight = found.frame[c, taken], np.abs(found.weight[c, taken])
    places = poses.frame_position[frame]
    places = places + np.einsum("kij,kj->ki", poses.frame_rotation[frame], found.local_point[c, taken])
    return np.asarray(weight @ places / weight.sum())


@check("ids-of-features", "an id is that of its features: touching or not, whatever else is near")
def ids_of_features(subject: Subject) -> None:
    for kinds, scene, detector in scenes(subject, _TOUCH):
        settle(scene, detector, _TOUCH)
        apart = measured(detector, scene, scene.poses)
        one, normal = entries(apart), apart.normal[least(apart)].copy()
        scene.shift(int(apart.shape[least(apart), 0]), -2.0 * _TOUCH * normal)
        inside = measured(detector, scene, scene.poses)
        if inside.normal[least(inside)] @ normal < _SAME:
            continue  # corners that are nearest outside need not be where the way out is shortest
        changed = one ^ entries(inside)
        expect(
            not changed, f"ids of {'–'.join(kinds)} change as the gap goes from {_TOUCH:g} to {-_TOUCH:g} m"
        )
    scene, detector = crowd(subject)
    whole, pairs = ContactSet(4), scene.all_pairs(detector.supported_pairs)
    detector.compute_contacts(pairs, scene.poses, np.inf, whole)
    for start in range(1, pairs.count):
        rest, found = Candidates(pairs.count), ContactSet(4)
        rest.count = pairs.count - start
        rest.pairs[: rest.count] = pairs.pairs[start : pairs.count]
        detector.compute_contacts(rest, scene.poses, np.inf, found)
        other = entries(found) - entries(whole)
        expect(not other, f"{len(other)} ids are others where {start} candidates less are measured")


@check("deep-finite", "shapes deep in each other have finite contacts, or none")
def deep_finite(subject: Subject) -> None:
    random = np.random.default_rng(16)
    for kinds, scene, detector in scenes(subject, 0.01):
        away = random.normal(size=3)
        away /= np.linalg.norm(away)
        if is_endless(kinds[1], subject.shapes):
            found = measured(detector, scene, scene.poses)
            start, away = scene.poses.position[0].copy(), found.normal[least(found)].copy()
            places = [start - share * away for share in (0.05, 0.1, 0.3, 1.0)]
        else:
            size = float(scene.table.size[:, 0].max(initial=0.05))
            places = [scene.poses.position[1] + share * size * away for share in _DEEP]
        for place in places:
            scene.shift(0, place - scene.poses.position[0])
            found = ContactSet(4)
            detector.compute_contacts(scene.all_pairs(detector.supported_pairs), scene.poses, np.inf, found)
            n = found.count
            for name in ("gap", "normal", "point", "local_point", "weight"):
                bad = not np.isfinite(getattr(found, name)[:n]).all()
                expect(
                    not bad, f"{name} of {'–'.join(kinds)} is not finite where they are deep in each other"
                )


@check("prepared-anew", "what another world left in it is gone once it is prepared for the next")
def prepared_anew(subject: Subject) -> None:
    (_, pair, _), (other, _) = next(scenes(subject, 0.01)), crowd(subject, CROWD + 1)
    for before, after in permutations((pair, other), 2):
        used, found = subject.build(), list[tuple[list[object], ...]]()
        _answers(used, before)
        for detector in (used, subject.build()):
            found.append(_answers(detector, after))
        expect(found[0] == found[1], "prepared for a second world it answers otherwise than a new one")


def _answers(detector: Any, scene: Scene) -> tuple[list[object], ...]:
    """What a detector finds in a scene that it is prepared for."""
    detector.prepare(scene.table, detector.supported_pairs)
    near, found, still = Candidates(2), ContactSet(4), np.zeros((scene.frames, 3))
    poses = scene.moved(still, still, 0.0)
    detector.find_candidates(poses, 0.3, near)
    detector.compute_contacts(near, poses, 0.3, found)
    n = found.count
    return near.pairs[: near.count].tolist(), found.id[:n].tolist(), found.gap[:n].tolist()


@check(
    "touched-where-drawn",
    "a ball about a point of the surface that viewers draw is as deep in it as its radius",
)
def touched_where_drawn(subject: Subject) -> None:
    random, compared = np.random.default_rng(18), False
    for pair in placed_pairs(subject):
        kind = next((each for each in pair if each != "sphere"), "")
        if "sphere" not in pair or not kind or not shape_spec(kind).surface:
            continue
        compared = True
        scene, detector = next((one, found) for kinds, one, found in scenes(subject, 0.01) if kinds == pair)
        ball, other = pair.index("sphere"), pair.index(kind)
        radius, poses = float(scene.table.size[ball, 0]), scene.poses
        spec = shape_spec(kind)
        size, vertices = scene.table.size[other, : len(spec.sizes)], scene.table.vertices[other]
        corners = np.asarray(spec.surface_triangles(tuple(size.tolist()), vertices), dtype=float)
        for corner in random.permutation(corners)[:_DRAWN]:
            place = poses.position[other] + poses.rotation[other] @ corner
            scene.shift(ball, place - poses.position[ball])
            found = measured(detector, scene, poses)
            deep = float(found.gap[least(found)]) + radius
            expect(
                abs(deep) <= _OFF * radius + _NEAR,
                f"{'–'.join(pair)}: the surface that viewers draw of the {kind} has a corner {deep:.4g} m off what the "
                f"detector takes for its surface, at {np.round(corner, 6)} in its axes",
            )
    if not compared:
        raise NotApplicable("serves no ball with a kind that names its surface")


PLACES: tuple[Check, ...] = (
    point_between,
    carriers_at_point,
    ids_of_features,
    deep_finite,
    prepared_anew,
    touched_where_drawn,
)
"""Checks of places, names and starts."""
