"""Fixed boxes that stand side by side are one surface: what slides over the seam does not feel it.

A detector knows one box at a time. Of the next one it reports the edge, or the side, that the other one covers, with a
normal along the motion: a body trips over it. On the surface of both, a place w with the normal n is a contact only if
no way from w into another box leads towards the body. The ways into a box B from w are its tangent cone, so that

    n·t ≤ 0  for all t of the tangent cone of B at w,   that is n is in the normal cone of B at w                (1)

The normal cone of a box is spanned by the normals of the faces on which w is: {0} inside. Where w is in or on another
box, and (1) fails for one of the two, a contact is left out if that holds for the places around w with the same normal
too: a side that looks out above its neighbour, or beside it, as that of a step or of a wall on a floor, still counts.
At the foot of such a wall, in the corner of both boxes, the normal of what leans against it may be tilted: it counts.

Where what lies on two boxes crosses their seam, both report the place, which is none on one box in place of both. With
the same friction and restitution, boxes that all stand, and places of one shape on a line, or of edges that share a
node,

    w = (1 − t)·w_k + t·w_m,  0 ≤ t ≤ 1,     so that  J = (1 − t)·J_k + t·J_m,   φ = (1 − t)·φ_k + t·φ_m          (2)

a contact at a seam that others imply is left out: its row says nothing new, its load would be theirs to share, and
that of a potential would come out of nothing where an end passes the seam.
"""

from __future__ import annotations

from typing import Final, final

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.data.contacts import ContactSet
from corekit.engine.internal_edges.joined_ends import copy_contact
from corekit.roles.collision_scene import CollisionScene

__all__ = ["Seams", "find_seams", "leave_out_covered", "leave_out_implied"]

_APART: Final = 1e-9
"""Distance at which boxes touch and a place is on a face, relative to the size of the boxes."""
_TILTED: Final = 1e-6
"""Component of a normal that counts: of less, the gap changes by less than its rounding."""
_LOOKS: Final = 0.6
"""Cosine of a normal and that of a face from which on the contact is one of the face or of an edge of it."""
_LEANS: Final = 0.3
"""Tilt at which detectors report places of a face that are not the nearest ones, by far."""
_BESIDE: Final = 1e-5
"""Distance of a place from the line between others on which it is, relative to theirs."""
_AROUND: Final = 1e-3
"""Distance of the places around w, relative to half of the box."""


def find_seams(scene: CollisionScene, surface: IntArray) -> Seams | None:
    """Find the fixed boxes of the surroundings that touch each other; None where none do.

    Args:
        scene: where the shapes are.
        surface: a number of every shape, that of shapes with the same friction and restitution, (n,).
    """
    table, poses, carried = scene.table, scene.poses, len(scene.table) - len(scene.obstacles)
    boxes = [
        carried + i
        for i, obstacle in enumerate(scene.obstacles)
        if obstacle.shape.kind == "box" and not obstacle.moving
    ]
    if len(boxes) < 2:
        return None
    position, rotation, half = poses.position[boxes], poses.rotation[boxes], table.size[boxes]
    neighbours: list[list[int]] = [[] for _ in range(len(table) + 1)]
    for a, box in enumerate(boxes):
        # the boxes that no plane of a face parts from this one
        away = position - position[a]
        turn = np.abs(np.einsum("ji,njk->nik", rotation[a], rotation))
        own = np.abs(away @ rotation[a]) - half[a] - np.einsum("nik,nk->ni", turn, half)
        other = np.abs(np.einsum("nj,njk->nk", away, rotation)) - half - np.einsum("nik,i->nk", turn, half[a])
        slack = _APART * (half.max(axis=1) + half[a].max())
        near = (np.maximum(own, other).max(axis=1) <= slack) & (np.arange(len(boxes)) != a)
        neighbours[box] = [boxes[b] for b in np.flatnonzero(near).tolist()]
    first = np.cumsum([0, *(len(each) for each in neighbours)], dtype=np.int64)
    if not first[-1]:
        return None
    return Seams(scene, surface, first, np.concatenate(neighbours).astype(np.int64))


@final
class Seams:
    """Leaves out the contacts at places of a box that other boxes cover or continue.

    Args:
        scene: where the shapes are.
        surface: as in `find_seams`.
        first, neighbour: the boxes that touch shape i are neighbour[first[i] : first[i + 1]].

    Attributes:
        surface, first, neighbour: the same.
    """

    def __init__(
        self, scene: CollisionScene, surface: IntArray, first: IntArray, neighbour: IntArray
    ) -> None:
        self._scene, self.surface = scene, surface
        self.first, self.neighbour = first, neighbour
        self._places: Array = np.zeros((2, 3))

    def leave_out(self, contacts: ContactSet) -> None:
        """Leave out the contacts of a set that are not on the surface of all boxes together, in place."""
        table, poses = self._scene.table, self._scene.poses
        boxes = self.first, self.neighbour, table.size, poses.position, poses.rotation
        columns = (
            contacts.id, contacts.shape, contacts.gap, contacts.point, contacts.normal, contacts.frame,
            contacts.local_point, contacts.weight,
        )  # fmt: skip
        contacts.count = leave_out_covered(contacts.count, self._places, *boxes, *columns)
        contacts.count = leave_out_implied(
            contacts.count, self._places, self.surface, table.second_frame, *boxes, *columns
        )


