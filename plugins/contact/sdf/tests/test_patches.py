"""Flats and lines on flats: number, position, gap and feature of the points."""

import numpy as np
import pytest

from corekit_sdf.features import CORNER, CROSSING, EDGE, MINUS, PLUS, RIM

from .pairs import DIRECTION, LENGTH, Scene, rotation_about

ON_SIDE = rotation_about((1, 0, 0), np.pi / 2)


def disk(box=(0.3, 0.3, 0.1), position=(0, 0, 0.105), rotation=None, R=0.06, h=0.005, **options):
    scene = Scene([("cylinder", (R, h)), ("box", box)], **options)
    scene.set_pose(0, position, rotation)
    return scene


def points(scene):
    return np.array([row[2] for row in scene.rows().values()])


@pytest.mark.parametrize("second", [("box", (0.3, 0.3, 0.1)), ("half-space", ())])
def test_disk_flat_on_a_face_stands_on_four_rim_points_of_its_material(second):
    scene = Scene([("cylinder", (0.06, 0.005)), second])
    height = 0.1 if second[0] == "box" else 0.0
    for turn in (0.0, 0.3):
        scene.set_pose(0, (0.01, 0.02, height + 0.005 - 1e-4), rotation_about((0, 0, 1), turn))
        rows = scene.rows()
        assert sorted(rows) == [RIM + 4 + k for k in range(4)]  # the rim at local −z
        for k, (gap, normal, point) in enumerate(rows[RIM + 4 + k] for k in range(4)):
            azimuth = turn + np.pi / 4 * (1, 3, -1, -3)[k]
            assert gap == pytest.approx(-1e-4, abs=LENGTH)
            np.testing.assert_array_equal(normal, (0, 0, 1))
            where = (0.01 + 0.06 * np.cos(azimuth), 0.02 + 0.06 * np.sin(azimuth), height - 0.5e-4)
            np.testing.assert_allclose(point, where, atol=LENGTH)


@pytest.mark.parametrize("second", [("box", (0.3, 0.3, 0.1)), ("half-space", ())])
def test_tilted_disk_has_its_lowest_point_and_true_heights_of_three_more(second):
    rng = np.random.default_rng(0)
    for _ in range(50):
        scene = Scene([("cylinder", (0.06, 0.005)), second])
        height = 0.1 if second[0] == "box" else 0.0
        tilt = rng.uniform(1e-6, 0.09)
        turn = rotation_about((*rng.normal(size=2), 0), tilt) @ rotation_about((0, 0, 1), rng.uniform(0, 6))
        scene.set_pose(0, (0, 0, height + 0.006), turn)
        rows = scene.rows()
        low = 0.006 - 0.005 * np.cos(tilt) - 0.06 * np.sin(tilt)
        assert rows[MINUS][0] == pytest.approx(low, abs=1e-12)
        others = {feature: row for feature, row in rows.items() if feature != MINUS}
        assert len(others) == 3
        for feature, (gap, normal, point) in others.items():
            np.testing.assert_array_equal(normal, (0, 0, 1))
            azimuth = np.pi / 4 * (1, 3, -1, -3)[feature - RIM - 4]
            rim = turn @ (0.06 * np.cos(azimuth), 0.06 * np.sin(azimuth), -0.005)
            assert gap == pytest.approx(rim[2] + 0.006, abs=LENGTH)
            np.testing.assert_allclose(point, rim + (0, 0, height + 0.006 - 0.5 * gap), atol=LENGTH)
        # support: the centre is inside the polygon of the points
        angles = np.sort(np.arctan2(points(scene)[:, 1], points(scene)[:, 0]))
        assert np.max(np.diff(np.append(angles, angles[0] + 2 * np.pi))) < np.pi - 0.3


def test_beyond_the_flat_angle_there_is_one_point():
    inside, outside = (rotation_about((0, 1, 0), angle) for angle in (0.099, 0.101))
    assert len(disk(rotation=inside).rows()) == 4
    assert list(disk(rotation=outside).rows()) == [MINUS]
    assert len(disk(rotation=outside, flat_angle=0.2).rows()) == 4
    assert list(disk(rotation=inside, patch=False).rows()) == [MINUS]


def test_one_point_on_a_flat_is_its_middle():
    ((gap, _, point),) = disk(patch=False, position=(0.01, 0.02, 0.106)).rows().values()
    assert gap == pytest.approx(0.001, abs=LENGTH)
    np.testing.assert_allclose(point, (0.01, 0.02, 0.1005), atol=LENGTH)


def test_disk_across_a_beam_is_clipped_to_where_the_edges_pass_the_rim():
    scene = disk(box=(0.3, 0.02, 0.1), position=(0.05, 0, 0.1049))
    rows = scene.rows()
    assert all(feature >= CROSSING for feature in rows)
    computed = np.array(sorted((round(p[0], 12), round(p[1], 12)) for _, _, p in rows.values()))
    x = np.sqrt(0.06**2 - 0.02**2)
    expected = [(0.05 - x, -0.02), (0.05 - x, 0.02), (0.05 + x, -0.02), (0.05 + x, 0.02)]
    np.testing.assert_allclose(computed, expected, atol=1e-11)
    for gap, _, _ in rows.values():
        assert gap == pytest.approx(-1e-4, abs=LENGTH)


