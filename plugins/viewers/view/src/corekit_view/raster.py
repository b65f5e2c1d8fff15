"""Depth buffer in NumPy: the visible triangle at each pixel.

matplotlib sorts polygons by their mean depth, so a thin arm may appear in front of a box that hides it.
A depth buffer decides at every pixel and avoids such errors.
"""

from __future__ import annotations

import numpy as np

from corekit.data.arrays import Array, IntArray

__all__ = ["barycentric", "rasterise"]

FRAGMENTS = 2_000_000
"""Pixels of bounding boxes per batch; bounds the memory."""


def barycentric(corners: Array, x: Array, y: Array) -> Array:
    """Return barycentric coordinates of points in triangles, nan in triangles without area, shape (n, 3).

    Args:
        corners: at least x, y of each triangle's corners, shape (n, 3, ≥2).
        x, y: points, shape (n,).
    """
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    ab_x, ab_y = b[:, 0] - a[:, 0], b[:, 1] - a[:, 1]
    ac_x, ac_y = c[:, 0] - a[:, 0], c[:, 1] - a[:, 1]
    px, py = x - a[:, 0], y - a[:, 1]
    area = ab_x * ac_y - ab_y * ac_x
    with np.errstate(divide="ignore", invalid="ignore"):
        second = (px * ac_y - py * ac_x) / area
        third = (ab_x * py - ab_y * px) / area
    return np.stack([1.0 - second - third, second, third], axis=1)


def rasterise(corners: Array, width: int, height: int) -> tuple[Array, IntArray]:
    """Return the nearest triangle at each pixel's centre (i + ½, j + ½).

    In a triangle x₀ x₁ x₂ the weights β₁, β₂ of the last two corners and the depth are affine in x, y:

        [β₁ β₂]ᵀ = [x₁ − x₀  x₂ − x₀]⁻¹·(x − x₀),   depth = z₀ + β₁·(z₁ − z₀) + β₂·(z₂ − z₀)    (1)

    Args:
        corners: x and y in pixels, depth (less is nearer), shape (m, 3, 3).
        width, height: size of the buffer in pixels.
    Returns:
        depth (+inf without a triangle) and index of the triangle (−1 without one); both (height, width).
    """
    depth = np.full(width * height, np.inf)
    seen = np.full(width * height, -1, dtype=np.int64)
    # a triangle covers at most the pixel centres in its bounding box
    low = np.ceil(corners[:, :, :2].min(axis=1) - 0.5)
    high = np.floor(corners[:, :, :2].max(axis=1) - 0.5)
    low = np.clip(low, 0, [width, height]).astype(np.int64)
    high = np.clip(high, -1, [width - 1, height - 1]).astype(np.int64)
    columns = np.maximum(high[:, 0] - low[:, 0] + 1, 0)
    count = columns * np.maximum(high[:, 1] - low[:, 1] + 1, 0)

    origin, ab, ac = corners[:, 0], corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    area = ab[:, 0] * ac[:, 1] - ab[:, 1] * ac[:, 0]
    live = np.flatnonzero((count > 0) & (area != 0.0))
    plane = np.empty((len(live), 3, 3))  # β₁, β₂ and depth as p·x + q·y + r
    one, two, at, by = ab[live], ac[live], origin[live], 1.0 / area[live]
    plane[:, 0, :2] = np.stack([two[:, 1] * by, -two[:, 0] * by], axis=1)
    plane[:, 1, :2] = np.stack([-one[:, 1] * by, one[:, 0] * by], axis=1)
    plane[:, 2, :2] = one[:, 2:] * plane[:, 0, :2] + two[:, 2:] * plane[:, 1, :2]
    plane[:, :, 2] = -np.einsum("nij,nj->ni", plane[:, :, :2], at[:, :2])
    plane[:, 2, 2] += at[:, 2]

    chunk = np.cumsum(count[live]) // FRAGMENTS
    for part in np.split(np.arange(len(live)), np.flatnonzero(np.diff(chunk)) + 1):
        if len(part):
            faces = live[part]
            _paint(plane[part], faces, low[faces], columns[faces], count[faces], width, depth, seen)
    return depth.reshape(height, width), seen.reshape(height, width)


def _paint(
    plane: Array,
    faces: IntArray,
    low: IntArray,
    columns: IntArray,
    count: IntArray,
    width: int,
    depth: Array,
    seen: IntArray,
) -> None:
    """Paint some triangles into `depth` and `seen`, in place."""
    row_count = count // columns
    # expand the bounding boxes by rows first, so that only rows need the constants of the planes
    face = np.repeat(np.arange(len(faces)), row_count)
    row = np.arange(len(face)) - np.repeat(np.cumsum(row_count) - row_count, row_count) + low[face, 1]
    at_row = plane[face, :, 1] * (row + 0.5)[:, None] + plane[face, :, 2]
    left, right = _span(plane[face, :2, 0], at_row[:, :2], low[face, 0], columns[face])
    length = np.maximum(right - left + 1, 0)
    span = np.repeat(np.arange(len(face)), length)
    column = np.arange(len(span)) - np.repeat(np.cumsum(length) - length, length) + left[span]
    pixel = row[span] * width + column
    near = plane[face, 2, 0][span] * (column + 0.5) + at_row[span, 2]
    np.minimum.at(depth, pixel, near)
    front = near == depth[pixel]
    seen[pixel[front]] = faces[face[span[front]]]


def _span(slope: Array, constant: Array, low: IntArray, columns: IntArray) -> tuple[IntArray, IntArray]:
    """Return the first and last column of a row with β₁ ≥ 0, β₂ ≥ 0 and β₁ + β₂ ≤ 1."""
    first = low + 0.5
    last = first + (columns - 1)
    for k in range(3):
        p = slope[:, k] if k < 2 else -slope.sum(axis=1)
        c = (constant[:, k] if k < 2 else 1.0 - constant.sum(axis=1)) + 1e-9
        with np.errstate(divide="ignore", invalid="ignore"):
            border = -c / p
        first = np.where(p > 0.0, np.maximum(first, border), first)
        last = np.where(p < 0.0, np.minimum(last, border), last)
        last = np.where((p == 0.0) & (c < 0.0), -np.inf, last)
    bound = (low + columns).astype(float)
    left = np.ceil(np.minimum(first, bound + 1.0) - 0.5)
    right = np.floor(np.maximum(last, low - 1.0) - 0.5)
    return left.astype(np.int64), right.astype(np.int64)
