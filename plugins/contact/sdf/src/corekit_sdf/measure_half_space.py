"""The compiled loop over pairs with a half-space: from poses to rows of the contact set."""

from __future__ import annotations

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.linalg.array_table import block, indices, matrix, vector
from corekit_sdf.corners import corners_on_plane
from corekit_sdf.features import BOX, CAPSULE, HALF_SPACE, HALF_SPACE_PAIR, POLYTOPE, SPHERE, family
from corekit_sdf.half_space import capsule_on_plane, cylinder_on_plane, sphere_on_plane
from corekit_sdf.pair_frame import relative_axes, relative_position
from corekit_sdf.write import write_rows

__all__ = ["measure_half_space_pairs"]


@compiled
def measure_half_space_pairs(
    pairs: IntArray, number: int, shapes: IntArray, poses: IntArray, margin: float, flat_sine: float,
    rows: Array, names: IntArray, count: int, contacts: IntArray,
) -> int:  # fmt: skip
    """Append the contacts of the first `number` pairs with gap < margin; returns the new count.

    A pair is worked in the frame of the half-space. Whatever order it was given in, the first shape of the pair
    stays first in the answer, with the normal from the second into it. A gap that is nan is reported, not hidden.

    Args:
        shapes, poses: as in `broad_phase.near_pairs`.
        contacts: id, shape, gap, point, normal, frame, local and weight, as one table.
    """
    kind, size = indices(shapes, 0), matrix(shapes, 1)
    position, rotation = matrix(poses, 0), block(poses, 1)
    radius, corners, corner_start = vector(shapes, 2), matrix(shapes, 3), indices(shapes, 4)
    for row in range(number):
        i, j = pairs[row, 0], pairs[row, 1]
        if family(int(kind[i]), int(kind[j])) != HALF_SPACE_PAIR:
            continue
        a, b = (j, i) if kind[i] == HALF_SPACE else (i, j)
        turn = rotation[b]
        p = relative_position(position, turn, a, b)
        x_axis, y_axis, z_axis = relative_axes(turn, rotation[a])
        R, h = size[a, 0], size[a, 1]
        if kind[a] == BOX or kind[a] == POLYTOPE:
            own = corners[corner_start[a] : corner_start[a + 1]]
            found = corners_on_plane(own, float(radius[a]), p, x_axis, y_axis, z_axis, flat_sine, rows, names)
        elif kind[a] == SPHERE:
            found = sphere_on_plane(p, R, rows, names)
        elif kind[a] == CAPSULE:
            found = capsule_on_plane(p, z_axis, R, h, flat_sine, rows, names)
        else:
            found = cylinder_on_plane(p, z_axis, x_axis, y_axis, R, h, flat_sine, rows, names)
        count = write_rows(
            rows, names, found, i, j, 1.0 if a == i else -1.0, turn, position[b],
            shapes, poses, margin, count, contacts,
        )  # fmt: skip
    return count
