"""The detector's contract beyond the conformance kit: errors, faults, hulls, order."""

import numpy as np
import pytest

from corekit.errors import PluginError
from corekit_mpr._spec import mpr
from corekit_mpr.config import MprConfig
from corekit_mpr.detector import MprDetector

from .pairs import LENGTH, Scene, random_pair, random_rotation, rotation_about

CUBE = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])


def test_a_hull_far_from_its_own_origin_is_the_box_it_describes():
    rng = np.random.default_rng(0)
    half, shift = np.array([0.1, 0.05, 0.08]), np.array([0.5, -0.4, 0.3])
    inner = 0.3 * half * rng.uniform(-1, 1, (20, 3))  # points inside change nothing
    for other in (("sphere", (0.05,)), ("cylinder", (0.06, 0.01)), ("capsule", (0.03, 0.1))):
        for _ in range(20):
            one = Scene([other, ("mesh", ())], (None, np.vstack([half * CUBE, inner]) + shift))
            two = Scene([other, ("box", tuple(half))])
            turn = random_rotation(rng)
            away = rng.normal(size=3)
            position = (0.05 + 0.15 * rng.uniform()) * away / np.linalg.norm(away)
            one.set_pose(1, -turn @ shift, turn)
            two.set_pose(1, (0, 0, 0), turn)
            for scene in (one, two):
                scene.set_pose(0, position, rotation_about((1, 2, 3), 0.5))
            assert one.gap == pytest.approx(two.gap, abs=1e-12)
            assert len(one.rows()) == len(two.rows())


def test_a_round_mesh_approaches_the_sphere_from_inside():
    rng = np.random.default_rng(1)
    points = rng.normal(size=(400, 3))
    ball = 0.1 * points / np.linalg.norm(points, axis=1)[:, None]
    scene = Scene([("mesh", ()), ("box", (0.2, 0.2, 0.2))], (ball, None))
    for depth in (0.01, -0.004):
        scene.set_pose(0, (0.01, 0.02, 0.3 + depth))
        assert depth - 1e-12 <= scene.gap <= depth + 0.1 * 0.02


@pytest.mark.parametrize(
    "vertices", [None, np.zeros((4, 3)), CUBE[:3], CUBE * (1.0, 1.0, 0.0), np.full((5, 3), np.nan)]
)
def test_the_error_names_a_hull_without_a_volume(vertices):
    with pytest.raises(PluginError, match=r"polytope \(shape 1\) has no volume"):
        Scene([("sphere", (0.1,)), ("polytope", ())], (None, vertices))


def test_the_error_names_the_kinds_without_a_support_function():
    scene = Scene([("sphere", (0.05,)), ("sphere", (0.05,))])
    with pytest.raises(PluginError, match="edge–edge"):
        scene.detector.prepare(scene.table, frozenset({("edge", "edge"), ("sphere", "sphere")}))


@pytest.mark.parametrize(
    "bad", [{"flat_angle": 0.0}, {"flat_angle": 0.6}, {"tolerance": 0.0}, {"tolerance": 0.1}]
)
def test_options_outside_their_range_are_refused(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        MprConfig(**bad)


@pytest.mark.parametrize("second", ["half-space", "sphere", "box", "cylinder", "polytope"])
def test_a_pose_that_is_not_finite_gives_a_contact_with_gap_nan(second):
    for first in ("sphere", "capsule", "cylinder", "box", "polytope"):
        for bad in (np.nan, np.inf):
            scene = random_pair(np.random.default_rng(0), first, second, obstacle=second == "half-space")
            scene.set_pose(0, (bad, 0.0, 0.0), scene.rotation[0].copy())
            contacts = scene.measure(margin=np.inf)
            assert not np.any(np.isfinite(contacts.gap[: contacts.count]))
            scene.set_pose(0, (np.nan, 0.0, 0.0), scene.rotation[0].copy())
            contacts = scene.measure(margin=0.01)
            assert contacts.count == 1
            assert np.isnan(contacts.gap[0])


def test_candidates_miss_none_and_omit_distant_pairs():
    rng = np.random.default_rng(4)
    for first in ("sphere", "capsule", "cylinder", "box", "polytope"):
        for second in ("half-space", "sphere", "box", "cylinder", "polytope"):
            scene = random_pair(rng, first, second, gap=0.02, obstacle=second == "half-space")
            scene.detector.find_candidates(scene.poses, 0.021, scene.candidates)
            assert scene.candidates.count == 1
            scene.position[0] += 2.0 * scene.closest()[1]
            scene.detector.find_candidates(scene.poses, 0.1, scene.candidates)
            assert scene.candidates.count == 0


def test_points_beyond_the_margin_are_omitted():
    scene = Scene([("box", (0.05, 0.04, 0.03)), ("half-space", ())], obstacle=True)
    scene.set_pose(0, (0, 0, 0.035), rotation_about((0, 1, 0), 0.05))
    gaps = sorted(row[0] for row in scene.rows().values())
    assert len(gaps) == 4
    closer = scene.rows(margin=0.5 * (gaps[1] + gaps[2]))
    assert sorted(row[0] for row in closer.values()) == gaps[:2]


def test_contacts_depend_on_the_poses_alone():
    scene = random_pair(np.random.default_rng(5), "cylinder", "box", gap=-0.003)
    before = scene.closest()
    scene.position[0] += 0.01
    scene.closest()
    scene.position[0] -= 0.01
    after = scene.closest()
    assert before[0] == pytest.approx(after[0], abs=LENGTH)
    np.testing.assert_allclose(before[1], after[1], atol=1e-12)


def test_the_spec_names_what_exists():
    assert mpr.target == f"{MprDetector.__module__}:{MprDetector.__name__}"
    assert mpr.config == f"{MprConfig.__module__}:{MprConfig.__name__}"
