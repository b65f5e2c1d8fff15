"""Normals are smooth on round surfaces and sharp at creases."""

import numpy as np
import pytest

from corekit_view.meshes import box, cylinder, sphere
from corekit_view.normals import corner_normals, split_at_creases


def test_sphere_normals_point_away_from_the_centre():
    surface = sphere(2.0, 32)
    cosine = np.einsum("fci,fci->fc", corner_normals(surface), surface.corners / 2.0)
    assert cosine.min() > 0.995


def test_cylinder_normals_are_radial_on_the_side_and_axial_on_the_caps():
    surface = cylinder(1.0, 2.0, 32)
    normals, corners = corner_normals(surface), surface.corners
    cap = np.abs(np.ptp(corners[:, :, 2], axis=1)) < 1e-12
    assert np.allclose(normals[cap], np.sign(corners[cap][:, :, 2:]) * [0, 0, 1])
    radial = corners[~cap] * [1, 1, 0]
    assert np.allclose(normals[~cap], radial, atol=0.06)
    assert np.allclose(normals[~cap][:, :, 2], 0.0)


def test_box_stays_flat():
    surface = box((1.0, 2.0, 3.0))
    a, b, c = np.moveaxis(surface.corners, 1, 0)
    flat = np.cross(b - a, c - a)
    flat /= np.linalg.norm(flat, axis=1, keepdims=True)
    assert np.allclose(corner_normals(surface), flat[:, None])


@pytest.mark.parametrize(("surface", "vertices"), [(box((1, 1, 1)), 24), (cylinder(1.0, 1.0, 16), 66)])
def test_splitting_doubles_vertices_at_creases_only(surface, vertices):
    split = split_at_creases(surface)
    assert np.allclose(split.corners, surface.corners)
    assert len(split.vertices) == vertices
