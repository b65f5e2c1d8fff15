"""Edges that lie on faces and caps: contacts that stay as an edge tilts, against sampling and differences."""

from __future__ import annotations

import numpy as np
import pytest

from corekit.geometry.frames import rotation_from_rpy
from corekit_testing.rounding import rounding

from .test_edges import contacts, world

SOLIDS = {"box": (0.3, 0.2, 0.25), "cylinder": (0.25, 0.25)}
TOP, RADIUS = 0.25, 0.01
AWAY = 0.05
"""Margin up to which contacts are looked for [m]."""


@pytest.fixture(params=SOLIDS)
def solid(request):
    return request.param


def on(solid, nodes, edges, margin=AWAY, turn=None):
    """Contacts of edges over a solid at the origin; nodes in its axes."""
    turn = np.eye(3) if turn is None else turn
    table, poses = world(
        np.asarray(nodes) @ turn.T, edges, RADIUS, obstacles=[(solid, SOLIDS[solid], np.zeros(3), turn)]
    )
    return contacts(table, poses, margin)


def sampled_gap(solid, start, end):
    """Least distance from the solid, outside of it, of places on a segment, a millionth of it apart, less the radius.

    From a convex body it is convex along a line: the least lies beside the least of coarser places.
    """
    low, high = 0.0, 1.0
    for _ in range(2):
        t = np.linspace(low, high, 1001)
        x = start + t[:, None] * (np.asarray(end) - start)
        if solid == "box":
            outside = np.maximum(np.abs(x) - SOLIDS[solid], 0.0)
        else:
            across = np.hypot(x[:, 0], x[:, 1]) - SOLIDS[solid][0]
            outside = np.maximum(np.column_stack([across, np.abs(x[:, 2]) - TOP]), 0.0)
        distance = np.linalg.norm(outside, axis=1)
        least = distance.argmin()
        low, high = t[max(0, least - 1)], t[min(1000, least + 1)]
    return distance.min() - RADIUS


def test_an_edge_over_a_face_touches_by_both_nodes(solid):
    found = on(solid, [(-0.1, 0.05, 0.262), (0.15, 0.05, 0.262)], [(0, 1)])
    assert found.count == 2
    np.testing.assert_allclose(found.gap[:2], 0.002, atol=1e-12)
    np.testing.assert_array_equal(found.weight[:2, :2], [[1.0, 0.0], [0.0, 1.0]])
    np.testing.assert_array_equal(found.normal[:2], [[0.0, 0.0, 1.0]] * 2)


@pytest.mark.parametrize("tilt", [-1e-3, -1e-9, 0.0, 1e-9, 1e-3])
def test_contacts_stay_as_the_edge_tilts_to_and_fro(solid, tilt):
    level = on(solid, [(-0.1, 0.05, 0.262), (0.4, 0.05, 0.262)], [(0, 1)])
    found = on(solid, [(-0.1, 0.05, 0.262 + tilt), (0.4, 0.05, 0.262 - tilt)], [(0, 1)])
    assert found.count == level.count == 2
    assert 0.0 < found.weight[1, 0] < 1.0
    np.testing.assert_array_equal(found.id[:2], level.id[:2])
    np.testing.assert_allclose(found.gap[:2], level.gap[:2], atol=1.1 * abs(tilt) + 1e-12)


def test_the_least_gap_is_the_distance_of_the_nearest_place(solid):
    rng = np.random.default_rng(3)
    twos = 0
    for _ in range(300):
        middle = np.array([*rng.uniform(-0.3, 0.3, 2), TOP + rng.uniform(0.011, 0.03)])
        along = np.array([*rng.normal(size=2), 0.0])
        along = 0.1 * along / np.linalg.norm(along) + np.array([0.0, 0.0, rng.uniform(-0.008, 0.008)])
        found = on(solid, [middle - along, middle + along], [(0, 1)])
        gap = sampled_gap(solid, middle - along, middle + along)
        if gap < AWAY:
            assert found.gap[: found.count].min() == pytest.approx(gap, abs=2e-6)
            twos += found.count == 2
    assert twos > 100


def test_every_gap_moves_as_its_normal_and_material_points_say(solid):
    rng = np.random.default_rng(4)
    turn = rotation_from_rpy((0.3, -0.2, 0.5))
    between = 0
    for _ in range(100):
        middle = np.array([*rng.uniform(-0.28, 0.28, 2), TOP + 0.012])
        along = 0.1 * np.array([*rng.normal(size=2), 0.03 * rng.normal()])
        nodes = np.array([middle - along, middle + along])
        moved = 1e-6 * rng.normal(size=(2, 3))
        before, after = on(solid, nodes, [(0, 1)], turn=turn), on(solid, nodes + moved, [(0, 1)], turn=turn)
        if before.count != after.count:
            continue
        for c in range(before.count):
            assert before.id[c] == after.id[c]
            weight = before.weight[c, :2]
            rate = before.normal[c] @ (turn @ (weight @ moved))
            assert after.gap[c] - before.gap[c] == pytest.approx(rate, abs=2e-9)
            between += 0.0 < weight[0] < 1.0
    assert between > 20


