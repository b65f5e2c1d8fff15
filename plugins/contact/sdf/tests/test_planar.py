"""Spheres and capsules on planar shapes: distances by brute force, gradients and rates by differences, corners."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corekit.errors import PluginError
from corekit_sdf.features import FEATURES
from corekit_testing.gap_rates import gap_rates

from .pairs import DIRECTION, LENGTH, Scene, rotation_about

UNIT_BOX = np.array([[-0.2, 0, -0.1], [0.2, 0, -0.1], [0.2, 0, 0.1], [-0.2, 0, 0.1]])
U_SHAPE = np.array([
    [-0.3, 0, -0.2], [0.3, 0, -0.2], [0.3, 0, 0.2], [0.1, 0, 0.2],
    [0.1, 0, 0], [-0.1, 0, 0], [-0.1, 0, 0.2], [-0.3, 0, 0.2],
])  # fmt: skip
CHAIN = np.array([[-0.3, 0, 0.1], [-0.1, 0, -0.1], [0.1, 0, -0.1], [0.2, 0, 0.2]])
KINDS = ["half-plane", "circle", "ring", "polygon", "segments"]


def scene_of(body, shape, size=(), vertices=None, **options):
    return Scene([body, (shape, size)], vertices=(None, vertices), **options)


def star(rng, corners=9):
    """A simple polygon, usually not convex."""
    angle = 2 * np.pi * (np.arange(corners) + rng.uniform(0, 0.8, corners)) / corners
    radius = rng.uniform(0.1, 0.3, corners)
    return np.stack([radius * np.cos(angle), np.zeros(corners), radius * np.sin(angle)], axis=1)


def point_to_line(x, a, b):
    t = np.clip((x - a) @ (b - a) / ((b - a) @ (b - a)), 0, 1)
    return np.linalg.norm(x - a - t * (b - a))


def line_to_line(a, b, c, d):
    """Distance of two segments of the plane, 0 if they cross."""
    sides = [np.cross([*(b - a), 0], [*(q - a), 0])[2] for q in (c, d)]
    other = [np.cross([*(d - c), 0], [*(q - c), 0])[2] for q in (a, b)]
    if sides[0] * sides[1] < 0 and other[0] * other[1] < 0:
        return 0.0
    return min(point_to_line(a, c, d), point_to_line(b, c, d), point_to_line(c, a, b), point_to_line(d, a, b))


def boundary(vertices, closed):
    flat = vertices[:, (0, 2)]
    return list(zip(flat, np.roll(flat, -1, axis=0), strict=True))[: len(flat) if closed else -1]


def encloses(vertices, x):
    """Whether the winding number of the vertices about x is not zero."""
    flat = vertices[:, (0, 2)] - x
    following = np.roll(flat, -1, axis=0)
    turns = np.arctan2(
        flat[:, 0] * following[:, 1] - flat[:, 1] * following[:, 0], np.sum(flat * following, axis=1)
    )
    return abs(turns.sum()) > np.pi


def random_pose(rng):
    """A random pose of the planar shape in the world, with an orthogonal matrix of either determinant."""
    return rng.normal(size=3) * 0.1, np.linalg.qr(rng.normal(size=(3, 3)))[0]


def set_both_poses(scene, rng, xz, turn=None, y=0.3):
    """Set the pose of the body to (x, z) of the shape's plane, at any y."""
    home, axes = random_pose(rng)
    axes = axes * np.sign(np.linalg.det(axes))
    scene.set_pose(1, home, axes)
    scene.set_pose(0, home + axes @ (xz[0], y, xz[1]), axes @ (np.eye(3) if turn is None else turn))


def in_plane(angle):
    """Rotation of a capsule with its axis along (cos, sin) of the x–z plane."""
    return rotation_about((0, 1, 0), np.pi / 2 - angle)


@pytest.mark.parametrize("kind", ["circle", "ring", "half-plane"])
def test_spheres_on_round_and_straight_shapes_match_their_formulas(kind):
    rng = np.random.default_rng(1)
    for _ in range(100):
        scene = scene_of(("sphere", (0.03,)), kind, () if kind == "half-plane" else (0.2,))
        xz = rng.uniform(-0.3, 0.3, 2)
        set_both_poses(scene, rng, xz)
        distance = np.linalg.norm(xz)
        gap = {"circle": distance - 0.2, "ring": 0.2 - distance, "half-plane": xz[1]}[kind] - 0.03
        outward = {"circle": xz / distance, "ring": -xz / distance, "half-plane": np.array([0.0, 1.0])}[kind]
        ((contacts, normal, point),) = scene.rows().values()
        assert contacts == pytest.approx(gap, abs=LENGTH)
        local = scene.rotation[1].T @ normal
        np.testing.assert_allclose(local, (outward[0], 0, outward[1]), atol=1e-13)
        np.testing.assert_allclose(point, scene.position[0] - (0.03 + 0.5 * gap) * normal, atol=LENGTH)


