"""Corners of polygons and segments as the kernels take them, and what is wrong with given ones."""

from __future__ import annotations

from typing import Final

import numpy as np

from corekit.data.arrays import Array
from corekit.errors import PluginError

__all__ = ["PLANAR_KINDS", "planar_corners"]

PLANAR_KINDS: Final = ("circle", "ring", "polygon", "segments")
_MOST: Final = 8000


def planar_corners(kind: str, vertices: Array | None, what: str) -> Array:
    """Corners in the x–z plane (y = 0), of a polygon counter-clockwise with x to the right and z up, shape (k, 3) [m].

    Raises:
        PluginError: if there are too few or too many, if two in turn coincide, or if edges of a polygon cross.
    """
    given = np.zeros((0, 3)) if vertices is None else np.array(vertices, dtype=np.float64)
    least = 3 if kind == "polygon" else 2
    if given.ndim != 2 or given.shape[1:] != (3,) or not least <= len(given) <= _MOST:
        raise PluginError(
            f"{what} needs {least} to {_MOST} vertices [m], got an array of shape {given.shape}"
        )
    if not np.isfinite(given).all():
        raise PluginError(f"{what} has a vertex that is not finite")
    given[:, 1] = 0.0
    closed = kind == "polygon"
    step = (np.roll(given, -1, axis=0) - given) if closed else np.diff(given, axis=0)
    size = float(np.ptp(given, axis=0).max())
    short = np.flatnonzero(np.linalg.norm(step, axis=1) <= 1e-9 * size)
    if len(short) or size == 0.0:
        k = int(short[0]) if len(short) else 0
        raise PluginError(f"{what} has equal vertices {k} and {(k + 1) % len(given)} in turn: leave one out")
    if not closed:
        return given
    crossing = _first_crossing(given, step)
    if crossing is not None:
        raise PluginError(
            f"{what} crosses itself: its edges from vertices {crossing[0]} and {crossing[1]} meet; "
            "list the corners in turn around it, or give several polygons"
        )
    x, z = given[:, 0], given[:, 2]
    area = float(x @ np.roll(z, -1) - z @ np.roll(x, -1))
    return given if area > 0.0 else np.ascontiguousarray(given[::-1])


def _first_crossing(start: Array, step: Array) -> tuple[int, int] | None:
    """Two edges that are no neighbours and have a point in common, or neighbours that fold back onto each other."""
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
