"""Mass, centre of mass and inertia of uniformly filled shapes.

With R, r radii, L the length along z, a, b, c the edges, m the mass:

    sphere     I = 2/5·m·r²                                                                    (1)
    box        I_xx = m·(b² + c²)/12, and so on round                                          (2)
    cylinder   I_zz = m·R²/2,   I_xx = I_yy = m·(R²/4 + L²/12)                                 (3)
    capsule    (3) of its straight part, and of its two half balls of mass m_b together
               I_zz = 2/5·m_b·r²,   I_xx = m_b·(2/5·r² + L²/4 + 3/8·L·r)                       (4)

A polytope is cut into tetrahedra from one inner point p to the triangles (x₁, x₂, x₃) of its hull; with all
corners counted from p,

    V = det(x₁, x₂, x₃)/6,   ∫x = V/4·s,   ∫x·xᵀ = V/20·(Σ xᵢ·xᵢᵀ + s·sᵀ),   s = x₁ + x₂ + x₃    (5)

which is exact. From C = ∫(x − c)·(x − c)ᵀ about the centroid c follows I = tr(C)·1 − C.                (6)

Source: (1)–(3) any textbook; (5) Tonon (2004), "Explicit exact formulas for the 3-D tetrahedron inertia tensor in
terms of its vertex coordinates", J. Mathematics and Statistics 1(1).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from corekit.data.arrays import Array, IntArray

__all__ = ["MassProperties", "hull", "shared_volume", "symmetric", "together", "uniform"]

_THIN = 1e-6
"""Of the first hull's extent: what is thinner is where hulls touch."""


class MassProperties(NamedTuple):
    """Mass [kg], centre of mass [m], shape (3,), and inertia about it [kg·m²], shape (3, 3), in the shape's axes."""

    mass: float
    centre: Array
    inertia: Array


def symmetric(entries: Sequence[float]) -> Array:
    """The symmetric matrix of (xx, yy, zz) or (xx, yy, zz, xy, xz, yz), shape (3, 3)."""
    xx, yy, zz, xy, xz, yz = (*entries, 0.0, 0.0, 0.0)[:6]
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def hull(vertices: Sequence[Sequence[float]] | Array) -> tuple[Array, IntArray]:
    """Corners of the convex hull [m], shape (k, 3), in their given order, and its triangles, outward, shape (t, 3).

    Raises:
        ValueError: the points lie in one plane.
    """
    from scipy.spatial import ConvexHull, QhullError

    points = np.array(vertices, dtype=float)
    try:
        found = ConvexHull(points)
    except (QhullError, ValueError) as error:
        raise ValueError("the points must span a volume, they lie in one plane") from error
    used = np.unique(found.simplices)
    faces = np.searchsorted(used, found.simplices)
    corners = points[used]
    a, b, c = np.moveaxis(corners[faces], 1, 0)
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), found.equations[:, :3]) < 0.0
    faces[inward] = faces[inward][:, ::-1]
    return corners, faces.astype(np.int64)


def uniform(shape: str, size: Sequence[float], vertices: Sequence[Sequence[float]] = ()) -> MassProperties:
    """Mass properties of a shape filled with density 1 kg/m³.

    Args:
        shape: a key of `config.SIZES`.
        size: its sizes as there [m].
        vertices: of a polytope [m].
    Raises:
        ValueError: a polytope without volume.
    """
    if shape == "polytope":
        return _polytope(*hull(vertices))
    if shape == "sphere":
        (r,) = size
        mass = 4.0 / 3.0 * math.pi * r**3
        moments = np.full(3, 0.4 * mass * r * r)
    elif shape == "box":
        squares = np.square(size)
        mass = float(np.prod(size))
        moments = mass * (squares.sum() - squares) / 12.0
    else:
        r, length = size
        mass = math.pi * r * r * length
        across = mass * (r * r / 4.0 + length * length / 12.0)
        moments = np.array([across, across, mass * r * r / 2.0])
        if shape == "capsule":
            balls = 4.0 / 3.0 * math.pi * r**3
            moments += 0.4 * balls * r * r
            moments[:2] += balls * (length * length / 4.0 + 0.375 * length * r)
            mass += balls
    return MassProperties(mass, np.zeros(3), np.diag(moments))


def together(parts: Sequence[MassProperties]) -> MassProperties:
    """Mass properties of parts that are joined, by the theorem of parallel axes."""
    mass = sum(part.mass for part in parts)
    centre = sum((part.mass * part.centre for part in parts), np.zeros(3)) / mass
    inertia = np.zeros((3, 3))
    for part in parts:
        r = part.centre - centre
        inertia += part.inertia + part.mass * (r @ r * np.eye(3) - np.outer(r, r))
    return MassProperties(mass, centre, inertia)


def shared_volume(one: Sequence[Sequence[float]] | Array, other: Sequence[Sequence[float]] | Array) -> float:
    """Volume that two convex hulls have in common [m³]: that of the hull of where their planes meet.

    With unit normals n and the points n·x + d ≤ 0 of both, the largest ball inside has the centre x and the radius r of

        max r   such that   n·x + r ≤ −d                                                                  (7)
    """
    from scipy.optimize import linprog
    from scipy.spatial import ConvexHull, HalfspaceIntersection

    points = np.array(one, dtype=float)
    centre, unit = (
        points.mean(axis=0),
        float(np.ptp(points, axis=0).max()),
    )  # the solver's tolerances are absolute
    a, b = (points - centre) / unit, (np.array(other, dtype=float) - centre) / unit
    thickness = np.minimum(a.max(axis=0), b.max(axis=0)) - np.maximum(a.min(axis=0), b.min(axis=0))
    if thickness.min() <= _THIN:
        return 0.0
    planes = np.vstack([ConvexHull(a).equations, ConvexHull(b).equations])
    rows = np.hstack([planes[:, :3], np.ones((len(planes), 1))])
    found = linprog([0, 0, 0, -1], A_ub=rows, b_ub=-planes[:, 3], bounds=[(None, None)] * 3 + [(0, None)])
    if found.x is None or found.x[3] <= _THIN:  # the planes leave nothing
        return 0.0
    return float(ConvexHull(HalfspaceIntersection(planes, found.x[:3]).intersections).volume) * unit**3


def _polytope(corners: Array, faces: IntArray) -> MassProperties:
    """(5) and (6)."""
    inner = corners.mean(axis=0)
    x = corners[faces] - inner
    volumes = np.linalg.det(x) / 6.0
    s = x.sum(axis=1)
    volume = float(volumes.sum())
    centre = np.einsum("t,ti->i", volumes, s) / (4.0 * volume)
    second = np.einsum("t,tci,tcj->ij", volumes, x, x) + np.einsum("t,ti,tj->ij", volumes, s, s)
    about_centre = second / 20.0 - volume * np.outer(centre, centre)
    return MassProperties(volume, inner + centre, np.trace(about_centre) * np.eye(3) - about_centre)
