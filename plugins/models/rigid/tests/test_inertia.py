import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import Delaunay

from corekit_rigid.config import RigidConfig
from corekit_rigid.inertia import shared_volume
from corekit_testing.rounding import rounding

CUBE = tuple((x, y, z) for x in (-0.1, 0.1) for y in (-0.2, 0.2) for z in (-0.3, 0.3))
RADII = st.floats(0.01, 1.0)


def properties(**options):
    return RigidConfig(**options).mass_properties()


def filled(inside, half, count=80):
    """Volume and second moments of a body about the origin by the midpoint rule on a grid."""
    axes = [(np.arange(count) + 0.5) / count * 2 * h - h for h in half]
    x = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    cell = 8 * np.prod(half) / count**3
    x = x[inside(x)]
    second = cell * x.T @ x
    return cell * len(x), np.trace(second) * np.eye(3) - second


def test_ball_has_two_fifths_of_its_mass_times_radius_squared():
    mass, centre, inertia = properties(shape="sphere", size=(0.1,), density=2000.0)
    assert mass == pytest.approx(2000 * 4 / 3 * np.pi * 1e-3)
    np.testing.assert_allclose(inertia, 0.4 * mass * 0.01 * np.eye(3), rtol=rounding(16))
    np.testing.assert_array_equal(centre, 0.0)


def test_box_inertia_is_that_of_its_edges():
    mass, _, inertia = properties(shape="box", size=(0.1, 0.2, 0.3), density=1000.0)
    assert mass == pytest.approx(6.0)
    np.testing.assert_allclose(inertia, np.diag([0.04 + 0.09, 0.01 + 0.09, 0.01 + 0.04]) * mass / 12)


@given(radius=RADII, length=RADII)
def test_cylinder_and_disk_are_one_formula(radius, length):
    across, along = 0.25 * radius**2 + length**2 / 12, 0.5 * radius**2
    for shape in ("cylinder", "disk"):
        mass, _, inertia = properties(shape=shape, size=(radius, length), mass=3.0)
        assert mass == pytest.approx(3.0, rel=rounding(16))
        np.testing.assert_allclose(inertia, 3.0 * np.diag([across, across, along]), rtol=1e-13)


def test_capsule_agrees_with_summing_over_a_grid():
    radius, length = 0.1, 0.25

    def inside(x):
        beyond = np.maximum(np.abs(x[:, 2]) - length / 2, 0.0)
        return x[:, 0] ** 2 + x[:, 1] ** 2 + beyond**2 <= radius**2

    mass, _, inertia = properties(shape="capsule", size=(radius, length), density=1.0)
    volume, summed = filled(inside, (radius, radius, radius + length / 2))
    assert mass == pytest.approx(volume, rel=1e-3)
    np.testing.assert_allclose(np.diag(inertia), np.diag(summed), rtol=1e-3)


def test_capsule_without_length_is_nearly_a_ball():
    capsule = properties(shape="capsule", size=(0.1, 1e-9), density=1.0)
    ball = properties(shape="sphere", size=(0.1,), density=1.0)
    np.testing.assert_allclose(capsule.inertia, ball.inertia, rtol=1e-7)


def test_polytope_of_a_box_s_corners_is_the_box():
    shift = np.array([3.0, -2.0, 5.0])
    moved = tuple(tuple(point) for point in np.array(CUBE) + shift)
    box = properties(shape="box", size=(0.2, 0.4, 0.6), density=700.0)
    mass, centre, inertia = properties(shape="polytope", vertices=moved, density=700.0)
    assert mass == pytest.approx(box.mass, rel=1e-13)
    # twelve tetrahedra of eight roundings, as far from the origin as ten times the box
    np.testing.assert_allclose(centre, shift, rtol=rounding(12 * 8, 10.0))
    np.testing.assert_allclose(inertia, box.inertia, atol=1e-12 * box.mass)


def test_right_tetrahedron_has_its_textbook_inertia():
    a, b, c = 0.3, 0.4, 0.5
    corners = ((0, 0, 0), (a, 0, 0), (0, b, 0), (0, 0, c))
    mass, centre, inertia = properties(shape="polytope", vertices=corners, density=1.0)
    assert mass == pytest.approx(a * b * c / 6)
    np.testing.assert_allclose(centre, np.array([a, b, c]) / 4)
    # ∫x² = m·a²/10 and ∫xy = m·a·b/20 about the corner, moved to the centroid
    diagonal = mass * 3 / 80 * np.array([b * b + c * c, a * a + c * c, a * a + b * b])
    products = mass / 80 * np.array([a * b, a * c, b * c])
    np.testing.assert_allclose(np.diag(inertia), diagonal)
    np.testing.assert_allclose(inertia[[0, 0, 1], [1, 2, 2]], products)


