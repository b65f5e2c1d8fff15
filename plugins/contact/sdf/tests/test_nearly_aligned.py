"""Rims that touch, and axes within 1e-12 to 1e-3 rad of grid directions: gaps are the best, points on both shapes."""

import numpy as np
import pytest

from .pairs import LENGTH, Scene, excess, random_rotation, rotation_about, support

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


def rim_point(scene, k, d):
    """The point of cylinder k farthest along d [m]."""
    radius, half = scene.table.size[k, :2]
    u = scene.rotation[k, :, 2]
    level = d - (d @ u) * u
    return scene.position[k] + np.sign(d @ u) * half * u + radius * level / np.linalg.norm(level)


@pytest.mark.parametrize("gap", [0.0, 1e-15, 1e-12, 1e-9, 1e-6, 1e-3])
def test_rims_that_touch_have_their_gap_however_small(gap):
    """Points of both at that distance bound it from above, the plane between them from below.

    The way between the points tells no direction where they meet: a gap of 0 came out as −7 mm.
    """
    rng = np.random.default_rng(51)
    for _ in range(300):
        scene = Scene([("cylinder", (0.05, 0.02)), ("cylinder", (0.03, 0.04))], obstacles=0)
        normal = rng.normal(size=3)
        normal /= np.linalg.norm(normal)
        for k in range(2):
            scene.set_pose(k, np.zeros(3), random_rotation(rng))
        apart = rim_point(scene, 0, -normal) - rim_point(scene, 1, normal)
        scene.position[0] += gap * normal - apart
        assert scene.gap == pytest.approx(gap, abs=LENGTH)


def best_about(scene, normal, rng):
    """The greatest f of directions tilted by 1e-13 to 0.1 rad, and about the axes [m]."""
    axes = [sign * turn[:, 2] for turn in scene.rotation for sign in (1.0, -1.0)]
    tried = normal + rng.normal(size=(3000, 3)) * 10.0 ** rng.uniform(-13.0, -1.0, size=(3000, 1))
    tried = np.vstack([tried / np.linalg.norm(tried, axis=1)[:, None], axes])
    extent = [
        support(kind, size, tried @ turn)
        for kind, size, turn in zip(scene.table.kind, scene.table.size, scene.rotation, strict=True)
    ]
    return float((tried @ (scene.position[0] - scene.position[1]) - sum(extent)).max())


@pytest.mark.parametrize("exponent", range(-12, -2))
@pytest.mark.parametrize(
    "kinds", [("cylinder", "cylinder"), ("capsule", "capsule"), ("capsule", "box"), ("cylinder", "box")]
)
def test_the_lowest_gap_is_the_best_and_its_point_on_both_shapes(kinds, exponent):
    """A direction off the best by more than rounding ends on the wrong side of a crease, its point at the wrong end.

    Below 1e-9 rad lines count as parallel, and the point is off by as much of their length.
    """
    rng = np.random.default_rng([52, -exponent])
    for case in range(60):
        sizes = [
            tuple(rng.choice([0.02, 0.05, 0.1], 3))
            if kind == "box"
            else (rng.choice([0.02, 0.05]), rng.choice([0.005, 0.02, 0.05, 0.1]))
            for kind in kinds
        ]
        scene = Scene(list(zip(kinds, sizes, strict=True)), obstacles=0, patch=bool(case % 2))
        world, lean = random_rotation(rng), rotation_about(rng.normal(size=3), 10.0**exponent)
        grid = rng.choice([0.0, 0.02, -0.05, 0.04, 0.07, 0.1, 0.15], 3)
        scene.set_pose(1, np.zeros(3), world)
        scene.set_pose(0, world @ grid, world @ lean @ GRID[case % len(GRID)])
        if case % 3:
            low = min(scene.rows().values(), key=lambda row: row[0])
            scene.position[0] += ((1e-3, -1e-3)[case % 3 - 1] - low[0]) * low[1]
        gap, normal, point = min(scene.rows().values(), key=lambda row: row[0])
        assert best_about(scene, normal, rng) <= gap + LENGTH
        for k, sign in ((0, 0.5), (1, -0.5)):
            local = scene.rotation[k].T @ (point + sign * gap * normal - scene.position[k])
            assert excess(kinds[k], sizes[k], local) < 1e-7


@pytest.mark.parametrize("kind", ["capsule", "cylinder"])
def test_a_side_along_an_edge_of_a_box_is_as_far_as_a_point_from_a_rectangle(kind):
    """Rounding leaves a component along the edge, which both of its ends could deny: gaps were wrong by millimetres."""
    rng = np.random.default_rng(53)
    for case in range(600):
        half, radius = rng.choice([0.02, 0.05, 0.1], 3), 0.03
        scene = Scene([(kind, (radius, 0.1)), ("box", tuple(half))], obstacles=0, patch=bool(case % 2))
        world = random_rotation(rng)
        beyond = 10.0 ** rng.uniform(-3.0, -1.0, 2)
        place = np.array([half[0] + beyond[0], rng.choice([0.0, 0.05, -0.08]), -half[2] - beyond[1]])
        turn = rotation_about((1, 0, 0), rng.choice([-0.5, 0.5]) * np.pi) @ rotation_about((0, 0, 1), 0.3)
        scene.set_pose(1, np.zeros(3), world)
        scene.set_pose(0, world @ place, world @ turn)
        # the rounding of a point over its distance from the edge tilts the normal, which brings the ends of both nearer
        tilt = LENGTH / np.hypot(*beyond)
        ends = tilt * (0.1 + half[1])
        assert scene.gap == pytest.approx(np.hypot(*beyond) - radius, abs=LENGTH + ends)