@compiled
def _leads_into(b: int, w: Array, n: Array, size: Array, position: Array, rotation: Array) -> int:
    """Whether a place is outside of a box b (0), in or on it (1), and there (1) of the module fails too (2)."""
    slack, fails = _APART * max(size[b, 0], size[b, 1], size[b, 2]), False
    for axis in range(3):
        place = along = 0.0
        for i in range(3):
            place += rotation[b, i, axis] * (w[i] - position[b, i])
            along += rotation[b, i, axis] * n[i]
        if not abs(place) <= size[b, axis] + slack:
            return 0
        if place >= size[b, axis] - slack:
            along = min(along, 0.0)
        elif place <= slack - size[b, axis]:
            along = max(along, 0.0)
        fails = fails or abs(along) > _TILTED
    return 2 if fails else 1


@compiled
def _is_covered(
    s: int,
    w: Array,
    n: Array,
    first: IntArray,
    neighbour: IntArray,
    size: Array,
    position: Array,
    rotation: Array,
) -> bool:
    """Whether a place of box s is in or on a box that touches it, and (1) fails for one of the two."""
    covered = False
    for k in range(first[s], first[s + 1]):
        into = _leads_into(neighbour[k], w, n, size, position, rotation)
        if into == 1:
            into = _leads_into(s, w, n, size, position, rotation)
        covered = covered or into == 2
    return covered


@compiled
def _is_in_corner(
    s: int,
    w: Array,
    n: Array,
    first: IntArray,
    neighbour: IntArray,
    size: Array,
    position: Array,
    rotation: Array,
) -> bool:
    """Whether a box at w stands in front of a face of box s that looks about along n."""
    slack = _APART * max(size[s, 0], size[s, 1], size[s, 2])
    for axis in range(3):
        place = along = 0.0
        for i in range(3):
            place += rotation[s, i, axis] * (w[i] - position[s, i])
            along += rotation[s, i, axis] * n[i]
        sign = 1.0 if along > 0.0 else -1.0
        if abs(along) < _LOOKS or sign * place < size[s, axis] - slack:
            continue
        for k in range(first[s], first[s + 1]):
            b = neighbour[k]
            before = 0.0
            for i in range(3):
                before += sign * rotation[s, i, axis] * (position[b, i] - w[i])
            for other in range(3):
                turn = 0.0
                for i in range(3):
                    turn += rotation[s, i, axis] * rotation[b, i, other]
                before += abs(turn) * size[b, other]
            if before > _AROUND * size[s, axis] and _leads_into(b, w, n, size, position, rotation) > 0:
                return True
    return False


@compiled
def _is_at_seam(
    s: int,
    w: Array,
    n: Array,
    first: IntArray,
    neighbour: IntArray,
    surface: IntArray,
    size: Array,
    position: Array,
    rotation: Array,
) -> bool:
    """Whether a place of box s is on a box that touches it, with the same surface."""
    for k in range(first[s], first[s + 1]):
        b = neighbour[k]
        if surface[b] == surface[s] and _leads_into(b, w, n, size, position, rotation) > 0:
            return True
    return False


@compiled
def _is_beside(
    k: int, c: int, first: IntArray, surface: IntArray, second_frame: IntArray, shape: IntArray, normal: Array,
    frame: IntArray, weight: Array,
) -> bool:  # fmt: skip
    """Whether contacts k and c are of one shape, or k is of a node of the edge of c, with one normal and surface.

    Contact k must be with a box that stands beside others: what moves has another velocity there.
    """
    b = shape[k, 1]
    if first[b] == first[b + 1] or surface[b] != surface[shape[c, 1]]:
        return False
    for i in range(3):
        if not abs(normal[k, i] - normal[c, i]) <= 2.0 * _TILTED:
            return False
    if shape[k, 0] == shape[c, 0]:
        return True
    if second_frame[shape[k, 0]] < 0 or second_frame[shape[c, 0]] < 0:
        return False
    for slot in range(frame.shape[1]):
        if frame[k, slot] >= 0 and abs(weight[k, slot]) > _TILTED:
            is_its = False
            for other in range(frame.shape[1]):
                is_its = is_its or frame[c, other] == frame[k, slot]
            if not is_its:
                return False
    return True


