"""How often a closed surface winds around the space that it encloses, along lines through it.

Upwards along a line the winding number w rises by one at a triangle that faces down and falls by one at one that faces
up. A solid has w = 1 inside and 0 outside. Integrals over the surface weigh a place w times: bodies that overlap, and
cavities whose triangles face as those of a body do, have w = 2, a body that is inside out has w = −1.

The lines stand on a grid of 128 × 128 across the extent, in all three directions: what is wider than a 128th of the
extent in two directions is met. Edges are cut in the same order of their ends for both triangles, so that lines enter
as often as they leave.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from corekit.data.arrays import Array, IntArray

__all__ = ["Shares", "shares"]

_LINES = 128
_OFFSET = 0.381966011250105
"""Of the first line, of the distance between two: edges of drawn parts seldom stand there."""


class Shares(NamedTuple):
    """Of the volume that is weighed, what is weighed once too often, and what is weighed as less than nothing."""

    again: float
    inside_out: float


def shares(vertices: Array, faces: IntArray) -> Shares:
    """Shares of a closed surface, the largest of the three directions."""
    found = [_along_z(np.roll(vertices, turn, axis=1), faces) for turn in range(3)]
    return Shares(*map(float, np.max(found, axis=0)))


def _along_z(vertices: Array, faces: IntArray) -> tuple[float, float]:
    lines, heights, steps = _crossings(vertices, faces)
    order = np.lexsort((heights, lines))
    winding = np.cumsum(steps[order])[:-1]
    length = np.where(np.diff(lines[order]) == 0, np.diff(heights[order]), 0.0)
    weighed = float(length @ np.abs(winding))
    if weighed <= 0.0:
        return 0.0, 0.0
    return float(length @ np.maximum(winding - 1, 0)) / weighed, float(
        length @ np.maximum(-winding, 0)
    ) / weighed


def _crossings(vertices: Array, faces: IntArray) -> tuple[IntArray, Array, IntArray]:
    """Line, height and rise of the winding number of each crossing of a line along z with a triangle."""
    least, extent = vertices.min(axis=0), np.ptp(vertices, axis=0)
    grid = least[:2, None] + extent[:2, None] * (np.arange(_LINES) + _OFFSET) / _LINES
    # a corner of this rank is below the rows from that one on
    rank = np.searchsorted(grid[1], vertices[:, 1], side="right")[faces]
    first, last = rank.min(axis=1), rank.max(axis=1)
    triangle, row = _spread(first, last)
    y = grid[1][row]
    below = rank[triangle] <= row[:, None]
    ends = np.stack([faces, np.roll(faces, -1, axis=1)], axis=2)[triangle]  # (p, 3 edges, 2)
    rises = below & ~np.roll(below, -1, axis=1)
    falls = ~below & np.roll(below, -1, axis=1)
    up, down = (_cut(vertices, ends[mask], y) for mask in (rises, falls))
    faces_up = up[:, 0] > down[:, 0]
    left, right = np.where(faces_up[:, None], down, up), np.where(faces_up[:, None], up, down)
    pair, column = _spread(*(np.searchsorted(grid[0], side[:, 0], side="right") for side in (left, right)))
    share = (grid[0][column] - left[pair, 0]) / (right[pair, 0] - left[pair, 0])
    height = left[pair, 1] + share * (right[pair, 1] - left[pair, 1])
    return row[pair] * _LINES + column, height, np.where(faces_up[pair], -1, 1)


def _spread(first: IntArray, last: IntArray) -> tuple[IntArray, IntArray]:
    """Index and each whole number of the ranges from `first` up to but without `last`."""
    count = last - first
    index = np.repeat(np.arange(len(count)), count)
    return index, np.arange(len(index)) - np.repeat(np.cumsum(count) - count - first, count)


def _cut(vertices: Array, ends: IntArray, y: Array) -> Array:
    """x and z where edges meet the heights y, shape (p, 2); the same bits for either direction of an edge."""
    a, b = (vertices[each] for each in np.sort(ends, axis=1).T)
    share = ((y - a[:, 1]) / (b[:, 1] - a[:, 1]))[:, None]
    return a[:, ::2] + share * (b[:, ::2] - a[:, ::2])
