"""Cylinders and capsules on boxes: every feature pair by hand, random poses by certificate and by search."""

import mpmath as mp
import numpy as np
import pytest

from corekit_sdf.cylinder_box import cylinder_box
from corekit_sdf.segment_box import segment_box

from .pairs import DIRECTION, LENGTH, Scene, excess, random_pair, rotation_about, support

ROOT3 = np.sqrt(3.0)
Z_TO_DIAGONAL = rotation_about((-1, 1, 0), np.arccos(1 / ROOT3))  # e_z onto (1, 1, 1)/√3
QUARTER = np.pi / 4


def cylinder(position, rotation=None, R=0.1, h=0.02, box=(0.3, 0.3, 0.3)):
    scene = Scene([("cylinder", (R, h)), ("box", box)], patch=False)
    scene.set_pose(0, position, rotation)
    return scene


def on_edge(depth):
    """A cylinder over the middle of an edge, its axis along (1, 0, 1): the cap faces the edge."""
    return cylinder(
        np.array([0.3, 0, 0.3]) + (0.02 + depth) * np.array([1, 0, 1]) / np.sqrt(2),
        rotation_about((0, 1, 0), QUARTER),
    )


FEATURES = {
    "cap on face": lambda d: cylinder((0.05, 0, 0.3 + 0.02 + d)),
    "side on face": lambda d: cylinder((0.05, 0, 0.3 + 0.1 + d), rotation_about((1, 0, 0), np.pi / 2)),
    "rim on face": lambda d: cylinder(
        (0, 0, 0.3 + d + (0.1 + 0.02) * np.sqrt(0.5)), rotation_about((1, 0, 0), QUARTER)
    ),
    "cap on edge": on_edge,
    "cap on corner": lambda d: cylinder(np.full(3, 0.3) + (0.02 + d) / ROOT3, Z_TO_DIAGONAL),
    # the axis is along (1, −1, 0)/√2, across the edge x = z = 0.3 … in the plane of the top face
    "side on corner": lambda d: cylinder(
        np.full(3, 0.3) + (0.1 + d) / ROOT3, rotation_about((1, 1, 0), np.pi / 2)
    ),
    "side across edge": lambda d: cylinder(
        np.array([0.3, 0, 0.3]) + (0.1 + d) * np.array([1, 0, 1]) / np.sqrt(2),
        rotation_about((0, 1, 0), 3 * QUARTER),
    ),
    "side along edge": lambda d: cylinder(
        np.array([0.3, 0, 0.3]) + (0.1 + d) * np.array([1, 0, 1]) / np.sqrt(2),
        rotation_about((1, 0, 0), np.pi / 2),
    ),
}


@pytest.mark.parametrize("depth", [0.03, 1e-7, 0.0, -1e-7, -0.007])
@pytest.mark.parametrize("feature", FEATURES)
def test_gap_of_each_feature_pair_is_the_one_built_in(feature, depth):
    scene = FEATURES[feature](depth)
    assert scene.gap == pytest.approx(depth, abs=LENGTH)


def test_rim_beside_and_above_an_edge_is_the_distance_in_the_plane_of_both():
    scene = cylinder((0.3 + 0.1 + 0.03, 0, 0.3 + 0.02 + 0.04))
    ((gap, n, point),) = scene.rows().values()
    assert gap == pytest.approx(0.05, abs=LENGTH)
    np.testing.assert_allclose(n, (0.6, 0, 0.8), atol=DIRECTION)
    np.testing.assert_allclose(point, (0.315, 0, 0.32), atol=LENGTH)


def test_rim_off_a_corner_is_the_distance_to_the_corner():
    # the rim's nearest point is on the diagonal, (0.03, 0.04) from the corner in (diagonal, z)
    across = 0.3 + (0.1 + 0.03) / np.sqrt(2)
    ((gap, n, _),) = cylinder((across, across, 0.3 + 0.02 + 0.04)).rows().values()
    assert gap == pytest.approx(0.05, abs=LENGTH)
    np.testing.assert_allclose(n, (0.6 / np.sqrt(2), 0.6 / np.sqrt(2), 0.8), atol=DIRECTION)