@compiled
def _is_implied(
    c: int, kept: int, count: int, slack: float, first: IntArray, surface: IntArray, second_frame: IntArray,
    shape: IntArray, gap: Array, point: Array, normal: Array, frame: IntArray, weight: Array,
) -> bool:  # fmt: skip
    """Whether one or two of the contacts 0…kept − 1 and c + 1…count − 1 imply contact c by (2)."""
    for k in range(count):
        if kept <= k <= c or not _is_beside(k, c, first, surface, second_frame, shape, normal, frame, weight):
            continue
        square = 0.0
        for i in range(3):
            square += (point[k, i] - point[c, i]) ** 2
        if square <= slack * slack:
            if abs(gap[k] - gap[c]) <= slack:
                return True
            continue
        for m in range(k):
            if kept <= m <= c or not _is_beside(
                m, c, first, surface, second_frame, shape, normal, frame, weight
            ):
                continue
            along = whole = 0.0
            for i in range(3):
                span = point[m, i] - point[k, i]
                along += span * (point[c, i] - point[k, i])
                whole += span * span
            if not 0.0 < along < whole:
                continue
            t, off = along / whole, 0.0
            for i in range(3):
                off += (point[c, i] - point[k, i] - t * (point[m, i] - point[k, i])) ** 2
            # a normal that leans a little has its place beside the line
            if off <= (_BESIDE * _BESIDE) * whole and abs(gap[k] + t * (gap[m] - gap[k]) - gap[c]) <= slack:
                return True
    return False


@compiled
def leave_out_covered(
    count: int, places: Array, first: IntArray, neighbour: IntArray, size: Array, position: Array, rotation: Array,
    id: IntArray, shape: IntArray, gap: Array, point: Array, normal: Array, frame: IntArray, local: Array,
    weight: Array,
) -> int:  # fmt: skip
    """Leave out contacts where (1) fails, and return how many are left.

    Args:
        places: work space, (2, 3). first, neighbour: as in `Seams`. size, position, rotation: of all shapes.
        id, shape, gap, point, normal, frame, local, weight: columns of the contact set.
    """
    kept, w, around = 0, places[0], places[1]
    for c in range(count):
        s = shape[c, 1]
        is_covered = first[s] < first[s + 1]
        if is_covered:
            for i in range(3):
                w[i] = point[c, i] - 0.5 * gap[c] * normal[c, i]
            is_covered = _is_covered(s, w, normal[c], first, neighbour, size, position, rotation)
        # the places beside w with this normal: along the axes of the box that are at right angles to it, in a corner
        # between boxes about so
        tilt = _TILTED
        if is_covered and _is_in_corner(s, w, normal[c], first, neighbour, size, position, rotation):
            tilt = _LEANS
        for side in range(6 if is_covered else 0):
            axis, sign = side // 2, 1.0 - 2.0 * (side % 2)
            place = along = 0.0
            for i in range(3):
                place += rotation[s, i, axis] * (w[i] - position[s, i])
                along += rotation[s, i, axis] * normal[c, i]
            step = sign * min(_AROUND * size[s, axis], max(size[s, axis] - sign * place, 0.0))
            if abs(along) <= tilt:
                for i in range(3):
                    around[i] = w[i] + step * rotation[s, i, axis]
                is_covered = is_covered and _is_covered(
                    s, around, normal[c], first, neighbour, size, position, rotation
                )
        if is_covered:
            continue
        if kept != c:
            copy_contact(c, kept, id, shape, gap, point, normal, frame, local, weight)
        kept += 1
    return kept


@compiled
def leave_out_implied(
    count: int, places: Array, surface: IntArray, second_frame: IntArray, first: IntArray, neighbour: IntArray,
    size: Array, position: Array, rotation: Array, id: IntArray, shape: IntArray, gap: Array, point: Array,
    normal: Array, frame: IntArray, local: Array, weight: Array,
) -> int:  # fmt: skip
    """Leave out contacts at seams that others imply by (2), and return how many are left.

    Args:
        surface: as in `find_seams`. second_frame: of all shapes. The others are those of `leave_out_covered`.
    """
    kept, w = 0, places[0]
    for c in range(count):
        s = shape[c, 1]
        is_implied = first[s] < first[s + 1]
        if is_implied:
            for i in range(3):
                w[i] = point[c, i] - 0.5 * gap[c] * normal[c, i]
            is_implied = _is_at_seam(
                s, w, normal[c], first, neighbour, surface, size, position, rotation
            ) and _is_implied(
                c, kept, count, _APART * max(size[s, 0], size[s, 1], size[s, 2]), first, surface, second_frame,
                shape, gap, point, normal, frame, weight,
            )  # fmt: skip
        if is_implied:
            continue
        if kept != c:
            copy_contact(c, kept, id, shape, gap, point, normal, frame, local, weight)
        kept += 1
    return kept
