"""Triangle surfaces of solids, in their own axes.

All closed surfaces are oriented: corners are counter-clockwise from outside, so the volume

    V = Σ_faces x₀·(x₁ × x₂) / 6                                                          (1)

is positive. A regular n-gon inscribed in a circle has  n·sin(2π/n)/(2π)  of its area                (2)
and a surface of revolution has the same fraction of its solid's volume.
"""

from __future__ import annotations

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array, IntArray

__all__ = [
    "Surface",
    "box",
    "capsule",
    "chequers",
    "cone",
    "cylinder",
    "patch",
    "polytope",
    "revolved",
    "sphere",
    "triangles",
]


@frozen(eq=False)
class Surface:
    """A triangle mesh.

    Args:
        vertices: vertices [m], shape (n, 3).
        faces: vertex indices, counter-clockwise from outside, shape (m, 3).
        closed: whether it bounds a volume; open surfaces are visible from both sides.
    """

    vertices: Array
    faces: IntArray
    closed: bool = True

    @property
    def corners(self) -> Array:
        """Corners of the faces [m], shape (m, 3, 3): face, corner, coordinate."""
        return self.vertices[self.faces]

    @property
    def volume(self) -> float:
        """Enclosed volume by (1) [m³]."""
        a, b, c = np.moveaxis(self.corners, 1, 0)
        return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0)


def revolved(profile: Array, sides: int = 24) -> Surface:
    """Return a surface of revolution about z.

    Args:
        profile: (radius, z) from below to above [m], shape (p, 2), p ≥ 3; the ends lie on the axis.
        sides: sides of the inscribed polygon.
    """
    rings = len(profile) - 2
    angle = 2.0 * np.pi * np.arange(sides) / sides
    circle = np.stack([np.cos(angle), np.sin(angle), np.zeros(sides)], axis=1)
    points = profile[1:-1, 0, None, None] * circle
    points[:, :, 2] = profile[1:-1, 1, None]
    ends = np.array([[0.0, 0.0, profile[0, 1]], [0.0, 0.0, profile[-1, 1]]])
    vertices = np.concatenate([points.reshape(-1, 3), ends])
    return Surface(vertices, ring_faces(rings, sides))


def ring_faces(rings: int, sides: int) -> IntArray:
    """Return the faces of stacked rings with a vertex below (index −2) and one above (−1)."""
    here = np.arange(sides)
    after = (here + 1) % sides
    low = (sides * np.arange(rings - 1))[:, None]
    side = np.concatenate(
        [
            np.stack([low + here, low + after, low + sides + after], axis=-1).reshape(-1, 3),
            np.stack([low + here, low + sides + after, low + sides + here], axis=-1).reshape(-1, 3),
        ]
    )
    below, above = rings * sides, rings * sides + 1
    top = (rings - 1) * sides
    bottom_cap = np.stack([np.full(sides, below), after, here], axis=1)
    top_cap = np.stack([np.full(sides, above), top + here, top + after], axis=1)
    return np.concatenate([side, bottom_cap, top_cap]).astype(np.int64)


def sphere(radius: float, sides: int = 24) -> Surface:
    """Return a sphere about the origin."""
    return capsule(radius, 0.0, sides)


def capsule(radius: float, half_length: float, sides: int = 24) -> Surface:
    """Return a capsule along z; its straight part is from −half_length to +half_length."""
    angle = np.linspace(-np.pi / 2, np.pi / 2, 2 * max(sides // 4, 2) + 1)
    profile = radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    profile[[0, -1], 0] = 0.0
    middle = len(angle) // 2
    if half_length > 0.0:
        profile = np.insert(profile, middle, profile[middle], axis=0)
        profile[: middle + 1, 1] -= half_length
        profile[middle + 1 :, 1] += half_length
    return revolved(profile, sides)


def cylinder(radius: float, half_height: float, sides: int = 24) -> Surface:
    """Return a cylinder along z."""
    return revolved(
        np.array([[0.0, -half_height], [radius, -half_height], [radius, half_height], [0.0, half_height]]),
        sides,
    )


def cone(radius: float, height: float, sides: int = 24) -> Surface:
    """Return a cone with its base in z = 0 and its tip at z = height."""
    return revolved(np.array([[0.0, 0.0], [radius, 0.0], [0.0, height]]), sides)


def box(half: tuple[float, float, float]) -> Surface:
    """Return a box about the origin with half edges `half` [m]."""
    return polytope(np.array(half) * np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, 8).T)


def polytope(vertices: Array) -> Surface:
    """Return the convex hull of points [m], shape (k, 3).

    Raises:
        ValueError: the points lie in one plane.
    """
    from scipy.spatial import ConvexHull, QhullError

    try:
        hull = ConvexHull(vertices)
    except (QhullError, ValueError) as error:
        raise ValueError("a polytope needs at least four points that do not lie in one plane") from error
    used = np.unique(hull.simplices)
    index = np.zeros(len(vertices), dtype=np.int64)
    index[used] = np.arange(len(used))
    faces = index[hull.simplices]
    points = np.asarray(vertices, dtype=float)[used]
    a, b, c = np.moveaxis(points[faces], 1, 0)
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), hull.equations[:, :3]) < 0.0
    faces[inward] = faces[inward][:, ::-1]
    return Surface(points, faces)


def triangles(corners: Array) -> Surface:
    """Return a surface from the corners of its triangles [m], three rows per triangle; equal corners are merged.

    Raises:
        ValueError: the number of rows is not a multiple of three.
    """
    if len(corners) == 0 or len(corners) % 3:
        raise ValueError(f"a mesh needs three corners per triangle, got {len(corners)} points")
    vertices, index = np.unique(np.asarray(corners, dtype=float), axis=0, return_inverse=True)
    return Surface(vertices, index.reshape(-1, 3).astype(np.int64), closed=False)


def patch(half_width: float, cells: int = 1) -> Surface:
    """Return a square about the origin in z = 0, visible from both sides, with two faces per cell."""
    line = np.linspace(-half_width, half_width, cells + 1)
    x, y = np.meshgrid(line, line, indexing="ij")
    vertices = np.stack([x.ravel(), y.ravel(), np.zeros(x.size)], axis=1)
    i, j = (a.ravel() for a in np.meshgrid(np.arange(cells), np.arange(cells), indexing="ij"))
    a, b = i * (cells + 1) + j, (i + 1) * (cells + 1) + j
    faces = np.stack([a, b, b + 1, a, b + 1, a + 1], axis=1).reshape(-1, 3)
    return Surface(vertices, faces.astype(np.int64), closed=False)


def chequers(half_width: float, cells: int) -> tuple[Surface, Surface]:
    """Return the even and the odd cells of a patch."""
    whole = patch(half_width, cells)
    cell = np.arange(cells * cells)
    odd = ((cell // cells + cell % cells) % 2).repeat(2).astype(bool)
    even_cells, odd_cells = (
        Surface(whole.vertices, whole.faces[chosen], closed=False) for chosen in (~odd, odd)
    )
    return even_cells, odd_cells
