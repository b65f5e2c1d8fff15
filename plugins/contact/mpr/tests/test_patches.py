"""Flats and lines on flats: number, position and gap of the points; rates and ids under motion."""

import numpy as np
import pytest

from corekit_testing.gap_rates import gap_rates

from .pairs import DIRECTION, LENGTH, Scene, random_rotation, rotation_about

ON_SIDE = rotation_about((1, 0, 0), np.pi / 2)
PRISM = np.array([[x, y, z] for x in (-0.05, 0.05) for y in (-0.04, 0.04) for z in (-0.03, 0.03)])


def level_points(scene):
    return np.array(
        sorted((round(float(p[0]), 9), round(float(p[1]), 9)) for _, _, p in scene.rows().values())
    )


@pytest.mark.parametrize("second", [("box", (0.3, 0.3, 0.1)), ("half-space", ()), ("cylinder", (0.3, 0.1))])
def test_disk_flat_on_a_face_stands_on_four_rim_points_of_its_material(second):
    scene = Scene([("cylinder", (0.06, 0.005)), second], obstacle=True)
    height = 0.0 if second[0] == "half-space" else 0.1
    for turn in (0.0, 0.3):
        scene.set_pose(0, (0.01, 0.02, height + 0.005 - 1e-4), rotation_about((0, 0, 1), turn))
        rows = list(scene.rows().values())
        azimuths = turn + np.pi / 4 * np.array([1, 3, -1, -3])
        where = 0.06 * np.column_stack([np.cos(azimuths), np.sin(azimuths)]) + (0.01, 0.02)
        assert len(rows) == 4
        for gap, normal, point in rows:
            assert gap == pytest.approx(-1e-4, abs=LENGTH)
            np.testing.assert_allclose(normal, (0, 0, 1), atol=DIRECTION)
            assert point[2] == pytest.approx(height - 0.5e-4, abs=LENGTH)
            assert np.abs(where - point[:2]).sum(axis=1).min() < LENGTH


@pytest.mark.parametrize("first", [("box", (0.05, 0.04, 0.03), None), ("polytope", (), PRISM)])
@pytest.mark.parametrize("second", [("box", (0.3, 0.3, 0.1)), ("half-space", ())])
def test_a_block_stands_on_its_four_corners(first, second):
    scene = Scene([first[:2], second], (first[2], None), obstacle=True)
    top = 0.1 if second[0] == "box" else 0.0
    turn = rotation_about((0, 0, 1), 0.4)
    scene.set_pose(0, (0.01, 0.02, top + 0.03 + 2e-4), turn)
    points = sorted(
        tuple(np.round(turn.T @ (p - (0.01, 0.02, p[2])), 9)) for _, _, p in scene.rows().values()
    )
    np.testing.assert_allclose(points, [(x, y, 0) for x in (-0.05, 0.05) for y in (-0.04, 0.04)], atol=1e-9)
    for gap, normal, _ in scene.rows().values():
        assert gap == pytest.approx(2e-4, abs=LENGTH)
        np.testing.assert_allclose(normal, (0, 0, 1), atol=DIRECTION)


def test_faces_that_agree_but_for_rounding_keep_their_four_corners():
    """Every corner lies on edges of the other face, outside of them as often as inside."""
    scene, half = Scene([("box", (0.05, 0.05, 0.05)), ("box", (0.05, 0.05, 0.05))]), 0.05
    seen = set()
    for k in range(200):
        turn = rotation_about((np.cos(k), np.sin(k), 0.3), 0.01 * k)
        scene.set_pose(1, (0.3, 0.1, 0.2), turn)
        scene.set_pose(0, scene.position[1] + turn @ (0.0, 0.0, 2 * half), turn)
        rows = scene.rows()
        seen |= set(rows)
        points = sorted(
            tuple(np.round(turn.T @ (p - scene.position[1]), 9) + 0.0) for _, _, p in rows.values()
        )
        np.testing.assert_allclose(
            points, [(x, y, half) for x in (-half, half) for y in (-half, half)], atol=1e-9
        )
    assert len(seen) == 4


