"""Corners of polygons and segments for the compiled loops, and checks of their vertices."""

from __future__ import annotations

from typing import Final

import numpy as np

from corekit.data.arrays import Array
from corekit.errors import PluginError

__all__ = ["PLANAR_KINDS", "planar_corners"]

PLANAR_KINDS: Final = ("circle", "ring", "polygon", "segments")
_MAX_VERTICES: Final = 8000


def planar_corners(kind: str, vertices: Array | None, what: str) -> Array:
    """Return the corners in the x–z plane (y = 0), shape (k, 3) [m]; a polygon's counter-clockwise (x right, z up).

    Raises:
        PluginError: there are too few or too many, two successive ones coincide, or edges of a polygon cross.
    """
    corners = np.zeros((0, 3)) if vertices is None else np.array(vertices, dtype=np.float64)
    min_count = 3 if kind == "polygon" else 2
    if corners.ndim != 2 or corners.shape[1:] != (3,) or not min_count <= len(corners) <= _MAX_VERTICES:
        raise PluginError(
            f"{what} needs {min_count} to {_MAX_VERTICES} vertices [m], got an array of shape {corners.shape}"
        )
    if not np.isfinite(corners).all():
        raise PluginError(f"{what} has a vertex that is not finite")
    corners[:, 1] = 0.0
    is_closed = kind == "polygon"
    step = (np.roll(corners, -1, axis=0) - corners) if is_closed else np.diff(corners, axis=0)
    size = float(np.ptp(corners, axis=0).max())
    short = np.flatnonzero(np.linalg.norm(step, axis=1) <= 1e-9 * size)
    if len(short) or size == 0.0:
        k = int(short[0]) if len(short) else 0
        raise PluginError(
            f"{what} has equal successive vertices {k} and {(k + 1) % len(corners)}: remove one"
        )
    if not is_closed:
        return corners
    crossing = _first_crossing(corners, step)
    if crossing is not None:
        raise PluginError(
            f"{what} crosses itself: its edges from vertices {crossing[0]} and {crossing[1]} meet; "
            "list the corners in order around it, or use several polygons"
        )
    x, z = corners[:, 0], corners[:, 2]
    area = float(x @ np.roll(z, -1) - z @ np.roll(x, -1))
    return corners if area > 0.0 else np.ascontiguousarray(corners[::-1])


def _first_crossing(start: Array, step: Array) -> tuple[int, int] | None:
    """Return two edges that meet without being neighbours, or neighbours that fold back onto each other."""
    n = len(start)
    p, d = start[:, (0, 2)], step[:, (0, 2)]
    for i in range(n):
        j = np.arange(i + 1, n)
        if not len(j):
            continue
        offset = p[j] - p[i]
        area = d[i, 0] * d[j, 1] - d[i, 1] * d[j, 0]
        with np.errstate(divide="ignore", invalid="ignore"):
            s = (offset[:, 0] * d[j, 1] - offset[:, 1] * d[j, 0]) / area
            t = (offset[:, 0] * d[i, 1] - offset[:, 1] * d[i, 0]) / area
        neighbour = (j == i + 1) | ((i == 0) & (j == n - 1))
        meet = ~neighbour & (s >= 0) & (s <= 1) & (t >= 0) & (t <= 1)
        scale = np.linalg.norm(d[i]) * np.linalg.norm(d[j], axis=1)
        folded = neighbour & (np.abs(area) <= 1e-12 * scale) & (d[j] @ d[i] < 0)
        bad = np.flatnonzero(meet | folded)
        if len(bad):
            return i, int(j[bad[0]])
    return None
