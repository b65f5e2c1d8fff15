"""Which features of polytopes a contact names: those that the closest points lie on, whatever the rounding."""

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from corekit_mpr.features import CODES, CORNER, FACE

from .pairs import LENGTH, Scene, random_rotation, rotation_about

PRISM = np.array([[x, y, z] for x in (-0.05, 0.05) for y in (-0.04, 0.04) for z in (-0.03, 0.03)])


def features(scene):
    contacts = scene.measure()
    return [divmod(int(each) % CODES**2, CODES) for each in contacts.id[: contacts.count]]


@pytest.mark.parametrize("corners", [4, 6, 12])
@pytest.mark.parametrize("gap", [0.2, 1e-3, -1e-3])
def test_a_ball_over_a_face_of_a_polytope_touches_the_face_wherever_the_pair_is(corners, gap):
    """The foot of the ball's centre is inside of a triangle of the hull, so that the face is the nearest feature."""
    rng = np.random.default_rng(corners)
    for _ in range(40):
        points = rng.normal(size=(corners, 3))
        points = 0.1 * points / np.linalg.norm(points, axis=1)[:, None]
        hull = ConvexHull(points)
        face = rng.integers(len(hull.simplices))
        share = 0.1 + rng.dirichlet(np.ones(3))
        foot = share @ points[hull.simplices[face]] / share.sum()
        centre = foot + (0.02 + gap) * hull.equations[face, :3]
        scene = Scene([("sphere", (0.02,)), ("polytope", ())], (None, points))
        for _ in range(5):
            turn, place = random_rotation(rng), rng.normal(size=3)
            scene.set_pose(0, place + turn @ centre)
            scene.set_pose(1, place, turn)
            assert features(scene) == [(FACE, FACE)]
            assert scene.gap == pytest.approx(gap, abs=10 * LENGTH)


def test_a_corner_over_a_face_is_reported_once():
    """The closest pair and a point of the patch, which were two with names that rounding chose, are one."""
    rng = np.random.default_rng(0)
    block = Scene([("polytope", ()), ("polytope", ())], (PRISM, 3.0 * PRISM))
    for _ in range(40):
        lean = rotation_about((*rng.normal(size=2), 0.0), 0.05)
        stand = lean @ rotation_about((0, 0, 1), rng.uniform(0.0, 6.0))
        turn = random_rotation(rng)
        height = 0.09 + 1e-3 - float((PRISM @ stand.T)[:, 2].min())
        block.set_pose(0, turn @ (0.01, 0.02, height), turn @ stand)
        block.set_pose(1, np.zeros(3), turn)
        found = features(block)
        assert len({first for first, _ in found}) == len(found) == 4
        assert all(first >= CORNER and second == FACE for first, second in found)


def test_one_point_on_faces_that_lie_on_each_other_is_the_middle_of_their_overlap():
    rng = np.random.default_rng(1)
    scene = Scene([("polytope", ()), ("polytope", ())], (PRISM, PRISM), patch=False)
    for _ in range(40):
        turn = random_rotation(rng)
        scene.set_pose(1, np.zeros(3), turn)
        scene.set_pose(0, turn @ (0.06, 0.03, 0.061), turn)
        gap, normal, point = scene.closest()
        assert gap == pytest.approx(1e-3, abs=LENGTH)
        np.testing.assert_allclose(turn.T @ normal, (0, 0, 1), atol=LENGTH)
        # the overlap spans −0.05 + 0.06 … 0.05 and −0.04 + 0.03 … 0.04
        np.testing.assert_allclose(turn.T @ point, (0.03, 0.015, 0.0305), atol=LENGTH)


def test_disks_and_rods_that_end_together_stand_on_both_ends_whatever_the_rounding():
    rng = np.random.default_rng(3)
    disk, rod, on_side = (
        ("cylinder", (0.06, 0.005)),
        ("capsule", (0.02, 0.06)),
        rotation_about((1, 0, 0), np.pi / 2),
    )
    for first, place, stand, count in ((disk, 0.0101, np.eye(3), 4), (rod, 0.0251, on_side, 2)):
        for _ in range(200):
            scene = Scene([first, disk])
            turn, shift = random_rotation(rng), rng.normal(size=3)
            scene.set_pose(1, shift, turn)
            scene.set_pose(0, shift + turn @ (0.0, 0.0, place), turn @ stand)
            assert len(features(scene)) == count


def test_parallel_edges_touch_at_both_ends_of_what_is_beside():
    """Two boxes edge to edge, the second 45° about the common axis: from 0.02 on, and to where the shorter one ends."""
    rng = np.random.default_rng(4)
    scene = Scene([("box", (0.02, 0.02, 0.1)), ("box", (0.03, 0.03, 0.06))])
    for gap in (1e-3, 0.02):
        for _ in range(40):
            turn, shift = random_rotation(rng), rng.normal(size=3)
            scene.set_pose(1, shift, turn @ rotation_about((0, 0, 1), np.pi / 4))
            away = np.sqrt(2.0) * 0.05 + gap
            scene.set_pose(0, shift + turn @ (away, 0.0, 0.08), turn @ rotation_about((0, 0, 1), np.pi / 4))
            rows = sorted(scene.rows().values(), key=lambda row: turn[:, 2] @ row[2])
            assert len(rows) == 2
            for (found, normal, point), height in zip(rows, (-0.02, 0.06), strict=True):
                assert found == pytest.approx(gap, abs=10 * LENGTH)
                np.testing.assert_allclose(turn.T @ normal, (1, 0, 0), atol=1e-9)
                where = (np.sqrt(2.0) * 0.03 + 0.5 * gap, 0.0, height)
                np.testing.assert_allclose(turn.T @ (point - shift), where, atol=1e-9)


def test_what_touches_at_one_point_by_rounding_is_reported_there_once():
    """A rod that passes a rim, disks rim to rim, rods end to end."""
    rng = np.random.default_rng(5)
    disk, rod, on_side = (
        ("cylinder", (0.06, 0.005)),
        ("capsule", (0.02, 0.1)),
        rotation_about((1, 0, 0), np.pi / 2),
    )
    poses = (
        (disk, rod, (0.06, 0.03, 0.026), on_side, (0.06, 0.0, 0.0055)),
        (disk, disk, (0.12, 0.0, 0.011), np.eye(3), (0.06, 0.0, 0.0055)),
        (rod, rod, (0.041, 0.0, 0.2), np.eye(3), (0.0205, 0.0, 0.1)),
    )
    for first, second, place, stand, where in poses:
        scene = Scene([first, second])
        for _ in range(60):
            turn = random_rotation(rng)
            scene.set_pose(0, np.zeros(3), turn)
            scene.set_pose(1, turn @ place, turn @ stand)
            ((gap, _, point),) = scene.rows().values()
            assert gap == pytest.approx(1e-3, abs=LENGTH)
            np.testing.assert_allclose(turn.T @ point, where, atol=1e-5)
