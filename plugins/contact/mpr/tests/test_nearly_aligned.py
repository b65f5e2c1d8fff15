"""Shapes whose axes are within 1e-12 to 1e-3 rad of grid directions: the closest point is on both of them."""

import numpy as np
import pytest

from .pairs import LENGTH, Scene, random_rotation, rotation_about, separation
from .test_gaps import distance_outside

GRID = tuple(
    rotation_about(axis, angle)
    for axis, angle in (
        ((0, 0, 1), 0.0),
        ((1, 0, 0), np.pi / 2),
        ((0, 1, 0), np.pi / 2),
        ((1, 0, 0), np.pi / 4),
        ((0, 1, 0), np.pi / 4),
    )
)


def on_grid(rng, kinds, exponent, case):
    """A pair that leans by 10^exponent, as it lies on the grid or moved to 1 mm apart, 1 mm deep or touching."""
    sizes = [
        tuple(rng.choice([0.02, 0.05, 0.1], 3))
        if kind == "box"
        else (rng.choice([0.02, 0.05]), rng.choice([0.005, 0.02, 0.05, 0.1]))
        for kind in kinds
    ]
    scene = Scene(list(zip(kinds, sizes, strict=True)), patch=bool(case % 2))
    world, lean = random_rotation(rng), rotation_about(rng.normal(size=3), 10.0**exponent)
    scene.set_pose(1, np.zeros(3), world)
    place = world @ rng.choice([0.0, 0.02, -0.05, 0.04, 0.07, 0.1, 0.15], 3)
    scene.set_pose(0, place, world @ lean @ GRID[case % len(GRID)])
    if case % 4:
        gap, normal, _ = scene.closest()
        scene.position[0] += ((1e-3, -1e-3, 0.0)[case % 4 - 1] - gap) * normal
    return scene


@pytest.mark.parametrize("exponent", range(-12, -2))
@pytest.mark.parametrize(
    "kinds",
    [
        ("capsule", "capsule"),
        ("cylinder", "cylinder"),
        ("cylinder", "capsule"),
        ("capsule", "box"),
        ("box", "box"),
    ],
)
def test_the_closest_point_is_on_both_shapes(kinds, exponent):
    """A direction off by the angle of two caps or lines costs next to nothing, but names the wrong end of them.

    A depth is within `tolerance` of the least, which is of second order in what its points are apart: they are as far
    outside as the root of tolerance × size.
    """
    rng = np.random.default_rng([61, -exponent])
    for case in range(120):
        scene = on_grid(rng, kinds, exponent, case)
        gap, normal, point = scene.closest()
        allowed = np.sqrt(scene.tolerance * scene.table.bounding_radii().min())
        for k, sign in ((0, 0.5), (1, -0.5)):
            assert distance_outside(scene, k, point + sign * gap * normal) <= allowed


@pytest.mark.parametrize("apart", [0.0, 1e-13, 1e-11, 1e-10, 1e-9, 1e-8, 1e-6])
def test_axes_that_cross_have_the_normal_perpendicular_to_both(apart):
    """However near the axes come: the way between them tells no direction then."""
    rng = np.random.default_rng(62)
    scene = Scene([("capsule", (0.02, 0.1)), ("capsule", (0.02, 0.1))])
    for _ in range(200):
        turn, lean = random_rotation(rng), rotation_about(rng.normal(size=3), 1e-8)
        scene.set_pose(1, np.zeros(3), turn)
        across = turn @ lean @ rotation_about((1, 0, 0), np.pi / 2)
        normal = np.cross(across[:, 2], turn[:, 2])
        normal /= np.linalg.norm(normal)
        along = rng.uniform(-0.09, 0.09, 2)
        scene.set_pose(0, apart * normal + along[0] * turn[:, 2] + along[1] * across[:, 2], across)
        gap, found, _ = scene.closest()
        assert gap == pytest.approx(apart - 0.04, abs=LENGTH)
        assert separation(scene, found) == pytest.approx(apart - 0.04, abs=LENGTH)


def test_a_beam_that_ends_over_the_corner_of_a_cube_touches_there():
    """Within rounding neither is over the other: the point was the beam's other end, on its surface."""
    rng = np.random.default_rng(63)
    for _ in range(300):
        scene = Scene([("box", (0.02, 0.02, 0.05)), ("box", (0.02, 0.02, 0.02))], patch=False)
        world, lean = (
            random_rotation(rng),
            rotation_about(rng.normal(size=3), 10.0 ** rng.uniform(-10.0, -8.0)),
        )
        scene.set_pose(1, np.zeros(3), world)
        scene.set_pose(0, world @ (0.07, 0.15, 0.0), world @ lean @ rotation_about((0, 1, 0), np.pi / 2))
        _, normal, point = scene.closest()
        assert normal @ world[:, 1] == pytest.approx(1.0, abs=1e-9)
        np.testing.assert_allclose(world[:, :2].T @ point, (0.02, 0.075), atol=1e-6)


def test_a_rod_whose_axis_touches_an_edge_is_its_radius_deep():
    """On the surface of both no support point tells the way out: gaps were too low by up to 5 mm."""
    rng = np.random.default_rng(64)
    for case in range(1000):
        scene = Scene([("capsule", (0.02, 0.1)), ("box", (0.05, 0.05, 0.05))], patch=bool(case % 2))
        world = random_rotation(rng)
        steep = 0.25 * np.pi if case % 3 else rng.uniform(0.01, 1.56)  # of the normal, between both faces
        across = rotation_about((1, 0, 0), steep) if case % 4 else rotation_about((1, 0, 0), steep + 1e-9)
        turn = across @ rotation_about((0, 0, 1), 0.5 * np.pi * (case % 5 == 0))
        end = rng.choice([-0.1, 0.1, 0.03, rng.uniform(-0.1, 0.1)])
        scene.set_pose(1, np.zeros(3), world)
        axis = world @ turn @ rotation_about((1, 0, 0), np.pi / 2)
        edge = np.array([rng.choice([0.04, 0.01, rng.uniform(-0.05, 0.05)]), -0.05, 0.05])
        scene.set_pose(0, world @ edge - end * axis[:, 2], axis)
        assert scene.gap == pytest.approx(-0.02, abs=0.2 * 2e-9)


@pytest.mark.parametrize("overlap", [1e-9, 1e-8, 1e-7, 1e-6])
def test_a_rod_that_hardly_overlaps_a_face_has_one_contact(overlap):
    """Its end and where it passes the edge were two, with rows that are equal to 1e-7."""
    rng = np.random.default_rng(65)
    for _ in range(50):
        scene = Scene([("capsule", (0.02, 0.1)), ("box", (0.05, 0.05, 0.05))])
        world = random_rotation(rng)
        scene.set_pose(1, np.zeros(3), world)
        place = (0.15 - overlap, 0.01, 0.071)
        lean = rotation_about((0, 1, 0), 1e-6 * rng.normal())
        scene.set_pose(0, world @ place, world @ lean @ rotation_about((0, 1, 0), np.pi / 2))
        assert len(scene.rows()) == 1
