"""Depth of two cores that overlap: a polytope inside D that grows towards the nearest part of the surface.

The polytope starts as the tetrahedron of the portal. Its face nearest to the origin bounds the depth from
below, the support plane of any direction bounds it from above. `refine_direction` improves the best
direction. A cone to the support point above the nearest face replaces the face until the two bounds meet.
Then the depth is proven to be the least over all directions, for any portal.

Source: van den Bergen (2001), "Proximity queries and penetration depth computation on 3D game objects".
"""

from __future__ import annotations

import math
from typing import Final

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.geometry.vectors import Vector, add_scaled, cross, dot, norm, row, scaled, subtract
from corekit_mpr.refine_direction import refine_direction
from corekit_mpr.support import Pair, lowest_point

__all__ = ["MAX_CORNERS", "MAX_FACES", "depth"]

MAX_CORNERS: Final = 128
MAX_FACES: Final = 2 * MAX_CORNERS


@compiled
def _add_face(
    corners: Array, faces: IntArray, planes: Array, count: int, i: int, j: int, k: int, middle: Vector
) -> int:
    """Append the face i, j, k with its outward plane; skip a sliver, which has none."""
    a = row(corners, i)
    n = cross(subtract(row(corners, j), a), subtract(row(corners, k), a))
    length = norm(n)
    if not length > 0.0:
        return count
    s = 1.0 / length
    offset = s * dot(n, a)
    if s * dot(n, middle) > offset:
        s, offset = -s, -offset
    faces[count, 0], faces[count, 1], faces[count, 2] = i, j, k
    planes[count, 0], planes[count, 1], planes[count, 2] = s * n[0], s * n[1], s * n[2]
    planes[count, 3] = offset
    return count + 1


@compiled
def _remove_visible_faces(
    faces: IntArray, planes: Array, count: int, w: Vector, tiny: float, rim: IntArray
) -> tuple[int, int]:
    """Remove the faces visible from w, write their boundary to `rim`; return the counts of faces and rim edges."""
    edges = 0
    face = 0
    while face < count:
        if dot(row(planes, face), w) - planes[face, 3] <= tiny:
            face += 1
            continue
        for side in range(3):
            i, j = faces[face, side], faces[face, (side + 1) % 3]
            twin = -1
            for e in range(edges):
                if (rim[e, 0] == j and rim[e, 1] == i) or (rim[e, 0] == i and rim[e, 1] == j):
                    twin = e
                    break
            if twin >= 0:
                edges -= 1
                rim[twin, 0], rim[twin, 1] = rim[edges, 0], rim[edges, 1]
            else:
                rim[edges, 0], rim[edges, 1] = i, j
                edges += 1
        count -= 1
        for k in range(3):
            faces[face, k] = faces[count, k]
        for k in range(4):
            planes[face, k] = planes[count, k]
    return count, edges


@compiled
def _nearest_face(planes: Array, count: int) -> int:
    """Return the face whose plane is nearest to the origin."""
    best, chosen = math.inf, 0
    for face in range(count):
        if planes[face, 3] < best:
            best, chosen = planes[face, 3], face
    return chosen


@compiled
def _refine_from_face(
    pair: Pair, vertices: Array, n: Vector, corners: Array, face: IntArray, tiny: float, simplex: Array,
    edges: Array,
) -> tuple[float, Vector]:  # fmt: skip
    """Refine the direction n, with the corners of a face as the simplex."""
    for k in range(3):
        for column in range(6):
            simplex[k, column] = corners[face[k], column]
    return refine_direction(pair, vertices, n, simplex, 3, tiny, edges)


@compiled
def _start_polytope(simplex: Array, corners: Array, faces: IntArray, planes: Array) -> tuple[int, Vector]:
    """Make the polytope of the simplex's four rows, move rows 1–3 to 0–2; return face count and interior point."""
    middle = (0.0, 0.0, 0.0)
    for k in range(4):
        for column in range(6):
            corners[k, column] = simplex[k, column]
        middle = add_scaled(middle, 0.25, row(simplex, k))
    count = 0
    for k in range(4):
        count = _add_face(corners, faces, planes, count, (k + 1) & 3, (k + 2) & 3, (k + 3) & 3, middle)
    for k in range(3):
        for column in range(6):
            simplex[k, column] = simplex[k + 1, column]
    return count, middle


@compiled
def depth(
    pair: Pair, vertices: Array, outward: Vector, size: float, tolerance: float, simplex: Array, edges: Array,
    corners: Array, faces: IntArray, planes: Array, rim: IntArray,
) -> tuple[float, Vector, float]:  # fmt: skip
    """Return the gap −depth [m], its direction, and an upper bound of the gap.

    Args:
        outward: unit direction of a short way out, the portal's normal.
        tolerance: largest distance of the bounds where the surface is round [m].
        simplex: the tetrahedron in rows 0–3, later a workspace.
        edges, corners, faces, planes, rim: workspaces, shapes (MAX_EDGES, 3), (MAX_CORNERS, 6), (MAX_FACES,
            3), (MAX_FACES, 4), (3·MAX_FACES, 2).
    """
    tiny = 1e-14 * size
    # rounding of the coordinates, of the order of the size, parts bounds that are one
    tolerance = max(tolerance, tiny)
    count, middle = _start_polytope(simplex, corners, faces, planes)
    corner_count = 4
    best, best_n = refine_direction(pair, vertices, scaled(outward, -1.0), simplex, 3, tiny, edges)
    upper = 0.0
    while count > 0:
        face = _nearest_face(planes, count)
        upper = -planes[face, 3]
        n = scaled(row(planes, face), -1.0)
        if upper - best <= tolerance or corner_count == len(corners) or count + 16 > len(faces):
            # the bounds have met; a maximum elsewhere may be better by less than their distance
            if dot(n, best_n) < 0.999:
                f, refined = _refine_from_face(pair, vertices, n, corners, faces[face], tiny, simplex, edges)
                if f > best:
                    best, best_n = f, refined
            break
        w, a = lowest_point(pair, vertices, n)
        f = dot(w, n)
        if f > best + tiny:
            f, refined = _refine_from_face(pair, vertices, n, corners, faces[face], tiny, simplex, edges)
            if f > best + tiny:
                best, best_n = f, refined
        previous_count = count
        count, edge_count = _remove_visible_faces(faces, planes, count, w, tiny, rim)
        if count == previous_count or count + edge_count > len(faces):
            break  # the support lies in the face to rounding
        for k in range(6):
            corners[corner_count, k] = w[k] if k < 3 else a[k - 3]
        for e in range(edge_count):
            count = _add_face(corners, faces, planes, count, rim[e, 0], rim[e, 1], corner_count, middle)
        corner_count += 1
    return best, best_n, upper
