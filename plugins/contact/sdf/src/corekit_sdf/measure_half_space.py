"""Compiled loop over pairs with a half-space."""

from __future__ import annotations

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit_sdf.corners import corners_on_plane
from corekit_sdf.features import BOX, CAPSULE, HALF_SPACE, HALF_SPACE_PAIR, POLYTOPE, SPHERE, family
from corekit_sdf.half_space import capsule_on_plane, cylinder_on_plane, sphere_on_plane
from corekit_sdf.pair_frame import relative_axes, relative_position
from corekit_sdf.write import place_rows

__all__ = ["measure_half_space_pairs"]


@compiled
def measure_half_space_pairs(
    pairs: IntArray, pair_count: int, kind: IntArray, size: Array, position: Array, rotation: Array, margin: float,
    radius: Array, corners: Array, corner_start: IntArray, flat_sine: float,
    count: int, rows: Array, ids: IntArray, shape: IntArray,
) -> int:  # fmt: skip
    """Append the rows of the half-space pairs among the first `pair_count` with gap < margin; return the new count.

    The frame of the half-space is the work frame. A contact keeps the order of its pair, with the normal from
    the second shape into the first. A gap of nan is reported, not hidden.

    Args:
        kind, size, position, rotation, radius, corners, corner_start: as in `broad_phase.find_near_pairs`.
        count: number of rows so far.
        rows, ids, shape: as `write.place_rows` leaves them, with room for `MAX_POINTS` rows per pair.
    """
    for row in range(pair_count):
        i, j = pairs[row, 0], pairs[row, 1]
        if family(int(kind[i]), int(kind[j])) != HALF_SPACE_PAIR:
            continue
        a, b = (j, i) if kind[i] == HALF_SPACE else (i, j)
        turn = rotation[b]
        p = relative_position(position, turn, a, b)
        x_axis, y_axis, z_axis = relative_axes(turn, rotation[a])
        R, h = size[a, 0], size[a, 1]
        own, own_ids = rows[count:], ids[count:]
        if kind[a] == BOX or kind[a] == POLYTOPE:
            shape_corners = corners[corner_start[a] : corner_start[a + 1]]
            row_count = corners_on_plane(
                shape_corners, float(radius[a]), p, x_axis, y_axis, z_axis, flat_sine, own, own_ids
            )
        elif kind[a] == SPHERE:
            row_count = sphere_on_plane(p, R, own, own_ids)
        elif kind[a] == CAPSULE:
            row_count = capsule_on_plane(p, z_axis, R, h, flat_sine, own, own_ids)
        else:
            row_count = cylinder_on_plane(p, z_axis, x_axis, y_axis, R, h, flat_sine, own, own_ids)
        count = place_rows(
            row_count,
            i,
            j,
            1.0 if a == i else -1.0,
            turn,
            position[b],
            margin,
            len(kind),
            count,
            rows,
            ids,
            shape,
        )
    return count
