"""Conversion of the rows of one pair from its work frame to the contact set."""

from __future__ import annotations

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.geometry.vectors import to_local, to_world
from corekit.linalg.array_table import block_view, index_matrix_view, index_view, matrix_view, vector_view
from corekit_sdf.features import FEATURES
from corekit_sdf.rows import row_point

__all__ = ["write_rows"]


@compiled
def write_rows(
    rows: Array, feature_ids: IntArray, row_count: int, i: int, j: int, flip: float, turn: Array,
    origin: Array, shapes: IntArray, poses: IntArray, margin: float, count: int, contacts: IntArray,
) -> int:  # fmt: skip
    """Append those of the first `row_count` rows with gap < margin or nan; return the new count.

    Args:
        i, j: the pair.
        flip: −1 if the rows' normals point from i into j, else 1.
        turn, origin: rotation and origin of the work frame, (3, 3) and (3,) [m].
        shapes, poses: as in `broad_phase.find_near_pairs`.
        contacts: table of id, shape, gap, point, normal, frame, local and weight.
    """
    frame, frame_position, frame_rotation = index_view(shapes, 5), matrix_view(poses, 2), block_view(poses, 3)
    out_id, out_shape, out_gap = (
        index_view(contacts, 0),
        index_matrix_view(contacts, 1),
        vector_view(contacts, 2),
    )
    out_point, out_normal, out_frame = (
        matrix_view(contacts, 3),
        matrix_view(contacts, 4),
        index_matrix_view(contacts, 5),
    )
    out_local, out_weight = block_view(contacts, 6), matrix_view(contacts, 7)
    for k in range(row_count):
        if rows[k, 0] >= margin:
            continue
        n = to_world(turn, (flip * rows[k, 1], flip * rows[k, 2], flip * rows[k, 3]))
        x = to_world(turn, row_point(rows, k))
        out_id[count] = (i * frame.size + j) * FEATURES + feature_ids[k]
        out_shape[count, 0], out_shape[count, 1] = i, j
        out_gap[count] = rows[k, 0]
        for axis in range(3):
            out_normal[count, axis] = n[axis]
            out_point[count, axis] = x[axis] + origin[axis]
        for slot in range(out_frame.shape[1]):
            f = frame[i if slot == 0 else j] if slot < 2 else -1
            out_frame[count, slot] = f
            out_weight[count, slot] = 0.0 if f < 0 else (1.0 if slot == 0 else -1.0)
            local = (0.0, 0.0, 0.0)
            if f >= 0:
                x = (
                    out_point[count, 0] - frame_position[f, 0],
                    out_point[count, 1] - frame_position[f, 1],
                    out_point[count, 2] - frame_position[f, 2],
                )
                local = to_local(frame_rotation[f], x)
            for axis in range(3):
                out_local[count, slot, axis] = local[axis]
        count += 1
    return count