@settings(deadline=None, max_examples=70)
@given(seed=st.integers(0, 2**32 - 1))
def test_spheres_on_polygons_match_brute_force(seed):
    rng = np.random.default_rng(seed)
    vertices = star(rng)
    if rng.uniform() < 0.5:
        vertices = vertices[::-1]  # either way round
    scene = scene_of(("sphere", (0.01,)), "polygon", (), vertices)
    xz = rng.uniform(-0.35, 0.35, 2)
    set_both_poses(scene, rng, xz)
    distance = min(point_to_line(xz, a, b) for a, b in boundary(vertices, closed=True))
    if encloses(vertices, xz):
        # behind a corner that is not convex both walls are reported, neither nearer than the corner
        assert -distance - 0.01 - 1e-12 <= scene.gap < -0.01
        corner = min(np.linalg.norm(xz - v) for v in vertices[:, (0, 2)])
        if distance < corner - 1e-9:
            assert scene.gap == pytest.approx(-distance - 0.01, abs=1e-13)
    else:
        assert scene.gap == pytest.approx(distance - 0.01, abs=1e-13)


@settings(deadline=None, max_examples=70)
@given(seed=st.integers(0, 2**32 - 1), kind=st.sampled_from(["polygon", "segments"]))
def test_capsules_on_polygons_and_segments_match_brute_force(seed, kind):
    rng = np.random.default_rng(seed)
    vertices, thick = star(rng), (0.005 if kind == "segments" else 0.0)
    scene = scene_of(("capsule", (0.01, 0.08)), kind, (thick,) if thick else (), vertices)
    xz, angle = rng.uniform(-0.4, 0.4, 2), rng.uniform(0, 2 * np.pi)
    set_both_poses(scene, rng, xz, in_plane(angle))
    axis = 0.08 * np.array([np.cos(angle), np.sin(angle)])
    edges = boundary(vertices, closed=kind == "polygon")
    distance = min(line_to_line(xz - axis, xz + axis, a, b) for a, b in edges)
    inside = kind == "polygon" and encloses(vertices, xz)
    if distance > 1e-9 and not inside:
        # if a pair has more minima than rows, the highest are omitted
        assert scene.gap == pytest.approx(distance - thick - 0.01, abs=1e-12)
    else:
        assert scene.gap < -thick - 0.01 + 1e-9


def bodies():
    yield ("sphere", (0.02,))
    yield ("capsule", (0.02, 0.06))