def test_disk_on_a_smaller_face_stands_on_its_corners():
    rows = disk(
        box=(0.02, 0.03, 0.1), position=(0.005, 0, 0.106), rotation=rotation_about((0, 1, 0), 0.02)
    ).rows()
    assert sorted(rows) == [CORNER + k for k in range(4)]
    lowest = min(rows, key=lambda feature: rows[feature][0])
    assert rows[lowest][2][0] == pytest.approx(0.02, abs=1e-3)
    for gap, normal, point in rows.values():
        np.testing.assert_allclose(normal, (np.sin(0.02), 0, np.cos(0.02)), atol=DIRECTION)
        # distance of the corner to the plane of the cap
        corner = np.array([0.02 * np.sign(point[0]), 0.03 * np.sign(point[1]), 0.1])
        assert gap == pytest.approx(normal @ (np.array([0.005, 0, 0.106]) - corner) - 0.005, abs=LENGTH)


def test_disk_over_a_face_s_corner_has_points_of_the_overlap_alone():
    rows = disk(position=(0.3, 0.3, 0.1049)).rows()
    assert {CORNER} < set(rows)
    for _, _, point in rows.values():
        assert point[0] <= 0.3 + 1e-12
        assert point[1] <= 0.3 + 1e-12
        assert np.hypot(point[0] - 0.3, point[1] - 0.3) <= 0.06 + 1e-12


def test_box_edge_under_a_disk_gives_both_ends_of_the_chord():
    scene = disk(box=(0.3, 0.02, 0.02), position=(0, 0.01, 0.02 * np.sqrt(2) + 0.005 + 0.001))
    scene.rotation[1] = rotation_about((1, 0, 0), np.pi / 4)
    rows = scene.rows()
    assert len(rows) == 2
    assert all(feature >= CROSSING for feature in rows)
    half = np.sqrt(0.06**2 - 0.01**2)
    np.testing.assert_allclose(sorted(p[0] for _, _, p in rows.values()), (-half, half), atol=1e-12)
    for gap, _, _ in rows.values():
        assert gap == pytest.approx(0.001, abs=LENGTH)


@pytest.mark.parametrize(("kind", "size"), [("capsule", (0.02, 0.1)), ("cylinder", (0.02, 0.1))])
@pytest.mark.parametrize("second", [("box", (0.3, 0.3, 0.1)), ("half-space", ())])
@pytest.mark.parametrize("tilt", [0.0, 0.01, -0.03])
def test_a_line_on_a_face_touches_at_both_ends(kind, size, second, tilt):
    scene = Scene([(kind, size), second])
    height = 0.1 if second[0] == "box" else 0.0
    scene.set_pose(0, (0, 0, height + 0.021), rotation_about((1, 0, 0), np.pi / 2 + tilt))
    rows = scene.rows()
    assert set(rows) == {PLUS, MINUS}
    drop = 0.02 if kind == "capsule" else 0.02 * np.cos(tilt)
    for end, feature in ((1, PLUS), (-1, MINUS)):
        assert rows[feature][0] == pytest.approx(0.021 - drop - end * 0.1 * np.sin(tilt), abs=LENGTH)
        assert np.sign(rows[feature][2][1]) == -end


@pytest.mark.parametrize("kind", ["capsule", "cylinder"])
@pytest.mark.parametrize("tilt", [0.0, 0.02])
def test_a_line_across_a_beam_touches_both_edges(kind, tilt):
    scene = Scene([(kind, (0.02, 0.1)), ("box", (0.3, 0.03, 0.1))])
    scene.set_pose(0, (0, 0, 0.1 + 0.021), rotation_about((1, 0, 0), np.pi / 2 + tilt))
    rows = scene.rows()
    assert len(rows) == 2
    assert all(EDGE <= feature < CROSSING for feature in rows)
    for gap, normal, point in rows.values():
        y = np.sign(point[1]) * 0.03  # an edge at (y, 0.1), the axis through (0, 0.121) with slope tilt
        assert gap == pytest.approx(0.021 * np.cos(tilt) + y * np.sin(tilt) - 0.02, abs=LENGTH)
        np.testing.assert_allclose(normal, (0, -np.sin(tilt), np.cos(tilt)), atol=DIRECTION)


@pytest.mark.parametrize("tilt", [-1e-3, -1e-8, 0.0, 1e-8, 1e-3])
def test_an_end_beside_an_edge_of_the_face_is_a_point_however_near(tilt):
    """Another box may go on beyond the edge; a seam between the two is no place of the line."""
    for beside in (1e-2, 1e-3, 1e-5):
        scene = Scene([("capsule", (0.01, 0.1)), ("box", (0.3, 0.3, 0.1))])
        turn = rotation_about((0, 1, 0), np.pi / 2 + tilt)
        end = np.array([0.3 - beside, 0.0, 0.1 + 0.0105])
        scene.set_pose(0, end - turn @ (0.0, 0.0, -0.1), turn)
        rows = scene.rows()
        assert rows[MINUS][0] == pytest.approx(0.0005, abs=LENGTH)
        assert rows[MINUS][2][0] == pytest.approx(end[0], abs=1e-4)
        assert len(rows) <= 2


def test_points_of_a_patch_beyond_the_margin_are_omitted():
    scene = disk(rotation=rotation_about((0, 1, 0), 0.05))
    gaps = sorted(row[0] for row in scene.rows().values())
    near = scene.rows(margin=0.5 * (gaps[1] + gaps[2]))
    assert sorted(row[0] for row in near.values()) == gaps[:2]
