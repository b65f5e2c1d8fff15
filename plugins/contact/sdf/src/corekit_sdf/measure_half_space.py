"""Compiled loop over pairs with a half-space."""

from __future__ import annotations

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.linalg.array_table import block_view, index_view, matrix_view, vector_view
from corekit_sdf.corners import corners_on_plane
from corekit_sdf.features import BOX, CAPSULE, HALF_SPACE, HALF_SPACE_PAIR, POLYTOPE, SPHERE, family
from corekit_sdf.half_space import capsule_on_plane, cylinder_on_plane, sphere_on_plane
from corekit_sdf.pair_frame import relative_axes, relative_position
from corekit_sdf.write import write_rows

__all__ = ["measure_half_space_pairs"]


@compiled
def measure_half_space_pairs(
    pairs: IntArray, pair_count: int, shapes: IntArray, poses: IntArray, margin: float, flat_sine: float,
    rows: Array, feature_ids: IntArray, count: int, contacts: IntArray,
) -> int:  # fmt: skip
    """Append the contacts of the half-space pairs among the first `pair_count` with gap < margin; return the new count.

    The frame of the half-space is the work frame. A contact keeps the order of its pair, with the normal from
    the second shape into the first. A gap of nan is reported, not hidden.

    Args:
        shapes, poses: as in `broad_phase.find_near_pairs`.
        contacts: table of id, shape, gap, point, normal, frame, local and weight.
    """
    kind, size = index_view(shapes, 0), matrix_view(shapes, 1)
    position, rotation = matrix_view(poses, 0), block_view(poses, 1)
    radius, corners, corner_start = vector_view(shapes, 2), matrix_view(shapes, 3), index_view(shapes, 4)
    for row in range(pair_count):
        i, j = pairs[row, 0], pairs[row, 1]
        if family(int(kind[i]), int(kind[j])) != HALF_SPACE_PAIR:
            continue
        a, b = (j, i) if kind[i] == HALF_SPACE else (i, j)
        turn = rotation[b]
        p = relative_position(position, turn, a, b)
        x_axis, y_axis, z_axis = relative_axes(turn, rotation[a])
        R, h = size[a, 0], size[a, 1]
        if kind[a] == BOX or kind[a] == POLYTOPE:
            shape_corners = corners[corner_start[a] : corner_start[a + 1]]
            row_count = corners_on_plane(
                shape_corners, float(radius[a]), p, x_axis, y_axis, z_axis, flat_sine, rows, feature_ids
            )
        elif kind[a] == SPHERE:
            row_count = sphere_on_plane(p, R, rows, feature_ids)
        elif kind[a] == CAPSULE:
            row_count = capsule_on_plane(p, z_axis, R, h, flat_sine, rows, feature_ids)
        else:
            row_count = cylinder_on_plane(p, z_axis, x_axis, y_axis, R, h, flat_sine, rows, feature_ids)
        count = write_rows(
            rows, feature_ids, row_count, i, j, 1.0 if a == i else -1.0, turn, position[b],
            shapes, poses, margin, count, contacts,
        )  # fmt: skip
    return count
