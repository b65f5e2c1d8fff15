"""Triangle meshes of collision shapes, by trimesh."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import trimesh
from attrs import frozen

from corekit.data.arrays import Array, IntArray
from corekit.geometry.shape_specs import shape_spec
from corekit.geometry.shapes import Shape

__all__ = ["Mesh", "shape_mesh", "unit_cylinder"]

_SIDES = 16
_THIN = 0.01
"""Radius of the edges of planar shapes, relative to the size of the scene."""


@frozen(eq=False)
class Mesh:
    """Corners [m], shape (n, 3), and triangles, shape (f, 3), counter-clockwise from outside."""

    vertices: Array
    faces: IntArray


def unit_cylinder() -> Mesh:
    """Return a cylinder of radius 1 and length 1 about the origin, along z."""
    return _mesh(trimesh.creation.cylinder(radius=1.0, height=1.0, sections=10))


def shape_mesh(shape: Shape, extent: float) -> Mesh | None:
    """Return the mesh of a shape in its own axes; None of an edge, which the outline of its body shows.

    Args:
        extent: half the size of what is drawn of an endless shape [m].
    Raises:
        ValueError: a shape of a third party that says no surface.
    """
    size = shape.size
    match shape.kind:
        case "edge":
            return None
        case "sphere":
            made = trimesh.creation.uv_sphere(radius=size[0], count=[_SIDES // 2, _SIDES])
        case "box":
            made = trimesh.creation.box(extents=[2.0 * half for half in size])
        case "capsule":
            made = trimesh.creation.capsule(radius=size[0], height=2.0 * size[1], count=[_SIDES // 2, _SIDES])
        case "cylinder":
            made = trimesh.creation.cylinder(radius=size[0], height=2.0 * size[1], sections=_SIDES)
        case "polytope":
            made = trimesh.convex.convex_hull(np.asarray(shape.vertices, dtype=float))
        case "mesh":
            corners = np.asarray(shape.vertices, dtype=float)
            made = trimesh.Trimesh(corners, np.arange(len(corners)).reshape(-1, 3), process=False)
        case "half-space":
            made = trimesh.creation.box(extents=[2.0 * extent, 2.0 * extent, _THIN * extent])
            made.apply_translation([0.0, 0.0, -0.5 * _THIN * extent])
        case "half-plane" | "circle" | "ring" | "polygon" | "segments":
            made = _edges(shape, extent)
        case _:
            corners = np.asarray(shape_spec(shape.kind).surface_triangles(size, shape.vertices), dtype=float)
            made = trimesh.Trimesh(corners, np.arange(len(corners)).reshape(-1, 3), process=False)
    return _mesh(made)


def _edges(shape: Shape, extent: float) -> trimesh.Trimesh:
    """Return the edges of a planar shape as bars; its plane is x–z of its own axes."""
    radius = _THIN * extent
    if shape.kind == "half-plane":
        points = np.array([[-extent, 0.0], [extent, 0.0]])
    elif shape.kind in {"circle", "ring"}:
        angle = np.linspace(0.0, 2.0 * np.pi, 2 * _SIDES + 1)
        points = shape.size[0] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    else:
        points = np.asarray(shape.vertices, dtype=float)[:, [0, -1]]
        if shape.kind == "polygon":
            points = np.concatenate([points, points[:1]])
        else:
            radius = shape.size[0]
    line = np.stack([points[:, 0], np.zeros(len(points)), points[:, 1]], axis=1)
    bars = [trimesh.creation.cylinder(radius=radius, segment=[a, b], sections=8) for a, b in pairwise(line)]
    return trimesh.util.concatenate(bars)


def _mesh(made: trimesh.Trimesh) -> Mesh:
    return Mesh(np.asarray(made.vertices, dtype=np.float64), np.asarray(made.faces, dtype=np.int64))
