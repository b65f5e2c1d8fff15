"""Compiled loop over spheres against spheres, capsules and cylinders."""

from __future__ import annotations

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit_sdf.features import CAPSULE, SPHERE, SPHERE_PAIR, family
from corekit_sdf.pair_frame import relative_position
from corekit_sdf.rows import add_sphere_row
from corekit_sdf.spheres import point_capsule, point_cylinder, point_sphere
from corekit_sdf.write import place_rows

__all__ = ["measure_sphere_pairs"]


@compiled
def measure_sphere_pairs(
    pairs: IntArray, pair_count: int, kind: IntArray, size: Array, position: Array, rotation: Array, margin: float,
    count: int, rows: Array, ids: IntArray, shape: IntArray,
) -> int:  # fmt: skip
    """Append the rows of the sphere pairs among the first `pair_count` with gap < margin; return the new count.

    The frame of the shape that the sphere meets is the work frame. Arguments are those of `measure_half_space`.
    """
    for row in range(pair_count):
        i, j = pairs[row, 0], pairs[row, 1]
        if family(int(kind[i]), int(kind[j])) != SPHERE_PAIR:
            continue
        a, b = (i, j) if kind[j] == SPHERE else (j, i)
        turn = rotation[a]
        centre = relative_position(position, turn, b, a)
        if kind[a] == SPHERE:
            phi, outward = point_sphere(centre, size[a, 0])
        elif kind[a] == CAPSULE:
            phi, outward = point_capsule(centre, size[a, 0], size[a, 1])
        else:
            phi, outward = point_cylinder(centre, size[a, 0], size[a, 1])
        row_count = add_sphere_row(phi, outward, -1.0, centre, size[b, 0], rows[count:], ids[count:])
        count = place_rows(
            row_count,
            i,
            j,
            1.0 if a == i else -1.0,
            turn,
            position[a],
            margin,
            len(kind),
            count,
            rows,
            ids,
            shape,
        )
    return count