SHAPES = {
    "half-plane": ((), None),
    "circle": ((0.15,), None),
    "ring": ((0.3,), None),
    "polygon": ((), U_SHAPE),
    "segments": ((0.01,), CHAIN),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("body", list(bodies()), ids=["sphere", "capsule"])
def test_every_normal_is_the_gradient_and_every_rate_the_material_points_velocity(kind, body):
    rng = np.random.default_rng(KINDS.index(kind))
    step, compared, corners = 1e-6, 0, 0
    for _ in range(80):
        scene = Scene([body, (kind, SHAPES[kind][0])], obstacles=0, vertices=(None, SHAPES[kind][1]))
        set_both_poses(scene, rng, rng.uniform(-0.35, 0.35, 2), in_plane(rng.uniform(0, 7)))
        home = scene.position.copy(), scene.rotation.copy()
        start, contacts = scene.rows(), scene.measure()
        velocity, spin = rng.normal(size=(2, 3)) * 0.1, rng.normal(size=(2, 3)) * 0.3
        rates = gap_rates(contacts, scene.rotation, velocity, spin)
        expected = {identity % FEATURES: rate for identity, rate in rates.items()}
        sides = []
        for sign in (1, -1):
            for k in range(2):
                turned = rotation_about(spin[k], sign * step * float(np.linalg.norm(spin[k]))) @ home[1][k]
                scene.set_pose(k, home[0][k] + sign * step * velocity[k], turned)
            sides.append(scene.rows())
        for key in start.keys() & sides[0].keys() & sides[1].keys():
            forth, back = sides[0][key][0], sides[1][key][0]
            if abs(forth + back - 2 * start[key][0]) / step < 1e-3:  # else a breakpoint
                assert (forth - back) / (2 * step) == pytest.approx(expected[key], abs=1e-7)
                compared += 1
                corners += key >= 100 and (key - 100) % 8 in (3, 4, 5, 6)
    assert compared > 60
    assert corners > 10 or kind not in ("polygon", "segments")


def test_a_sphere_in_a_corner_touches_both_walls_and_keeps_both_when_it_sinks_in():
    for x, z in ((-0.07, 0.03), (-0.0999, 1e-4), (-0.1001, 1e-3), (-0.101, -1e-3), (-0.09, -1e-3)):
        scene = scene_of(("sphere", (0.03,)), "polygon", (), U_SHAPE)
        scene.set_pose(0, (x, 0.2, z))
        rows = sorted(scene.rows(margin=0.05).values(), key=lambda row: row[1][0])
        assert len(rows) == 2
        (floor, up, _), (wall, right, _) = rows
        np.testing.assert_allclose(up, (0, 0, 1), atol=DIRECTION)
        np.testing.assert_allclose(right, (1, 0, 0), atol=DIRECTION)
        assert floor == pytest.approx(z - 0.03, abs=LENGTH)
        assert wall == pytest.approx(x + 0.1 - 0.03, abs=LENGTH)


def test_gap_and_normal_turn_together_around_a_corner():
    scene = scene_of(("sphere", (0.01,)), "polygon", (), UNIT_BOX)
    for angle in np.linspace(0, np.pi / 2, 19):
        n = np.array([np.cos(angle), 0, np.sin(angle)])
        scene.set_pose(0, np.array([0.2, 0.5, 0.1]) + 0.05 * n)
        low = min(scene.rows().values(), key=lambda row: row[0])
        assert low[0] == pytest.approx(0.04, abs=LENGTH)
        np.testing.assert_allclose(low[1], n, atol=DIRECTION)


def test_a_capsule_in_a_pipe_touches_with_both_ends():
    scene = scene_of(("capsule", (0.02, 0.1)), "ring", (0.2,))
    scene.set_pose(0, (0.03, 0.0, -0.12), in_plane(0.0))
    rows = sorted(scene.rows().values(), key=lambda row: row[2][0])
    for end, (gap, normal, _) in zip((-1, 1), rows, strict=True):
        xz = np.array([0.03 + end * 0.1, -0.12])
        assert gap == pytest.approx(0.2 - np.linalg.norm(xz) - 0.02, abs=LENGTH)
        np.testing.assert_allclose(normal[[0, 2]], -xz / np.linalg.norm(xz), atol=DIRECTION)


def test_a_capsule_lies_on_an_edge_with_both_ends_and_across_one_on_its_corners():
    scene = scene_of(("capsule", (0.02, 0.1)), "polygon", (), UNIT_BOX)
    for tilt in (0.0, 0.02, -0.05):
        scene.set_pose(0, (0.05, 0.3, 0.125), in_plane(tilt))
        rows = sorted(scene.rows(margin=0.03).values(), key=lambda row: row[2][0])
        assert len(rows) == 2
        for end, (gap, normal, _) in zip((-1, 1), rows, strict=True):
            assert gap == pytest.approx(0.005 + end * 0.1 * np.sin(tilt), abs=LENGTH)
            np.testing.assert_allclose(normal, (0, 0, 1), atol=DIRECTION)
    scene = scene_of(("capsule", (0.02, 0.4)), "polygon", (), UNIT_BOX)
    for tilt in (0.0, 0.03):
        scene.set_pose(0, (0.05, 0.3, 0.125), in_plane(tilt))
        rows = sorted(scene.rows(margin=0.03).values(), key=lambda row: row[2][0])
        assert len(rows) == 2
        for x, (gap, normal, _) in zip((-0.2, 0.2), rows, strict=True):
            across = np.array([-np.sin(tilt), 0, np.cos(tilt)])
            assert gap == pytest.approx(across @ (0.05 - x, 0, 0.025) - 0.02, abs=LENGTH)
            np.testing.assert_allclose(normal, across, atol=DIRECTION)


def test_a_corner_that_protrudes_through_an_axis_has_a_normal_that_separates_them():
    scene = scene_of(("capsule", (0.02, 0.2)), "polygon", (), UNIT_BOX @ rotation_about((0, 1, 0), 0.8))
    top = (UNIT_BOX @ rotation_about((0, 1, 0), 0.8))[:, 2].max()
    for sunk in (0.005, 0.0, -0.004, -0.01):
        x = float((UNIT_BOX @ rotation_about((0, 1, 0), 0.8))[:, (0, 2)][
            (UNIT_BOX @ rotation_about((0, 1, 0), 0.8))[:, 2].argmax()
        ][0])  # fmt: skip
        scene.set_pose(0, (x, 0, top + sunk), in_plane(0.0))
        gap, normal, _ = min(scene.rows().values(), key=lambda row: row[0])
        assert gap == pytest.approx(sunk - 0.02, abs=LENGTH)
        np.testing.assert_allclose(normal, (0, 0, 1), atol=DIRECTION)


def test_a_capsule_across_a_segment_comes_out_the_shorter_way():
    line = np.array([[-0.5, 0, 0.0], [0.5, 0, 0.0]])
    scene = scene_of(("capsule", (0.02, 0.1)), "segments", (0.01,), line)
    for height in (0.09, -0.09, 0.02):
        scene.set_pose(0, (0, 0, height), in_plane(np.pi / 2))
        ((gap, normal, _),) = scene.rows().values()
        assert gap == pytest.approx(-(0.1 - abs(height)) - 0.03, abs=LENGTH)
        np.testing.assert_allclose(normal, (0, 0, np.sign(height)), atol=DIRECTION)


def test_without_patches_the_closest_point_alone_is_reported():
    rng = np.random.default_rng(3)
    for kind in KINDS:
        for body in bodies():
            for _ in range(10):
                many = Scene([body, (kind, SHAPES[kind][0])], vertices=(None, SHAPES[kind][1]))
                one = Scene([body, (kind, SHAPES[kind][0])], vertices=(None, SHAPES[kind][1]), patch=False)
                xz, turn = rng.uniform(-0.3, 0.3, 2), in_plane(rng.uniform(0, 7))
                for scene in (many, one):
                    scene.set_pose(0, (xz[0], 0, xz[1]), turn)
                assert len(one.rows()) == 1
                assert one.gap == pytest.approx(many.gap, abs=LENGTH)


@pytest.mark.parametrize("kind", KINDS)
def test_candidates_miss_none_and_order_only_turns_the_normal(kind):
    rng = np.random.default_rng(5)
    for body in bodies():
        for _ in range(40):
            size, vertices = SHAPES[kind]
            scene = Scene([body, (kind, size)], obstacles=0, vertices=(None, vertices))
            set_both_poses(scene, rng, rng.uniform(-0.5, 0.5, 2), in_plane(rng.uniform(0, 7)))
            gap = scene.gap
            scene.detector.find_candidates(scene.poses, gap + 1e-9, scene.candidates)
            assert scene.candidates.count == 1
            turned = Scene([(kind, size), body], obstacles=0, vertices=(vertices, None))
            for k in range(2):
                turned.set_pose(k, scene.position[1 - k], scene.rotation[1 - k])
            forth, back = scene.measure(), turned.measure()
            n = forth.count
            assert n == back.count
            np.testing.assert_allclose(back.gap[:n], forth.gap[:n], atol=LENGTH)
            np.testing.assert_allclose(back.normal[:n], -forth.normal[:n], atol=DIRECTION)


@pytest.mark.parametrize(
    ("kind", "vertices", "words"),
    [
        ("polygon", None, "needs 3 to"),
        ("polygon", UNIT_BOX[:2], "needs 3 to"),
        ("segments", UNIT_BOX[:1], "needs 2 to"),
        ("polygon", UNIT_BOX[[0, 1, 1, 2]], "equal successive vertices 1 and 2"),
        ("polygon", UNIT_BOX[[0, 2, 1, 3]], "crosses itself"),
        ("polygon", UNIT_BOX[[0, 1, 0, 3]], "crosses itself"),
        ("polygon", UNIT_BOX * np.nan, "not finite"),
        ("segments", UNIT_BOX[[0, 0]], "equal successive vertices"),
    ],
)
def test_the_error_names_vertices_that_enclose_nothing(kind, vertices, words):
    with pytest.raises(PluginError, match=rf"{kind} \(shape 1\).*{words}"):
        scene_of(("sphere", (0.02,)), kind, (0.01,) if kind == "segments" else (), vertices)


def test_a_pose_that_is_not_finite_gives_a_contact_with_gap_nan():
    for kind in KINDS:
        for body in bodies():
            scene = scene_of(body, kind, *SHAPES[kind])
            scene.set_pose(0, (np.nan, 0.0, 0.0))
            contacts = scene.measure(margin=0.01)
            assert contacts.count >= 1
            assert np.isnan(contacts.gap[0])