def test_tilted_rim_on_an_edge_matches_minimisation_in_forty_digits():
    mp.mp.dps = 40
    turn = rotation_about((0.3, 1.0, 0.2), 0.7)
    position = np.array([0.36, 0.02, 0.41])
    centre = position - 0.02 * turn[:, 2]

    def squared(azimuth):  # from the rim point to the line x = z = 0.3
        rim = [
            centre[i] + mp.mpf("0.1") * (turn[i, 0] * mp.cos(azimuth) + turn[i, 1] * mp.sin(azimuth))
            for i in (0, 2)
        ]
        return (rim[0] - mp.mpf(0.3)) ** 2 + (rim[1] - mp.mpf(0.3)) ** 2

    coarse = min(np.linspace(0, 2 * np.pi, 721), key=lambda azimuth: float(squared(azimuth)))
    azimuth = mp.findroot(lambda x: mp.diff(squared, x), coarse)
    ((gap, n, _),) = cylinder(position, turn).rows().values()
    assert abs(gap - float(mp.sqrt(squared(azimuth)))) < 1e-12
    assert abs(n[1]) < DIRECTION  # the normal is perpendicular to the edge
    assert min(n[0], n[2]) > 0.05


def test_disk_flat_on_a_face_keeps_its_gap_down_to_rounding_of_the_tilt():
    for tilt in (0.0, 1e-16, 1e-13, 1e-10, 1e-8, 1e-6, 1e-4):
        scene = cylinder((0, 0, 0.32), rotation_about((1, 0.3, 0), tilt))
        assert scene.gap == pytest.approx(0.02 * (1 - np.cos(tilt)) - 0.1 * np.sin(tilt), abs=LENGTH)


@pytest.mark.parametrize("depth", [0.03, 0.0, -0.015])
def test_capsule_features_on_a_box(depth):
    along_x, r, h = rotation_about((0, 1, 0), np.pi / 2), 0.02, 0.1
    diagonal = np.array([1, 0, 1]) / np.sqrt(2)
    box = ("box", (0.3, 0.3, 0.3))
    for position, rotation in (
        ((0.1, 0, 0.3 + r + depth), along_x),  # lying on a face
        ((0.1, 0, 0.3 + h + r + depth), None),  # standing on it
        ((0.25, 0, 0.3 + r + depth), along_x),  # overhanging
        (
            np.array([0.3, 0, 0.3]) + (r + depth) * diagonal,
            rotation_about((1, 0, 0), np.pi / 2),
        ),  # along an edge
        (
            np.array([0.3, 0, 0.3]) + (r + depth) * diagonal,
            rotation_about((0, 1, 0), 3 * QUARTER),
        ),  # across it
        (np.full(3, 0.3) + (h + r + depth) / ROOT3, Z_TO_DIAGONAL),  # end at a corner
        (np.full(3, 0.3) + (r + depth) / ROOT3, rotation_about((1, 1, 0), np.pi / 2)),  # middle at a corner
    ):
        scene = Scene([("capsule", (r, h)), box], patch=False)
        scene.set_pose(0, position, rotation)
        assert scene.gap == pytest.approx(depth, abs=LENGTH)


def test_capsule_whose_axis_pierces_the_box_sinks_to_the_nearest_facet():
    scene = Scene([("capsule", (0.02, 0.1)), ("box", (0.3, 0.3, 0.3))])
    scene.set_pose(0, (0.0, 0.0, 0.29))
    assert scene.gap == pytest.approx(-0.01 - 0.1 - 0.02, abs=LENGTH)
    scene.set_pose(0, (0.28, 0.0, 0.28), rotation_about((0, 1, 0), 3 * QUARTER))
    assert scene.gap == pytest.approx(-0.02 * np.sqrt(2) - 0.02, abs=LENGTH)


def separation(first, first_size, second_size, p, turn, n):
    """Evaluate f(n) = min over the first of n·a − max over the box of n·b, from support functions alone."""
    return n @ p - support(first, first_size, -n @ turn) - support("box", second_size, n)


def in_box_frame(scene):
    turn = scene.rotation[1]
    return turn.T @ (scene.position[0] - scene.position[1]), turn.T @ scene.rotation[0]


