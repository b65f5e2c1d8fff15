"""Spheres against everything, and degenerate poses, against closed forms by hand and by mpmath."""

import mpmath as mp
import numpy as np
import pytest

from .pairs import DIRECTION, LENGTH, Scene, random_pair, rotation_about

HALF = np.sqrt(0.5)


def pair(first, first_size, second, second_size, position, **options):
    scene = Scene([(first, first_size), (second, second_size)], **options)
    scene.set_pose(0, position)
    return scene


@pytest.mark.parametrize(
    ("position", "gap", "normal"),
    [
        ((0.0, 0.0, 0.4), 0.4 - 0.15, (0, 0, 1)),
        ((0.1, 0.2, -0.2), 0.3 - 0.15, (1 / 3, 2 / 3, -2 / 3)),
        ((0.03, 0.0, 0.04), 0.05 - 0.15, (0.6, 0, 0.8)),
    ],
)
def test_spheres_are_apart_by_their_centres_less_both_radii(position, gap, normal):
    ((computed, n, point),) = pair("sphere", (0.1,), "sphere", (0.05,), position).rows().values()
    assert computed == pytest.approx(gap, abs=LENGTH)
    np.testing.assert_allclose(n, normal, atol=DIRECTION)
    np.testing.assert_allclose(point, n * (0.05 + 0.5 * gap), atol=LENGTH)


@pytest.mark.parametrize(
    ("position", "gap", "normal"),
    [
        ((0.01, -0.02, 0.5), 0.5 - 0.3 - 0.1, (0, 0, 1)),  # face
        ((-0.25, 0.0, 0.34), np.hypot(0.15, 0.04) - 0.1, (-0.15, 0, 0.04)),  # edge
        ((0.2, 0.3, 0.4), np.sqrt(0.03) - 0.1, (1, 1, 1)),  # corner
        ((0.0, 0.17, 0.1), -0.03 - 0.1, (0, 1, 0)),  # centre inside: nearest face
        ((0.0, 0.0, 0.0), -0.1 - 0.1, (1, 0, 0)),  # the middle
    ],
)
def test_sphere_on_box_matches_face_edge_corner_and_inside(position, gap, normal):
    ((computed, n, _),) = pair("sphere", (0.1,), "box", (0.1, 0.2, 0.3), position).rows().values()
    assert computed == pytest.approx(gap, abs=LENGTH)
    np.testing.assert_allclose(n, np.array(normal) / np.linalg.norm(normal), atol=DIRECTION)


@pytest.mark.parametrize(
    ("position", "gap", "outward"),
    [
        ((0.03, 0.01, 0.2), 0.2 - 0.05 - 0.02, (0, 0, 1)),  # cap
        ((0.3, 0.4, -0.03), 0.5 - 0.1 - 0.02, (0.6, 0.8, 0)),  # side
        ((-0.13, 0.0, -0.09), 0.05 - 0.02, (-0.6, 0, -0.8)),  # rim
        ((0.0, 0.0, 0.045), -0.005 - 0.02, (0, 0, 1)),  # inside under a cap, on the axis
        ((0.0, 0.099, 0.0), -0.001 - 0.02, (0, 1, 0)),  # inside near the side
        ((0.0, 0.0, 0.0), -0.05 - 0.02, (0, 0, 1)),  # the middle
        ((0.1, 0.0, 0.05), -0.02, (0, 0, 1)),  # on the rim itself
    ],
)
def test_sphere_on_cylinder_matches_cap_side_rim_and_inside(position, gap, outward):
    scene = Scene([("cylinder", (0.1, 0.05)), ("sphere", (0.02,))])
    scene.set_pose(1, position)
    ((computed, n, point),) = scene.rows().values()
    assert computed == pytest.approx(gap, abs=LENGTH)
    np.testing.assert_allclose(n, -np.array(outward, dtype=float), atol=DIRECTION)
    np.testing.assert_allclose(point, np.array(position) + n * (0.02 + 0.5 * gap), atol=LENGTH)


def test_sphere_on_a_wide_cylinder_s_axis_still_has_a_unit_normal():
    scene = Scene([("cylinder", (0.05, 0.2)), ("sphere", (0.02,))])
    scene.set_pose(1, (0.0, 0.0, 0.1))
    ((computed, n, _),) = scene.rows().values()
    assert computed == pytest.approx(-0.05 - 0.02, abs=LENGTH)
    np.testing.assert_allclose(n, (-1, 0, 0), atol=DIRECTION)


