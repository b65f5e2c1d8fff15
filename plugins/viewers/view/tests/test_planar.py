"""Planar shapes are prisms with the exact volume."""

import numpy as np
import pytest

from corekit.geometry.shapes import Shape
from corekit_view.shape_surface import shape_surface
from corekit_view.viser_scene import FIELD_OF_VIEW

U_SHAPE = np.array([
    [-0.3, 0, -0.2], [0.3, 0, -0.2], [0.3, 0, 0.2], [0.1, 0, 0.2],
    [0.1, 0, 0], [-0.1, 0, 0], [-0.1, 0, 0.2], [-0.3, 0, 0.2],
])  # fmt: skip


def front_area(surface):
    """Return the area of the triangles in the face at −y."""
    corners = surface.vertices[surface.faces]
    front = corners[np.all(corners[:, :, 1] < 0, axis=1)]
    return 0.5 * np.abs(np.cross(front[:, 1] - front[:, 0], front[:, 2] - front[:, 0])[:, 1]).sum()


@pytest.mark.parametrize("corners", [U_SHAPE, U_SHAPE[::-1]])
def test_a_non_convex_polygon_is_filled_in_both_orientations(corners):
    surface = shape_surface(Shape("polygon", (), vertices=corners), 1.0)
    assert surface is not None
    assert front_area(surface) == pytest.approx(0.6 * 0.4 - 0.2 * 0.2, rel=1e-12)


def test_circles_are_filled_rings_open_and_segments_round():
    circle, ring = (shape_surface(Shape(kind, (0.2,)), 1.0, 60) for kind in ("circle", "ring"))
    assert circle is not None
    assert ring is not None
    assert front_area(circle) == pytest.approx(np.pi * 0.04, rel=1e-3)
    assert front_area(ring) == 0.0
    line = shape_surface(Shape("segments", (0.05,), vertices=np.array([[0, 0, 0], [0.3, 0, 0.4]])), 1.0, 60)
    assert line is not None
    assert front_area(line) == pytest.approx(0.1 * 0.5 + np.pi * 0.05**2, rel=1e-3)


def test_a_plate_hides_next_to_nothing_of_its_plane_where_a_page_shows_it_face_on():
    """Perspective moves its front face away from where bodies move, here by less than 1 % of the scene."""
    surface = shape_surface(Shape("polygon", (), vertices=U_SHAPE), 1.0)
    assert surface is not None
    distance = 0.5 / np.tan(0.5 * FIELD_OF_VIEW)
    plane = surface.vertices[:, (0, 2)]
    shown = plane * (distance / (distance + surface.vertices[:, 1]))[:, None]
    assert np.abs(shown - plane).max() < 0.01


def test_a_polygon_without_vertices_is_reported():
    with pytest.raises(ValueError, match="polygon needs vertices"):
        shape_surface(Shape("polygon", ()), 1.0)


def test_a_half_plane_can_be_seen_face_on():
    surface = shape_surface(Shape("half-plane", ()), 1.0, 8)
    assert surface is not None
    _, y, z = surface.vertices.T
    assert np.ptp(z) > 0.05
    assert z.max() == 0.0
    assert np.ptp(y) > 0.0
