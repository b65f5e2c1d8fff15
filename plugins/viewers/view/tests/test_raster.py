"""The depth buffer agrees with a loop over all pixels and triangles."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corekit_view import raster
from corekit_view.raster import barycentric, rasterise


def every_pixel(corners, width, height):
    """Return depth and triangle at each pixel by a loop over pixels and triangles."""
    depth, seen = np.full((height, width), np.inf), np.full((height, width), -1)
    for row in range(height):
        for column in range(width):
            for k, triangle in enumerate(corners):
                system = np.vstack([triangle[:, :2].T, np.ones(3)])
                weight = np.linalg.solve(system, [column + 0.5, row + 0.5, 1.0])
                if weight.min() >= 0 and weight @ triangle[:, 2] < depth[row, column]:
                    depth[row, column], seen[row, column] = weight @ triangle[:, 2], k
    return depth, seen


@given(seed=st.integers(0, 10_000), count=st.integers(1, 6))
def test_random_triangles_agree_with_the_loop_over_all_pixels(seed, count):
    corners = np.random.default_rng(seed).uniform(-4, 14, (count, 3, 3))
    depth, seen = rasterise(corners, 10, 8)
    expected_depth, expected_seen = every_pixel(corners, 10, 8)
    assert np.array_equal(seen, expected_seen)
    there = seen >= 0
    assert np.allclose(depth[there], expected_depth[there])
    assert np.all(np.isinf(depth[~there]))


def test_painting_in_chunks_changes_nothing(monkeypatch):
    corners = np.random.default_rng(3).uniform(0, 60, (80, 3, 3))
    whole = rasterise(corners, 60, 50)
    monkeypatch.setattr(raster, "FRAGMENTS", 700)
    assert all(np.array_equal(a, b) for a, b in zip(whole, rasterise(corners, 60, 50), strict=True))


def test_a_pole_hides_a_wall_with_a_smaller_mean_depth():
    wall = np.array([[0, 0, -90.0], [20, 0, 10.0], [20, 20, 10.0]])  # mean depth −23, but 5 behind the pole
    pole = np.array([[18, 0, 0.0], [20, 0, 0.0], [19, 12, 0.0]])
    _, seen = rasterise(np.stack([wall, pole]), 20, 20)
    assert seen[3, 18] == 1


def test_no_triangles_and_flat_triangles_paint_nothing():
    for corners in (np.zeros((0, 3, 3)), np.array([[[0, 0, 0], [5, 5, 0], [9, 9, 0.0]]])):
        depth, seen = rasterise(corners, 10, 10)
        assert np.all(seen == -1)
        assert np.all(np.isinf(depth))


def test_barycentric_weights_rebuild_the_point():
    rng = np.random.default_rng(0)
    corners, x, y = rng.random((30, 3, 2)), rng.random(30), rng.random(30)
    weight = barycentric(corners, x, y)
    assert weight.sum(axis=1) == pytest.approx(1.0)
    assert np.einsum("ni,nij->nj", weight, corners) == pytest.approx(np.stack([x, y], axis=1))
