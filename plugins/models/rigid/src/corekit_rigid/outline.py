"""What to draw on a body's surface, so that its turning can be seen: edges, rims and circles."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.geometry.shapes import Shape
from corekit_rigid.inertia import hull

__all__ = ["surface_lines", "surface_speeds"]

_SIDES = 32
_THIN = 0.02
_SLENDER = 0.1
"""Largest drawn radius of a line, of the smallest size of a shape: those of a slender capsule do not hide it."""
_POLE = 0.5


def surface_lines(shapes: Sequence[Shape], centre: Array) -> tuple[Array, IntArray, float]:
    """Polylines on the surface of shapes: points in their axes (n, 3) [m], first point of each, drawn radius [m].

    A ball has a great circle and one about its pole +z, a capsule the circles where its caps begin and one along it,
    a cylinder its rims and a diameter on each, box and polytope their edges. The last point is the centre of mass
    `centre` [m] by itself: viewers trace the last point, and that of a surface would show the turning.
    """
    lines = [line for shape in shapes for line in _lines(shape)]
    lines.append(centre[None])
    extent = max(float(np.ptp(np.concatenate(lines), axis=0).max()), 1e-9)
    lengths = [len(line) for line in lines]
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int64)
    smallest = min((size for shape in shapes for size in shape.size), default=math.inf)
    return np.concatenate(lines), starts, min(0.5 * _THIN * extent, _SLENDER * smallest)


def surface_speeds(arms: Array) -> Array:
    """Largest speed of points per unit of ω about each axis: their distance from it [m], shape (3,).

    Args:
        arms: from the point that ω turns about to points on the surface [m], shape (n, 3).
    """
    squares = arms * arms
    return np.sqrt(np.max(squares.sum(axis=1, keepdims=True) - squares, axis=0))


def _lines(shape: Shape) -> list[Array]:
    size = shape.size
    if shape.kind == "sphere":
        r = size[0]
        return [_circle(r, 0.0)[:, [0, 2, 1]], _circle(r * math.sin(_POLE), r * math.cos(_POLE))]
    if shape.kind == "capsule":
        radius, half = size
        return [_circle(radius, half), _circle(radius, -half), _around(radius, half)]
    if shape.kind == "cylinder":
        radius, half = size
        across = np.array([[-radius, 0.0, 0.0], [radius, 0.0, 0.0]])
        up = np.array([0.0, 0.0, half])
        return [_circle(radius, half), _circle(radius, -half), across + up, across - up]
    return _edges(shape.vertices if shape.vertices is not None else _box_corners(size))


def _circle(radius: float, height: float) -> Array:
    angle = np.linspace(0.0, 2.0 * np.pi, _SIDES + 1)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle), np.full(angle.size, height)], axis=1)


def _around(radius: float, half: float) -> Array:
    """A capsule's section in x–z, closed."""
    angle = np.linspace(0.0, np.pi, _SIDES // 2 + 1)
    x, z = radius * np.cos(angle), radius * np.sin(angle)
    upper = np.stack([x, np.zeros_like(x), z + half], axis=1)
    return np.concatenate([upper, -upper, upper[:1]])


def _box_corners(half: tuple[float, ...]) -> Array:
    return np.array(half) * np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1], indexing="ij")).reshape(3, 8).T


def _edges(vertices: Array) -> list[Array]:
    """The edges of a hull, without the diagonals that only cut its faces into triangles."""
    corners, faces = hull(vertices)
    a, b, c = np.moveaxis(corners[faces], 1, 0)
    normal = np.cross(b - a, c - a)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    beside: dict[tuple[int, int], list[int]] = {}
    for face, triangle in enumerate(faces.tolist()):
        for i, j in zip(triangle, [*triangle[1:], triangle[0]], strict=True):
            beside.setdefault((min(i, j), max(i, j)), []).append(face)
    return [
        corners[list(ends)]
        for ends, (first, second) in sorted(beside.items())
        if normal[first] @ normal[second] < 1.0 - 1e-9
    ]
