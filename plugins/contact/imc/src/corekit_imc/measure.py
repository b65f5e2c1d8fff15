"""Contacts of candidate pairs: gap, normal, point and material points, in one compiled pass.

    edge or capsule – edge or capsule   φ = min|x(s) − y(t)| − r₁ − r₂                               (1)
    edge – half-space                   φ = n·(x − o) − r at each node, once per shared node         (2)
    edge – sphere, cylinder, box        φ = min_s d(x(s)) − r, d of `solids`                         (3)
    edge on a face of a box, on a cap   both ends of the overlap, see `edge_on_face`                 (4)
    edge along a capsule or a cylinder  both ends of the overlap, see `edge_along_side`              (5)

A node on a face or a side, which several edges share, is one contact too. The material points of an edge are its two
end frames with weights 1 − s and s. That of every other shape is the point of its frame there. The contact point is
midway between the two surfaces. Ids are 2·(i·shape_count + j), plus one at a far end.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.geometry.vectors import Vector, add_scaled, dot, norm, scaled, to_local, to_world
from corekit_imc.edge_along_side import Ends, place_on_line
from corekit_imc.edge_on_face import is_normal_of_face, measure_on_face, overlap_with_face
from corekit_imc.edge_solid import closest_to_solid
from corekit_imc.segments import closest_parameters
from corekit_imc.solids import CAPSULE, CYLINDER, EDGE, HALF_SPACE, solid_distance

__all__ = ["measure_pairs"]

_ROUNDING: Final = 1e-9
"""Of the radius: difference of two gaps of one node, measured along two edges."""
_AT_NODE: Final = 1e-6
"""Of the length: how near to a node the nearest point on a face is its own; see `edge_solid`."""


@compiled
def _row(values: Array, i: int) -> Vector:
    return (values[i, 0], values[i, 1], values[i, 2])


@compiled
def _segment(
    kind: int, size: Array, position: Array, rotation: Array, end: Array, i: int
) -> tuple[Vector, Vector]:
    """Return start and span of an edge or of a capsule's axis."""
    start = _row(position, i)
    if kind == EDGE:
        return start, add_scaled(_row(end, i), -1.0, start)
    axis = (rotation[i, 0, 2], rotation[i, 1, 2], rotation[i, 2, 2])
    return add_scaled(start, -size[i, 1], axis), scaled(axis, 2.0 * size[i, 1])


@compiled
def _write_material_points(
    slot: int, sign: float, fraction: float, i: int, kind: IntArray, frame: IntArray, second_frame: IntArray,
    point: Vector, frame_position: Array, frame_rotation: Array, out_frame: IntArray, out_local: Array,
    out_weight: Array,
) -> int:  # fmt: skip
    """Write the material points of one side from `slot` on; return the next free slot."""
    if frame[i] < 0:
        return slot
    if kind[i] == EDGE:
        for e in range(2):
            out_frame[slot] = frame[i] if e == 0 else second_frame[i]
            out_weight[slot] = sign * (fraction if e == 1 else 1.0 - fraction)
            for a in range(3):
                out_local[slot, a] = 0.0
            slot += 1
        return slot
    f = frame[i]
    arm = to_local(frame_rotation[f], add_scaled(point, -1.0, _row(frame_position, f)))
    out_frame[slot], out_weight[slot] = f, sign
    for a in range(3):
        out_local[slot, a] = arm[a]
    return slot + 1


class _Place(NamedTuple):
    """Where an edge is nearest to a solid, the distance and its gradient there, and the ends of the overlap on a face.

    The face is an axis of the solid, −1 where there is none; the sign tells which of its two.
    """

    nearest: float
    distance: float
    gradient: Vector
    face: int
    low: float
    low_limit: int
    high: float
    high_limit: int
    sign: float


@compiled
def _place_on_solid(kind: int, size: Array, local: Vector, direction: Vector) -> _Place:
    nearest = closest_to_solid(kind, size, local, direction)
    distance, gradient = solid_distance(kind, size, add_scaled(local, nearest, direction))
    face, low, low_limit, high, high_limit = overlap_with_face(kind, size, local, direction, gradient)
    sign = -1.0 if face >= 0 and gradient[face] < 0.0 else 1.0
    return _Place(nearest, distance, gradient, face, low, low_limit, high, high_limit, sign)