def test_a_tilted_block_has_the_true_height_of_every_corner():
    scene = Scene([("box", (0.05, 0.04, 0.03)), ("box", (0.3, 0.3, 0.1))])
    turn = rotation_about((0.3, 1, 0), 0.03) @ rotation_about((0, 0, 1), 0.4)
    scene.set_pose(0, (0, 0, 0.133), turn)
    corners = np.array([turn @ (x, y, -0.03) for x in (-0.05, 0.05) for y in (-0.04, 0.04)])
    heights = sorted(corners[:, 2] + 0.033)
    np.testing.assert_allclose(sorted(row[0] for row in scene.rows().values()), heights, atol=LENGTH)


def test_a_beam_across_a_beam_stands_where_their_edges_cross():
    scene = Scene([("box", (0.2, 0.02, 0.01)), ("box", (0.03, 0.2, 0.05))])
    scene.set_pose(0, (0, 0, 0.0601))
    np.testing.assert_allclose(
        level_points(scene), [(-0.03, -0.02), (-0.03, 0.02), (0.03, -0.02), (0.03, 0.02)], atol=1e-9
    )


@pytest.mark.parametrize("twist", [0.0, 1e-8, 1e-6, 1e-4, 1e-2])
def test_a_point_between_faces_that_lie_on_each_other_is_near_both(twist):
    """Half of its gap away at most; edges that cross under the twist, tilted too, are nowhere near perpendicular."""
    half = np.array([0.05, 0.05, 0.05])
    scene, random = Scene([("box", tuple(half)), ("box", tuple(half))]), np.random.default_rng(11)
    for _ in range(100):
        lean = rotation_about(
            (np.cos(a := random.uniform(0.0, 6.3)), np.sin(a), 0.0), 1e-2 * random.uniform()
        )
        turn = lean @ rotation_about((0, 0, 1), twist * random.uniform(-1.0, 1.0))
        place = np.array([*random.uniform(-0.02, 0.02, 2) * random.integers(0, 2, 2), 0.1 + 2e-3])
        scene.set_pose(0, place, turn)
        for gap, normal, point in scene.rows().values():
            assert normal[2] > np.cos(0.1)
            for x in (turn.T @ (point - place), point):
                outside = np.linalg.norm(np.maximum(abs(x) - half, 0.0))
                assert outside <= 0.5 * gap + LENGTH


def test_a_block_on_its_edge_touches_at_both_ends_of_it():
    for first, vertices in ((("box", (0.05, 0.04, 0.03)), None), (("polytope", ()), PRISM)):
        scene = Scene([first, ("box", (0.3, 0.3, 0.1))], (vertices, None))
        lean = np.arctan2(0.03, 0.04)  # the corner is straight below the middle
        scene.set_pose(0, (0, 0, 0.1 + 0.05 + 1e-3), rotation_about((1, 0, 0), np.pi / 2 - lean))
        np.testing.assert_allclose(level_points(scene), [(-0.05, 0), (0.05, 0)], atol=1e-9)


@pytest.mark.parametrize(("kind", "size"), [("capsule", (0.02, 0.1)), ("cylinder", (0.02, 0.1))])
@pytest.mark.parametrize("second", [("box", (0.3, 0.3, 0.1)), ("half-space", ()), ("cylinder", (0.3, 0.1))])
@pytest.mark.parametrize("tilt", [0.0, 0.01, -0.03])
def test_a_line_on_a_face_touches_at_both_ends(kind, size, second, tilt):
    scene = Scene([(kind, size), second], obstacle=True)
    height = 0.0 if second[0] == "half-space" else 0.1
    scene.set_pose(0, (0, 0, height + 0.021), rotation_about((1, 0, 0), np.pi / 2 + tilt))
    rows = sorted(scene.rows().values(), key=lambda row: row[2][1])
    drop = 0.02 if kind == "capsule" else 0.02 * np.cos(tilt)
    assert len(rows) == 2
    for end, (gap, _, point) in zip((1, -1), rows, strict=True):
        assert gap == pytest.approx(0.021 - drop - end * 0.1 * np.sin(tilt), abs=LENGTH)
        assert np.sign(point[1]) == -end


@pytest.mark.parametrize("first", ["capsule", "cylinder"])
@pytest.mark.parametrize("second", ["capsule", "cylinder"])
def test_a_log_along_a_log_touches_at_both_ends_of_the_overlap(first, second):
    scene = Scene([(first, (0.02, 0.1)), (second, (0.03, 0.15))])
    scene.set_pose(0, (0.051, 0.0, 0.12))
    rows = sorted(scene.rows().values(), key=lambda row: row[2][2])
    np.testing.assert_allclose([row[2][2] for row in rows], (0.02, 0.15), atol=1e-12)
    for gap, normal, _ in rows:
        assert gap == pytest.approx(0.001, abs=LENGTH)
        np.testing.assert_allclose(normal, (1, 0, 0), atol=1e-12)


