"""The world's shapes as tables of convex cores, hulls with their faces among them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from corekit.data.arrays import Array, IntArray
from corekit.errors import PluginError
from corekit.geometry.shapes import ShapeTable
from corekit_mpr.support import BOX, CYLINDER, HALF_SPACE, HULL, POINT, SEGMENT

__all__ = ["KINDS", "Hulls", "Solids", "solids_of"]

KINDS: Final[Mapping[str, int]] = {
    "half-space": HALF_SPACE,
    "sphere": POINT,
    "capsule": SEGMENT,
    "cylinder": CYLINDER,
    "box": BOX,
    "polytope": HULL,
    "mesh": HULL,
}
_MOST_CORNERS: Final = 20_000


class Hulls(NamedTuple):
    """Faces and corners of all hulls, corners relative to their hull's centre.

    Attributes:
        table: outward normals of all F faces, then corners of all hulls, (F + v, 3) [-, m].
        links: of face f < F where its corners stand below, first and last + 1; below, in turn, the corner as a
            row of `table` and the number, within its hull, of the edge to the next, (F + …, 2).
    """

    table: Array
    links: IntArray


class Solids(NamedTuple):
    """Convex cores of n shapes.

    Attributes:
        numbers: sizes of the core (see `support.Solid`), radius it is grown by, radius of a ball about the
            centre that holds the shape, centre in the shape's own axes, (n, 8) [m].
        codes: kind of the core (−1: not ours), ranges of corners and faces in `Hulls.table`, (n, 5).
    """

    numbers: Array
    codes: IntArray


class _Hull(NamedTuple):
    centre: Array
    vertices: Array
    normals: Array
    loops: list[list[int]]
    edges: list[list[int]]


def _hull(points: Array, what: str) -> _Hull:
    """The hull of points [m]: its corners about their middle, and its faces with coplanar triangles joined."""
    try:
        hull = ConvexHull(points)
    except (QhullError, ValueError) as error:
        raise PluginError(
            f"{what} has no volume or vertices that are not finite: give at least four points that are not "
            "in one plane"
        ) from error
    if len(hull.vertices) > _MOST_CORNERS:
        raise PluginError(
            f"{what} has {len(hull.vertices)} corners on its hull; at most {_MOST_CORNERS} are taken"
        )
    corners = np.sort(hull.vertices)
    own = np.full(len(points), -1)
    own[corners] = np.arange(len(corners))
    vertices = np.asarray(points, dtype=np.float64)[corners]
    centre = vertices.mean(axis=0)
    size = float(np.linalg.norm(vertices - centre, axis=1).max())
    # triangles of one face have one plane: take the first of each, in the given order
    planes = hull.equations * np.array([1.0, 1.0, 1.0, -1.0])
    near = np.array([1e-7, 1e-7, 1e-7, 1e-9 * size])
    kept = np.zeros((0, 4))
    for plane in planes:
        if not np.any(np.all(np.abs(kept - plane) < near, axis=1)):
            kept = np.vstack([kept, plane])
    normals, offsets = kept[:, :3], kept[:, 3]
    loops: list[list[int]] = []
    edges: list[list[int]] = []
    numbers: dict[tuple[int, int], int] = {}
    for normal, offset in zip(normals, offsets, strict=True):
        on = np.flatnonzero(vertices @ normal > offset - 1e-9 * size)
        middle = vertices[on].mean(axis=0)
        aside = np.cross(normal, np.eye(3)[np.abs(normal).argmin()])
        about = np.arctan2((vertices[on] - middle) @ np.cross(normal, aside), (vertices[on] - middle) @ aside)
        loop = [int(k) for k in on[np.argsort(about)]]
        loops.append(loop)
        ends = zip(loop, loop[1:] + loop[:1], strict=True)
        edges.append([numbers.setdefault((min(e), max(e)), len(numbers)) for e in ends])
    return _Hull(centre, vertices - centre, normals, loops, edges)


def _core(kind: int, size: Array) -> tuple[tuple[float, float, float], float, float]:
    """Sizes of the core, its growth, and the reach from its centre [m]."""
    a, b, c = (float(value) for value in size)
    if kind == POINT:
        return (0.0, 0.0, 0.0), a, a
    if kind == SEGMENT:
        return (b, 0.0, 0.0), a, a + b
    if kind == CYLINDER:
        return (a, b, 0.0), 0.0, float(np.hypot(a, b))
    if kind == BOX:
        return (a, b, c), 0.0, float(np.linalg.norm(size))
    return (0.0, 0.0, 0.0), 0.0, np.inf


def solids_of(table: ShapeTable, where: str) -> tuple[Solids, Hulls]:
    """Tables of the world's shapes.

    Raises:
        PluginError: if a polytope or mesh has no volume.
    """
    n = len(table)
    numbers, codes = np.zeros((n, 8)), np.zeros((n, 5), dtype=np.int64)
    hulls: list[tuple[int, _Hull]] = []
    for i in range(n):
        kind = KINDS.get(table.kind[i], -1)
        codes[i, 0] = kind
        numbers[i, :3], numbers[i, 3], numbers[i, 4] = _core(kind, table.size[i])
        if kind == HULL:
            points = table.vertices[i]
            what = f"{where}{table.kind[i]} (shape {i})"
            hull = _hull(np.zeros((0, 3)) if points is None else np.asarray(points, dtype=float), what)
            numbers[i, 4] = np.linalg.norm(hull.vertices, axis=1).max()
            numbers[i, 5:] = hull.centre
            hulls.append((i, hull))
    faces = sum(len(hull.normals) for _, hull in hulls)
    first_corner, first_face = faces, 0
    heads: list[tuple[int, int]] = []
    entries: list[tuple[int, int]] = []
    for i, hull in hulls:
        codes[i, 1:] = (
            first_corner, first_corner + len(hull.vertices), first_face, first_face + len(hull.normals)
        )  # fmt: skip
        for loop, edges in zip(hull.loops, hull.edges, strict=True):
            start = faces + len(entries)
            entries += [(first_corner + k, e) for k, e in zip(loop, edges, strict=True)]
            heads.append((start, faces + len(entries)))
        first_corner, first_face = first_corner + len(hull.vertices), first_face + len(hull.normals)
    rows = [hull.normals for _, hull in hulls] + [hull.vertices for _, hull in hulls]
    links = np.array(heads + entries, dtype=np.int64).reshape(-1, 2)
    return Solids(numbers, codes), Hulls(np.concatenate([np.zeros((0, 3)), *rows]), links)
