"""Ends that edges share are one contact: the answer is that of spheres at the nodes, which know no edges."""

import numpy as np
import pytest

from corekit.data.contacts import Candidates, ContactSet
from corekit.geometry.shapes import ShapePoses, ShapeTable
from corekit_sdf.config import SdfConfig
from corekit_sdf.detector import SdfDetector

RADIUS = 0.01


class Nodes:
    """Edges between nodes, or spheres at them, over the last shape, an obstacle; every node is a frame."""

    def __init__(self, nodes, edges, obstacle, radii=None, at=(0.0, 0.0, 0.0)):
        nodes, kind_size = np.asarray(nodes, dtype=float), obstacle
        frames = np.asarray(edges if edges is not None else [(i, -1) for i in range(len(nodes))])
        count = len(frames)
        n = count + 1
        size = np.zeros((n, 3))
        size[:count, 0] = RADIUS if radii is None else radii
        size[-1, : len(kind_size[1])] = kind_size[1]
        self.table = ShapeTable(
            kind=("edge" if edges is not None else "sphere",) * count + (kind_size[0],),
            size=size,
            body=np.array([0] * count + [-1]),
            frame=np.append(frames[:, 0], -1),
            second_frame=np.append(frames[:, 1], -1),
            offset_position=np.zeros((n, 3)),
            offset_rotation=np.tile(np.eye(3), (n, 1, 1)),
            obstacle=np.array([-1] * count + [0]),
            vertices=(None,) * n,
            excluded_pairs=np.zeros((0, 2), dtype=np.int64),
            self_contact=np.zeros(1, dtype=bool),
        )
        position = np.vstack([nodes[frames[:, 0]], at])
        end = position.copy()
        if edges is not None:
            end[:count] = nodes[frames[:, 1]]
        turn = np.tile(np.eye(3), (max(n, len(nodes)), 1, 1))
        self.poses = ShapePoses(position, turn[:n], end, nodes, turn[: len(nodes)])

    def contacts(self, margin=0.005):
        detector = SdfDetector(SdfConfig())
        detector.prepare(self.table, detector.supported_pairs)
        candidates, found = Candidates(), ContactSet()
        detector.find_candidates(self.poses, margin, candidates)
        detector.compute_contacts(candidates, self.poses, margin, found)
        return found


def rows(contacts):
    """Frame, gap, normal and point of every contact, in the order of frames."""
    n = contacts.count
    order = np.argsort(contacts.frame[:n, 0], kind="stable")
    return [each[:n][order] for each in (contacts.frame, contacts.gap, contacts.normal, contacts.point)]


def chain(count):
    return [(i, i + 1) for i in range(count - 1)]


def wavy(count, height, seed=0):
    """Nodes that lie within 0.1 mm of a height."""
    rng = np.random.default_rng(seed)
    return np.column_stack([0.02 * np.arange(count), np.zeros(count), height + 1e-4 * rng.random(count)])