def test_stacked_disks_touch_on_the_lens_of_their_caps():
    scene = Scene([("cylinder", (0.06, 0.005)), ("cylinder", (0.06, 0.005))])
    scene.set_pose(0, (0.05, 0.0, 0.0101))
    rows = scene.rows()
    assert len(rows) == 4
    for gap, _, point in rows.values():
        assert gap == pytest.approx(1e-4, abs=LENGTH)
        for centre in (0.0, 0.05):
            assert np.hypot(point[0] - centre, point[1]) < 0.06 + 1e-12
    lens = np.array([row[2] for row in rows.values()])
    assert np.ptp(lens[:, 1]) > 0.85 * 2 * np.sqrt(0.06**2 - 0.025**2)  # its height, where the rims cross
    assert np.abs(lens[:, 1]).max() == pytest.approx(np.sqrt(0.06**2 - 0.025**2), abs=1e-12)


def test_a_disk_on_a_narrow_beam_stands_where_its_rim_passes_the_edges():
    scene = Scene([("cylinder", (0.06, 0.005)), ("box", (0.3, 0.02, 0.1))])
    scene.set_pose(0, (0.05, 0, 0.1049))
    x = np.sqrt(0.06**2 - 0.02**2)
    expected = [(0.05 - x, -0.02), (0.05 - x, 0.02), (0.05 + x, -0.02), (0.05 + x, 0.02)]
    np.testing.assert_allclose(level_points(scene), expected, atol=1e-9)


def test_one_point_on_a_flat_is_its_middle():
    scene = Scene([("cylinder", (0.06, 0.005)), ("box", (0.3, 0.3, 0.1))], patch=False)
    scene.set_pose(0, (0.01, 0.02, 0.106))
    ((gap, _, point),) = scene.rows().values()
    assert gap == pytest.approx(0.001, abs=LENGTH)
    np.testing.assert_allclose(point, (0.01, 0.02, 0.1005), atol=1e-12)


def test_beyond_the_flat_angle_there_is_one_point():
    for angle, count, flat in ((0.099, 4, 0.1), (0.101, 1, 0.1), (0.101, 4, 0.2)):
        scene = Scene([("cylinder", (0.06, 0.005)), ("box", (0.3, 0.3, 0.1))], flat_angle=flat)
        scene.set_pose(0, (0, 0, 0.12), rotation_about((0, 1, 0), angle))
        assert len(scene.rows()) == count


LYING = [
    (("cylinder", (0.06, 0.005)), ("box", (0.3, 0.3, 0.1)), np.eye(3), 0.105),
    (("cylinder", (0.06, 0.005)), ("box", (0.02, 0.03, 0.1)), np.eye(3), 0.105),
    (("cylinder", (0.06, 0.005)), ("cylinder", (0.05, 0.1)), np.eye(3), 0.105),
    (("box", (0.05, 0.04, 0.03)), ("box", (0.3, 0.03, 0.1)), np.eye(3), 0.13),
    (("capsule", (0.02, 0.1)), ("box", (0.3, 0.05, 0.1)), ON_SIDE, 0.12),
    (("cylinder", (0.02, 0.1)), ("box", (0.3, 0.05, 0.1)), ON_SIDE, 0.12),
    (("capsule", (0.02, 0.1)), ("capsule", (0.03, 0.05)), ON_SIDE, 0.05),
]


