"""From the rows of a pair in its work frame to rows in the world, and from those to contacts."""

from __future__ import annotations

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.geometry.vectors import to_local, to_world
from corekit_sdf.features import FEATURES
from corekit_sdf.rows import row_point

__all__ = ["place_rows", "write_contacts"]


@compiled
def place_rows(
    row_count: int, i: int, j: int, flip: float, turn: Array, origin: Array, margin: float, shape_count: int,
    count: int, rows: Array, ids: IntArray, shape: IntArray,
) -> int:  # fmt: skip
    """Turn the `row_count` rows behind the first `count` into the world; keep those with gap < margin or nan.

    Args:
        i, j: the pair.
        flip: −1 if the rows' normals point from i into j, else 1.
        turn, origin: rotation and origin of the work frame, (3, 3) and (3,) [m].
        shape_count: number of shapes in the world.
        rows, ids: as in `rows`; an id becomes that of the feature in the world.
        shape: the pair of each row.

    Returns:
        The new count.
    """
    for k in range(count, count + row_count):
        if rows[k, 0] >= margin:
            continue
        n = to_world(turn, (flip * rows[k, 1], flip * rows[k, 2], flip * rows[k, 3]))
        x = to_world(turn, row_point(rows, k))
        rows[count, 0] = rows[k, 0]
        for axis in range(3):
            rows[count, 1 + axis], rows[count, 4 + axis] = n[axis], x[axis] + origin[axis]
        ids[count] = (i * shape_count + j) * FEATURES + ids[k]
        shape[count, 0], shape[count, 1] = i, j
        count += 1
    return count


@compiled
def write_contacts(
    row_count: int, rows: Array, ids: IntArray, shape: IntArray, frame: IntArray, frame_position: Array,
    frame_rotation: Array, first: int, out_id: IntArray, out_shape: IntArray, out_gap: Array, out_point: Array,
    out_normal: Array, out_frame: IntArray, out_local: Array, out_weight: Array,
) -> None:  # fmt: skip
    """Write rows as contacts `first` … of a contact set; a pair's frames carry them with weights 1 and −1.

    Args:
        rows, ids, shape: as `place_rows` left them.
        frame: of all shapes, −1 for obstacles.
        frame_position, frame_rotation: of all frames, (f, 3) [m] and (f, 3, 3).
    """
    for k in range(row_count):
        c = first + k
        out_id[c], out_gap[c] = ids[k], rows[k, 0]
        out_shape[c, 0], out_shape[c, 1] = shape[k, 0], shape[k, 1]
        for axis in range(3):
            out_normal[c, axis], out_point[c, axis] = rows[k, 1 + axis], rows[k, 4 + axis]
        for slot in range(out_frame.shape[1]):
            f = frame[shape[k, slot]] if slot < 2 else -1
            out_frame[c, slot] = f
            out_weight[c, slot] = 0.0 if f < 0 else (1.0 if slot == 0 else -1.0)
            local = (0.0, 0.0, 0.0)
            if f >= 0:
                x = (
                    rows[k, 4] - frame_position[f, 0],
                    rows[k, 5] - frame_position[f, 1],
                    rows[k, 6] - frame_position[f, 2],
                )
                local = to_local(frame_rotation[f], x)
            for axis in range(3):
                out_local[c, slot, axis] = local[axis]
