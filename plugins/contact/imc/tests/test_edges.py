"""The detector of edges against brute force, sampling and closed forms."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corekit.data.contacts import Candidates, ContactSet
from corekit.geometry.shapes import ShapePoses, ShapeTable
from corekit_imc.config import EdgeDetectorConfig
from corekit_imc.edges import EdgeDetector
from corekit_imc.neighbourhood import neighbour_keys
from corekit_testing.reference_detector import closest_points
from corekit_testing.rounding import rounding


def world(nodes, edges, radius=0.01, *, excluded=(), self_contact=True, obstacles=(), bodies=None):
    """A table and poses of edges between nodes (n, 3), one body unless `bodies` names the body of every edge.

    Obstacles are (kind, size, position, rotation).
    """
    nodes, m, n = np.asarray(nodes, dtype=float), len(edges), len(edges) + len(obstacles)
    size, position, rotation = np.zeros((n, 3)), np.zeros((n, 3)), np.tile(np.eye(3), (n, 1, 1))
    size[:m, 0] = radius
    position[:m], end = nodes[[a for a, _ in edges]], np.zeros((n, 3))
    end[:m] = nodes[[b for _, b in edges]]
    for k, (_, sizes, at, turn) in enumerate(obstacles):
        size[m + k, : len(sizes)], position[m + k], rotation[m + k] = sizes, at, turn
    none = np.full(len(obstacles), -1)
    table = ShapeTable(
        kind=("edge",) * m + tuple(kind for kind, *_ in obstacles),
        size=size,
        body=np.concatenate([np.zeros(m, dtype=int) if bodies is None else np.array(bodies), none]),
        frame=np.concatenate([[a for a, _ in edges], none]).astype(int),
        second_frame=np.concatenate([[b for _, b in edges], none]).astype(int),
        offset_position=np.zeros((n, 3)),
        offset_rotation=np.tile(np.eye(3), (n, 1, 1)),
        obstacle=np.concatenate([np.full(m, -1), np.arange(len(obstacles))]).astype(int),
        vertices=(None,) * n,
        excluded_pairs=np.array(excluded, dtype=np.int64).reshape(-1, 2),
        self_contact=np.array([self_contact] * (1 if bodies is None else max(bodies) + 1)),
    )
    poses = ShapePoses(position, rotation, end, nodes, np.tile(np.eye(3), (len(nodes), 1, 1)))
    return table, poses


def find_pairs(table, poses, margin, **options):
    detector = EdgeDetector(EdgeDetectorConfig(**options))
    detector.prepare(table, detector.supported_pairs)
    pairs = Candidates(1)
    detector.find_candidates(poses, margin, pairs)
    return detector, pairs


def contacts(table, poses, margin=np.inf, **options):
    detector, pairs = find_pairs(table, poses, 1e3 if margin == np.inf else margin, **options)
    contact_set = ContactSet(1)
    detector.compute_contacts(pairs, poses, margin, contact_set)
    return contact_set


@given(seed=st.integers(0, 10_000), count=st.integers(2, 40), margin=st.floats(0.0, 0.3))
@settings(max_examples=30, deadline=None)
def test_the_hash_misses_no_pair_and_reports_none_twice(seed, count, margin):
    """Against the distance of every pair, with edges of very different lengths."""
    rng = np.random.default_rng(seed)
    start = rng.uniform(-1, 1, (count, 3))
    end = start + rng.normal(size=(count, 3)) * rng.choice([0.02, 0.2, 1.0], (count, 1))
    nodes = np.concatenate([start, end])
    edges = [(i, count + i) for i in range(count)]
    table, poses = world(nodes, edges, bodies=list(range(count)))
    _, contact_set = find_pairs(table, poses, margin)
    pairs = [tuple(pair) for pair in contact_set.pairs[: contact_set.count].tolist()]
    assert len(set(pairs)) == len(pairs)
    assert all(i < j for i, j in pairs)
    for i, j in itertools.combinations(range(count), 2):
        s, t = closest_points(start[i], end[i], start[j], end[j])
        offset = start[i] + s * (end[i] - start[i]) - start[j] - t * (end[j] - start[j])
        if np.linalg.norm(offset) - 0.02 < margin:
            assert (i, j) in pairs


def helix(n, turns, radius, pitch):
    angle = np.linspace(0, 2 * np.pi * turns, n)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle), pitch * angle / (2 * np.pi)])


@pytest.mark.parametrize("nodes", [21, 101, 401])
def test_a_straight_rod_never_touches_itself_at_any_mesh_size(nodes):
    """Edges down to an eighth of the radius; the model excludes only adjacent ones."""
    points = np.column_stack([np.linspace(0, 1, nodes), np.zeros(nodes), np.zeros(nodes)])
    edges = [(i, i + 1) for i in range(nodes - 1)]
    table, poses = world(points, edges, radius=0.02, excluded=[(i, i + 1) for i in range(nodes - 2)])
    assert contacts(table, poses, margin=1e-3).count == 0


def test_a_tight_helix_touches_itself_from_coil_to_coil_alone():
    """Coils 1.5 diameters apart at a gap below the margin; neighbours along the rod are excluded."""
    radius, n = 0.01, 300
    points = helix(n, 3, 0.05, 0.022)
    table, poses = world(points, [(i, i + 1) for i in range(n - 1)], radius=radius)
    contact_set = contacts(table, poses, margin=0.01)
    assert contact_set.count > 50
    offset = np.abs(np.diff(contact_set.shape[: contact_set.count], axis=1)) * (n - 1) ** -1 * 3
    assert offset.min() > 0.8  # turns between the edges of a pair
    assert contact_set.gap[: contact_set.count].min() == pytest.approx(
        0.022 * np.cos(np.arctan(0.022 / (0.1 * np.pi))) - 0.02, rel=0.02
    )


def test_neighbourhoods_lead_over_joints_and_around_rings():
    """A ring of eight edges of 1 m: with c·(r₁ + r₂) = 1.5 m, edges up to two away are neighbours."""
    n = 8
    ends = np.array([(i, (i + 1) % n) for i in range(n)])
    keys = neighbour_keys(np.arange(n), ends, np.ones(n), np.full(n, 0.5), n, 1.5)
    pairs = {(int(key) // n, int(key) % n) for key in keys}
    expected = {(i, j) for i, j in itertools.combinations(range(n), 2) if min(j - i, n - j + i) <= 2}
    assert pairs == expected
    # a cross of four arms in node 0, two edges each: over the joint the inner edges are adjacent
    star = np.array([(0, 1), (1, 2), (0, 3), (3, 4), (0, 5), (5, 6), (0, 7), (7, 8)])
    keys = neighbour_keys(np.arange(8), star, np.ones(8), np.full(8, 0.4), 8, 1.0)
    pairs = {(int(key) // 8, int(key) % 8) for key in keys}
    assert pairs == {(0, 1), (2, 3), (4, 5), (6, 7), (0, 2), (0, 4), (0, 6), (2, 4), (2, 6), (4, 6)}


def test_nodes_on_a_floor_are_reported_once_with_the_largest_radius():
    points = [(0, 0, 0.05), (0.1, 0, 0.05), (0.2, 0, 0.06), (0.1, 0.1, 0.07)]
    edges = [(0, 1), (1, 2), (1, 3)]
    table, poses = world(points, edges, obstacles=[("half-space", (), (0, 0, 0), np.eye(3))])
    table.size[:3, 0] = [0.01, 0.02, 0.015]
    contact_set = contacts(table, poses, margin=0.1, neighbourhood=10.0)
    m = contact_set.count
    assert sorted(contact_set.frame[:m, 0].tolist()) == [0, 1, 2, 3]
    gaps = dict(zip(contact_set.frame[:m, 0].tolist(), contact_set.gap[:m], strict=True))
    assert [gaps[k] for k in range(4)] == pytest.approx([0.04, 0.03, 0.04, 0.055], abs=rounding(32))
    assert (contact_set.normal[:m] == [0, 0, 1]).all()
    assert (contact_set.weight[:m, 0] == 1.0).all()
    assert len(set(contact_set.id[:m].tolist())) == m


SOLIDS = {"sphere": (0.3,), "cylinder": (0.2, 0.3), "box": (0.3, 0.2, 0.25)}


def distance_to(kind, size, x):
    """Signed distance of points (n, 3) in the solid's axes, from outside."""
    if kind == "sphere":
        return np.linalg.norm(x, axis=1) - size[0]
    if kind == "cylinder":
        q = np.column_stack([np.hypot(x[:, 0], x[:, 1]) - size[0], np.abs(x[:, 2]) - size[1]])
    else:
        q = np.abs(x) - size
    return np.linalg.norm(np.maximum(q, 0), axis=1) + np.minimum(q.max(axis=1), 0)


