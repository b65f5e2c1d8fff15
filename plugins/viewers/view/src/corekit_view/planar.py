"""Surfaces of planar shapes: prisms about their x–z plane."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from corekit.data.arrays import Array
from corekit.geometry.shapes import Shape
from corekit_view.meshes import Surface

__all__ = ["planar_surface"]


def _area(a: Array, b: Array, c: Array) -> float:
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))


def _ears(corners: Array) -> list[tuple[int, int, int]]:
    """Return the triangles of a simple polygon (k, 2) by ear clipping; a self-intersecting polygon lacks some."""
    x, z = corners.T
    if x @ np.roll(z, -1) < z @ np.roll(x, -1):
        corners = corners * (1.0, -1.0)
    left, found = list(range(len(corners))), []
    while len(left) >= 3:
        for k in range(len(left)):
            ear = left[k - 1], left[k], left[(k + 1) % len(left)]
            a, b, c = (corners[i] for i in ear)
            held = (corners[i] for i in left if i not in ear)
            if _area(a, b, c) > 0 and not any(
                min(_area(a, b, q), _area(b, c, q), _area(c, a, q)) > 0 for q in held
            ):
                found.append(ear)
                left.pop(k)
                break
        else:
            break
    return found


def _prism(corners: Array, half: float, *, capped: bool = True) -> Surface:
    """Return the prism of a polygon in the x–z plane (k, 2) to ± half along y [m], visible from both sides."""
    k = len(corners)
    vertices = np.concatenate([np.insert(corners, 1, y, axis=1) for y in (-half, half)])
    here, ahead = np.arange(k), (np.arange(k) + 1) % k
    faces = [np.stack([here, ahead, here + k], axis=1), np.stack([ahead, ahead + k, here + k], axis=1)]
    if capped:
        ears = np.array(_ears(corners), dtype=np.int64).reshape(-1, 3)
        faces += [ears, ears[:, ::-1] + k]
    return Surface(vertices, np.concatenate(faces).astype(np.int64), closed=False)


def _circle(radius: float, sides: int) -> Array:
    angle = np.linspace(0.0, 2.0 * np.pi, 2 * sides, endpoint=False)
    return radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)


def _thick(start: Array, stop: Array, radius: float, sides: int) -> Array:
    """Return the outline of a line in the x–z plane with round ends."""
    along = (stop - start) / np.linalg.norm(stop - start)
    angle = np.linspace(-0.5 * np.pi, 0.5 * np.pi, sides)[:, None]
    cap = radius * (np.cos(angle) * along + np.sin(angle) * np.array([-along[1], along[0]]))
    return np.concatenate([stop + cap, start - cap])


def planar_surface(shape: Shape, extent: float, sides: int) -> Surface:
    """Return the surface of a planar shape: a plate so thin that it hides none of its plane, face on in perspective.

    Raises:
        ValueError: a polygon or segments have too few vertices.
    """
    half = 0.01 * extent
    if shape.kind == "half-plane":
        # as thick as is seen face on
        return _prism(extent * np.array([[-1.0, 0.0], [-1.0, -0.06], [1.0, -0.06], [1.0, 0.0]]), half)
    if shape.kind in ("circle", "ring"):
        return _prism(_circle(shape.size[0], sides), half, capped=shape.kind == "circle")
    corners = None if shape.vertices is None else np.asarray(shape.vertices, dtype=float)[:, (0, 2)]
    if corners is None or len(corners) < (3 if shape.kind == "polygon" else 2):
        raise ValueError(f"a {shape.kind} needs vertices to be drawn")
    if shape.kind == "polygon":
        return _prism(corners, half)
    ends = pairwise(corners)
    lines = [_prism(_thick(a, b, shape.size[0], sides), half) for a, b in ends]
    first = np.cumsum([0, *(len(line.vertices) for line in lines)])[:-1]
    faces = [line.faces + start for line, start in zip(lines, first, strict=True)]
    return Surface(np.concatenate([line.vertices for line in lines]), np.concatenate(faces), closed=False)
