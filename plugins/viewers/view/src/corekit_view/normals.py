"""Normals at the corners of faces: smooth on round surfaces, sharp at creases."""

from __future__ import annotations

import numpy as np

from corekit.data.arrays import Array
from corekit_view.meshes import Surface

__all__ = ["corner_normals", "split_at_creases"]


def corner_normals(surface: Surface, crease: float = 0.7) -> Array:
    """Return unit normals at every corner of every face, shape (m, 3, 3): face, corner, coordinate.

    The normal at a corner of face f is the area-weighted sum over the faces that share the vertex and meet f at
    less than the crease angle.

    Args:
        surface: the surface.
        crease: least angle of a sharp edge [rad].
    """
    a, b, c = np.moveaxis(surface.corners, 1, 0)
    area = np.cross(b - a, c - a)
    length = np.linalg.norm(area, axis=1, keepdims=True)
    unit = area / np.where(length > 0.0, length, 1.0)

    vertex = surface.faces.ravel()
    order = np.argsort(vertex, kind="stable")
    count = np.bincount(vertex, minlength=len(surface.vertices))
    start = np.concatenate([[0], np.cumsum(count)[:-1]])
    # pairs of corners at the same vertex
    repeats = count[vertex]
    corner = np.repeat(np.arange(len(vertex)), repeats)
    within = np.arange(len(corner)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    other = order[start[vertex[corner]] + within] // 3
    own = corner // 3
    smooth = np.einsum("ij,ij->i", unit[own], unit[other]) > np.cos(crease)
    total = np.zeros((len(vertex), 3))
    for axis in range(3):
        total[:, axis] = np.bincount(corner[smooth], weights=area[other[smooth], axis], minlength=len(vertex))
    norm = np.linalg.norm(total, axis=1, keepdims=True)
    total = np.where(norm > 0.0, total / np.where(norm > 0.0, norm, 1.0), np.repeat(unit, 3, axis=0))
    return total.reshape(-1, 3, 3)


def split_at_creases(surface: Surface, crease: float = 0.7) -> Surface:
    """Return the same faces with duplicate vertices at creases, for averaged vertex normals."""
    normals = corner_normals(surface, crease).reshape(-1, 3)
    key = np.column_stack([surface.faces.ravel(), np.round(normals * 64)])
    _, first, index = np.unique(key, axis=0, return_index=True, return_inverse=True)
    vertices = surface.vertices[surface.faces.ravel()[first]]
    return Surface(vertices, index.reshape(-1, 3).astype(np.int64), surface.closed)
