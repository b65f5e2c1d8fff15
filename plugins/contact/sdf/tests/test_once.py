"""No contact of a pair is reported twice, and none that supports it is missing, at rims, edges and corners."""

import numpy as np
import pytest

from .pairs import LENGTH, Scene, random_rotation, rotation_about

ON_SIDE = rotation_about((1, 0, 0), np.pi / 2)
DISK, ROD = ("cylinder", (0.06, 0.005)), ("capsule", (0.02, 0.1))
NEAR = 0.05
"""Distance at which two points of a patch count as one, relative to the lesser of the features that lie there."""


def points(scene):
    return np.array([row[2] for row in scene.rows().values()])


def least_distance(x):
    apart = np.linalg.norm(x[:, None] - x[None], axis=2) + np.diag(np.full(len(x), np.inf))
    return apart.min()


def over_the_flat(kind, size, x):
    """Which points, in the axes of the second shape, are above or below its upper flat."""
    level = np.abs(x[:, :2]).max(axis=1) if kind == "box" else np.hypot(x[:, 0], x[:, 1])
    return level <= size[0] + 1e-9


@pytest.mark.parametrize("second", [DISK, ("cylinder", (0.06, 0.1)), ("box", (0.06, 0.06, 0.005))])
@pytest.mark.parametrize("first", [ROD, ("cylinder", (0.02, 0.1))])
@pytest.mark.parametrize("gap", [1e-3, -1e-3])
def test_a_line_at_the_rim_of_a_flat_touches_it_as_samples_of_both_do(first, second, gap):
    """From a line that passes the rim, or a corner, at one point to one that lies across half of the flat."""
    rng = np.random.default_rng(0)
    top, size = second[1][-1], 0.06  # of the flat, the lesser of both features
    for case in range(60):
        turn = rotation_about((0, 0, 1), 0.25 * np.pi * (case % 3))
        chord = turn @ ON_SIDE
        away = turn @ (1.0, 0.0, 0.0)
        # as far aside as the rim, or the corner that the line passes, less a depth from rounding to all of it
        rim = 0.06 * (np.sqrt(2.0) if second[0] == "box" and case % 3 == 1 else 1.0)
        depth = 0.0 if case < 3 else 10.0 ** rng.uniform(-14.0, -1.5)
        place = (rim - depth) * away + rng.uniform(-0.12, 0.12) * chord[:, 2]
        scene = Scene([first, second], obstacles=0)
        spun = random_rotation(rng)
        scene.set_pose(1, np.zeros(3), spun)
        scene.set_pose(0, spun @ (place + (0.0, 0.0, top + 0.02 + gap)), spun @ chord)
        found = points(scene)
        assert len(found) == 1 or least_distance(found) >= NEAR * size - LENGTH
        lowest = place + (0.0, 0.0, top + 0.5 * gap) + np.linspace(-0.1, 0.1, 20001)[:, None] * chord[:, 2]
        touching = lowest[over_the_flat(second[0], second[1], lowest)]
        if gap < 0.0 and depth < 2.0 * abs(gap):  # out by the side of the flat is shorter
            continue
        for end in touching[[0, -1]] if len(touching) else []:
            assert np.linalg.norm(found @ spun - end, axis=1).min() <= NEAR * size + 1e-5


@pytest.mark.parametrize("flat", [{"patch": True}, {"patch": False}])
def test_a_rim_touched_at_one_point_has_the_contact_there(flat):
    """A rod that passes a rim, and disks rim to rim: by rounding neither lies on the other, nor beside it."""
    rng = np.random.default_rng(4)
    for _ in range(100):
        scene = Scene([DISK, ROD], obstacles=0, **flat)
        azimuth, along, gap = rng.uniform(0.0, 6.3), rng.uniform(-0.09, 0.09), 1e-3
        turn, spun = rotation_about((0, 0, 1), azimuth), random_rotation(rng)
        scene.set_pose(0, np.zeros(3), spun)
        scene.set_pose(1, spun @ turn @ (0.06, along, 0.005 + 0.02 + gap), spun @ turn @ ON_SIDE)
        np.testing.assert_allclose(points(scene), (spun @ turn @ (0.06, 0.0, 0.0055))[None], atol=1e-6)
        disks = Scene([DISK, DISK], obstacles=0, **flat)
        disks.set_pose(0, np.zeros(3), spun)
        disks.set_pose(1, spun @ turn @ (0.12, 0.0, 0.01 + gap), spun)
        np.testing.assert_allclose(points(disks), (spun @ turn @ (0.06, 0.0, 0.0055))[None], atol=1e-5)
        rods = Scene([ROD, ROD], obstacles=0, **flat)
        rods.set_pose(0, np.zeros(3), spun)
        rods.set_pose(1, spun @ turn @ (0.04 + gap, 0.0, 0.2), spun)
        np.testing.assert_allclose(points(rods), (spun @ turn @ (0.0205, 0.0, 0.1))[None], atol=1e-6)
