"""Axes parallel and ends in line, exactly or to rounding: gaps, points and supports are those of any other pose."""

import numpy as np
import pytest

from corekit_sdf.axial_overlap import PASSAGE
from corekit_sdf.features import CROSSING, FEATURES
from corekit_testing.gap_rates import gap_rates

from .pairs import LENGTH, Scene, excess, random_rotation, rotation_about, support

ON_SIDE, ACROSS = rotation_about((1, 0, 0), np.pi / 2), rotation_about((0, 1, 0), np.pi / 2)
DISK, ROD, LOG = ("cylinder", (0.06, 0.005)), ("capsule", (0.02, 0.1)), ("cylinder", (0.02, 0.1))


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


ALIGNED = [
    (DISK, DISK, (0.0, 0.0, 0.0101), np.eye(3), 4),
    (DISK, ("cylinder", (0.06, 0.1)), (0.0, 0.0, 0.1051), np.eye(3), 4),
    (ROD, ROD, (0.041, 0.0, 0.0), np.eye(3), 2),
    (LOG, LOG, (0.041, 0.0, 0.0), np.eye(3), 2),
    (("capsule", (0.02, 0.06)), DISK, (0.0, 0.0, 0.0251), ON_SIDE, 2),
    (ROD, ("box", (0.1, 0.05, 0.05)), (0.0, 0.05, 0.0701), ACROSS, 2),
    (ROD, ("box", (0.1, 0.05, 0.05)), (0.0, 0.055, 0.0701), ACROSS, 2),
    (LOG, ("box", (0.1, 0.05, 0.05)), (0.0, 0.055, 0.0701), ACROSS, 2),
]


@pytest.mark.parametrize(("first", "second", "place", "turn", "count"), ALIGNED)
def test_what_ends_together_stands_on_both_ends_whatever_the_rounding(first, second, place, turn, count):
    rng = np.random.default_rng(0)
    width = max(2.0 * min(max(first[1]), max(second[1])), 0.12)
    for _ in range(100):
        scene = Scene([first, second], obstacles=0)
        spun, shift = random_rotation(rng), rng.normal(size=3)
        scene.set_pose(1, shift, spun)
        scene.set_pose(0, shift + spun @ place, spun @ turn)
        points = np.array([row[2] for row in scene.rows().values()])
        assert len(points) == count
        assert np.linalg.norm(points[:, None] - points, axis=2).max() == pytest.approx(width, rel=1e-6)


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


@pytest.mark.parametrize(
    ("first", "second"),
    [(DISK, ("box", (0.05, 0.04, 0.03))), (LOG, ("box", (0.05, 0.04, 0.03))), (DISK, DISK)],
)
def test_deep_in_each_other_every_gap_has_the_rate_of_its_material_points(first, second):
    """A point deeper than the pair along another normal, with the gap of the pair, had the rate of neither."""
    rng = np.random.default_rng(6)
    compared, step = 0, 1e-6
    for _ in range(800):
        scene = Scene([first, second], obstacles=0)
        turn = (np.eye(3), ON_SIDE, ACROSS)[rng.integers(3)]
        lean = rotation_about(rng.normal(size=3), rng.uniform(0.005, 0.09))
        scene.set_pose(0, rng.normal(size=3) * rng.choice([0.005, 0.02, 0.05]), lean @ turn)
        home, turns = scene.position.copy(), scene.rotation.copy()
        contacts, rows = scene.measure(), scene.rows()
        velocity, spin = rng.normal(size=(2, 3)) * 0.1, rng.normal(size=(2, 3)) * 0.3
        rates = {key % FEATURES: rate for key, rate in gap_rates(contacts, turns, velocity, spin).items()}
        sides = []
        for sign in (1.0, -1.0):
            for k in range(2):
                spun = rotation_about(spin[k], sign * step * float(np.linalg.norm(spin[k]))) @ turns[k]
                scene.set_pose(k, home[k] + sign * step * velocity[k], spun)
            sides.append(scene.rows())
        for key in rows.keys() & sides[0].keys() & sides[1].keys():
            slides = key >= CROSSING if second[0] == "box" else max(key >> 4 & 15, key & 15) >= PASSAGE
            ahead, back = sides[0][key][0], sides[1][key][0]
            if slides or abs(ahead + back - 2 * rows[key][0]) > 1e-3 * step:
                continue
            assert (ahead - back) / (2 * step) == pytest.approx(rates[key], abs=1e-6)
            compared += 1
    assert compared > 40