@compiled
def _measure_solid(
    kind: int, size: Array, local: Vector, direction: Vector, place: _Place, is_high: bool
) -> tuple[float, float, Vector]:
    """Return s, the distance [m] and its gradient in the solid's axes."""
    if place.face < 0:
        return place.nearest, place.distance, place.gradient
    end, limit = (place.high, place.high_limit) if is_high else (place.low, place.low_limit)
    s, distance, gradient = measure_on_face(kind, size, local, direction, place.face, place.sign, end, limit)
    if limit == place.face:
        return s, distance, gradient
    # beyond the ends of edge or box the lines may be nearer than these; of an edge that is level but for 10⁻⁶ the
    # nearest place is the middle, below which one end is
    over_limit = solid_distance(kind, size, add_scaled(local, end, direction))[0]
    return s, max(distance, min(place.distance, over_limit)), gradient


@compiled
def _place_on_axis(
    kind: int, other_kind: int, start: Vector, span: Vector, axis_start: Vector, axis: Vector, distance: float,
    radius: float,
) -> Ends:  # fmt: skip
    """Return where an edge or a capsule touches another one, at s0 and t0 alone or along its side, or a cylinder's."""
    apart = add_scaled(start, -1.0, axis_start)
    s, t = 0.0, 0.0
    if other_kind <= CAPSULE:
        s, t = closest_parameters(span, axis, apart)
        distance = norm(add_scaled(add_scaled(apart, s, span), -t, axis))
    if kind == EDGE and other_kind != EDGE:
        ends = place_on_line(span, axis, apart, distance, radius)
        if ends.lies:
            return ends
    return Ends(False, s, t, s, t)


@compiled
def _is_known(
    first: int, count: int, node: int, solid: int, gap: float, radius: float, shape: IntArray, gaps: Array,
    frame: IntArray, weight: Array,
) -> bool:  # fmt: skip
    """Whether one of the contacts first…count − 1 is that of a node with a solid, at this gap."""
    for c in range(first, count):
        if shape[c, 0] == solid or shape[c, 1] == solid:
            for slot in range(2):
                is_node = frame[c, slot] == node and abs(weight[c, slot]) >= 1.0 - _AT_NODE
                if is_node and abs(gaps[c] - gap) <= _ROUNDING * radius:
                    return True
    return False


@compiled
def _node_at(s: float, kind: int, frame: int, second_frame: int) -> int:
    """Return the frame of the node at an end of an edge; −1 in between, and of a capsule."""
    if kind != EDGE or _AT_NODE < s < 1.0 - _AT_NODE:
        return -1
    return frame if s <= _AT_NODE else second_frame


