"""Tables of the world's shapes as convex cores, and of hulls with their faces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from corekit.data.arrays import Array, IntArray
from corekit.errors import PluginError
from corekit.geometry.shape_specs import shape_spec
from corekit.geometry.shapes import ShapeTable
from corekit_mpr.support import BOX, CYLINDER, HALF_SPACE, HULL, POINT, SEGMENT

__all__ = ["KINDS", "Hulls", "Solids", "new_solids"]

KINDS: Final[Mapping[str, int]] = {
    "half-space": HALF_SPACE,
    "sphere": POINT,
    "capsule": SEGMENT,
    "cylinder": CYLINDER,
    "box": BOX,
    "polytope": HULL,
    "mesh": HULL,
}
_MAX_CORNERS: Final = 20_000
_THICKNESSES: Final[Mapping[int, int]] = {POINT: 1, SEGMENT: 1, CYLINDER: 2, BOX: 3}
"""How many of its sizes bound the ball that fits into a shape."""


class Hulls(NamedTuple):
    """Faces and corners of all hulls, corners relative to their hull's centre.

    Attributes:
        table: outward normals of all F faces, then corners of all hulls, (F + v, 3) [-, m].
        links: rows f < F are the first and last + 1 of the rows of face f below. These rows are, in order
            around the face, the corner as a row of `table` and the number within its hull of the edge to the
            next, (F + …, 2).
    """

    table: Array
    links: IntArray


class Solids(NamedTuple):
    """Convex cores of n shapes.

    Attributes:
        sizes: sizes of the core (see `support.Solid`), radius of the ball that grows it, bounding radius of
            the shape about the centre, centre in the shape's own axes, radius of the largest ball about the centre
            that fits into the shape, (n, 9) [m].
        codes: kind of the core (−1: not supported), ranges of corners and faces in `Hulls.table`, (n, 5).
    """

    sizes: Array
    codes: IntArray


class _Hull(NamedTuple):
    centre: Array
    vertices: Array
    normals: Array
    loops: list[list[int]]
    edges: list[list[int]]


def _new_hull(points: Array, what: str) -> _Hull:
    """Make the hull of points [m]: its corners about their mean, and its faces with coplanar triangles joined."""
    try:
        # Qhull has lengths of its own below which it sees nothing: a power of two brings any unit to about 1 exactly
        unit = 2.0 ** np.frexp(np.abs(points).max(initial=0.0))[1]
        hull = ConvexHull(points / unit)
    except (QhullError, ValueError) as error:
        raise PluginError(
            f"{what} has no volume or vertices that are not finite: use at least four points that are not "
            "in one plane"
        ) from error
    if len(hull.vertices) > _MAX_CORNERS:
        raise PluginError(
            f"{what} has {len(hull.vertices)} corners on its hull; the limit is {_MAX_CORNERS}: simplify it"
        )
    corners = np.sort(hull.vertices)
    new_index = np.full(len(points), -1)
    new_index[corners] = np.arange(len(corners))
    vertices = np.asarray(points, dtype=np.float64)[corners]
    centre = vertices.mean(axis=0)
    size = float(np.linalg.norm(vertices - centre, axis=1).max())
    # triangles of one face share a plane: keep the first of each, in the given order
    planes = hull.equations * np.array([1.0, 1.0, 1.0, -unit])
    tolerance = np.array([1e-7, 1e-7, 1e-7, 1e-9 * size])
    distinct = np.zeros((0, 4))
    for plane in planes:
        if not np.any(np.all(np.abs(distinct - plane) < tolerance, axis=1)):
            distinct = np.vstack([distinct, plane])
    normals, offsets = distinct[:, :3], distinct[:, 3]
    loops: list[list[int]] = []
    edges: list[list[int]] = []
    edge_numbers: dict[tuple[int, int], int] = {}
    for normal, offset in zip(normals, offsets, strict=True):
        on = np.flatnonzero(vertices @ normal > offset - 1e-9 * size)
        middle = vertices[on].mean(axis=0)
        aside = np.cross(normal, np.eye(3)[np.abs(normal).argmin()])
        about = np.arctan2((vertices[on] - middle) @ np.cross(normal, aside), (vertices[on] - middle) @ aside)
        loop = [int(k) for k in on[np.argsort(about)]]
        loops.append(loop)
        ends = zip(loop, loop[1:] + loop[:1], strict=True)
        edges.append([edge_numbers.setdefault((min(e), max(e)), len(edge_numbers)) for e in ends])
    return _Hull(centre, vertices - centre, normals, loops, edges)


def _core(kind: int, size: Array) -> tuple[tuple[float, float, float], float]:
    """Return the sizes of the core and the radius of the ball that grows it [m]."""
    a, b, c = (float(value) for value in size)
    if kind == POINT:
        return (0.0, 0.0, 0.0), a
    if kind == SEGMENT:
        return (b, 0.0, 0.0), a
    if kind == CYLINDER:
        return (a, b, 0.0), 0.0
    return (a, b, c) if kind == BOX else (0.0, 0.0, 0.0), 0.0


def new_solids(table: ShapeTable, where: str) -> tuple[Solids, Hulls]:
    """Make the tables of the world's shapes.

    Raises:
        PluginError: a polytope or mesh has no volume.
    """
    n = len(table)
    sizes, codes = np.zeros((n, 9)), np.zeros((n, 5), dtype=np.int64)
    sizes[:, 4] = table.bounding_radii()
    hulls: list[tuple[int, _Hull]] = []
    for i in range(n):
        kind = KINDS.get(table.kind[i], -1)
        codes[i, 0] = kind
        sizes[i, :3], sizes[i, 3] = _core(kind, table.size[i])
        sizes[i, 8] = table.size[i, : _THICKNESSES.get(kind, 0)].min(initial=np.inf)
        if kind == HULL:
            points = table.vertices[i]
            what = f"{where}{table.kind[i]} (shape {i})"
            hull = _new_hull(np.zeros((0, 3)) if points is None else np.asarray(points, dtype=float), what)
            # about the centre of the core, not about the shape's origin
            sizes[i, 4] = shape_spec(table.kind[i]).bounding_radius((), hull.vertices)
            sizes[i, 5:8] = hull.centre
            sizes[i, 8] = min(
                float(normal @ hull.vertices[loop[0]])
                for normal, loop in zip(hull.normals, hull.loops, strict=True)
            )
            hulls.append((i, hull))
    faces = sum(len(hull.normals) for _, hull in hulls)
    first_corner, first_face = faces, 0
    face_ranges: list[tuple[int, int]] = []
    face_corners: list[tuple[int, int]] = []
    for i, hull in hulls:
        codes[i, 1:] = (
            first_corner, first_corner + len(hull.vertices), first_face, first_face + len(hull.normals)
        )  # fmt: skip
        for loop, edges in zip(hull.loops, hull.edges, strict=True):
            start = faces + len(face_corners)
            face_corners += [(first_corner + k, e) for k, e in zip(loop, edges, strict=True)]
            face_ranges.append((start, faces + len(face_corners)))
        first_corner, first_face = first_corner + len(hull.vertices), first_face + len(hull.normals)
    rows = [hull.normals for _, hull in hulls] + [hull.vertices for _, hull in hulls]
    links = np.array(face_ranges + face_corners, dtype=np.int64).reshape(-1, 2)
    return Solids(sizes, codes), Hulls(np.concatenate([np.zeros((0, 3)), *rows]), links)