@pytest.mark.parametrize("lean", [1e-8, 1e-7, 1e-6])
@pytest.mark.parametrize("first", [("capsule", (0.02, 0.05)), ("cylinder", (0.02, 0.05))])
def test_sides_that_seem_to_meet_beyond_an_end_touch_before_it(first, lean):
    """Nearly parallel lines cross, seen along the normal, beyond the end of the second: by rounding as near as any."""
    rng = np.random.default_rng(8)
    for _ in range(60):
        scene = Scene([first, ("cylinder", (0.05, 0.1))], obstacles=0, patch=False)
        turn, beyond = random_rotation(rng), rng.uniform(0.001, 0.049)
        scene.set_pose(1, np.zeros(3), turn)
        place, axes = (0.071, beyond * lean, 0.1), rotation_about((1, 0, 0), lean)
        scene.set_pose(0, turn @ place, turn @ axes)
        ((gap, n, x),) = scene.rows().values()
        for k, sign in ((0, 0.5), (1, -0.5)):
            local = scene.rotation[k].T @ (x + sign * gap * n - scene.position[k])
            assert abs(excess(scene.table.kind[k], scene.table.size[k], local)) < 1e-8


@pytest.mark.parametrize("angle", np.arange(8) * np.pi / 4)
def test_a_capsule_whose_axis_ends_on_segments_is_both_radii_deep(angle):
    """On a segment rounding chose the side that it is on, and from the other one the gap fell: it had no contact."""
    chain = np.array([[0.0, 0.0, 0.0], [0.2, 0.0, 0.0], [0.2, 0.0, 0.2], [0.1, 0.0, 0.1], [0.0, 0.0, 0.2]])
    rng = np.random.default_rng(int(10 * angle))
    for case in range(200):
        thick, half = rng.choice([0.0, 0.005]), rng.choice([0.01, 0.05])
        scene = Scene([("capsule", (0.01, half)), ("segments", (thick,))], vertices=(None, chain))
        turn = rotation_about((0, 1, 0), angle)
        k = rng.integers(4)
        place = chain[k] + rng.choice([0.0, 0.25, 0.5, 1.0]) * (chain[k + 1] - chain[k])
        scene.set_pose(0, place + rng.choice([-1.0, 1.0]) * half * turn[:, 2], turn)
        if case % 2:  # by rounding beside it
            scene.position[0] += 1e-17 * rng.normal(size=3) * (1.0, 0.0, 1.0)
        assert scene.gap <= -0.01 - thick + LENGTH


@pytest.mark.parametrize("overlap", [1e-9, 1e-7, 1e-5])
def test_a_capsule_that_hardly_overlaps_an_edge_of_a_polygon_has_one_contact(overlap):
    """Its end over the edge and the corner beside it were two, of which the lower gap remains."""
    square = np.array([[0.0, 0.0, 0.0], [0.2, 0.0, 0.0], [0.2, 0.0, 0.2], [0.0, 0.0, 0.2]])
    rng = np.random.default_rng(7)
    for _ in range(50):
        scene = Scene([("capsule", (0.02, 0.05)), ("polygon", ())], vertices=(None, square))
        lean = 1e-5 * rng.normal()
        turn = rotation_about((0, 1, 0), 0.5 * np.pi + lean)
        end = np.array([0.2 - overlap, 0.0, 0.221])
        scene.set_pose(0, end + 0.05 * turn[:, 2], turn)
        lowest = 0.001 - max(overlap * np.sin(lean), 0.0)
        ((gap, _, _),) = scene.rows().values()
        assert gap == pytest.approx(lowest, abs=1e-9)
