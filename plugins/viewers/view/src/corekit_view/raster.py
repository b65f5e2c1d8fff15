"""A depth buffer in NumPy: which triangle is seen at each pixel.

matplotlib sorts polygons by their mean depth, which shows a thin arm through a box it lies behind;
a depth buffer decides at every pixel and knows no such errors.
"""

from __future__ import annotations

import numpy as np

from corekit.data.arrays import Array, IntArray

__all__ = ["barycentric", "rasterise"]

FRAGMENTS = 1_000_000
"""Pixels of bounding boxes tested at once: bounds the memory."""


def barycentric(corners: Array, x: Array, y: Array) -> Array:
    """Barycentric coordinates of points in triangles, nan in triangles without area.

    Args:
        corners: at least x, y of each triangle's corners, shape (n, 3, ≥2). x, y: points, shape (n,).
    Returns:
        Shape (n, 3).
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
    """The nearest triangle at each pixel's centre (i + ½, j + ½).

    Args:
        corners: x and y in pixels, depth (less is nearer), shape (m, 3, 3).
        width, height: of the buffer in pixels.
    Returns:
        depth, +inf where nothing is seen, and index of the triangle, −1 there; both (height, width).
    """
    depth = np.full(width * height, np.inf)
    seen = np.full(width * height, -1, dtype=np.int64)
    # a triangle covers the pixel centres in its bounding box at most
    low = np.ceil(corners[:, :, :2].min(axis=1) - 0.5)
    high = np.floor(corners[:, :, :2].max(axis=1) - 0.5)
    low = np.clip(low, 0, [width, height]).astype(np.int64)
    high = np.clip(high, -1, [width - 1, height - 1]).astype(np.int64)
    columns = np.maximum(high[:, 0] - low[:, 0] + 1, 0)
    count = columns * np.maximum(high[:, 1] - low[:, 1] + 1, 0)
    live = np.flatnonzero(count)
    chunk = np.cumsum(count[live]) // FRAGMENTS
    for faces in np.split(live, np.flatnonzero(np.diff(chunk)) + 1):
        if len(faces):
            _paint(corners, faces, low, columns, count, width, depth, seen)
    return depth.reshape(height, width), seen.reshape(height, width)


def _paint(
    corners: Array,
    faces: IntArray,
    low: IntArray,
    columns: IntArray,
    count: IntArray,
    width: int,
    depth: Array,
    seen: IntArray,
) -> None:
    """Paint some triangles into `depth` and `seen`, both changed in place."""
    number = count[faces]
    face = np.repeat(faces, number)
    within = np.arange(len(face)) - np.repeat(np.cumsum(number) - number, number)
    row, column = np.divmod(within, columns[face])
    column += low[face, 0]
    row += low[face, 1]
    weight = barycentric(corners[face], column + 0.5, row + 0.5)
    inside = (weight >= -1e-9).all(axis=1)
    face, weight = face[inside], weight[inside]
    pixel = row[inside] * width + column[inside]
    near = np.einsum("ni,ni->n", weight, corners[face, :, 2])
    np.minimum.at(depth, pixel, near)
    front = near == depth[pixel]
    seen[pixel[front]] = face[front]