@pytest.mark.parametrize("first", ["cylinder", "capsule"])
def test_distances_apart_carry_their_own_proof(first):
    """Points of both shapes at that distance bound φ from above; the plane between them bounds it from below."""
    rng = np.random.default_rng(11)
    for _ in range(500):
        scene = random_pair(rng, first, "box", gap=rng.uniform(1e-4, 0.05), patch=False)
        ((gap, n, point),) = scene.rows().values()
        assert gap > 0
        for k, sign in ((0, 0.5), (1, -0.5)):
            witness = scene.rotation[k].T @ (point + sign * gap * n - scene.position[k])
            assert excess(scene.table.kind[k], scene.table.size[k], witness) < 1e-9
        p, turn = in_box_frame(scene)
        below = separation(first, scene.table.size[0], scene.table.size[1], p, turn, scene.rotation[1].T @ n)
        assert abs(below - gap) < 1e-12


def zoom(f, starts, width, rounds):
    """Refine maximisers of f on the unit sphere with a shrinking grid about each; starts (m, 3)."""
    ticks = np.linspace(-1, 1, 9)
    grid = np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2)
    n = starts
    for _ in range(rounds):
        aside = np.cross(n, np.where(np.abs(n[:, :1]) < 0.6, [[1.0, 0, 0]], [[0, 1.0, 0]]))
        aside /= np.linalg.norm(aside, axis=1)[:, None]
        across = np.cross(n, aside)
        spread = width * (grid[:, :1] * aside[:, None] + grid[:, 1:] * across[:, None])
        trial = n[:, None] + spread
        trial /= np.linalg.norm(trial, axis=2)[:, :, None]
        n = trial[np.arange(len(n)), f(trial).argmax(axis=1)]
        width *= 0.6
    return float(f(n).max())


def zoom_on_circle(f, pole):
    """Return the maximum of f on the great circle about `pole`: a dense grid, then refinement about the best."""
    aside = np.cross(pole, (1.0, 0, 0) if abs(pole[0]) < 0.6 else (0, 1.0, 0))
    aside /= np.linalg.norm(aside)
    across = np.cross(pole, aside)

    def at(angle):
        return f(np.cos(angle)[..., None] * aside + np.sin(angle)[..., None] * across)

    angles = np.linspace(0, 2 * np.pi, 1441)
    angle, width = angles[np.argsort(at(angles))[-12:]], 0.01
    for _ in range(40):
        trial = angle[:, None] + width * np.linspace(-1, 1, 21)
        angle = trial[np.arange(len(angle)), at(trial).argmax(axis=1)]
        width *= 0.4
    return float(at(angle).max())


@pytest.mark.parametrize("first", ["cylinder", "capsule"])
def test_depths_inside_match_a_search_over_all_directions(first):
    """φ is the greatest separation over the sphere and over the circles on which it has its creases."""
    rng = np.random.default_rng(5)
    sphere = rng.normal(size=(3000, 3))
    sphere /= np.linalg.norm(sphere, axis=1)[:, None]
    for _ in range(60):
        scene = random_pair(rng, first, "box", patch=False)
        size = tuple(float(value) for value in scene.table.size[0])
        scene.position[0] -= min(0.5 * min(size[:2]), 0.03) * scene.measure().normal[0]
        p, turn = in_box_frame(scene)
        u, a = turn[:, 2], tuple(scene.table.size[1])
        radius = (
            size[0] if first == "capsule" else 0.0
        )  # the core of a capsule determines the direction; its radius is a shift

        def f(n, p=p, turn=turn, size=size, a=a):
            return n @ p - support(first, size, -n @ turn) - support("box", a, n)

        starts = sphere[np.argsort(f(sphere))[-20:]]
        best = max(zoom(f, starts, 0.08, 30), *(zoom_on_circle(f, axis) for axis in (*np.eye(3), u)))
        if first == "cylinder":
            computed = cylinder_box(tuple(p), tuple(u), a, size[1], size[0])[0]
        else:
            computed = segment_box(tuple(p), tuple(u), a, size[1])[0] - radius
        assert computed == pytest.approx(best, abs=1e-9)
        assert scene.gap == pytest.approx(best, abs=1e-9)