@pytest.mark.parametrize("kind", SOLIDS)
def test_gaps_to_solids_are_the_least_along_the_edge(kind):
    """Against 20 001 points of the edge, at random poses apart from the solid."""
    rng = np.random.default_rng(5)
    fraction = np.linspace(0, 1, 20_001)[:, None]
    for _ in range(20):
        turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        turn *= np.sign(np.linalg.det(turn))
        centre = rng.normal(size=3)
        away = rng.normal(size=3)
        away *= 0.7 / np.linalg.norm(away)
        nodes = centre + away + 0.25 * rng.normal(size=(2, 3))
        inside = (nodes[0] * (1 - fraction) + nodes[1] * fraction - centre) @ turn
        min_distance = distance_to(kind, np.array(SOLIDS[kind]), inside).min()
        if min_distance < 1e-3:
            continue
        table, poses = world(nodes, [(0, 1)], obstacles=[(kind, SOLIDS[kind], centre, turn)])
        contact_set = contacts(table, poses)
        assert contact_set.count == 1
        assert contact_set.gap[0] == pytest.approx(min_distance - 0.01, abs=2e-8)
        # the normal points from the solid into the edge, the weights sum to one
        assert contact_set.weight[0, :2].sum() == pytest.approx(1.0)
        on_axis = contact_set.weight[0, 0] * nodes[0] + contact_set.weight[0, 1] * nodes[1]
        assert on_axis == pytest.approx(
            contact_set.point[0] + (0.01 + 0.5 * contact_set.gap[0]) * contact_set.normal[0]
        )


