"""What every contact detector promises: gaps, normals, rates, identities, and that none is missed."""

from __future__ import annotations

from typing import Any

import numpy as np

from corekit.data.arrays import Array
from corekit.data.contacts import Candidates, ContactSet
from corekit.geometry.shape_specs import shape_kinds
from corekit.geometry.shapes import ShapePoses
from corekit_testing.conformance.answers import answer_checks
from corekit_testing.conformance.check import Check, CheckFailed, NotApplicable, check, expect, expect_close
from corekit_testing.conformance.detector_places import PLACES
from corekit_testing.conformance.detector_scenes import (
    CROWD,
    crowd,
    entries,
    least,
    placed_pairs,
    prepared,
    scenes,
)
from corekit_testing.conformance.shape_scenes import GAPS, Scene, analytic_gap, is_endless, measured
from corekit_testing.conformance.subject import Answer, Session, Subject

__all__ = ["CHECKS"]

_CROWDS = 6
_SMALL, _WIDE = 2.0**-20, 2.0**-13
"""Times [s] of motions of some m/s and rad/s."""
_SLOPE = 1e-5
"""Error of slopes relative to the largest of a kind, which are of the order of 1 and of curvatures."""
_KINK = 1e-3
"""What wide differences differ by, relative to the same, where a feature ends within them."""
_LEFT = 256
"""Slots of a set that another used before."""


@check("pairs-placed", "its pairs are of known kinds, and scenes can hold one of them at least")
def pairs_placed(subject: Subject) -> None:
    pairs = subject.build().supported_pairs
    unknown = sorted({kind for pair in pairs for kind in pair} - set(shape_kinds()))
    expect(not unknown, f"no distribution brings the shape {', '.join(unknown)}")
    try:
        placed_pairs(subject)
    except NotApplicable as nothing:
        listed = ", ".join(sorted("–".join(pair) for pair in pairs))
        raise CheckFailed(f"nothing is judged of {listed or 'no pair'}: {nothing}") from None


@check("gap-analytic", "the least gap of a pair is that of its closed formula")
def gap_analytic(subject: Subject) -> None:
    compared = False
    for gap in (0.05, 0.004, -0.004):
        for kinds, scene, detector in scenes(subject, gap):
            if kinds in GAPS or kinds[::-1] in GAPS:
                found = measured(detector, scene, scene.poses)
                gaps = found.gap[least(found)]
                wanted = analytic_gap(scene, 0, 1)
                compared = True
                expect_close(f"gap of {'–'.join(kinds)} [m]", gaps, np.array(wanted), 1e-10)
    if not compared:
        raise NotApplicable("serves no pair of kinds with a closed formula")


@check("normal-unit", "normals have length one")
def normal_unit(subject: Subject) -> None:
    for kinds, scene, detector in scenes(subject, 0.01):
        found = measured(detector, scene, scene.poses)
        normal = found.normal[: found.count]
        length = np.linalg.norm(normal, axis=1)
        expect_close(f"|normal| of {'–'.join(kinds)}", length, np.ones(found.count), 1e-10)


@check("normal-into-first", "moving the first shape along the normal opens the gap")
def normal_into_first(subject: Subject) -> None:
    for kinds, scene, detector in scenes(subject, 0.01):
        found = measured(detector, scene, scene.poses)
        low = least(found)
        gap, normal, first = float(found.gap[low]), found.normal[low].copy(), int(found.shape[low, 0])
        scene.shift(first, 1e-5 * normal)
        after = measured(detector, scene, scene.poses)
        opened = float(after.gap[: after.count].min()) - gap
        expect(
            opened > 0.9e-5,
            f"{'–'.join(kinds)}: moving the first shape by 1e-5 m opens the gap by {opened:.3g}",
        )


