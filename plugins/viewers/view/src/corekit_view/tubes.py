"""Tubes around polylines, with frames that do not twist."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.roles.viewer import BodyTrack
from corekit_view.meshes import Surface, ring_faces, sphere

__all__ = ["drawn_lines", "polylines", "rotation_minimising_frames", "tangents", "tube"]


def polylines(starts: IntArray, count: int) -> list[slice]:
    """Return the index ranges of the polylines that begin at `starts` in `count` points."""
    bounds = [*(int(start) for start in starts), count]
    return [slice(a, b) for a, b in pairwise(bounds) if b > a]


def drawn_lines(body: BodyTrack) -> list[slice]:
    """Return the index ranges of the polylines of a body that have a thickness."""
    return [line for line in polylines(body.starts, body.outline.shape[1]) if body.radius[line].any()]


def tangents(points: Array) -> Array:
    """Return unit tangents of a polyline, the bisectors of segments, shape (n, 3); n ≥ 2 distinct points."""
    segment = np.diff(points, axis=0)
    segment /= np.linalg.norm(segment, axis=1, keepdims=True)
    tangent = np.concatenate([segment[:1], segment[:-1] + segment[1:], segment[-1:]])
    length = np.linalg.norm(tangent, axis=1)
    folded = length < 1e-9  # the polyline reverses: any direction is valid
    tangent[folded] = np.concatenate([segment[:1], segment])[folded]
    return tangent / np.where(folded, 1.0, length)[:, None]


def rotation_minimising_frames(points: Array, tangent: Array) -> tuple[Array, Array]:
    """Return two unit normals along a polyline with minimal rotation about the tangent.

    Each step reflects the frame twice: at the bisecting plane of the two points, then so that the
    reflected tangent becomes the next tangent,

        c = x⁺ − x,   r_L = r − 2·c·(c·r)/(c·c),   t_L likewise,                           (1)
        d = t⁺ − t_L,   r⁺ = r_L − 2·d·(d·r_L)/(d·d)                                       (2)

    Args:
        points: x [m], shape (n, 3).
        tangent: unit tangents t, shape (n, 3).
    Returns:
        r, and t × r, each of shape (n, 3).
    Source: Wang, Jüttler, Zheng, Liu (2008), "Computation of rotation minimizing frames", ACM TOG 27(1).
    """
    normal = np.empty_like(points)
    away = np.eye(3)[np.argmin(np.abs(tangent[0]))]
    first = np.cross(tangent[0], away)
    normal[0] = first / np.linalg.norm(first)
    for i in range(len(points) - 1):
        c = points[i + 1] - points[i]
        scale = 2.0 / (c @ c)
        r = normal[i] - scale * (c @ normal[i]) * c
        t = tangent[i] - scale * (c @ tangent[i]) * c
        d = tangent[i + 1] - t
        square = d @ d
        if square > 1e-24:
            r -= 2.0 / square * (d @ r) * d
        r -= (r @ tangent[i + 1]) * tangent[i + 1]
        normal[i + 1] = r / np.linalg.norm(r)
    return normal, np.cross(tangent, normal)


def tube(points: Array, radius: Array, sides: int = 16) -> Surface:
    """Return the closed tube around a polyline, flat at both ends; a sphere if all points coincide.

    Args:
        points: points [m], shape (n, 3), n ≥ 1.
        radius: radius at each point [m], shape (n,).
        sides: sides of a section.
    """
    step = np.linalg.norm(np.diff(points, axis=0), axis=1)
    length = float(step.sum())
    keep = np.concatenate([[True], step > 1e-9 * length])
    points, radius = points[keep], radius[keep]
    if len(points) < 2:
        ball = sphere(float(radius[0]), sides)
        return Surface(ball.vertices + points[0], ball.faces)
    tangent = tangents(points)
    first, second = rotation_minimising_frames(points, tangent)
    angle = 2.0 * np.pi * np.arange(sides) / sides
    offset = np.cos(angle)[:, None] * first[:, None] + np.sin(angle)[:, None] * second[:, None]
    rings = points[:, None] + radius[:, None, None] * offset
    vertices = np.concatenate([rings.reshape(-1, 3), points[[0, -1]]])
    return Surface(vertices, ring_faces(len(points), sides))
