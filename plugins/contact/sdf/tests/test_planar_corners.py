"""Round shapes in line with corners and edges of polygons and segments: no contact twice, and none is lost."""

from itertools import product

import numpy as np
import pytest

from .pairs import LENGTH, Scene, rotation_about


def points(scene):
    return np.array([row[2] for row in scene.rows().values()])


def distance_to_segment(x, a, b):
    t = np.clip((x - a) @ (b - a) / ((b - a) @ (b - a)), 0.0, 1.0)
    return float(np.linalg.norm(x - a - t * (b - a)))


def turn_of(a, b, c):
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def segments_distance(a, b, c, d):
    """Of two segments of the plane: 0 where each separates the other's ends, else that of an end."""
    if turn_of(a, b, c) * turn_of(a, b, d) < 0.0 and turn_of(c, d, a) * turn_of(c, d, b) < 0.0:
        return 0.0
    ends = distance_to_segment(a, c, d), distance_to_segment(b, c, d)
    return min(*ends, distance_to_segment(c, a, b) if np.any(a != b) else np.inf,
               distance_to_segment(d, a, b) if np.any(a != b) else np.inf)  # fmt: skip


def are_inside(points, corners):
    """By the winding of the corners about points that are on no edge."""
    d = corners - points[:, None]
    angle = np.arctan2(d[..., 1], d[..., 0])
    turns = np.diff(np.append(angle, angle[:, :1], axis=1), axis=1)
    return np.abs(np.sum((turns + np.pi) % (2 * np.pi) - np.pi, axis=1)) > np.pi


SQUARE = np.array([[0, 0], [0.2, 0], [0.2, 0.2], [0, 0.2]])
STRAIGHT = np.array([[0, 0], [0.1, 0], [0.2, 0], [0.2, 0.1], [0.1, 0.2], [0, 0.1]])
NOTCHED = np.array([[0, 0], [0.2, 0], [0.2, 0.2], [0.1, 0.1], [0, 0.2]])

SIZES = {"sphere": ((0.01, 0.05),), "capsule": ((0.01, 0.05), (0.01, 0.05, 0.1))}
TURNS = {"sphere": 1, "capsule": 8}
"""Eighths of a turn: a ball has one."""


@pytest.mark.parametrize("corners", [SQUARE, STRAIGHT, NOTCHED], ids=["square", "straight", "notched"])
@pytest.mark.parametrize("kind", ["polygon", "segments"])
@pytest.mark.parametrize("first", ["sphere", "capsule"])
def test_in_line_with_corners_and_edges_the_gap_is_that_of_the_plane_and_no_contact_is_there_twice(
    corners, kind, first
):
    """Poses on the grid of the corners, where a foot is a corner, an axis passes a corner or lies in an edge."""
    ends = np.roll(corners, -1, axis=0)
    edges = list(zip(corners, ends, strict=True))[: None if kind == "polygon" else -1]
    vertices = np.column_stack([corners[:, 0], np.zeros(len(corners)), corners[:, 1]])
    scenes = {
        (size[0], (*size[1:], 0.0)[0]): Scene([(first, size), (kind, ())], vertices=(None, vertices))
        for size in product(*SIZES[first])
    }
    poses = list(product(scenes, range(-2, 7), range(-2, 7), range(TURNS[first])))
    few = np.random.default_rng(2).choice(len(poses), size=min(600, len(poses)), replace=False)
    for (radius, half), *cell, turn in (poses[each] for each in few):
        scene, place = scenes[radius, half], 0.05 * np.array(cell)
        scene.set_pose(0, (place[0], 0.0, place[1]), rotation_about((0, 1, 0), turn * np.pi / 4))
        span = half * scene.rotation[0][[0, 2], 2]
        a, b = place + span, place - span
        distance = min(segments_distance(a, b, *edge) for edge in edges)
        contacts = scene.measure()
        ids, found = contacts.id[: contacts.count], contacts.point[: contacts.count]
        normals = contacts.normal[: contacts.count]
        assert contacts.count
        assert len(set(ids)) == len(ids)
        same = np.linalg.norm(found[:, None] - found, axis=2) + np.linalg.norm(
            normals[:, None] - normals, axis=2
        )
        assert (same[~np.eye(len(found), dtype=bool)] > 1e-6 * radius).all()
        gap = contacts.gap[: contacts.count].min()
        inner = a + np.linspace(0.0031, 0.9957, 41)[:, None] * (b - a)
        if distance < 1e-12 or (kind == "polygon" and are_inside(inner, corners).any()):
            assert gap <= -radius + LENGTH
        else:
            assert gap == pytest.approx(distance - radius, abs=LENGTH)


def test_an_end_beyond_a_corner_is_no_second_contact_of_the_corner():
    """A capsule along an edge of a square that overhangs its corner touches the corner by its side alone."""
    vertices = np.column_stack([SQUARE[:, 0], np.zeros(4), SQUARE[:, 1]])
    for kind in ("polygon", "segments"):
        scene = Scene([("capsule", (0.05, 0.05)), (kind, ())], vertices=(None, vertices))
        for beyond in np.linspace(1e-9, 0.004, 9):
            scene.set_pose(0, (0.2 + beyond - 0.05, 0.0, 0.25), rotation_about((0, 1, 0), np.pi / 2))
            found = points(scene)
            above = found[found[:, 2] > 0.15]
            np.testing.assert_allclose(np.sort(above[:, 0]), (0.1 + beyond, 0.2), atol=LENGTH)


@pytest.mark.parametrize("way", [1.0, -1.0])
def test_a_capsule_deep_inside_beside_a_straight_corner_has_no_contact_outside(way):
    """Both edges of it are at right angles to the normals of a parallel axis: rounding told outward from inward."""
    vertices = np.column_stack([STRAIGHT[:, 0], np.zeros(6), STRAIGHT[:, 1]])
    scene = Scene([("capsule", (0.01, 0.05)), ("polygon", ())], vertices=(None, vertices))
    for angle in np.linspace(0.0, 6.2, 30):
        turn = rotation_about((0, 1, 0), angle)
        scene.set_pose(1, np.zeros(3), turn)
        scene.set_pose(0, turn @ (0.1, 0.0, 0.1), turn @ rotation_about((0, 1, 0), way * np.pi / 2))
        contacts = scene.measure()
        assert contacts.count
        assert contacts.gap[: contacts.count].max() < -0.01
