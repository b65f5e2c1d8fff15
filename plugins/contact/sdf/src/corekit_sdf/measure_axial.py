"""Compiled loop over pairs of cylinders, capsules and edges among themselves."""

from __future__ import annotations

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit_sdf.axial import axial_gap
from corekit_sdf.axial_overlap import PosedAxial
from corekit_sdf.axial_patch import add_axial_rows
from corekit_sdf.features import AXIAL_PAIR, CAPSULE, family
from corekit_sdf.pair_frame import relative_axes, relative_position
from corekit_sdf.write import place_rows

__all__ = ["measure_axial_pairs"]


@compiled
def measure_axial_pairs(
    pairs: IntArray, pair_count: int, kind: IntArray, size: Array, position: Array, rotation: Array, margin: float,
    flat_sine: float, flat_cosine: float, overlap_rows: Array, overlap_ids: IntArray,
    count: int, rows: Array, ids: IntArray, shape: IntArray,
) -> int:  # fmt: skip
    """Append the rows of the axial pairs among the first `pair_count` with gap < margin; return the new count.

    The frame of the second shape is the work frame. A capsule is a segment until its radius is subtracted.
    Arguments are those of `measure_half_space`.
    """
    for row in range(pair_count):
        i, j = pairs[row, 0], pairs[row, 1]
        if family(int(kind[i]), int(kind[j])) != AXIAL_PAIR:
            continue
        turn = rotation[j]
        p = relative_position(position, turn, i, j)
        x_axis, y_axis, u = relative_axes(turn, rotation[i])
        R, grown_i = (0.0, size[i, 0]) if kind[i] == CAPSULE else (size[i, 0], 0.0)
        S, grown_j = (0.0, size[j, 0]) if kind[j] == CAPSULE else (size[j, 0], 0.0)
        phi, n = axial_gap((p, u, size[i, 1], R, size[j, 1], S))
        first: PosedAxial = (p, x_axis, y_axis, u, size[i, 1], R)
        second: PosedAxial = (
            (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), size[j, 1], S
        )  # fmt: skip
        own, own_ids = rows[count:], ids[count:]
        row_count = add_axial_rows(
            first, second, n, phi, flat_sine, flat_cosine, overlap_rows, overlap_ids, own, own_ids
        )
        for k in range(row_count):
            own[k, 0] -= grown_i + grown_j
            for axis in range(3):
                own[k, 4 + axis] += 0.5 * (grown_j - grown_i) * own[k, 1 + axis]
        count = place_rows(
            row_count, i, j, 1.0, turn, position[j], margin, len(kind), count, rows, ids, shape
        )
    return count
