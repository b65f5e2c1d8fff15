"""The compiled loop over candidate pairs: from poses to rows of the contact set."""

from __future__ import annotations

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.geometry.vectors import Vector, along, into_frame, scaled
from corekit.linalg.array_table import block, index_matrix, indices, matrix, vector
from corekit_sdf.box_patch import put_box_contact
from corekit_sdf.corners import corners_on_plane
from corekit_sdf.cylinder_box import cylinder_box
from corekit_sdf.features import (
    BOX,
    CAPSULE,
    CYLINDER,
    FLAT_OR_ROUND,
    HALF_SPACE,
    PLUS,
    POLYTOPE,
    SPHERE,
    family,
    flat_first,
)
from corekit_sdf.half_space import capsule_on_plane, cylinder_on_plane, sphere_on_plane
from corekit_sdf.rows import put
from corekit_sdf.segment_box import segment_box
from corekit_sdf.spheres import point_box, point_capsule, point_cylinder, point_sphere
from corekit_sdf.write import write_rows

__all__ = ["measure_pairs"]


@compiled
def _put_sphere(
    phi: float, outward: Vector, sign: float, centre: Vector, radius: float, rows: Array, names: IntArray
) -> int:
    """A sphere whose centre has signed distance φ; sign = +1 if the sphere is the pair's first shape."""
    gap = phi - radius
    point = along(centre, -(radius + 0.5 * gap), outward)
    return put(rows, names, 0, PLUS, gap, scaled(outward, sign), point)


@compiled
def _on_sphere(first: int, sizes: Array, centre: Vector, radius: float, rows: Array, names: IntArray) -> int:
    """Sphere, capsule or cylinder (its own frame) against a sphere."""
    if first == SPHERE:
        phi, outward = point_sphere(centre, sizes[0])
    elif first == CAPSULE:
        phi, outward = point_capsule(centre, sizes[0], sizes[1])
    else:
        phi, outward = point_cylinder(centre, sizes[0], sizes[1])
    return _put_sphere(phi, outward, -1.0, centre, radius, rows, names)


@compiled
def _on_flat(
    first: int, second: int, sizes: Array, other: Array, p: Vector, x_axis: Vector, y_axis: Vector, u: Vector,
    flat_sine: float, flat_cosine: float, rows: Array, names: IntArray,
) -> int:  # fmt: skip
    """Sphere, capsule or cylinder against a half-space or box, in the latter's frame."""
    R, h = sizes[0], sizes[1]
    if second == HALF_SPACE:
        if first == SPHERE:
            return sphere_on_plane(p, R, rows, names)
        if first == CAPSULE:
            return capsule_on_plane(p, u, R, h, flat_sine, rows, names)
        return cylinder_on_plane(p, u, x_axis, y_axis, R, h, flat_sine, rows, names)
    a = (other[0], other[1], other[2])
    if first == SPHERE:
        phi, outward = point_box(p, a)
        return _put_sphere(phi, outward, 1.0, p, R, rows, names)
    if first == CYLINDER:
        found = cylinder_box(p, u, a, h, R)
        return put_box_contact(found, p, u, x_axis, y_axis, a, h, R, flat_sine, flat_cosine, rows, names)
    found = segment_box(p, u, a, h)
    count = put_box_contact(found, p, u, x_axis, y_axis, a, h, 0.0, flat_sine, flat_cosine, rows, names)
    for row in range(count):
        rows[row, 0] -= R
        for i in range(3):
            rows[row, 4 + i] -= 0.5 * R * rows[row, 1 + i]
    return count


@compiled
def measure_pairs(
    pairs: IntArray, number: int, shapes: IntArray, poses: IntArray, margin: float, flat_sine: float,
    flat_cosine: float, rows: Array, names: IntArray, count: int, contacts: IntArray,
) -> int:  # fmt: skip
    """Append the contacts of the first `number` pairs with gap < margin; returns the new count.

    A pair is worked in the frame of the half-space or box, else in that of the sphere, capsule or cylinder
    met by a sphere. Whatever order it was given in, the first shape of the pair stays first in the
    answer, with the normal from the second into it. A gap that is nan is reported, not hidden.

    Args:
        shapes, poses: as in `broad_phase.near_pairs`.
        contacts: id, shape, gap, point, normal, frame, local and weight, as one table.
    """
    kind, size, frame = indices(shapes, 0), matrix(shapes, 1), indices(shapes, 5)
    position, rotation = matrix(poses, 0), block(poses, 1)
    frame_position, frame_rotation = matrix(poses, 2), block(poses, 3)
    out_id, out_shape, out_gap = indices(contacts, 0), index_matrix(contacts, 1), vector(contacts, 2)
    out_point, out_normal, out_frame = matrix(contacts, 3), matrix(contacts, 4), index_matrix(contacts, 5)
    out_local, out_weight = block(contacts, 6), matrix(contacts, 7)
    radius, corners, corner_start = vector(shapes, 2), matrix(shapes, 3), indices(shapes, 4)
    for row in range(number):
        i, j = pairs[row, 0], pairs[row, 1]
        if family(int(kind[i]), int(kind[j])) != FLAT_OR_ROUND:
            continue
        a, b = i, j
        if flat_first(int(kind[i]), int(kind[j])) or (kind[i] == SPHERE and kind[j] in (CAPSULE, CYLINDER)):
            a, b = j, i
        home, guest = (b, a) if kind[b] in (HALF_SPACE, BOX) else (a, b)
        turn = rotation[home]
        p = into_frame(
            turn,
            (
                position[guest, 0] - position[home, 0],
                position[guest, 1] - position[home, 1],
                position[guest, 2] - position[home, 2],
            ),
        )
        if home == b:
            other = rotation[guest]
            x_axis = into_frame(turn, (other[0, 0], other[1, 0], other[2, 0]))
            y_axis = into_frame(turn, (other[0, 1], other[1, 1], other[2, 1]))
            z_axis = into_frame(turn, (other[0, 2], other[1, 2], other[2, 2]))
            if kind[a] == BOX or kind[a] == POLYTOPE:
                own = corners[corner_start[a] : corner_start[a + 1]]
                found = corners_on_plane(
                    own, float(radius[a]), p, x_axis, y_axis, z_axis, flat_sine, rows, names
                )
            else:
                found = _on_flat(
                    int(kind[a]),
                    int(kind[b]),
                    size[a],
                    size[b],
                    p,
                    x_axis,
                    y_axis,
                    z_axis,
                    flat_sine,
                    flat_cosine,
                    rows,
                    names,
                )
        else:
            found = _on_sphere(int(kind[a]), size[a], p, size[b, 0], rows, names)
        count = write_rows(
            rows, names, found, i, j, 1.0 if a == i else -1.0, turn, position[home], len(kind), frame,
            frame_position, frame_rotation, margin, count, out_id, out_shape, out_gap, out_point,
            out_normal, out_frame, out_local, out_weight,
        )  # fmt: skip
    return count