@pytest.mark.parametrize(
    ("obstacle", "at"),
    [(("half-space", ()), (0.0, 0.0, 0.0)), (("box", (0.5, 0.5, 0.1)), (0.0, 0.0, -0.1))],
    ids=["half-space", "box"],
)
@pytest.mark.parametrize("depth", [-1e-3, 1e-3])
def test_a_rod_touches_by_every_node_once(obstacle, at, depth):
    nodes = wavy(12, RADIUS - depth)
    ours = rows(Nodes(nodes, chain(12), obstacle, at=at).contacts())
    theirs = rows(Nodes(nodes, None, obstacle, at=at).contacts())
    np.testing.assert_array_equal(ours[0], theirs[0])
    for one, other in zip(ours[1:], theirs[1:], strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


@pytest.mark.parametrize("beside", [0.0, 0.004, 0.009])
def test_a_rod_along_an_edge_of_a_box_touches_by_every_node_once(beside):
    """The corner of the box is the line y = z = 0 below the rod or beside it, where no face is."""
    nodes = np.column_stack(
        [0.02 * np.arange(8) - 0.07, np.full(8, beside), np.full(8, np.sqrt(1e-4 - beside**2))]
    )
    box = ("box", (0.5, 0.1, 0.1))
    ours = rows(Nodes(nodes, chain(8), box, at=(0.0, -0.1, -0.1)).contacts())
    theirs = rows(Nodes(nodes, None, box, at=(0.0, -0.1, -0.1)).contacts())
    np.testing.assert_array_equal(ours[0], theirs[0])
    for one, other in zip(ours[1:], theirs[1:], strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


def test_a_junction_of_three_edges_touches_once():
    nodes = [(0.0, 0.0, RADIUS), (0.05, 0.0, 0.03), (-0.05, 0.03, 0.03), (-0.05, -0.03, 0.03)]
    found = Nodes(nodes, [(0, 1), (0, 2), (3, 0)], ("half-space", ())).contacts(0.001)
    assert found.count == 1
    np.testing.assert_array_equal(found.frame[0], [0, -1, -1, -1])
    np.testing.assert_array_equal(found.weight[0], [1.0, 0.0, 0.0, 0.0])
    np.testing.assert_array_equal(found.shape[0], [0, 3])


def test_ends_of_unequal_edges_are_two_contacts():
    nodes = wavy(3, RADIUS)
    found = Nodes(nodes, chain(3), ("half-space", ()), radii=[RADIUS, 0.8 * RADIUS]).contacts()
    assert sorted(found.frame[: found.count, 0]) == [0, 1, 1, 2]
    assert len(set(found.id[: found.count])) == 4


def test_nodes_at_one_place_that_edges_do_not_share_are_two_contacts():
    nodes = [(0.0, 0.0, RADIUS), (0.02, 0.0, RADIUS), (0.02, 0.0, RADIUS), (0.04, 0.0, RADIUS)]
    found = Nodes(nodes, [(0, 1), (2, 3)], ("half-space", ())).contacts()
    assert sorted(found.frame[: found.count, 0]) == [0, 1, 2, 3]


def test_contacts_between_the_ends_stay_those_of_every_edge():
    nodes = [(0.0, 0.0, 0.0), (0.04, 0.0, 0.0), (0.08, 0.0, 0.0)]
    # a sphere under the middle of either edge, in turn
    for x, edge in ((0.02, 0), (0.06, 1)):
        found = Nodes(nodes, chain(3), ("sphere", (0.02,)), at=(x, 0.0, -0.03)).contacts(1e-3)
        assert found.count == 1
        assert found.shape[0, 0] == edge
        np.testing.assert_allclose(found.weight[0, :2], [0.5, 0.5], atol=1e-12)
    # and one under the node: where its place on the edges moves over the node, there are two at every place
    for x in (0.04 - 1e-9, 0.04, 0.04 + 1e-9):
        found = Nodes(nodes, chain(3), ("sphere", (0.02,)), at=(x, 0.0, -0.03)).contacts(1e-3)
        assert found.count == 2


def test_over_the_edge_of_a_box_the_number_of_contacts_stays():
    """A rod bent over an edge of a box, moved along itself: its nearest place goes from edge to edge over a node."""
    corner = np.array([0.0, 0.0, 0.0])
    for shift in np.linspace(-1e-3, 1e-3, 5):
        angle = np.array([-0.6, 0.0, 0.6]) + shift / 0.1
        nodes = np.column_stack([0.1 * np.sin(angle), 0.0 * angle, 0.1 * (np.cos(angle) - 1.0) + RADIUS])
        box = Nodes(nodes, chain(3), ("box", (0.2, 0.2, 0.2)), at=corner + [0.0, 0.0, -0.2 * np.sqrt(2.0)])
        turn = np.array(
            [[np.sqrt(0.5), 0.0, np.sqrt(0.5)], [0.0, 1.0, 0.0], [-np.sqrt(0.5), 0.0, np.sqrt(0.5)]]
        )
        box.poses.rotation[-1] = turn
        assert box.contacts(0.002).count == 2


def test_contacts_found_before_stay():
    scene = Nodes(wavy(4, RADIUS), chain(4), ("half-space", ()))
    detector = SdfDetector(SdfConfig())
    detector.prepare(scene.table, detector.supported_pairs)
    candidates, found = Candidates(), ContactSet()
    detector.find_candidates(scene.poses, 0.005, candidates)
    for _ in range(2):
        detector.compute_contacts(candidates, scene.poses, 0.005, found)
    assert found.count == 8
    np.testing.assert_array_equal(found.id[:4], found.id[4:8])


def test_a_node_that_is_not_finite_is_told_by_every_edge():
    nodes = wavy(3, RADIUS)
    nodes[1, 2] = np.nan
    found = Nodes(nodes, chain(3), ("half-space", ())).contacts()
    assert np.isnan(found.gap[: found.count]).sum() >= 2