def test_a_nan_position_is_reported_not_dropped():
    table, poses = world(
        [(0, 0, np.nan), (1, 0, 0.5)], [(0, 1)], obstacles=[("half-space", (), (0, 0, 0), np.eye(3))]
    )
    contact_set = contacts(table, poses, margin=0.1)
    assert np.isnan(contact_set.gap[: contact_set.count]).any()


def test_lengths_at_the_first_step_are_the_internal_state():
    """A resumed detector excludes the same pairs although the rod has shrunk meanwhile."""
    points = np.column_stack([np.linspace(0, 1, 11), np.zeros(11), np.zeros(11)])
    edges = [(i, i + 1) for i in range(10)]
    table, poses = world(points, edges, radius=0.02)
    first, contact_set = find_pairs(table, poses, 0.3)
    _, shrunk = world(0.2 * points, edges, radius=0.02)
    first.find_candidates(shrunk, 0.3, contact_set)
    restored = EdgeDetector()
    restored.prepare(table, restored.supported_pairs)
    restored.restore(first.internal_state())
    restored_pairs, fresh_pairs = Candidates(1), Candidates(1)
    restored.find_candidates(shrunk, 0.3, restored_pairs)
    fresh_detector = EdgeDetector()
    fresh_detector.prepare(table, fresh_detector.supported_pairs)
    fresh_detector.find_candidates(shrunk, 0.3, fresh_pairs)
    assert np.array_equal(
        restored_pairs.pairs[: restored_pairs.count], contact_set.pairs[: contact_set.count]
    )
    assert fresh_pairs.count < restored_pairs.count
