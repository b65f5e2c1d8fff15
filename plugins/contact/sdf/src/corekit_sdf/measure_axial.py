"""The compiled loop over pairs of cylinders, capsules and edges among themselves."""

from __future__ import annotations

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.geometry.vectors import into_frame
from corekit.linalg.array_table import block, indices, matrix
from corekit_sdf.axial import axial_gap
from corekit_sdf.axial_overlap import Turned
from corekit_sdf.axial_patch import put_axial
from corekit_sdf.features import AXIAL_PAIR, CAPSULE, family
from corekit_sdf.write import write_rows

__all__ = ["measure_axial_pairs"]


@compiled
def measure_axial_pairs(
    pairs: IntArray, number: int, shapes: IntArray, poses: IntArray, margin: float, flat_sine: float,
    flat_cosine: float, found: Array, found_names: IntArray, rows: Array, names: IntArray, count: int,
    contacts: IntArray,
) -> int:  # fmt: skip
    """Append the contacts of the axial ones of the first `number` pairs with gap < margin; returns the new count.

    A pair is worked in the frame of its second shape. A capsule is a segment until its radius is subtracted.
    Tables are those of `measure_half_space`.
    """
    kind, size = indices(shapes, 0), matrix(shapes, 1)
    position, rotation = matrix(poses, 0), block(poses, 1)
    for row in range(number):
        i, j = pairs[row, 0], pairs[row, 1]
        if family(int(kind[i]), int(kind[j])) != AXIAL_PAIR:
            continue
        turn, axes = rotation[j], rotation[i]
        p = into_frame(
            turn,
            (
                position[i, 0] - position[j, 0],
                position[i, 1] - position[j, 1],
                position[i, 2] - position[j, 2],
            ),
        )
        u = into_frame(turn, (axes[0, 2], axes[1, 2], axes[2, 2]))
        R, grown_i = (0.0, size[i, 0]) if kind[i] == CAPSULE else (size[i, 0], 0.0)
        S, grown_j = (0.0, size[j, 0]) if kind[j] == CAPSULE else (size[j, 0], 0.0)
        phi, n = axial_gap((p, u, size[i, 1], R, size[j, 1], S))
        first: Turned = (
            p,
            into_frame(turn, (axes[0, 0], axes[1, 0], axes[2, 0])),
            into_frame(turn, (axes[0, 1], axes[1, 1], axes[2, 1])),
            u,
            size[i, 1],
            R,
        )
        second: Turned = (
            (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), size[j, 1], S
        )  # fmt: skip
        points = put_axial(first, second, n, phi, flat_sine, flat_cosine, found, found_names, rows, names)
        for k in range(points):
            rows[k, 0] -= grown_i + grown_j
            for axis in range(3):
                rows[k, 4 + axis] += 0.5 * (grown_j - grown_i) * rows[k, 1 + axis]
        count = write_rows(
            rows, names, points, i, j, 1.0, turn, position[j],
            shapes, poses, margin, count, contacts,
        )  # fmt: skip
    return count