def test_sphere_and_capsule_meet_at_end_and_side():
    scene = Scene([("capsule", (0.02, 0.1)), ("sphere", (0.03,))])
    for position, gap, outward in (
        ((0.0, 0.08, 0.05), 0.03, (0, 1, 0)),
        ((0.03, 0.0, 0.14), 0.0, (0.6, 0, 0.8)),
        ((0.0, 0.0, 0.03), -0.05, (1, 0, 0)),
    ):
        scene.set_pose(1, position)
        ((computed, n, _),) = scene.rows().values()
        assert computed == pytest.approx(gap, abs=LENGTH)
        np.testing.assert_allclose(n, -np.array(outward, dtype=float), atol=DIRECTION)


def test_coincident_centres_give_finite_unit_normals_and_the_same_contacts_twice(subtests):
    for first in ("cylinder", "capsule", "sphere"):
        for second in ("half-space", "box", "sphere"):
            with subtests.test(first=first, second=second):
                sizes = {"cylinder": (0.1, 0.02), "capsule": (0.02, 0.1), "sphere": (0.05,)}
                sizes |= {"box": (0.1, 0.1, 0.1), "half-space": ()}
                scene = Scene([(first, sizes[first]), (second, sizes[second])])
                once, twice = scene.rows(), scene.rows()
                assert once
                for feature, (gap, normal, point) in once.items():
                    assert np.isfinite(gap)
                    assert np.all(np.isfinite(point))
                    assert np.linalg.norm(normal) == pytest.approx(1.0, abs=1e-12)
                    assert twice[feature][0] == gap
                    np.testing.assert_array_equal(twice[feature][1], normal)


@pytest.mark.parametrize("first", ["cylinder", "capsule", "sphere"])
def test_random_spheres_match_forty_digit_arithmetic(first):
    rng = np.random.default_rng(3)
    mp.mp.dps = 40
    for _ in range(50):
        scene = random_pair(rng, first, "sphere")
        turn = mp.matrix(scene.rotation[0].tolist())
        x = turn.T * (mp.matrix(scene.position[1].tolist()) - mp.matrix(scene.position[0].tolist()))
        size = [mp.mpf(float(value)) for value in scene.table.size[0]]
        rho, z = mp.hypot(x[0], x[1]), abs(x[2])
        if first == "sphere":
            phi = mp.hypot(rho, z) - size[0]
        elif first == "capsule":
            phi = mp.hypot(rho, max(z - size[1], 0)) - size[0]
        else:
            out, up = rho - size[0], z - size[1]
            phi = mp.hypot(out, up) if out > 0 and up > 0 else max(out, up)
        assert abs(float(phi - mp.mpf(float(scene.table.size[1, 0]))) - scene.gap) < 1e-12


def test_the_normal_points_from_the_second_into_the_first_whatever_their_kinds():
    for kinds in (("sphere", "cylinder"), ("sphere", "capsule"), ("sphere", "sphere")):
        sizes = {"sphere": (0.05,), "cylinder": (0.05, 0.05), "capsule": (0.05, 0.05)}
        scene = Scene([(kind, sizes[kind]) for kind in kinds])
        scene.set_pose(0, (0.3, 0.0, 0.0))
        ((_, n, _),) = scene.rows().values()
        np.testing.assert_allclose(n, (1, 0, 0), atol=DIRECTION)


def test_half_spaces_give_the_height_of_the_lowest_point():
    tilt = rotation_about((0, 1, 0), np.pi / 6)
    for first, size, gap in (
        ("sphere", (0.1,), 0.5 - 0.1),
        ("capsule", (0.1, 0.2), 0.5 - 0.2 * np.cos(np.pi / 6) - 0.1),
        ("cylinder", (0.1, 0.2), 0.5 - 0.2 * np.cos(np.pi / 6) - 0.1 * np.sin(np.pi / 6)),
    ):
        scene = Scene([(first, size), ("half-space", ())])
        scene.set_pose(0, (0.3, -0.2, 0.5), tilt)
        ((computed, n, point),) = scene.rows().values()
        assert computed == pytest.approx(gap, abs=LENGTH)
        np.testing.assert_array_equal(n, (0, 0, 1))
        assert point[2] == pytest.approx(0.5 * gap, abs=LENGTH)
