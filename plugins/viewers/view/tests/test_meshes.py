"""Surfaces are closed, oriented, and enclose the exact volume within the tessellation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import ConvexHull

from corekit.geometry.shapes import Shape
from corekit_view.meshes import (
    box,
    capsule,
    chequers,
    cone,
    cylinder,
    patch,
    polytope,
    revolved,
    sphere,
    triangles,
)
from corekit_view.shape_surface import shape_surface


def assert_closed(surface):
    """Check that every directed edge has one reverse, every vertex is used, and V − E + F = 2."""
    edges = surface.faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    directed = {(int(a), int(b)) for a, b in edges}
    assert len(directed) == len(edges)
    assert directed == {(b, a) for a, b in directed}
    assert np.array_equal(np.unique(surface.faces), np.arange(len(surface.vertices)))
    assert len(surface.vertices) - len(edges) // 2 + len(surface.faces) == 2


def polygon_share(sides):
    return sides * np.sin(2 * np.pi / sides) / (2 * np.pi)


CLOSED = {
    "sphere": (sphere(0.3, 48), 4 / 3 * np.pi * 0.3**3),
    "capsule": (capsule(0.1, 0.25, 48), np.pi * 0.1**2 * 0.5 + 4 / 3 * np.pi * 0.1**3),
    "cylinder": (cylinder(0.2, 0.05, 48), np.pi * 0.2**2 * 0.1),
    "cone": (cone(0.2, 0.4, 48), np.pi * 0.2**2 * 0.4 / 3),
    "box": (box((0.1, 0.2, 0.3)), 8 * 0.1 * 0.2 * 0.3),
}


@pytest.mark.parametrize("kind", CLOSED)
def test_closed_surfaces_have_the_topology_of_a_sphere(kind):
    assert_closed(CLOSED[kind][0])


@pytest.mark.parametrize("kind", CLOSED)
def test_volume_equals_the_solids_within_tessellation(kind):
    surface, volume = CLOSED[kind]
    assert surface.volume == pytest.approx(volume, rel=0.012)


@pytest.mark.parametrize("sides", [3, 6, 17, 40])
def test_cylinder_and_cone_have_the_fraction_of_the_polygon(sides):
    share = polygon_share(sides)
    assert cylinder(0.2, 0.05, sides).volume == pytest.approx(share * np.pi * 0.2**2 * 0.1, rel=1e-12)
    assert cone(0.2, 0.4, sides).volume == pytest.approx(share * np.pi * 0.2**2 * 0.4 / 3, rel=1e-12)


def test_sphere_vertices_lie_on_the_sphere_and_refinement_is_second_order():
    errors = []
    for sides in (16, 32, 64):
        surface = sphere(1.0, sides)
        assert np.allclose(np.linalg.norm(surface.vertices, axis=1), 1.0)
        errors.append(4 / 3 * np.pi - surface.volume)
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1)
    assert errors[1] / errors[2] == pytest.approx(4.0, rel=0.1)


def test_capsule_has_its_full_length():
    surface = capsule(0.1, 0.25)
    assert surface.vertices[:, 2].max() == pytest.approx(0.35)
    assert surface.vertices[:, 2].min() == pytest.approx(-0.35)


@given(
    radii=st.lists(st.floats(0.1, 2.0), min_size=1, max_size=6),
    steps=st.lists(st.floats(0.1, 1.0), min_size=8, max_size=8),
    sides=st.integers(3, 20),
)
def test_a_surface_of_revolution_encloses_its_frustums(radii, steps, sides):
    radius = np.array([0.0, *radii, 0.0])
    height = np.cumsum(steps[: len(radius)])
    surface = revolved(np.stack([radius, height], axis=1), sides)
    frustums = np.pi / 3 * np.diff(height) * (radius[1:] ** 2 + radius[1:] * radius[:-1] + radius[:-1] ** 2)
    assert_closed(surface)
    assert surface.volume == pytest.approx(polygon_share(sides) * frustums.sum(), rel=1e-9)


@given(seed=st.integers(0, 10_000), count=st.integers(5, 40))
def test_polytope_is_closed_and_as_large_as_its_hull(seed, count):
    points = np.random.default_rng(seed).standard_normal((count, 3))
    surface = polytope(points)
    assert_closed(surface)
    assert surface.volume == pytest.approx(ConvexHull(points).volume, rel=1e-9)


def test_polytope_drops_points_inside():
    corners = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, 8).T.astype(float)
    assert len(polytope(np.concatenate([corners, 0.2 * corners])).vertices) == 8


@pytest.mark.parametrize("points", [np.zeros((2, 3)), np.random.default_rng(0).random((9, 3)) * [1, 1, 0]])
def test_flat_polytope_is_refused(points):
    with pytest.raises(ValueError, match="one plane"):
        polytope(points)


def test_triangles_merge_equal_corners():
    solid = box((1.0, 1.0, 1.0))
    again = triangles(solid.corners.reshape(-1, 3))
    assert_closed(again)
    assert again.volume == pytest.approx(8.0)


def test_triangles_need_three_corners_each():
    with pytest.raises(ValueError, match="three corners"):
        triangles(np.zeros((4, 3)))


def test_patch_faces_up_and_has_its_area():
    a, b, c = np.moveaxis(patch(1.5, 4).corners, 1, 0)
    doubled = np.cross(b - a, c - a)
    assert np.allclose(doubled[:, :2], 0.0)
    assert doubled[:, 2].sum() / 2 == pytest.approx(9.0)
    assert np.all(doubled[:, 2] > 0)


def test_chequers_share_the_patch_and_no_two_equal_cells_touch():
    even, odd = chequers(1.0, 4)
    assert len(even.faces) == len(odd.faces) == 16
    for part in (even, odd):
        # a cell has two faces; its centre is the mean of the four corners
        centre = np.round(
            (part.corners.reshape(-1, 6, 3)[:, [0, 1, 2, 5]].mean(axis=1)[:, :2] + 0.75) / 0.5
        ).astype(int)
        assert len(set((centre.sum(axis=1) % 2).tolist())) == 1


@pytest.mark.parametrize(
    ("kind", "size", "volume"),
    [
        ("sphere", (0.3,), 4 / 3 * np.pi * 0.027),
        ("box", (0.1, 0.2, 0.3), 0.048),
        ("capsule", (0.1, 0.2), np.pi * 0.004 + 4 / 3 * np.pi * 0.001),
        ("cylinder", (0.1, 0.2), np.pi * 0.004),
    ],
)
def test_shapes_have_the_surface_of_their_kind(kind, size, volume):
    surface = shape_surface(Shape(kind, size), 1.0, 64)
    assert surface is not None
    assert surface.volume == pytest.approx(volume, rel=0.01)


def test_edge_has_no_surface_and_half_space_a_finite_one():
    assert shape_surface(Shape("edge", (0.1,)), 1.0) is None
    ground = shape_surface(Shape("half-space", ()), 2.5)
    assert ground is not None
    assert np.abs(ground.vertices[:, :2]).max() == 2.5


def test_mesh_without_vertices_is_refused():
    with pytest.raises(ValueError, match="needs vertices"):
        shape_surface(Shape("mesh", ()), 1.0)
