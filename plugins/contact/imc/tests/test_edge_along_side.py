"""Edges that lie along capsules and cylinders: contacts that stay as an edge tilts, by sampling and differences."""

from __future__ import annotations

import numpy as np
import pytest
from attrs import evolve

from corekit.geometry.frames import rotation_from_rpy
from corekit.geometry.shapes import ShapePoses

from .test_edges import contacts, world

RADIUS, THICK, HALF = 0.01, 0.05, 0.25
AWAY = 0.05
"""Margin up to which contacts are looked for [m]."""
OVER = THICK + RADIUS + 0.002
"""Height of an edge 2 mm above the side [m]."""


@pytest.fixture(params=["capsule", "cylinder"])
def solid(request):
    return request.param


def along(solid, nodes, edges, turn=None):
    """Contacts of edges beside a solid about the z axis; nodes in its axes."""
    turn = np.eye(3) if turn is None else turn
    obstacle = (solid, (THICK, HALF), np.zeros(3), turn)
    beside = world(np.asarray(nodes) @ turn.T, edges, RADIUS, obstacles=[obstacle], self_contact=False)
    return contacts(*beside, AWAY)


def sampled_gap(solid, start, end):
    """Least distance from the solid of places on a segment, a millionth of it apart, less the radius."""
    low, high = 0.0, 1.0
    for _ in range(2):
        t = np.linspace(low, high, 1001)
        x = start + t[:, None] * (np.asarray(end) - start)
        across, beyond = np.hypot(x[:, 0], x[:, 1]), np.maximum(np.abs(x[:, 2]) - HALF, 0.0)
        if solid == "capsule":
            distance = np.hypot(across, beyond) - THICK
        else:
            distance = np.hypot(np.maximum(across - THICK, 0.0), beyond)
        least = distance.argmin()
        low, high = t[max(0, least - 1)], t[min(1000, least + 1)]
    return distance.min() - RADIUS


@pytest.mark.parametrize("tilt", [-1e-3, -1e-9, 0.0, 1e-9, 1e-3])
def test_contacts_stay_as_the_edge_tilts_to_and_fro(solid, tilt):
    """By its node at z = −0.1, and where the solid ends, at z = 0.25: 0.7 of the edge."""
    level = along(solid, [(OVER, 0, -0.1), (OVER, 0, 0.4)], [(0, 1)])
    found = along(solid, [(OVER + tilt, 0, -0.1), (OVER - tilt, 0, 0.4)], [(0, 1)])
    assert found.count == level.count == 2
    np.testing.assert_array_equal(found.id[:2], level.id[:2])
    np.testing.assert_allclose(level.gap[:2], 0.002, atol=1e-12)
    np.testing.assert_allclose(level.weight[:2, 1], [0.0, 0.7], atol=1e-12)
    np.testing.assert_allclose(found.gap[:2], [0.002 + tilt, 0.002 - 0.4 * tilt], atol=1e-6)
    # the foot of the end of the axis moves by the distance from it times the angle, 2·tilt/0.5
    most = 4.0 * abs(tilt) * (OVER + abs(tilt)) / 0.5
    np.testing.assert_allclose(found.weight[:2, 1], level.weight[:2, 1], atol=most + 1e-12)


def test_the_least_gap_is_the_distance_of_the_nearest_place(solid):
    rng = np.random.default_rng(3)
    counts = [0, 0, 0]
    for _ in range(300):
        middle = np.array([THICK + rng.uniform(0.011, 0.03), 0.0, rng.uniform(-0.4, 0.4)])
        reach = 0.1 * np.array([*rng.choice([0.005, 0.05], 2) * rng.normal(size=2), 1.0])
        found = along(solid, [middle - reach, middle + reach], [(0, 1)])
        gap = sampled_gap(solid, middle - reach, middle + reach)
        if -0.9 * RADIUS < gap < AWAY:  # inside of a cylinder the sampled distance is 0
            # a thousandth of the radius
            assert found.gap[: found.count].min() == pytest.approx(gap, abs=1.01e-5)
            counts[found.count] += 1
    assert min(counts[1:]) > 30


def test_every_gap_moves_as_its_normal_and_material_points_say(solid):
    rng = np.random.default_rng(4)
    turn = rotation_from_rpy((0.3, -0.2, 0.5))
    between = 0
    for _ in range(100):
        middle = np.array([OVER, 0.0, rng.uniform(-0.3, 0.3)])
        reach = 0.1 * np.array([*0.003 * rng.normal(size=2), 1.0])
        nodes = np.array([middle - reach, middle + reach])
        moved = 1e-6 * rng.normal(size=(2, 3))
        before, after = along(solid, nodes, [(0, 1)], turn), along(solid, nodes + moved, [(0, 1)], turn)
        if before.count != after.count:
            continue
        for c in range(before.count):
            weight = before.weight[c, :2]
            rate = before.normal[c] @ (turn @ (weight @ moved))
            # second order: 1e-12 over the distance, and a foot that moves at an angle of 3e-3 by 1e-6·3e-3
            assert after.gap[c] - before.gap[c] == pytest.approx(rate, abs=1e-9)
            between += 0.0 < weight[0] < 1.0
    assert between > 20


def test_a_rod_lies_along_a_side_by_every_node_once(solid):
    rng = np.random.default_rng(5)
    z = np.linspace(-0.2, 0.2, 9)
    nodes = np.column_stack([THICK + RADIUS + 1e-4 * rng.normal(size=9), 1e-4 * rng.normal(size=9), z])
    found = along(solid, nodes, [(i, i + 1) for i in range(8)])
    assert found.count == 9
    np.testing.assert_allclose(
        np.sort(found.gap[:9]), np.sort(np.hypot(nodes[:, 0], nodes[:, 1]) - THICK - RADIUS), atol=1e-12
    )


def test_a_capsule_before_the_edge_is_the_same_pair():
    """The normal leads from the second shape into the first, and the capsule moves along it."""
    table, poses = world([(OVER, 0, -0.1), (OVER, 0, 0.1)], [(0, 1)], RADIUS, obstacles=[
        ("capsule", (THICK, HALF), np.zeros(3), np.eye(3))
    ])  # fmt: skip
    back = np.array([1, 0])
    columns = ("size", "second_frame", "offset_position", "offset_rotation")
    turned = evolve(
        table,
        kind=table.kind[::-1],
        body=back,
        frame=np.array([2, 0]),
        obstacle=np.full(2, -1),
        self_contact=np.zeros(2, dtype=bool),
        **{name: getattr(table, name)[back] for name in columns},
    )
    frames = np.vstack([poses.frame_position, np.zeros(3)]), np.tile(np.eye(3), (3, 1, 1))
    at = ShapePoses(poses.position[back], poses.rotation[back], poses.end[back], *frames)
    found, other = contacts(table, poses, AWAY), contacts(turned, at, AWAY)
    assert found.count == other.count == 2
    np.testing.assert_array_equal(other.gap[:2], found.gap[:2])
    np.testing.assert_array_equal(other.normal[:2], -found.normal[:2])
    np.testing.assert_array_equal(other.weight[:2], [[-1.0, 0.0, 1.0, 0.0], [0.0, -1.0, 1.0, 0.0]])
