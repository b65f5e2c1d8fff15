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

__all__ = ["KINDS", "Solids", "solids_of"]

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


class Solids(NamedTuple):
    """Convex cores of n shapes; a hull's corners are relative to its centre.

    Attributes:
        kind: of the core, −1 for shapes that are not ours, (n,).
        size: of the core, see `support.Solid`, (n, 3) [m].
        radius: of the ball that the core is grown by, (n,) [m].
        reach: radius of a ball about the centre that holds the shape, (n,) [m].
        centre: a point inside, in the shape's own axes, (n, 3) [m].
        vertices: corners of all hulls, (v, 3) [m]; those of shape i are rows vertex[i] to vertex[i + 1].
        normals: outward normals of all faces of hulls, (f, 3); those of shape i are face[i] to face[i + 1].
        loops: corners of the faces in turn, as rows of `vertices`; those of face f are loop[f] to loop[f + 1].
        edges: number within its hull of the edge from each entry of `loops` to the next.
    """

    kind: IntArray
    size: Array
    radius: Array
    reach: Array
    centre: Array
    vertices: Array
    vertex: IntArray
    normals: Array
    face: IntArray
    loops: IntArray
    loop: IntArray
    edges: IntArray


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
    normals: list[Array] = []
    offsets: list[float] = []
    for *normal, offset in hull.equations:
        seen = any(
            np.abs(n - normal).max() < 1e-7 and abs(d + offset) < 1e-9 * size
            for n, d in zip(normals, offsets, strict=True)
        )
        if not seen:
            normals.append(np.array(normal))
            offsets.append(-float(offset))
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
    return _Hull(centre, vertices - centre, np.array(normals), loops, edges)


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


def solids_of(table: ShapeTable, where: str) -> Solids:
    """Tables of the world's shapes.

    Raises:
        PluginError: if a polytope or mesh has no volume.
    """
    n = len(table)
    kind = np.array([KINDS.get(each, -1) for each in table.kind], dtype=np.int64)
    size, centre = np.zeros((n, 3)), np.zeros((n, 3))
    radius, reach = np.zeros(n), np.zeros(n)
    hulls: list[_Hull | None] = []
    for i in range(n):
        size[i], radius[i], reach[i] = _core(int(kind[i]), table.size[i])
        hull = None
        if kind[i] == HULL:
            points = table.vertices[i]
            what = f"{where}{table.kind[i]} (shape {i})"
            hull = _hull(np.zeros((0, 3)) if points is None else np.asarray(points, dtype=float), what)
            centre[i] = hull.centre
            reach[i] = np.linalg.norm(hull.vertices, axis=1).max()
        hulls.append(hull)
    vertex = np.cumsum([0, *(0 if h is None else len(h.vertices) for h in hulls)], dtype=np.int64)
    face = np.cumsum([0, *(0 if h is None else len(h.normals) for h in hulls)], dtype=np.int64)
    real = [(int(vertex[i]), h) for i, h in enumerate(hulls) if h is not None]
    loops = [[start + k for k in each] for start, h in real for each in h.loops]
    return Solids(
        kind, size, radius, reach, centre,
        np.concatenate([np.zeros((0, 3)), *(h.vertices for _, h in real)]),
        vertex,
        np.concatenate([np.zeros((0, 3)), *(h.normals for _, h in real)]),
        face,
        np.array([k for each in loops for k in each], dtype=np.int64),
        np.cumsum([0, *(len(each) for each in loops)], dtype=np.int64),
        np.array([e for _, h in real for each in h.edges for e in each], dtype=np.int64),
    )  # fmt: skip
