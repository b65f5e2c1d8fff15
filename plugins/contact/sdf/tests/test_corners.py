"""Boxes and polytopes on a plane: which corners, which gaps, which features."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corekit_sdf.features import CORNER

from .pairs import DIRECTION, LENGTH, Scene, random_rotation, rotation_about

HALF = np.array([0.1, 0.15, 0.05])
CORNERS = np.array([[-1.0 if c >> axis & 1 else 1.0 for axis in range(3)] for c in range(8)])
seeds = st.integers(0, 2**32 - 1)


def hexagon(height=0.1):
    angle = np.pi / 3 * np.arange(6)
    ring = np.stack([0.1 * np.cos(angle), 0.1 * np.sin(angle), np.zeros(6)], axis=1)
    return np.concatenate([ring, ring + (0, 0, height)])


def box(half=tuple(HALF), **options):
    return Scene([("box", half), ("half-space", ())], **options), CORNERS * half


def polytope(vertices, **options):
    vertices = np.asarray(vertices, dtype=float)
    return Scene([("polytope", ()), ("half-space", ())], vertices=(vertices, None), **options), vertices


def oblique(seed):
    """A box or polytope at a random pose near a random plane, its corners, and their heights."""
    rng = np.random.default_rng(seed)
    if rng.integers(2):
        scene, corners = box(tuple(rng.uniform(0.02, 0.3, 3)))
    else:
        scene, corners = polytope(rng.normal(size=(int(rng.integers(4, 30)), 3)) * 0.1)
    scene.set_pose(1, rng.normal(size=3), random_rotation(rng))
    scene.set_pose(0, rng.normal(size=3), random_rotation(rng))
    up = scene.rotation[1, :, 2]
    heights = (corners @ scene.rotation[0].T + scene.position[0] - scene.position[1]) @ up
    return scene, corners, heights


@settings(deadline=None, max_examples=70)
@given(seed=seeds)
def test_gap_is_the_height_of_the_lowest_corner_and_every_point_is_a_corner(seed):
    scene, corners, heights = oblique(seed)
    rows, rounded = scene.rows(), LENGTH * (1.0 + np.abs(scene.position).max())
    assert 1 <= len(rows) <= 4
    assert min(row[0] for row in rows.values()) == pytest.approx(heights.min(), abs=1e-9)
    for feature, (gap, normal, point) in rows.items():
        c = feature - CORNER
        assert gap == pytest.approx(heights[c], abs=rounded)
        np.testing.assert_allclose(normal, scene.rotation[1, :, 2], atol=DIRECTION)
        midway = scene.rotation[0] @ corners[c] + scene.position[0] - 0.5 * gap * normal
        np.testing.assert_allclose(point, midway, atol=rounded)


@settings(deadline=None, max_examples=60)
@given(seed=seeds)
def test_rate_of_a_gap_is_that_of_its_material_points(seed):
    scene, *_ = oblique(seed)
    rng = np.random.default_rng(seed)
    velocity, angular, step = rng.normal(size=3), rng.normal(size=3), 1e-6
    contacts = scene.measure()
    rates = {}
    for row in range(contacts.count):
        arm = scene.rotation[0] @ contacts.local_point[row, 0]
        rates[int(contacts.id[row])] = contacts.normal[row] @ (velocity + np.cross(angular, arm))
    position, rotation = scene.position[0].copy(), scene.rotation[0].copy()
    gaps = []
    for sign in (1, -1):
        turn = rotation_about(angular, float(np.linalg.norm(angular)) * sign * step)
        scene.set_pose(0, position + sign * step * velocity, turn @ rotation)
        contacts = scene.measure()
        gaps.append({int(contacts.id[row]): float(contacts.gap[row]) for row in range(contacts.count)})
    for name in rates.keys() & gaps[0].keys() & gaps[1].keys():
        assert (gaps[0][name] - gaps[1][name]) / (2 * step) == pytest.approx(rates[name], abs=1e-6)


@pytest.mark.parametrize("turn", [0.0, 0.3])
def test_box_flat_on_a_plane_stands_on_its_four_lower_corners(turn):
    scene, corners = box()
    scene.set_pose(0, (0.3, -0.2, 0.05 - 1e-4), rotation_about((0, 0, 1), turn))
    rows = scene.rows()
    assert sorted(rows) == [CORNER + 4 + k for k in range(4)]
    for feature, (gap, _, point) in rows.items():
        assert gap == pytest.approx(-1e-4, abs=LENGTH)
        corner = scene.rotation[0] @ corners[feature - CORNER] + scene.position[0]
        np.testing.assert_allclose(point[:2], corner[:2], atol=LENGTH)


def test_thin_plate_tilted_a_little_stands_on_lower_corners_alone():
    scene, _ = box((0.3, 0.3, 0.002))
    for axis in ((1, 0, 0), (1, 1, 0), (1, 0.3, 0)):
        for tilt in (1e-6, 0.01, 0.03):
            scene.set_pose(0, (0, 0, 0.1), rotation_about(axis, tilt))
            assert sorted(scene.rows()) == [CORNER + 4 + k for k in range(4)]


def test_box_on_an_edge_stands_on_two_and_on_a_corner_on_one():
    scene, _ = box((0.1, 0.1, 0.1))
    scene.set_pose(0, (0, 0, 0.2), rotation_about((1, 0, 0), np.pi / 4))
    rows = scene.rows()
    assert len(rows) == 2
    for gap, *_ in rows.values():
        assert gap == pytest.approx(0.2 - 0.1 * np.sqrt(2))
    scene.set_pose(0, (0, 0, 0.2), rotation_about((1, -1, 0), np.arctan(np.sqrt(2))))
    ((gap, *_),) = scene.rows().values()
    assert gap == pytest.approx(0.2 - 0.1 * np.sqrt(3))


def test_prism_of_six_corners_stands_on_four_around_its_middle_through_noise():
    scene, _ = polytope(hexagon())
    rng = np.random.default_rng(3)
    names = set()
    for _ in range(30):
        scene.set_pose(0, (0, 0, 1e-4), rotation_about((*rng.normal(size=2), 0), 1e-11))
        rows = scene.rows()
        assert len(rows) == 4
        names.add(tuple(sorted(rows)))
        around = np.sort([np.arctan2(point[1], point[0]) for _, _, point in rows.values()])
        assert np.max(np.diff(np.append(around, around[0] + 2 * np.pi))) < np.pi - 0.1
    assert len(names) == 1


def test_tetrahedron_stands_on_three_corners():
    scene, _ = polytope(((0, 0, 0), (1, 0, 0), (0, 1, 0), (0.2, 0.2, 1)))
    scene.set_pose(0, (0, 0, 0.01))
    assert sorted(scene.rows()) == [CORNER, CORNER + 1, CORNER + 2]


def test_without_patches_the_lowest_corner_stands_alone():
    scene, _ = box(patch=False)
    scene.set_pose(0, (0, 0, 0.06))
    assert list(scene.rows()) == [CORNER + 4]


def test_a_polytope_of_a_box_s_corners_has_the_contacts_of_the_box():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        position, rotation = rng.normal(size=3), random_rotation(rng)
        rows_of_both = []
        for scene, _ in (box(), polytope(CORNERS * HALF)):
            scene.set_pose(0, position, rotation)
            rows_of_both.append(scene.rows())
        assert rows_of_both[0].keys() == rows_of_both[1].keys()
        for name, (gap, *_) in rows_of_both[0].items():
            assert gap == rows_of_both[1][name][0]


def test_far_corners_are_no_candidates_and_margins_hold():
    scene, _ = box()
    scene.set_pose(0, (0, 0, 0.5))
    scene.measure(0.1)
    assert scene.candidates.count == 0
    scene.set_pose(0, (0, 0, 0.12), rotation_about((1, 0, 0), 0.05))
    contacts = scene.measure(0.07)
    assert contacts.count == 2
    assert np.all(contacts.gap[:2] < 0.07)


def test_a_pose_that_is_not_finite_gives_a_contact_with_gap_nan():
    scene, _ = box()
    scene.set_pose(0, (0, np.nan, np.nan))
    contacts = scene.measure(0.01)
    assert contacts.count >= 1
    assert np.isnan(contacts.gap[0])


def test_a_plane_on_a_body_meets_a_box_of_another():
    scene = Scene([("half-space", ()), ("box", tuple(HALF)), ("sphere", (0.01,))])
    scene.set_pose(1, (0, 0, 0.04))
    scene.set_pose(2, (0, 0, 5.0))
    contacts = scene.measure(0.01)
    assert contacts.count == 4
    for row in range(4):
        assert contacts.gap[row] == pytest.approx(-0.01)
        np.testing.assert_array_equal(contacts.shape[row], (0, 1))
        np.testing.assert_array_equal(contacts.normal[row], (0, 0, -1))  # into the plane's own body
        assert list(contacts.weight[row]) == [1.0, -1.0, 0.0, 0.0]