@check("shapes-named", "a contact names its two shapes as the candidate pair did, its carriers their frames")
def shapes_named(subject: Subject) -> None:
    for kinds, scene, detector in scenes(subject, 0.01):
        found, what = measured(detector, scene, scene.poses), "–".join(kinds)
        for c in range(found.count):
            expect(
                tuple(found.shape[c]) == (0, 1), f"{what} names the shapes {found.shape[c]}, the pair is 0, 1"
            )
            used = {int(f) for f in found.frame[c] if f >= 0}
            allowed = {int(f) for f in (*scene.frame[:2], *scene.second[:2]) if f >= 0}
            expect(used and used <= allowed, f"{what} is carried by frames {used}, the shapes' are {allowed}")
            idle = found.frame[c] < 0
            expect((found.weight[c][idle] == 0).all(), f"{what} has an unused carrier with weight")
            first = np.isin(found.frame[c], [scene.frame[0], scene.second[0]]) & ~idle
            expect_close(
                f"weights on the first side of {what}", found.weight[c][first].sum(), np.array(1.0), 1e-9
            )


@check("gap-rate", "the gap's rate is normal·(relative velocity of the carriers)")
def gap_rate(subject: Subject) -> None:
    random = np.random.default_rng(7)
    compared = 0
    for kinds, scene, detector in scenes(subject, 0.01):
        shape = (scene.frames, 3)
        velocity, spin = 0.1 * random.normal(size=shape), 0.5 * random.normal(size=shape)
        now = measured(detector, scene, scene.poses)
        h = 1e-5
        nearby = [
            _gaps(measured(detector, scene, scene.moved(velocity, spin, s))) for s in (h, -h, 2 * h, -2 * h)
        ]
        for c in range(now.count):
            key = int(now.id[c])
            if any(key not in gaps for gaps in nearby):
                continue
            ahead, back, far, behind = (gaps[key] for gaps in nearby)
            wanted = (8 * (ahead - back) - (far - behind)) / (12 * h)
            found = float(now.normal[c] @ _relative_velocity(now, c, scene.poses, velocity, spin))
            compared += 1
            expect_close(f"gap rate of {'–'.join(kinds)} [m/s]", np.array(found), np.array(wanted), 1e-7)
    expect(compared, "no contact keeps its id over a motion of 1e-5 m")


def _gaps(found: ContactSet) -> dict[int, float]:
    return {int(found.id[c]): float(found.gap[c]) for c in range(found.count)}


def _relative_velocity(found: ContactSet, c: int, poses: ShapePoses, velocity: Array, spin: Array) -> Array:
    total = np.zeros(3)
    for frame, local, weight in zip(found.frame[c], found.local_point[c], found.weight[c], strict=True):
        if frame >= 0:
            arm = poses.frame_rotation[frame] @ local
            total += weight * (velocity[frame] + np.cross(spin[frame], arm))
    return total


@check("slopes-told", "differences over a micrometre have the slopes that wider ones have")
def slopes_told(subject: Subject) -> None:
    """What derivatives of runs ask of a detector (`corekit_gradients.adjoint.contact_slopes`)."""
    random, compared = np.random.default_rng(11), 0
    for kinds, scene, detector in scenes(subject, 0.01):
        shape = (scene.frames, 3)
        velocity, spin = random.normal(size=shape), 3.0 * random.normal(size=shape)
        near = [_told(detector, scene, scene.moved(velocity, spin, s)) for s in (_SMALL, -_SMALL)]
        wide = [
            [_told(detector, scene, scene.moved(velocity, spin, s)) for s in (h, -h, 2.0 * h, -2.0 * h)]
            for h in (_WIDE, 0.5 * _WIDE)
        ]
        for key in near[0]:
            if any(key not in each for each in (near[1], *wide[0], *wide[1])):
                continue
            for name in near[0][key]:
                found = (near[0][key][name] - near[1][key][name]) / (2.0 * _SMALL)
                slope, other = (
                    (8.0 * (a[key][name] - b[key][name]) - (c[key][name] - d[key][name])) / (12.0 * h)
                    for (a, b, c, d), h in zip(wide, (_WIDE, 0.5 * _WIDE), strict=True)
                )
                size, apart = max(1.0, np.abs(slope).max()), float(np.abs(slope - other).max())
                if apart <= _KINK * size:  # else a feature ends nearby
                    compared += 1
                    what = f"slope of the {name} of {'–'.join(kinds)}"
                    expect_close(what, found, other, _SLOPE * size + 2.0 * apart)
    expect(compared, "no contact keeps its id over a motion of a tenth of a millimetre")


