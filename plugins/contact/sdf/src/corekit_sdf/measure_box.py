"""Compiled loop over spheres, capsules and cylinders on boxes."""

from __future__ import annotations

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit_sdf.box_patch import add_box_rows
from corekit_sdf.cylinder_box import cylinder_box
from corekit_sdf.features import BOX, BOX_PAIR, CYLINDER, SPHERE, family
from corekit_sdf.pair_frame import relative_axes, relative_position
from corekit_sdf.rows import add_sphere_row
from corekit_sdf.segment_box import segment_box
from corekit_sdf.spheres import point_box
from corekit_sdf.write import place_rows

__all__ = ["measure_box_pairs"]


@compiled
def measure_box_pairs(
    pairs: IntArray, pair_count: int, kind: IntArray, size: Array, position: Array, rotation: Array, margin: float,
    flat_sine: float, flat_cosine: float, count: int, rows: Array, ids: IntArray, shape: IntArray,
) -> int:  # fmt: skip
    """Append the rows of the box pairs among the first `pair_count` with gap < margin; return the new count.

    The frame of the box is the work frame. A capsule is a segment until its radius is subtracted. Arguments are
    those of `measure_half_space`.
    """
    for row in range(pair_count):
        i, j = pairs[row, 0], pairs[row, 1]
        if family(int(kind[i]), int(kind[j])) != BOX_PAIR:
            continue
        a, b = (j, i) if kind[i] == BOX else (i, j)
        turn = rotation[b]
        p = relative_position(position, turn, a, b)
        x_axis, y_axis, u = relative_axes(turn, rotation[a])
        R, h = size[a, 0], size[a, 1]
        half = (size[b, 0], size[b, 1], size[b, 2])
        own, own_ids = rows[count:], ids[count:]
        if kind[a] == SPHERE:
            phi, outward = point_box(p, half)
            row_count = add_sphere_row(phi, outward, 1.0, p, R, own, own_ids)
        else:
            if kind[a] == CYLINDER:
                nearest, rim = cylinder_box(p, u, half, h, R), R
            else:
                nearest, rim = segment_box(p, u, half, h), 0.0
            row_count = add_box_rows(
                nearest, p, u, x_axis, y_axis, half, h, rim, flat_sine, flat_cosine, own, own_ids
            )
            if kind[a] != CYLINDER:
                for k in range(row_count):
                    own[k, 0] -= R
                    for axis in range(3):
                        own[k, 4 + axis] -= 0.5 * R * own[k, 1 + axis]
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