def test_a_rod_lies_on_a_face_by_every_node_once(solid):
    rng = np.random.default_rng(5)
    nodes = np.column_stack([np.linspace(-0.2, 0.2, 9), 0.01 * rng.normal(size=9), np.full(9, TOP + RADIUS)])
    nodes[:, 2] += 1e-4 * rng.normal(size=9)
    found = on(solid, nodes, [(i, i + 1) for i in range(8)], 1e-3)
    assert found.count == 9
    assert len(set(found.id[:9])) == 9
    gaps = {}
    for c in range(9):
        slot = int(np.argmax(found.weight[c, :2]))
        gaps[int(found.frame[c, slot])] = found.gap[c]
    assert [gaps[i] for i in range(9)] == pytest.approx(list(nodes[:, 2] - TOP - RADIUS), abs=1e-12)


@pytest.mark.parametrize("tilt", [0.0, 1e-12, 3e-8, 7e-7, 1.1e-6, 1e-4])
def test_two_edges_share_one_contact_at_their_node_however_little_they_tilt(solid, tilt):
    """Its gap is its own height along either edge; no gap jumps where an edge counts as level or does not."""
    nodes = np.array([(-0.1, 0.05, 0.262), (0.0, 0.05, 0.262 + 0.1 * tilt), (0.1, 0.05, 0.262 - 0.1 * tilt)])
    found = on(solid, nodes, [(0, 1), (1, 2)])
    assert found.count == 3
    gaps = {
        int(found.frame[c, np.argmax(found.weight[c, :2])]): float(found.gap[c]) for c in range(found.count)
    }
    bound = rounding(10, 1.0)
    assert [gaps[i] for i in range(3)] == pytest.approx(list(nodes[:, 2] - TOP - RADIUS), abs=bound)


@pytest.mark.parametrize("askew", [0.0, 0.2])
def test_a_node_at_the_very_edge_of_a_face_is_one_contact(solid, askew):
    """The edge that goes on beyond touches by that node alone."""
    out = SOLIDS[solid][0]
    along = np.array([np.cos(askew), np.sin(askew), 0.0])
    nodes = np.array([out, 0.0, 0.262]) + np.linspace(-0.2, 0.2, 5)[:, None] * along
    for turn in (np.eye(3), rotation_from_rpy((0.3, -0.2, 0.5))):
        found = on(solid, nodes, [(i, i + 1) for i in range(4)], margin=0.005, turn=turn)
        assert found.count == 3
        np.testing.assert_allclose(found.gap[:3], 0.002, atol=1e-9)


@pytest.mark.parametrize("tilt", [0.0, 3e-8, 9.9e-7, 1.1e-6, 1e-5])
def test_where_an_edge_leaves_the_face_its_gap_is_its_height_there(solid, tilt):
    """At x = −0.3 of the box and −√(0.25² − 0.05²) of the cylinder, but for the square of the tilt."""
    out = 0.3 if solid == "box" else np.sqrt(0.25**2 - 0.05**2)
    for sign in (1.0, -1.0):
        low, high = (-0.4, 0.05, 0.262 - 0.4 * sign * tilt), (0.4, 0.05, 0.262 + 0.4 * sign * tilt)
        found = on(solid, [low, high], [(0, 1)])
        assert found.count == 2
        height = 0.002 + sign * tilt * out * np.array([-1.0, 1.0])
        np.testing.assert_allclose(found.gap[:2], height, rtol=0, atol=0.5 * tilt**2 + rounding(10, 1.0))


@pytest.mark.parametrize("beside", [-1e-4, 1e-4])
def test_an_edge_that_rises_from_an_end_beside_the_edge_of_the_box_touches_by_that_end_once(beside):
    """Where the lines are nearest beyond the end, the end has its own distance: to the face, or to the edge of it."""
    away = -np.sign(beside)
    end, other = (0.3 + beside, 0.0, 0.262), (0.3 + beside + 0.1 * away, 0.05, 0.267)
    found = on("box", [end, other], [(0, 1)])
    assert found.count == (1 if beside < 0.0 else 2)
    assert found.gap[: found.count].min() == pytest.approx(
        np.hypot(max(beside, 0.0), 0.012) - RADIUS, abs=1e-12
    )


def test_an_edge_along_an_edge_of_the_box_touches_as_over_the_face():
    found = on("box", [(-0.25, 0.2 - 1e-7, 0.262), (0.25, 0.2 + 1e-7, 0.262)], [(0, 1)])
    assert found.count == 2
    np.testing.assert_allclose(found.gap[:2], 0.002, atol=1e-7)


def test_a_steep_edge_touches_by_its_nearest_place_alone(solid):
    found = on(solid, [(0.0, 0.0, 0.27), (0.1, 0.0, 0.37)], [(0, 1)], np.inf)
    assert found.count == 1
    assert found.gap[0] == pytest.approx(0.01, abs=1e-12)


@pytest.mark.parametrize("solid", ["box"], indirect=True)
@pytest.mark.parametrize("beyond", [-1e-9, -1e-15, 0.0, 1e-15, 1e-9])
def test_an_edge_that_begins_where_the_face_ends_touches_it_once(solid, beyond):
    """In many poses, so that rounding leaves an overlap of its own size, or none."""
    rng = np.random.default_rng(0)
    for _ in range(40):
        turn = rotation_from_rpy(rng.uniform(-3.0, 3.0, 3))
        found = on(solid, [(0.3 + beyond, 0.05, 0.262), (0.5, 0.05, 0.262)], [(0, 1)], turn=turn)
        assert found.count == 1
        assert found.gap[0] == pytest.approx(0.002, abs=1e-12)
        np.testing.assert_allclose(turn.T @ found.point[0], (0.3, 0.05, 0.251), atol=1e-8)