def _told(detector: Any, scene: Scene, poses: ShapePoses) -> dict[int, dict[str, Array]]:
    """Id → what the detector says of that contact."""
    found = measured(detector, scene, poses)
    return {
        int(found.id[c]): {
            "normal": found.normal[c].copy(), "weights": found.weight[c].copy(),
            "material points": found.local_point[c].ravel().copy(), "gap": found.gap[c : c + 1].copy(),
        }
        for c in range(found.count)
    }  # fmt: skip


@check("swap-symmetric", "two bodies' shapes in the other order have the same gaps and opposite normals")
def swap_symmetric(subject: Subject) -> None:
    swapped = False
    for kinds, scene, detector in scenes(subject, 0.01):
        if is_endless(kinds[1], subject.shapes):
            continue
        swapped = True
        poses = scene.poses
        other = Scene(kinds[::-1], 0, np.random.default_rng(8), subject.shapes)
        for i, j in ((0, 1), (1, 0)):
            span = poses.end[i] - poses.position[i]
            other.place(j, poses.position[i], poses.rotation[i], span)
        one, two = measured(detector, scene, poses), measured(prepared(subject, other), other, other.poses)
        a, b, what = least(one), least(two), "–".join(kinds)
        expect(one.count == two.count, f"{what} has {one.count} contacts, in the other order {two.count}")
        expect_close(f"gap of {what} in the other order", two.gap[b], one.gap[a], 1e-10)
        expect_close(f"normal of {what} in the other order", two.normal[b], -one.normal[a], 1e-6)
    if not swapped:
        raise NotApplicable("serves no pair whose order could change")


@check("ids-unique-and-persistent", "ids are unique, and a small motion keeps them")
def ids_unique_and_persistent(subject: Subject) -> None:
    for seed in range(CROWD, CROWD + _CROWDS):  # rounding chooses in some poses alone
        scene, detector = crowd(subject, seed)
        found = measured(detector, scene, scene.poses)
        ids = {int(each) for each in found.id[: found.count]}
        expect(len(ids) == found.count, f"{found.count} contacts have {len(ids)} different ids")
        still = np.zeros((scene.frames, 3))
        for direction in np.eye(3):
            after = measured(detector, scene, scene.moved(still + 1e-9 * direction, still, 1.0))
            changed = entries(after) ^ entries(found)
            pairs = sorted({(scene.kinds[i], scene.kinds[j]) for _, i, j in changed})
            expect(not changed, f"ids of {pairs} change when everything moves by 1e-9 m")


@check("candidates-complete", "no pair that may come closer than the margin is missed")
def candidates_complete(subject: Subject) -> None:
    scene, detector = crowd(subject)
    seen = 0
    for margin in (0.02, 0.1, 0.3):
        whole = measured(detector, scene, scene.poses, margin)
        near, found = Candidates(2), ContactSet(2)
        near.count = 1  # what is left of an earlier step is replaced
        detector.find_candidates(scene.poses, margin, near)
        detector.compute_contacts(near, scene.poses, margin, found)
        missed = entries(whole) - entries(found)
        seen += whole.count
        pairs = sorted({(scene.kinds[i], scene.kinds[j]) for _, i, j in missed})
        expect(not missed, f"with a margin of {margin} m it misses {len(missed)} contacts, of {pairs}")
    expect(seen, "the crowd has no contact within 0.3 m")


