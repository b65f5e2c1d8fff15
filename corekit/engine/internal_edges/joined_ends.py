"""Capsules or edges of a body that share an end, as segments of a rod: where both touch by that end, they touch once.

Both find the same place. Reported twice, the load between the two rows is undetermined, their friction is nearly
so, and rounding decides. Of contacts k and c of such a pair with one other shape, at the distances x_k and x_c inwards
from the middle of the two ends, c gives to their contact the share

    s = ½·(1 + (x_c − x_k)/zone),     x_k + x_c < zone                                                      (1)

    J = (1 − s)·J_k + s·J_c,     J_k and J_c of the same point                                              (2)

A place that moves over the node passes from one capsule to the other: s goes from 0 to ½ on the way to the node, is
½ while both touch by their ends, and goes on to 1. A rod that lies has ½ at every node, so that what is symmetric
stays so. The gap is the smaller one. Normal and point are those of the capsule that touches with its side, of two ends
the mean, and of two sides, as of a rod that is bent a little at a node over a bar, shared by x_c/(x_k + x_c). Places in
the sides of both that are farther apart than the zone are two contacts.

Edges share the frame of their node, which alone counts there, so that their rows agree at it: their share is that of
the place, x_c/(x_k + x_c), and a place that moves over the node keeps its own row. On a flat their detectors report a
node once.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Final, final

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.data.contacts import ContactSet
from corekit.data.state import State
from corekit.geometry.vectors import Vector, add_scaled, norm, scaled
from corekit.roles.body import Body
from corekit.roles.collision_scene import CollisionScene

__all__ = ["JoinedEnds", "copy_contact", "find_joined_ends", "merge_joined"]

_APART: Final = 0.5
"""Largest distance of two joined ends at rest, in radii."""
_UNEQUAL: Final = 0.05
"""Largest difference of their radii; the larger one of more is the surface there."""
_ZONE: Final = 0.1
"""In radii, or in lengths of a shorter capsule."""
_AT_END: Final = 1e-3
"""In zones."""
_ALIKE: Final = 0.98
"""Cosine of the normals of one contact, at least: the zone is 0.1 rad of the radius."""


def _shared_nodes(body: Body) -> Iterator[tuple[int, int, int, int]]:
    """Yield, as `JoinedEnds` takes them, the edges of equal friction at the nodes of a body."""
    edges_at: dict[int, list[tuple[int, int]]] = {}
    shapes = body.description.shapes
    for i, shape in enumerate(shapes):
        if shape.second_frame >= 0:
            edges_at.setdefault(shape.frame, []).append((i, -1))
            edges_at.setdefault(shape.second_frame, []).append((i, 1))
    for own in edges_at.values():
        for (i, sign), (j, its_sign) in itertools.permutations(own, 2):
            radii = shapes[i].size[0], shapes[j].size[0]
            if abs(radii[0] - radii[1]) <= _UNEQUAL * max(radii) and shapes[i].friction == shapes[j].friction:
                yield body.first_shape + i, body.first_shape + j, sign, its_sign


def find_joined_ends(bodies: Sequence[Body], scene: CollisionScene) -> JoinedEnds | None:
    """Find the ends that capsules of equal friction share in the rest shapes of the bodies, and the nodes of edges.

    Returns:
        None where there are none.
    """
    found = [each for body in bodies for each in _shared_nodes(body)]
    for body in bodies:
        own = body.description
        capsules = [i for i, shape in enumerate(own.shapes) if shape.kind == "capsule"]
        if len(capsules) < 2:
            continue
        state = State.zeros(len(own.coordinates), len(own.velocities), own.aux)
        body.model.compute_initial_state(None, state)
        position, rotation = np.zeros((len(own.frames), 3)), np.tile(np.eye(3), (len(own.frames), 1, 1))
        body.model.compute_frame_poses(state, position, rotation)
        shapes = [own.shapes[i] for i in capsules]
        frame = [shape.frame for shape in shapes]
        radius, half = np.array([shape.size for shape in shapes]).T
        offset = np.array([shape.offset.position for shape in shapes])
        axis = np.array([shape.offset.rotation[:, 2] for shape in shapes])
        centre = position[frame] + np.einsum("nij,nj->ni", rotation[frame], offset)
        along = np.einsum("nij,nj->ni", rotation[frame], axis) * half[:, None]
        ends = np.stack([centre + along, centre - along], axis=1).reshape(-1, 3)
        for e, end in enumerate(ends):
            a = e // 2
            distance = np.sqrt(((ends - end) ** 2).sum(axis=1))
            for other in np.flatnonzero(distance <= _APART * radius[a]).tolist():
                b = other // 2
                if b == a or abs(radius[a] - radius[b]) > _UNEQUAL * max(radius[a], radius[b]):
                    continue
                if distance[other] <= _APART * radius[b] and shapes[a].friction == shapes[b].friction:
                    signs = 1 - 2 * (e % 2), 1 - 2 * (other % 2)
                    found.append((body.first_shape + capsules[a], body.first_shape + capsules[b], *signs))
    return JoinedEnds(scene, np.array(found, dtype=np.int64)) if found else None


@final
class JoinedEnds:
    """Makes one contact of those by which capsules, or edges, touch at an end that they share.

    Args:
        scene: where the shapes are.
        joined: of every shared end, from both sides: a shape, its partner, and the ends ±1 along their axes, (k, 4).

    Attributes:
        joined: the same by shapes. first: where those of every shape begin, (shapes + 1,).
    """

    def __init__(self, scene: CollisionScene, joined: IntArray) -> None:
        table = scene.table
        self._scene, self.joined = scene, joined[np.argsort(joined[:, 0], kind="stable")]
        self.first: IntArray = np.searchsorted(self.joined[:, 0], np.arange(len(table) + 1))
        self._newest: IntArray = np.zeros(len(table), dtype=np.int64)
        self._earlier: IntArray = np.zeros(0, dtype=np.int64)
        self._members: IntArray = np.zeros(0, dtype=np.int64)

    def merge(self, contacts: ContactSet) -> None:
        """Merge the contacts of a set that are one, in place; the shapes are where it was found."""
        if len(self._earlier) < contacts.count:
            self._earlier, self._members = np.zeros((2, contacts.capacity), dtype=np.int64)
        table, poses = self._scene.table, self._scene.poses
        contacts.count = merge_joined(
            contacts.count, self.first, self.joined, table.size, table.frame, table.second_frame, poses.position,
            poses.rotation, poses.end, poses.frame_rotation, self._newest, self._earlier, self._members, contacts.id,
            contacts.shape, contacts.gap, contacts.point, contacts.normal, contacts.frame, contacts.local_point,
            contacts.weight,
        )  # fmt: skip


@compiled
def _end_at(
    s: int, sign: int, size: Array, second_frame: IntArray, position: Array, rotation: Array, end: Array
) -> tuple[Vector, Vector, float]:
    """Return an end of a capsule or an edge, the unit axis out of it there, and the length."""
    if second_frame[s] < 0:
        axis = (sign * rotation[s, 0, 2], sign * rotation[s, 1, 2], sign * rotation[s, 2, 2])
        centre = (position[s, 0], position[s, 1], position[s, 2])
        return add_scaled(centre, size[s, 1], axis), axis, 2.0 * size[s, 1]
    x, y = (position[s, 0], position[s, 1], position[s, 2]), (end[s, 0], end[s, 1], end[s, 2])
    span = add_scaled(y, -1.0, x)
    length = norm(span)
    return y if sign > 0 else x, scaled(span, sign / length), length


@compiled
def _inward(
    c: int, side: int, s: int, at: Vector, its: Vector, along: Vector, size: Array, gap: Array, point: Array,
    normal: Array,
) -> float:  # fmt: skip
    """How far inside the end that a shape shares a contact is, along its axis [m]; 0 at the end and beyond it.

    The end counts from the middle of both ends where they overlap, as those of a compressed rod do.

    Args:
        side: of the contact, on which shape s is. at, its: its end and that of its partner. along: its axis.
    """
    onto_surface = (1.0 - 2.0 * side) * (size[s, 0] + 0.5 * gap[c])
    own = middle = 0.0
    for i in range(3):
        centre = point[c, i] + onto_surface * normal[c, i]
        own += (at[i] - centre) * along[i]
        middle += (0.5 * (at[i] + its[i]) - centre) * along[i]
    return max(0.0, min(own, middle))


@compiled
def _compare(
    k: int, c: int, first: IntArray, joined: IntArray, size: Array, second_frame: IntArray, position: Array,
    rotation: Array, end: Array, shape: IntArray, gap: Array, point: Array, normal: Array,
) -> Vector:  # fmt: skip
    """How far inside their common end two contacts are, x_k and x_c [m], and their zone [m]: 0 if they are not one."""
    inside, its_inside, zone = 0.0, 0.0, math.inf
    for side in range(2):
        i, j = shape[k, side], shape[c, side]
        if i == j:
            continue
        at = first[i]
        while at < first[i + 1] and joined[at, 1] != j:
            at += 1
        if at == first[i + 1]:
            return (0.0, 0.0, 0.0)
        x, out, length = _end_at(i, joined[at, 2], size, second_frame, position, rotation, end)
        y, its_out, its_length = _end_at(j, joined[at, 3], size, second_frame, position, rotation, end)
        inside = max(inside, _inward(k, side, i, x, y, out, size, gap, point, normal))
        its_inside = max(its_inside, _inward(c, side, j, y, x, its_out, size, gap, point, normal))
        zone = min(zone, _ZONE * min(size[i, 0], size[j, 0], length, its_length))
    along = 0.0
    for i in range(3):
        along += normal[k, i] * normal[c, i]
    if not (zone < math.inf and along >= _ALIKE and inside + its_inside < zone):
        return (0.0, 0.0, 0.0)
    return (inside, its_inside, zone)


@compiled
def _slots_of_both(k: int, c: int, frame: IntArray, weight: Array) -> int:
    """Number of material points of two contacts together, those of one frame once and those without weight not."""
    count = 0
    for slot in range(frame.shape[1]):
        if frame[k, slot] >= 0 and weight[k, slot] != 0.0:
            count += 1
        if frame[c, slot] >= 0 and weight[c, slot] != 0.0:
            is_new = True
            for other in range(frame.shape[1]):
                is_new = is_new and (frame[k, other] != frame[c, slot] or weight[k, other] == 0.0)
            count += is_new
    return count


@compiled
def _move_points(
    c: int, to: Vector, shape_frame: IntArray, second_frame: IntArray, frame_rotation: Array, shape: IntArray,
    point: Array, frame: IntArray, local: Array,
) -> None:  # fmt: skip
    """Move the material points of a contact to another point, in the frames that carry its shapes rigidly."""
    for slot in range(frame.shape[1]):
        f = frame[c, slot]
        for side in range(2):
            s = shape[c, side]
            if f < 0 or shape_frame[s] != f or second_frame[s] >= 0:
                continue
            for i in range(3):
                for j in range(3):
                    local[c, slot, i] += frame_rotation[f, j, i] * (to[j] - point[c, j])
            break


@compiled
def _add_points(k: int, c: int, share: float, frame: IntArray, local: Array, weight: Array) -> None:
    """Give the share to the material points of contact c, and add them to those of k, which have the rest."""
    slots = frame.shape[1]
    for slot in range(slots):
        weight[k, slot] *= 1.0 - share
    for slot in range(slots):
        f, added = frame[c, slot], share * weight[c, slot]
        if f < 0 or added == 0.0:
            continue
        own = 0
        while own < slots and frame[k, own] != f:
            own += 1
        if own == slots:
            own = 0
            while frame[k, own] >= 0 and weight[k, own] != 0.0:
                own += 1
            frame[k, own], weight[k, own] = f, 0.0
        total = weight[k, own] + added
        for i in range(3):
            local[k, own, i] += added / total * (local[c, slot, i] - local[k, own, i])
        weight[k, own] = total


@compiled
def copy_contact(
    c: int, to: int, id: IntArray, shape: IntArray, gap: Array, point: Array, normal: Array, frame: IntArray,
    local: Array, weight: Array,
) -> None:  # fmt: skip
    """Copy contact c to another place of the columns of a set."""
    # number by number: kernels that copy rows make the text of an error, and count references for it
    id[to], gap[to] = id[c], gap[c]
    for i in range(2):
        shape[to, i] = shape[c, i]
    for i in range(3):
        point[to, i], normal[to, i] = point[c, i], normal[c, i]
    for slot in range(frame.shape[1]):
        frame[to, slot], weight[to, slot] = frame[c, slot], weight[c, slot]
        for i in range(3):
            local[to, slot, i] = local[c, slot, i]


@compiled
def _join(
    k: int, c: int, where: Vector, members: int, is_at_node: bool, shape_frame: IntArray, second_frame: IntArray,
    frame_rotation: Array, id: IntArray, shape: IntArray, gap: Array, point: Array, normal: Array, frame: IntArray,
    local: Array, weight: Array,
) -> None:  # fmt: skip
    """Make contact k that of both k and c.

    Args:
        where: of the two, as `_compare` returns it. members: how many contacts are one now.
        is_at_node: whether edges share the end.
    """
    inside, its_inside, zone = where
    share = (1.0 + (its_inside - inside) / zone) / members
    # whose place it is: 0 that of k, 1 that of c
    apart = inside + its_inside
    place = its_inside / apart if apart > _AT_END * zone else share
    if is_at_node:
        share = place
    x = (
        point[k, 0] + place * (point[c, 0] - point[k, 0]),
        point[k, 1] + place * (point[c, 1] - point[k, 1]),
        point[k, 2] + place * (point[c, 2] - point[k, 2]),
    )
    for each in (k, c):
        _move_points(each, x, shape_frame, second_frame, frame_rotation, shape, point, frame, local)
    _add_points(k, c, share, frame, local, weight)
    square = 0.0
    for i in range(3):
        point[k, i] = x[i]
        normal[k, i] += place * (normal[c, i] - normal[k, i])
        square += normal[k, i] ** 2
    for i in range(3):
        normal[k, i] /= math.sqrt(square)
    gap[k] = min(gap[k], gap[c])
    # a rod that lies has the ids of its first capsules
    is_before = shape[c, 0] < shape[k, 0] or (shape[c, 0] == shape[k, 0] and shape[c, 1] < shape[k, 1])
    if place == 1.0 or (place > 0.0 and is_before):
        id[k], shape[k, 0], shape[k, 1] = id[c], shape[c, 0], shape[c, 1]


@compiled
def merge_joined(
    count: int, first: IntArray, joined: IntArray, size: Array, shape_frame: IntArray, second_frame: IntArray,
    position: Array, rotation: Array, end: Array, frame_rotation: Array, newest: IntArray, earlier: IntArray,
    members: IntArray, id: IntArray, shape: IntArray, gap: Array, point: Array, normal: Array, frame: IntArray,
    local: Array, weight: Array,
) -> int:  # fmt: skip
    """Merge those of `count` contacts that are one, and return how many are left.

    Args:
        first: of every shape, where its joined ends begin, (n + 1,). joined: as in `JoinedEnds`.
        size, shape_frame, second_frame, position, rotation, end: of all shapes. frame_rotation: of all frames.
        newest: a work array with an entry per shape. earlier, members: with one per contact.
        id, shape, gap, point, normal, frame, local, weight: columns of the contact set.
    """
    for s in range(len(newest)):
        newest[s] = -1
    kept = 0
    for c in range(count):
        a, b = shape[c, 0], shape[c, 1]
        same, where, nearest = -1, (0.0, 0.0, 0.0), math.inf
        is_joined = first[a] < first[a + 1] or first[b] < first[b + 1]
        # contacts with the same first shape, if the second ones are joined, and those with its partners
        for option in range(first[a] - 1, first[a + 1] if is_joined else first[a] - 1):
            k = newest[a if option < first[a] else joined[option, 1]]
            while k >= 0:
                found = _compare(
                    k,
                    c,
                    first,
                    joined,
                    size,
                    second_frame,
                    position,
                    rotation,
                    end,
                    shape,
                    gap,
                    point,
                    normal,
                )
                distance = found[0] + found[1] if found[2] > 0.0 else math.inf
                if distance < nearest and _slots_of_both(k, c, frame, weight) <= frame.shape[1]:
                    same, where, nearest = k, found, distance
                k = earlier[k]
        if same >= 0:
            members[same] += 1
            is_at_node = second_frame[b if shape[same, 0] == a else a] >= 0
            _join(
                same, c, where, int(members[same]), is_at_node, shape_frame, second_frame, frame_rotation, id, shape,
                gap, point, normal, frame, local, weight,
            )  # fmt: skip
            continue
        if kept != c:
            copy_contact(c, kept, id, shape, gap, point, normal, frame, local, weight)
        members[kept] = 1
        if is_joined:
            earlier[kept], newest[a] = newest[a], kept
        kept += 1
    return kept
