"""Capsules and cylinders along an edge of a box."""

import numpy as np
import pytest

from corekit_sdf.features import FEATURES
from corekit_testing.gap_rates import gap_rates

from .pairs import LENGTH, Scene, random_rotation, rotation_about

ROD = ("capsule", (0.02, 0.1))


@pytest.mark.parametrize("first", [ROD, ("cylinder", (0.02, 0.1))])
@pytest.mark.parametrize("lean", [0.0, 0.02])
@pytest.mark.parametrize("beyond", [-1e-5, -1e-15, 1e-15, 1e-5, 0.003])
def test_a_line_along_an_edge_of_a_box_touches_at_both_ends_of_the_overlap_from_either_side_of_it(
    first, lean, beyond
):
    """The line y = 0.06 + beyond, a radius and 1 mm above the corner (0.06, 0.005) or beside it, from x = −0.02 on."""
    gap, top = 1e-3, 0.005
    scene = Scene([first, ("box", (0.06, 0.06, top))], obstacles=0)
    along = rotation_about((0, 1, 0), -lean) @ rotation_about((0, 1, 0), np.pi / 2)
    height = top + 0.02 + gap
    scene.set_pose(1, np.zeros(3), random_rotation(np.random.default_rng(3)))
    place = np.array([0.08, 0.06 + beyond, height]) + 0.1 * (along[:, 2] - (1.0, 0.0, 0.0))
    scene.set_pose(0, scene.rotation[1] @ place, scene.rotation[1] @ along)
    rows = list(scene.rows().values())
    ends = np.array([row[2] for row in rows]) @ scene.rotation[1]
    order = np.argsort(ends[:, 0])
    assert len(rows) == 2
    np.testing.assert_allclose(ends[order, 0], (-0.02, 0.06), atol=2e-3)
    across = max(beyond, 0.0)
    for k, x in zip(order, (0.0, 0.08), strict=True):
        # the line is x·tan(lean) higher at the corner of the box, and as much nearer as it leans
        apart = np.hypot(across, (0.021 + x * np.tan(lean)) * (np.cos(lean) if x else 1.0))
        assert rows[k][0] == pytest.approx(apart - 0.02, abs=2e-5 if lean else 1e-12)


def test_rates_along_an_edge_are_those_of_the_material_points_and_normals_point_out_of_the_box():
    rng = np.random.default_rng(5)
    compared = 0
    for _ in range(80):
        kind = rng.choice(["capsule", "cylinder"])
        scene = Scene([(str(kind), (0.02, 0.1)), ("box", (0.06, 0.06, 0.06))], obstacles=0)
        lean = rotation_about(rng.normal(size=3), rng.uniform(1e-3, 0.08)) @ rotation_about(
            (0, 1, 0), np.pi / 2
        )
        away = np.array([0.0, *np.array([np.cos(0.8), np.sin(0.8)])])
        scene.set_pose(0, (rng.uniform(-0.1, 0.1), 0.06, 0.06) + rng.uniform(0.012, 0.022) * away, lean)
        home, turns = scene.position.copy(), scene.rotation.copy()
        contacts, rows = scene.measure(), scene.rows()
        velocity, spin, step = rng.normal(size=(2, 3)) * 0.1, rng.normal(size=(2, 3)) * 0.3, 1e-6
        rates = {key % FEATURES: rate for key, rate in gap_rates(contacts, turns, velocity, spin).items()}
        sides = []
        for sign in (1.0, -1.0):
            for k in range(2):
                turn = rotation_about(spin[k], sign * step * float(np.linalg.norm(spin[k]))) @ turns[k]
                scene.set_pose(k, home[k] + sign * step * velocity[k], turn)
            sides.append(scene.rows())
        for key in rows.keys() & sides[0].keys() & sides[1].keys():
            assert rows[key][1] @ away > 0.5
            ahead, back = sides[0][key][0], sides[1][key][0]
            if abs(ahead + back - 2 * rows[key][0]) < 1e-3 * step:  # else a breakpoint
                assert (ahead - back) / (2 * step) == pytest.approx(rates[key], abs=1e-7)
                compared += len(rows) > 1
    assert compared > 60


@pytest.mark.parametrize("kind", ["capsule", "cylinder"])
def test_a_line_over_a_face_that_begins_where_the_face_ends_is_not_taken_for_one_along_an_edge(kind):
    rng = np.random.default_rng(7)
    for _ in range(100):
        scene = Scene([(kind, (0.02, 0.1)), ("box", (0.06, 0.06, 0.05))], obstacles=0)
        turn = random_rotation(rng)
        scene.set_pose(1, np.zeros(3), turn)
        place = (0.16 + rng.choice([-1.0, 0.0, 1.0]) * 1e-17, rng.uniform(-0.05, 0.05), 0.071)
        scene.set_pose(0, turn @ place, turn @ rotation_about((0, 1, 0), np.pi / 2))
        assert scene.gap == pytest.approx(1e-3, abs=LENGTH)