def test_gap_rates_of_every_point_are_the_material_points_velocity():
    rng = np.random.default_rng(23)
    step, compared, worst_sliding = 1e-6, 0, 0
    for first, second, turn, height in LYING * 6:
        scene = Scene([first, second])
        tilt = rotation_about((*rng.normal(size=2), 0.0), rng.uniform(0.005, 0.08))
        ground = ON_SIDE if second[0] == "capsule" else np.eye(3)
        scene.set_pose(1, (0, 0, 0), ground)
        scene.set_pose(
            0, (*rng.normal(size=2) * 0.005, height), tilt @ rotation_about((0, 0, 1), 0.02) @ turn
        )
        scene.position[0, 2] += rng.uniform(-0.002, 0.004) - scene.gap
        base = scene.position.copy(), scene.rotation.copy()
        start, contacts = scene.rows(), scene.measure()
        velocity, spin = rng.normal(size=(2, 3)) * 0.1, rng.normal(size=(2, 3)) * 0.3
        expected = gap_rates(contacts, scene.rotation, velocity, spin)
        sides = []
        for sign in (1, -1):
            for k in range(2):
                turned = rotation_about(spin[k], sign * step * np.linalg.norm(spin[k])) @ base[1][k]
                scene.set_pose(k, base[0][k] + sign * step * velocity[k], turned)
            sides.append(scene.rows())
        for key in start.keys() & sides[0].keys() & sides[1].keys():
            forth, back = sides[0][key][0], sides[1][key][0]
            if abs(forth + back - 2 * start[key][0]) / step > 1e-3:
                continue  # a breakpoint
            error = abs((forth - back) / (2 * step) - expected[key])
            sliding = (key & 0xFFFF) >= 60_000 or (
                (key >> 16) & 0xFFFF
            ) >= 60_000  # where something passes a rim
            assert error < (0.05 if sliding else 1e-7)
            compared += 1
            worst_sliding += sliding
    assert compared - worst_sliding > 80


def test_ids_persist_while_a_disk_rocks_and_slides_over_a_box():
    scene = Scene([("cylinder", (0.06, 0.005)), ("box", (0.08, 0.04, 0.1))])
    before, persistent, total = set(), 0, 0
    for t in np.linspace(0, 1, 800):
        tilt = rotation_about((1, 0, 0), 0.05 * np.sin(9 * t)) @ rotation_about(
            (0, 1, 0), 0.15 * np.sin(7 * t + 1)
        )
        position = (0.05 + 0.04 * np.sin(3 * t), 0.03 * np.cos(4 * t), 0.105 + 0.002 * np.sin(11 * t))
        scene.set_pose(0, position, tilt @ rotation_about((0, 0, 1), 0.5 * t))
        now = set(scene.rows())
        assert 1 <= len(now) <= 4
        persistent, total, before = persistent + len(now & before), total + len(now), now
    assert persistent > 0.97 * total


def octahedron(rng):
    corners = rng.normal(size=(6, 3))
    return corners / np.linalg.norm(corners, axis=1)[:, None] * (0.12, 0.08, 0.05)


@pytest.mark.parametrize("kind", ["box", "polytope"])
@pytest.mark.parametrize("gap", [0.01, 0.001, -0.001, -0.004])
def test_gap_rates_of_shapes_with_edges_at_random_are_the_material_points_velocity(kind, gap):
    """Edges that cross nearly parallel and faces of other depth than the pair's are among them."""
    rng = np.random.default_rng(31)
    step, several = 1e-6, 0
    for _ in range(150):
        vertices = [octahedron(rng) if kind == "polytope" else None for _ in range(2)]
        scene = Scene([(kind, () if kind == "polytope" else (0.12, 0.08, 0.1))] * 2, vertices)
        away = rng.normal(size=3)
        scene.set_pose(1, (0, 0, 0), random_rotation(rng))
        scene.set_pose(0, 0.5 * away / np.linalg.norm(away), random_rotation(rng))
        now, normal, _ = scene.closest()
        scene.position[0] += (gap - now) * normal
        base = scene.position.copy(), scene.rotation.copy()
        velocity, spin = rng.normal(size=(2, 3)) * 0.1, rng.normal(size=(2, 3)) * 0.5
        expected = gap_rates(scene.measure(), scene.rotation, velocity, spin)
        several += len(expected) > 1
        nearby = []
        for s in (step, -step, 2 * step, -2 * step):
            for k in range(2):
                turned = rotation_about(spin[k], s * np.linalg.norm(spin[k])) @ base[1][k]
                scene.set_pose(k, base[0][k] + s * velocity[k], turned)
            nearby.append({key: row[0] for key, row in scene.rows().items()})
        for key, rate in expected.items():
            if all(key in gaps for gaps in nearby):
                ahead, back, far, behind = (gaps[key] for gaps in nearby)
                assert rate == pytest.approx((8 * (ahead - back) - (far - behind)) / (12 * step), abs=1e-7)
    assert several > (0 if gap > 0.0 else 20)