def test_regular_tetrahedron_has_a_twentieth_of_its_edge_squared():
    corners = ((1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1))  # edge √8
    mass, _, inertia = properties(shape="polytope", vertices=corners, density=1.0)
    np.testing.assert_allclose(inertia, mass * 8 / 20 * np.eye(3), atol=rounding(4 * 24, mass))


@settings(deadline=None, max_examples=50)
@given(seed=st.integers(0, 2**32 - 1))
def test_polytope_turns_and_moves_with_its_vertices(seed):
    random = np.random.default_rng(seed)
    points = random.normal(size=(9, 3))
    turn, _ = np.linalg.qr(random.normal(size=(3, 3)))
    shift = random.normal(size=3)
    one = properties(shape="polytope", vertices=tuple(map(tuple, points)))
    two = properties(shape="polytope", vertices=tuple(map(tuple, points @ turn.T + shift)))
    assert two.mass == pytest.approx(one.mass, rel=1e-12)
    np.testing.assert_allclose(two.centre, turn @ one.centre + shift, atol=1e-12)
    np.testing.assert_allclose(two.inertia, turn @ one.inertia @ turn.T, atol=1e-11 * one.mass)


def test_inner_and_double_points_of_a_polytope_do_not_count():
    with_more = (*CUBE, (0.0, 0.0, 0.0), (0.05, 0.0, 0.1), CUBE[0])
    one, two = (properties(shape="polytope", vertices=each) for each in (CUBE, with_more))
    rounded = rounding(12 * 24, float(one.inertia.max()))  # twelve tetrahedra
    np.testing.assert_allclose(two.inertia, one.inertia, rtol=0, atol=rounded)


def test_pieces_of_a_box_are_the_box():
    halves = [
        tuple((x, y, z) for x in (a, a + 0.1) for y in (-0.2, 0.2) for z in (0.0, 0.6)) for a in (0.0, 0.1)
    ]
    box = properties(shape="box", size=(0.2, 0.4, 0.6), density=700.0)
    mass, centre, inertia = properties(shape="polytopes", pieces=tuple(halves), density=700.0)
    assert mass == pytest.approx(box.mass, rel=1e-13)
    # two pieces of twelve tetrahedra
    np.testing.assert_allclose(centre, [0.1, 0.0, 0.3], atol=rounding(24 * 8))
    np.testing.assert_allclose(inertia, box.inertia, atol=rounding(24 * 24, float(box.inertia.max())))


def test_given_mass_and_density_scale_the_same_body():
    heavy = properties(shape="box", size=(0.1, 0.2, 0.3), mass=12.0)
    dense = properties(shape="box", size=(0.1, 0.2, 0.3), density=2000.0)
    np.testing.assert_allclose(heavy.inertia, dense.inertia)


def test_what_is_given_is_taken():
    given_inertia = (1.0, 2.0, 2.5, 0.1, 0.2, 0.3)
    mass, centre, inertia = properties(
        shape="sphere", size=(1.0,), mass=7.0, inertia=given_inertia, centre_of_mass=(0.1, 0.2, 0.3)
    )
    assert mass == 7.0
    np.testing.assert_array_equal(centre, (0.1, 0.2, 0.3))
    np.testing.assert_array_equal(inertia, [[1.0, 0.1, 0.2], [0.1, 2.0, 0.3], [0.2, 0.3, 2.5]])


def test_what_two_hulls_share_is_what_random_points_find_in_both():
    """The share of N points in a box of volume V is within four deviations, 4·V·√(p·(1 − p)/N)."""
    random = np.random.default_rng(5)
    points = random.uniform(-1.0, 1.0, size=(40_000, 3))
    for _ in range(6):
        one, other = (random.uniform(-1.0, 1.0, size=(6, 3)) for _ in range(2))
        inside = np.all([Delaunay(each).find_simplex(points) >= 0 for each in (one, other)], axis=0).mean()
        spread = 4.0 * 8.0 * np.sqrt(max(inside * (1.0 - inside), 1e-4) / len(points))
        assert shared_volume(one, other) == pytest.approx(8.0 * inside, abs=spread)


@pytest.mark.parametrize(
    ("shift", "share"), [(0.0, 1.0), (0.05, 0.5), (0.0999, 0.001), (0.1, 0.0), (0.3, 0.0)]
)
def test_what_two_boxes_share_is_the_part_of_their_edge(shift, share):
    box = np.array([[x, y, z] for x in (0.0, 0.1) for y in (-0.2, 0.2) for z in (0.0, 0.6)])
    turn, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))
    for axes, scale, away in ((np.eye(3), 1.0, 0.0), (turn, 1.0, 10.0), (turn, 1e-6, 0.0), (turn, 1e3, 0.0)):
        one, other = (scale * (each @ axes.T) + away for each in (box, box + [shift, 0.0, 0.0]))
        assert shared_volume(one, other) / scale**3 == pytest.approx(share * 0.1 * 0.4 * 0.6, abs=1e-10)
