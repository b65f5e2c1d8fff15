"""Compiled loops over pairs: broad phase, and contacts from the poses."""

from __future__ import annotations

import math
from typing import NamedTuple

from corekit.compiled import check_signals, compiled
from corekit.data.arrays import Array, IntArray
from corekit.geometry.vectors import Vector, add, norm, row, subtract, to_local, to_world
from corekit_mpr.features import CODES, PosedShape
from corekit_mpr.gap import SearchWorkspace, core_gap
from corekit_mpr.overlap import OverlapBuffers
from corekit_mpr.patch import add_pair_rows
from corekit_mpr.solids import Hulls, Solids
from corekit_mpr.support import BOX, HALF_SPACE, Pair, Solid, height_over_plane

__all__ = ["ContactColumns", "find_near_pairs", "measure_pairs"]


class ContactColumns(NamedTuple):
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
    """Return the centre of shape i in the world [m]."""
    return add(
        row(position, i),
        to_world(rotation[i], (solids.sizes[i, 5], solids.sizes[i, 6], solids.sizes[i, 7])),
    )


@compiled
def find_near_pairs(
    solids: Solids, pairs: IntArray, position: Array, rotation: Array, margin: float, out: IntArray
) -> int:
    """Copy the pairs whose gap may be below the margin [m]; return their count.

    The lower bound of the gap is the distance of the first's centre from the other's plane, box or ball, less
    the first's bounding radius. A pair with a pose of nan stays, so that the solver sees it.
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
            x, s = to_local(rotation[b], d), row(solids.sizes, b)
            bound = norm((max(abs(x[0]) - s[0], 0.0), max(abs(x[1]) - s[1], 0.0), max(abs(x[2]) - s[2], 0.0)))
        else:
            bound = norm(d) - solids.sizes[b, 4]
        if not bound - solids.sizes[a, 4] >= margin:
            out[count, 0], out[count, 1] = i, j
            count += 1
    return count


@compiled
def _solid(solids: Solids, i: int) -> Solid:
    sizes, codes = solids.sizes, solids.codes
    return (
        int(codes[i, 0]), sizes[i, 0], sizes[i, 1], sizes[i, 2], sizes[i, 3],
        int(codes[i, 1]), int(codes[i, 2]), int(codes[i, 3]), int(codes[i, 4]),
    )  # fmt: skip


@compiled
def _pair_gap(
    a: PosedShape, b: PosedShape, table: Array, size: float, ball: float, tolerance: float,
    workspace: SearchWorkspace,
) -> tuple[float, Vector]:  # fmt: skip
    """Return the gap of two shapes and its normal; the axes of b are those of the work frame."""
    pair: Pair = (a[0], b[0], a[1], a[2], a[3], a[4])
    if b[0][0] == HALF_SPACE:
        return height_over_plane(pair, table) - a[0][4], (0.0, 0.0, 1.0)
    if not math.isfinite(norm(a[1]) + norm(a[2]) + norm(a[3])):
        return math.nan, a[1]
    phi, n, _ = core_gap(pair, table, size, ball, tolerance, workspace)
    return phi - a[0][4] - b[0][4], n


@compiled
def _write_material_points(
    out: ContactColumns, count: int, shape: tuple[int, int], frames: tuple[int, int], frame_position: Array,
    frame_rotation: Array,
) -> None:  # fmt: skip
    """Write shapes and material points of a row whose point is written."""
    out.shape[count, 0], out.shape[count, 1] = shape
    x = row(out.point, count)
    for slot in range(out.frame.shape[1]):
        f = frames[slot & 1] if slot < 2 else -1
        out.frame[count, slot] = f
        out.weight[count, slot] = 0.0 if f < 0 else (1.0 if slot == 0 else -1.0)
        local = (0.0, 0.0, 0.0)
        if f >= 0:
            local = to_local(frame_rotation[f], subtract(x, row(frame_position, f)))
        out.local[count, slot, 0], out.local[count, slot, 1], out.local[count, slot, 2] = local


@compiled
def measure_pairs(
    solids: Solids, hulls: Hulls, pairs: IntArray, pair_count: int, frame: IntArray, position: Array,
    rotation: Array, frame_position: Array, frame_rotation: Array, margin: float, tolerance: float,
    sine: float, cosine: float, workspace: SearchWorkspace, buffers: OverlapBuffers, rows: Array, count: int,
    out: ContactColumns,
) -> int:  # fmt: skip
    """Append the contacts of the first `pair_count` pairs with gap < margin; return the new count.

    The work frame is that of the second shape, or of the half-space. A contact keeps the order of its pair,
    with the normal from the second shape into the first. A gap of nan is reported. `tolerance` is the option's.
    """
    shape_count = len(solids.codes)
    for p in range(pair_count):
        if p & 63 == 63:
            check_signals()
        i, j = pairs[p, 0], pairs[p, 1]
        flip = solids.codes[i, 0] == HALF_SPACE
        a, b = (j, i) if flip else (i, j)
        turn, origin = rotation[b], _centre(solids, b, position, rotation)
        axes = rotation[a]
        first: PosedShape = (
            _solid(solids, a),
            to_local(turn, subtract(_centre(solids, a, position, rotation), origin)),
            to_local(turn, (axes[0, 0], axes[1, 0], axes[2, 0])),
            to_local(turn, (axes[0, 1], axes[1, 1], axes[2, 1])),
            to_local(turn, (axes[0, 2], axes[1, 2], axes[2, 2])),
        )
        second: PosedShape = (
            _solid(solids, b),
            (0.0, 0.0, 0.0),
            (1.0, 0.0, 0.0),
            (0.0, 1.0, 0.0),
            (0.0, 0.0, 1.0),
        )
        size = solids.sizes[a, 4] + solids.sizes[b, 4]
        ball_a, ball_b = solids.sizes[a, 8], solids.sizes[b, 8]
        gap, n = _pair_gap(
            first, second, hulls.table, size, ball_a - solids.sizes[a, 3] + ball_b - solids.sizes[b, 3],
            tolerance * min(ball_a, ball_b), workspace,
        )  # fmt: skip
        if gap >= margin:
            continue
        row_count = 1
        if math.isnan(gap):
            rows[0, :7] = math.nan
            rows[0, 7:] = 0.0
        else:
            lesser = min(solids.sizes[a, 4], solids.sizes[b, 4])
            # a half-space is endless, but its frame is exact: only the height over it rounds
            reach = (size if math.isfinite(size) else lesser) + abs(gap)
            row_count = add_pair_rows(
                hulls, first, second, n, gap, lesser, reach, sine, cosine, buffers, rows
            )
        sign = -1.0 if flip else 1.0
        for k in range(row_count):
            if rows[k, 0] >= margin:
                continue
            m = to_world(turn, (sign * rows[k, 1], sign * rows[k, 2], sign * rows[k, 3]))
            x = add(origin, to_world(turn, (rows[k, 4], rows[k, 5], rows[k, 6])))
            feature_i, feature_j = int(rows[k, 8 if flip else 7]), int(rows[k, 7 if flip else 8])
            out.id[count] = ((i * shape_count + j) * CODES + feature_i) * CODES + feature_j
            out.gap[count] = rows[k, 0]
            for axis in range(3):
                out.normal[count, axis], out.point[count, axis] = m[axis], x[axis]
            _write_material_points(
                out, count, (i, j), (int(frame[i]), int(frame[j])), frame_position, frame_rotation
            )
            count += 1
    return count