@check("margin-respected", "contacts have gaps below the margin, and all such are there")
def margin_respected(subject: Subject) -> None:
    scene, detector = crowd(subject)
    whole = measured(detector, scene, scene.poses)
    margin = float(np.median(whole.gap[: whole.count]))
    found = measured(detector, scene, scene.poses, margin)
    above = found.gap[: found.count] >= margin
    expect(
        not above.any(), f"a contact with gap {found.gap[: found.count].max():.4g} m is above {margin:.4g} m"
    )
    wanted = int(np.count_nonzero(whole.gap[: whole.count] < margin))
    expect(found.count == wanted, f"{found.count} contacts are below the margin, with all measured {wanted}")


@check("measure-appends", "contacts of another detector in the set stay")
def measure_appends(subject: Subject) -> None:
    scene, detector = crowd(subject)
    alone = measured(detector, scene, scene.poses)
    found = ContactSet(3)
    found.count = 2
    found.id[:2], found.gap[:2], found.shape[:2] = -5, 0.123, 0
    detector.compute_contacts(scene.all_pairs(detector.supported_pairs), scene.poses, np.inf, found)
    expect(found.count == alone.count + 2, f"{alone.count} contacts appended to 2 make {found.count}")
    expect(
        (found.id[:2] == -5).all() and (found.gap[:2] == 0.123).all(), "the contacts before are overwritten"
    )
    expect_close("gaps of appended contacts", found.gap[2 : found.count], alone.gap[: alone.count], 0.0)


class DetectorSession(Session):
    """Candidates and contacts of a crowd at several instants."""

    def __init__(self, subject: Subject, component: Any, *, reuse: bool = False) -> None:
        super().__init__(subject, component, reuse=reuse)
        self._detector = component
        self._scene = crowd(subject)[0]
        random = np.random.default_rng(10)
        self._velocity, self._spin = (random.normal(size=(self._scene.frames, 3)) for _ in range(2))
        self._detector.prepare(self._scene.table, self._detector.supported_pairs)

    def ask(self, index: int) -> Answer:
        poses = self._scene.moved(self._velocity, self._spin, 0.01 * index)
        handed = {
            "position": poses.position, "rotation": poses.rotation, "end": poses.end,
            "frame_position": poses.frame_position, "frame_rotation": poses.frame_rotation,
            "table.size": self._scene.table.size, "table.frame": self._scene.table.frame,
        }  # fmt: skip
        before = {name: values.copy() for name, values in handed.items()}
        near, found = self.buffer("near", lambda: Candidates(2)), self.buffer("found", self._contacts)
        self._detector.find_candidates(poses, 0.3, near)
        pairs = near.pairs[: near.count].copy()
        found.count = 0
        self._detector.compute_contacts(near, poses, 0.3, found)
        expect(np.array_equal(pairs, near.pairs[: near.count]), "measure changes the candidates")
        n = found.count
        answers = {"pairs": near.pairs[: near.count]}
        answers |= {
            name: getattr(found, name)[:n]
            for name in ("id", "shape", "gap", "point", "normal", "frame", "local_point", "weight")
        }
        return Answer({name: (before[name], values) for name, values in handed.items()}, answers)

    def _contacts(self) -> ContactSet:
        """An empty set; where buffers are used again, one whose slots are as strangers left them."""
        found = ContactSet(_LEFT)
        if self._reuse:
            found.frame[:], found.local_point[:], found.weight[:] = 0, np.nan, 0.5
            found.tangent[:], found.gap[:], found.id[:] = np.nan, np.nan, 7
        return found


CHECKS: tuple[Check, ...] = (
    *answer_checks(DetectorSession, pure=False, buffers=True),
    pairs_placed,
    gap_analytic,
    normal_unit,
    normal_into_first,
    shapes_named,
    gap_rate,
    slopes_told,
    swap_symmetric,
    ids_unique_and_persistent,
    candidates_complete,
    margin_respected,
    measure_appends,
    *PLACES,
)
"""Checks of the contact detector role."""
