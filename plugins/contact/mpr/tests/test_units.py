"""Pairs in other units: no length of the detector's own."""

import numpy as np
import pytest

from .pairs import KINDS, Scene, random_rotation, random_shape, rotation_about

UNITS = (2.0**-20, 2.0**-10, 2.0**10)
"""From 1e-6 to 1e3. Powers of two scale every sum, product and root of lengths exactly, so that nothing may differ."""
TURNS = (np.eye(3), *(rotation_about(axis, np.pi / 2) for axis in ((1, 0, 0), (0, 1, 0), (1, 1, 1))))
PRISM = np.array([[x, y, z] for x in (-0.05, 0.05) for y in (-0.04, 0.04) for z in (-0.03, 0.03)])


def scaled(shapes, place, turns, unit):
    scene = Scene(
        [(kind, tuple(unit * np.asarray(size))) for kind, size, _ in shapes],
        [None if vertices is None else unit * vertices for _, _, vertices in shapes],
    )
    for k in range(2):
        scene.set_pose(k, unit * place[k], turns[k])
    return scene


@pytest.mark.parametrize(
    "kinds", [*KINDS, *((kind, "half-space") for kind in ("box", "polytope", "cylinder"))]
)
def test_a_pair_in_other_units_has_the_same_contacts(kinds):
    """Random and aligned, leaning by 1e-12 to 0.1 rad, apart, touching and deep."""
    rng = np.random.default_rng(41)
    for case in range(32):
        shapes = [(kind, *random_shape(rng, kind)) for kind in kinds]
        if case % 2:
            shapes = [(kind, size, None if vertices is None else PRISM) for kind, size, vertices in shapes]
        lean = rotation_about(rng.normal(size=3), 10.0 ** rng.uniform(-12.0, -1.0))
        aligned = lean @ TURNS[case % 4]
        world = random_rotation(rng)
        turns = [world @ (aligned if case % 3 else random_rotation(rng)), world]
        place = [world @ rng.choice([0.0, 0.02, 0.05, 0.1, 0.13], 3), np.zeros(3)]
        gap, normal, _ = scaled(shapes, place, turns, 1.0).closest()
        place[0] = place[0] + (rng.choice([0.0, 1e-3, -1e-3, -1e-2]) - gap) * normal
        rows = scaled(shapes, place, turns, 1.0).rows()
        for unit in UNITS:
            others = scaled(shapes, place, turns, unit).rows()
            assert list(others) == list(rows)
            for key, (gap, normal, point) in rows.items():
                np.testing.assert_array_equal(others[key][0], unit * gap)
                np.testing.assert_array_equal(others[key][1], normal)
                np.testing.assert_array_equal(others[key][2], unit * point)


def test_a_thin_plate_gets_out_of_its_middle():
    """Where the centres nearly agree the search starts beside them, and must still be inside of both."""
    rng = np.random.default_rng(43)
    plate = (1.0, 1.0, 1e-6)
    scene = Scene([("sphere", (1e-4,)), ("box", plate)])
    for _ in range(50):
        turn = random_rotation(rng)
        height = rng.uniform(-1e-6, 1e-6)
        scene.set_pose(1, np.zeros(3), turn)
        scene.set_pose(0, turn @ (*rng.normal(size=2) * 1e-7, height), random_rotation(rng))
        assert scene.gap == pytest.approx(abs(height) - 1e-6 - 1e-4, abs=1e-5 * 1e-6)
