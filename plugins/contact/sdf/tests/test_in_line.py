"""Axes parallel and ends in line, exactly or to rounding: gaps, points and supports are those of any other pose."""

import numpy as np
import pytest

from .pairs import LENGTH, Scene, excess, random_rotation, rotation_about, support


def distance_of_axes(scene):
    """Of two segments: the least of the distances of an end, and of the lines where they cross inside of both."""
    p, (u, v), (h, k) = scene.position, scene.rotation[:, :, 2], scene.table.size[:, 1]

    def of_end(x, base, axis, half):
        return np.linalg.norm(x - base - np.clip((x - base) @ axis, -half, half) * axis)

    distances = [of_end(p[0] + s * h * u, p[1], v, k) for s in (1, -1)]
    distances += [of_end(p[1] + s * k * v, p[0], u, h) for s in (1, -1)]
    normal = np.cross(u, v)
    s, t = np.linalg.lstsq(np.column_stack([u, -v]), p[1] - p[0], rcond=None)[0]
    if abs(s) <= h and abs(t) <= k and np.linalg.norm(normal) > 1e-6:
        distances.append(abs((p[1] - p[0]) @ normal) / np.linalg.norm(normal))
    return min(distances)


@pytest.mark.parametrize("exponent", range(-14, 0))
def test_the_gap_of_nearly_parallel_axes_is_that_of_their_segments(exponent):
    """Down to an angle of rounding; a direction made of the sine of the angle would be as inexact as that is small."""
    rng = np.random.default_rng(-exponent)
    for _ in range(30):
        sizes = [(rng.uniform(0.01, 0.03), rng.uniform(0.05, 0.2)) for _ in range(2)]
        scene = Scene([("capsule", size) for size in sizes], obstacles=0)
        turn = random_rotation(rng)
        lean = rotation_about(rng.normal(size=3), rng.uniform(1.0, 5.0) * 10.0**exponent)
        scene.set_pose(0, turn @ (0.07, 0.0, rng.uniform(-0.15, 0.15)), turn @ lean)
        scene.set_pose(1, np.zeros(3), turn)
        assert scene.gap == pytest.approx(distance_of_axes(scene) - sizes[0][0] - sizes[1][0], abs=LENGTH)


@pytest.mark.parametrize("exponent", range(-14, -1))
def test_the_gap_of_nearly_parallel_cylinders_is_the_best_of_the_directions_about_its_normal(exponent):
    rng = np.random.default_rng(-exponent)
    for _ in range(30):
        scene = Scene([("cylinder", (0.1, 0.02)), ("cylinder", (0.01, 0.2))], obstacles=0)
        lean = rotation_about(rng.normal(size=3), 10.0**exponent)
        scene.set_pose(0, (0.109, 0.0, rng.uniform(-0.1, 0.1)), lean)
        low = min(scene.rows().values(), key=lambda row: row[0])
        tried = low[1] + rng.normal(size=(4000, 3)) * 10.0 ** rng.uniform(-14.0, -1.0, size=(4000, 1))
        tried /= np.linalg.norm(tried, axis=1)[:, None]
        extent = [support("cylinder", scene.table.size[k], tried @ scene.rotation[k]) for k in range(2)]
        assert (tried @ (scene.position[0] - scene.position[1]) - sum(extent)).max() <= low[0] + LENGTH


def test_the_point_of_a_side_along_an_edge_of_a_box_is_on_both():
    """By rounding the line ran beside the edge, and its nearest point was halfway to where it would cross it."""
    rng = np.random.default_rng(2)
    for _ in range(200):
        scene = Scene([("cylinder", (0.05, 0.2)), ("box", (0.1, 0.02, 0.12))], obstacles=0)
        spun, lean = random_rotation(rng), rotation_about(rng.normal(size=3), 10.0 ** rng.uniform(-9.5, -7.0))
        scene.set_pose(1, np.zeros(3), spun)
        scene.set_pose(0, spun @ (0.1, 0.0711, rng.uniform(-0.2, 0.2)), spun @ lean)
        gap, n, x = min(scene.rows().values(), key=lambda row: row[0])
        for k, sign in ((0, 0.5), (1, -0.5)):
            local = scene.rotation[k].T @ (x + sign * gap * n - scene.position[k])
            assert abs(excess(scene.table.kind[k], scene.table.size[k], local)) < 1e-6
