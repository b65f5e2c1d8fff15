"""Tubes have the exact volume; their frames do not twist."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corekit_view.tubes import polylines, rotation_minimising_frames, tangents, tube

SHARE = 24 * np.sin(2 * np.pi / 24) / (2 * np.pi)


def helix(turns=2.0, radius=1.0, pitch=0.8, points=400):
    angle = np.linspace(0.0, 2 * np.pi * turns, points)
    return angle, np.stack([radius * np.cos(angle), radius * np.sin(angle), pitch * angle], axis=1)


def assert_closed(surface):
    edges = surface.faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    directed = {(int(a), int(b)) for a, b in edges}
    assert len(directed) == len(edges)
    assert directed == {(b, a) for a, b in directed}
    assert len(surface.vertices) - len(edges) // 2 + len(surface.faces) == 2


def test_straight_tapered_tube_is_a_frustum():
    points = np.linspace([0.1, 0.2, 0.3], [0.5, -0.4, 1.0], 9)
    length = np.linalg.norm(points[-1] - points[0])
    surface = tube(points, np.linspace(0.05, 0.02, 9), 24)
    assert_closed(surface)
    frustum = np.pi / 3 * length * (0.05**2 + 0.05 * 0.02 + 0.02**2)
    assert surface.volume == pytest.approx(SHARE * frustum, rel=1e-9)


def test_bent_tube_has_the_volume_of_pappus():
    angle = np.linspace(0.0, 1.2 * np.pi, 200)
    points = np.stack([np.cos(angle), np.zeros_like(angle), np.sin(angle)], axis=1)
    surface = tube(points, np.full(200, 0.1), 24)
    assert_closed(surface)
    assert surface.volume == pytest.approx(SHARE * np.pi * 0.01 * 1.2 * np.pi, rel=1e-4)


def test_frames_are_orthonormal_and_right_handed():
    _, points = helix()
    tangent = tangents(points)
    first, second = rotation_minimising_frames(points, tangent)
    frame = np.stack([first, second, tangent], axis=1)
    assert np.allclose(frame @ frame.transpose(0, 2, 1), np.eye(3), atol=1e-12)
    assert np.allclose(np.linalg.det(frame), 1.0)


def test_frames_along_a_plane_curve_keep_the_planes_normal():
    angle = np.linspace(0.0, 2.0, 50)
    points = np.stack([np.sin(3 * angle), angle, np.zeros_like(angle)], axis=1)
    tangent = tangents(points)
    first, second = rotation_minimising_frames(points, tangent)
    across = np.stack([first[:, 2], second[:, 2]])
    assert np.allclose(across, across[:, :1], atol=1e-12)


def test_frames_along_a_helix_differ_from_frenets_by_the_torsion():
    angle, points = helix()
    radius, pitch = 1.0, 0.8
    speed = np.hypot(radius, pitch)
    tangent = (
        np.stack([-radius * np.sin(angle), radius * np.cos(angle), np.full_like(angle, pitch)], 1) / speed
    )
    first, _ = rotation_minimising_frames(points, tangent)
    frenet = np.stack([-np.cos(angle), -np.sin(angle), np.zeros_like(angle)], axis=1)
    binormal = np.cross(tangent, frenet)
    turn = np.unwrap(np.arctan2(np.einsum("ij,ij->i", first, binormal), np.einsum("ij,ij->i", first, frenet)))
    torsion = pitch / speed**2
    assert turn[-1] - turn[0] == pytest.approx(-torsion * speed * (angle[-1] - angle[0]), rel=1e-4)


@given(seed=st.integers(0, 10_000), count=st.integers(2, 30))
def test_tube_of_any_polyline_is_closed_with_its_radius(seed, count):
    rng = np.random.default_rng(seed)
    points = np.cumsum(rng.standard_normal((count, 3)), axis=0)
    surface = tube(points, np.full(count, 0.01), 8)
    assert_closed(surface)
    rings = surface.vertices[:-2].reshape(count, 8, 3)
    assert np.allclose(np.linalg.norm(rings - points[:, None], axis=2), 0.01)


def test_repeated_points_are_dropped_and_a_single_point_is_a_ball():
    line = np.array([[0.0, 0, 0], [0, 0, 0], [0, 0, 1], [0, 0, 1]])
    assert tube(line, np.full(4, 0.1), 24).volume == pytest.approx(SHARE * np.pi * 0.01, rel=1e-9)
    ball = tube(np.ones((3, 3)), np.full(3, 0.1), 24)
    assert np.allclose(np.linalg.norm(ball.vertices - 1.0, axis=1), 0.1)


def test_polyline_that_reverses_stays_finite():
    surface = tube(np.array([[0.0, 0, 0], [1, 0, 0], [0, 0, 0.0]]), np.full(3, 0.1))
    assert np.isfinite(surface.vertices).all()


def test_polylines_are_cut_at_their_starts():
    assert polylines(np.array([0, 3, 3, 5]), 9) == [slice(0, 3), slice(3, 5), slice(5, 9)]
    assert polylines(np.zeros(1, dtype=np.int64), 0) == []