@compiled
def measure_pairs(
    pairs: IntArray, pair_count: int, shape_count: int, kind: IntArray, size: Array, radius: Array,
    frame: IntArray, second_frame: IntArray, reporting_edge: IntArray, node_radius: Array, position: Array,
    rotation: Array, end: Array, frame_position: Array, frame_rotation: Array, margin: float, count: int,
    out_id: IntArray, out_shape: IntArray, out_gap: Array, out_point: Array, out_normal: Array,
    out_frame: IntArray, out_local: Array, out_weight: Array,
) -> int:  # fmt: skip
    """Append the contacts with gap < margin; return the new count.

    Args:
        kind: of every shape, as in `KIND_CODES`.
        radius: of edges, capsules and spheres [m].
        reporting_edge: the one edge that reports a frame against half-spaces, by frame.
        node_radius: the largest radius of a frame's edges [m], by frame.
        out_id, …, out_weight: columns of the contact set, with space for two contacts per pair.
    """
    first = count
    for p in range(pair_count):
        i, j = int(pairs[p, 0]), int(pairs[p, 1])
        # of an edge and a capsule the edge
        e, o = (i, j) if kind[i] == EDGE or (kind[i] == CAPSULE and kind[j] != EDGE) else (j, i)
        start, span = _segment(int(kind[e]), size, position, rotation, end, e)
        local, direction, place = start, span, _Place(0.0, 0.0, (0.0, 0.0, 1.0), -1, 0.0, 0, 1.0, 0, 1.0)
        if kind[o] > HALF_SPACE:
            local = to_local(rotation[o], add_scaled(start, -1.0, _row(position, o)))
            direction = to_local(rotation[o], span)
            place = _place_on_solid(int(kind[o]), size[o], local, direction)
        axis_start, axis, ends = start, span, Ends(False, 0.0, 0.0, 0.0, 0.0)
        if kind[o] in (EDGE, CAPSULE, CYLINDER) and place.face < 0:
            axis_start, axis = _segment(int(kind[o]), size, position, rotation, end, o)
            ends = _place_on_axis(
                int(kind[e]),
                int(kind[o]),
                start,
                span,
                axis_start,
                axis,
                place.distance + size[o, 0],
                radius[e],
            )
        feature_count = 2 if kind[o] == HALF_SPACE or place.face >= 0 or ends.lies else 1
        for feature in range(feature_count):
            s, t = 0.0, 0.0
            r, other_radius = radius[e], 0.0
            is_shared = False
            if kind[o] <= CAPSULE or ends.lies:
                s, t = (ends.s1, ends.t1) if feature else (ends.s0, ends.t0)
                x = add_scaled(start, s, span)
                w = add_scaled(x, -1.0, add_scaled(axis_start, t, axis))
                distance, other_radius = norm(w), size[o, 0]
                normal = scaled(w, 1.0 / distance) if distance > 0.0 else (0.0, 0.0, 1.0)
                is_shared = kind[o] != EDGE
            elif kind[o] == HALF_SPACE:
                node = frame[e] if feature == 0 else second_frame[e]
                if reporting_edge[node] != e:
                    continue
                s = float(feature)
                x, r = add_scaled(start, s, span), node_radius[node]
                normal = (rotation[o, 0, 2], rotation[o, 1, 2], rotation[o, 2, 2])
                distance = dot(normal, add_scaled(x, -1.0, _row(position, o)))
            else:
                s, distance, gradient = _measure_solid(
                    int(kind[o]), size[o], local, direction, place, feature == 1
                )
                normal, x = to_world(rotation[o], gradient), add_scaled(start, s, span)
                is_shared = is_normal_of_face(int(kind[o]), gradient)
            gap = distance - r - other_radius
            # this form of the comparison reports a gap of nan
            if gap >= margin:
                continue
            node = _node_at(s, kind[e], frame[e], second_frame[e])
            if is_shared and node >= 0 and _is_known(
                first, count, node, o, gap, r, out_shape, out_gap, out_frame, out_weight
            ):  # fmt: skip
                continue
            point = add_scaled(x, -float(r + 0.5 * gap), normal)
            c, count = count, count + 1
            out_id[c] = 2 * (i * shape_count + j) + (
                1 if feature or (kind[o] > HALF_SPACE and s == 1.0) else 0
            )
            out_shape[c, 0], out_shape[c, 1], out_gap[c] = i, j, gap
            flip = 1.0 if e == i else -1.0
            for a in range(3):
                out_point[c, a], out_normal[c, a] = point[a], flip * normal[a]
            for slot in range(4):
                out_frame[c, slot], out_weight[c, slot] = -1, 0.0
                for a in range(3):
                    out_local[c, slot, a] = 0.0
            slot = 0
            if kind[o] == HALF_SPACE:
                # this side has a single material point, the node
                out_frame[c, 0], out_weight[c, 0] = frame[e] if feature == 0 else second_frame[e], flip
                slot = 1
            else:
                slot = _write_material_points(
                    slot, flip, s, e, kind, frame, second_frame, point, frame_position, frame_rotation,
                    out_frame[c], out_local[c], out_weight[c],
                )  # fmt: skip
            _write_material_points(
                slot, -flip, t, o, kind, frame, second_frame, point, frame_position, frame_rotation,
                out_frame[c], out_local[c], out_weight[c],
            )  # fmt: skip
    return count
