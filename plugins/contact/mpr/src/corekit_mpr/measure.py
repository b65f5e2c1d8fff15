"""The compiled loops over pairs: which could be near, and from poses to rows of the contact set."""

from __future__ import annotations

import math
from typing import NamedTuple

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.geometry.vectors import Vector, add, into_frame, norm, out_of_frame, row, subtract
from corekit_mpr.features import CODES, Placed
from corekit_mpr.gap import Work, core_gap
from corekit_mpr.overlap import Pool
from corekit_mpr.patch import put_points
from corekit_mpr.solids import Hulls, Solids
from corekit_mpr.support import BOX, HALF_SPACE, Pair, Solid, lowest_on_plane

__all__ = ["Out", "measure_pairs", "near_pairs"]


class Out(NamedTuple):
    """Columns of the contact set that a detector writes."""

    id: IntArray
    shape: IntArray
    gap: Array
    point: Array
    normal: Array
    frame: IntArray
    local: Array
    weight: Array


@compiled
def _centre(solids: Solids, i: int, position: Array, rotation: Array) -> Vector:
    """Centre of shape i in the world [m]."""
    return add(
        row(position, i),
        out_of_frame(rotation[i], (solids.numbers[i, 5], solids.numbers[i, 6], solids.numbers[i, 7])),
    )


@compiled
def near_pairs(
    solids: Solids, pairs: IntArray, position: Array, rotation: Array, margin: float, out: IntArray
) -> int:
    """Copy the pairs whose gap may be below the margin [m]; returns how many.

    The bound is the distance of the first's centre from the other's plane, box or ball, less the first's
    reach: never above the gap. A pair at nan is kept: it must be seen.
    """
    count = 0
    for p in range(len(pairs)):
        i, j = pairs[p, 0], pairs[p, 1]
        a, b = i, j
        if solids.codes[i, 0] == HALF_SPACE or (
            solids.codes[i, 0] == BOX and solids.codes[j, 0] not in (BOX, HALF_SPACE)
        ):
            a, b = j, i
        d = subtract(_centre(solids, a, position, rotation), _centre(solids, b, position, rotation))
        if solids.codes[b, 0] == HALF_SPACE:
            bound = d[0] * rotation[b, 0, 2] + d[1] * rotation[b, 1, 2] + d[2] * rotation[b, 2, 2]
        elif solids.codes[b, 0] == BOX:
            x, s = into_frame(rotation[b], d), row(solids.numbers, b)
            bound = norm((max(abs(x[0]) - s[0], 0.0), max(abs(x[1]) - s[1], 0.0), max(abs(x[2]) - s[2], 0.0)))
        else:
            bound = norm(d) - solids.numbers[b, 4]
        if not bound - solids.numbers[a, 4] >= margin:
            out[count, 0], out[count, 1] = i, j
            count += 1
    return count


@compiled
def _solid(solids: Solids, i: int) -> Solid:
    numbers, codes = solids.numbers, solids.codes
    return (
        int(codes[i, 0]), numbers[i, 0], numbers[i, 1], numbers[i, 2], numbers[i, 3],
        int(codes[i, 1]), int(codes[i, 2]), int(codes[i, 3]), int(codes[i, 4]),
    )  # fmt: skip


@compiled
def _pair_gap(
    a: Placed, b: Placed, table: Array, size: float, tolerance: float, work: Work
) -> tuple[float, Vector]:
    """Gap of two placed shapes, b with the axes of the work frame, and its normal."""
    pair: Pair = (a[0], b[0], a[1], a[2], a[3], a[4])
    if b[0][0] == HALF_SPACE:
        return lowest_on_plane(pair, table) - a[0][4], (0.0, 0.0, 1.0)
    if not math.isfinite(norm(a[1]) + norm(a[2]) + norm(a[3])):
        return math.nan, a[1]
    phi, n, _ = core_gap(pair, table, size, tolerance, work)
    return phi - a[0][4] - b[0][4], n


@compiled
def _write(
    out: Out, count: int, shape: tuple[int, int], frames: tuple[int, int], frame_position: Array,
    frame_rotation: Array,
) -> None:  # fmt: skip
    """Shapes and carriers of a row whose point is written."""
    out.shape[count, 0], out.shape[count, 1] = shape
    x = row(out.point, count)
    for carrier in range(out.frame.shape[1]):
        f = frames[carrier & 1] if carrier < 2 else -1
        out.frame[count, carrier] = f
        out.weight[count, carrier] = 0.0 if f < 0 else (1.0 if carrier == 0 else -1.0)
        local = (0.0, 0.0, 0.0)
        if f >= 0:
            local = into_frame(frame_rotation[f], subtract(x, row(frame_position, f)))
        out.local[count, carrier, 0], out.local[count, carrier, 1], out.local[count, carrier, 2] = local


@compiled
def measure_pairs(
    solids: Solids, hulls: Hulls, pairs: IntArray, number: int, frame: IntArray, position: Array, rotation: Array,
    frame_position: Array, frame_rotation: Array, margin: float, tolerance: float, sine: float,
    cosine: float, work: Work, pool: Pool, rows: Array, count: int, out: Out,
) -> int:  # fmt: skip
    """Append the contacts of the first `number` pairs with gap < margin; returns the new count.

    A pair is worked in the frame of its second shape, or of the half-space; whatever the order, the first
    stays first in the answer, with the normal from the second into it. A gap that is nan is reported.
    """
    shapes = len(solids.codes)
    for p in range(number):
        i, j = pairs[p, 0], pairs[p, 1]
        flip = solids.codes[i, 0] == HALF_SPACE
        a, b = (j, i) if flip else (i, j)
        turn, home = rotation[b], _centre(solids, b, position, rotation)
        axes = rotation[a]
        first: Placed = (
            _solid(solids, a),
            into_frame(turn, subtract(_centre(solids, a, position, rotation), home)),
            into_frame(turn, (axes[0, 0], axes[1, 0], axes[2, 0])),
            into_frame(turn, (axes[0, 1], axes[1, 1], axes[2, 1])),
            into_frame(turn, (axes[0, 2], axes[1, 2], axes[2, 2])),
        )
        second: Placed = (
            _solid(solids, b),
            (0.0, 0.0, 0.0),
            (1.0, 0.0, 0.0),
            (0.0, 1.0, 0.0),
            (0.0, 0.0, 1.0),
        )
        size = solids.numbers[a, 4] + solids.numbers[b, 4]
        gap, n = _pair_gap(first, second, hulls.table, size, tolerance, work)
        if gap >= margin:
            continue
        found = 1
        if math.isnan(gap):
            rows[0, :7] = math.nan
            rows[0, 7:] = 0.0
        else:
            found = put_points(hulls, first, second, n, gap, sine, cosine, pool, rows)
        sign = -1.0 if flip else 1.0
        for k in range(found):
            if rows[k, 0] >= margin:
                continue
            m = out_of_frame(turn, (sign * rows[k, 1], sign * rows[k, 2], sign * rows[k, 3]))
            x = add(home, out_of_frame(turn, (rows[k, 4], rows[k, 5], rows[k, 6])))
            name_i, name_j = int(rows[k, 8 if flip else 7]), int(rows[k, 7 if flip else 8])
            out.id[count] = ((i * shapes + j) * CODES + name_i) * CODES + name_j
            out.gap[count] = rows[k, 0]
            for axis in range(3):
                out.normal[count, axis], out.point[count, axis] = m[axis], x[axis]
            _write(out, count, (i, j), (int(frame[i]), int(frame[j])), frame_position, frame_rotation)
            count += 1
    return count
