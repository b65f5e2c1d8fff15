"""The detector of one scene by tables and C entries: see `corekit.roles.compiled_form`.

Each family of pairs has an entry of its own, compiled where the scene has such pairs; `contacts` calls them by address.

    integers   shapes n, corners, listed pairs, edges, addresses of the families' entries (5), kind (n,), frame (n,),
               corner_start (n + 1,), pairs (p, 2), second_frame (n,), edges (e,)
    numbers    sine and cosine of the flat angle, size (n, 3), radius (n,), corners (c, 3)
    scratch    where there are edges: the numbers with their lengths, position (n, 3) and rotation (n, 3, 3) of capsules
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from corekit.compiled import compiled
from corekit.compiled.entries import array_at, call_entry, entry_address
from corekit.compiled.parts import part
from corekit.data.arrays import Array, IntArray
from corekit.linalg.vectors import copy_vector
from corekit.roles.compiled_form import DETECTOR_ENTRIES, CompiledForm, entries_of
from corekit_sdf.axial_overlap import MAX_OVERLAP_POINTS
from corekit_sdf.broad_phase import find_near_pairs
from corekit_sdf.edges import update_edge_poses, write_edge_points
from corekit_sdf.measure_axial import measure_axial_pairs
from corekit_sdf.measure_box import measure_box_pairs
from corekit_sdf.measure_half_space import measure_half_space_pairs
from corekit_sdf.measure_planar import measure_planar_pairs
from corekit_sdf.measure_sphere import measure_sphere_pairs
from corekit_sdf.rows import MAX_POINTS
from corekit_sdf.shared_ends import merge_shared_ends
from corekit_sdf.write import write_contacts

__all__ = ["form_of"]

_FAMILIES: Final = 5
_HEAD: Final = 4 + _FAMILIES
_MAX_POINTS: Final = MAX_POINTS
_MAX_OVERLAP_POINTS: Final = MAX_OVERLAP_POINTS
_MEASURE: Final = "integers floats integers integer floats floats float integer floats integers integers"
"""Index, numbers, pairs, their count, positions, rotations, margin; count so far, rows, ids and shapes, as written."""


def form_of(
    families: Sequence[bool], flat: tuple[float, float], kind: IntArray, frame: IntArray, size: Array, radius: Array,
    corners: Array, corner_start: IntArray, pairs: IntArray, second_frame: IntArray,
) -> CompiledForm:  # fmt: skip
    """Return the form of a scene whose pairs are listed.

    Args:
        families: whether there are pairs of each. flat: sine and cosine, see `SdfDetector`.
        kind … corner_start: of all shapes, see `broad_phase.find_near_pairs`. pairs: all that may touch, (p, 2).
        second_frame: of all shapes, −1 of all but edges, (n,).
    """
    measures = (_half_space, _box, _sphere, _axial, _planar)
    addresses = [
        entry_address(measure, _MEASURE) if has else 0
        for has, measure in zip(families, measures, strict=True)
    ]
    edges = np.flatnonzero(second_frame >= 0)
    head = [len(kind), len(corners), len(pairs), len(edges), *addresses]
    numbers = np.concatenate([flat, size.ravel(), radius, corners.ravel()])
    index = [head, kind, frame, corner_start, pairs.ravel(), second_frame, edges]
    return CompiledForm(
        numbers=numbers,
        index=np.concatenate(index).astype(np.int64),
        scratch=len(numbers) + 12 * len(kind) if len(edges) else 0,
        entries=entries_of(DETECTOR_ENTRIES, candidates=_candidates, contacts=_contacts),
    )


class _Shapes(NamedTuple):
    """Views of the tables of all shapes; `flat` is the sine and cosine of the flat angle."""

    kind: IntArray
    frame: IntArray
    start: IntArray
    pairs: IntArray
    second_frame: IntArray
    edges: IntArray
    flat: Array
    size: Array
    radius: Array
    corners: Array


@compiled
def _shapes(index: Any, numbers: Any) -> _Shapes:
    """The tables at two addresses."""
    head = array_at(index, (_HEAD,))
    n, c, p, e = head[0], head[1], head[2], head[3]
    integers = array_at(index, (_HEAD + 4 * n + 1 + 2 * p + e,))
    reals, behind = array_at(numbers, (2 + 4 * n + 3 * c,)), _HEAD + 3 * n + 1 + 2 * p
    return _Shapes(
        integers[_HEAD : _HEAD + n], integers[_HEAD + n : _HEAD + 2 * n],
        integers[_HEAD + 2 * n : _HEAD + 3 * n + 1], part(integers, _HEAD + 3 * n + 1, (p, 2)),
        integers[behind : behind + n], integers[behind + n :], reals[:2],
        part(reals, 2, (n, 3)), reals[2 + 3 * n : 2 + 4 * n],
        part(reals, 2 + 4 * n, (c, 3)),
    )  # fmt: skip


class _Placed(NamedTuple):
    """Numbers and poses of the shapes, edges as capsules."""

    numbers: Array
    position: Array
    rotation: Array


@compiled
def _placed(index: Any, numbers: Any, work: Any, position: Any, rotation: Any, end: Any) -> _Placed:
    """The shapes where they are; those at the addresses themselves where there are no edges."""
    head = array_at(index, (_HEAD,))
    n, size = head[0], 2 + 4 * head[0] + 3 * head[1]
    known, places, turns = (
        array_at(numbers, (size,)),
        array_at(position, (n, 3)),
        array_at(rotation, (n, 3, 3)),
    )
    if head[3] == 0:
        return _Placed(known, places, turns)
    own = array_at(work, (size + 12 * n,))
    copy_vector(known, own[:size])  # see `copy_vector` on copies of arrays
    at = part(own, size, (n, 3))
    axes = part(own, size + 3 * n, (n, 3, 3))
    copy_vector(array_at(position, (3 * n,)), own[size : size + 3 * n])
    copy_vector(array_at(rotation, (9 * n,)), own[size + 3 * n :])
    edges = _shapes(index, numbers).edges
    sizes, radius = part(own, 2, (n, 3)), own[2 + 3 * n : 2 + 4 * n]
    update_edge_poses(edges, array_at(end, (n, 3)), sizes, at, axes)
    for i in edges:
        radius[i] = sizes[i, 0] + sizes[i, 1]
    return _Placed(own[:size], at, axes)


class _Near(NamedTuple):
    """Views of what a family measures, and of what it writes: rows, ids and shapes of contacts."""

    pairs: IntArray
    position: Array
    rotation: Array
    rows: Array
    ids: IntArray
    shape: IntArray


@compiled
def _near(
    shapes: int, pair_count: int, pairs: Any, position: Any, rotation: Any, rows: Any, ids: Any, shape: Any
) -> _Near:
    most = _MAX_POINTS * pair_count
    return _Near(
        array_at(pairs, (pair_count, 2)), array_at(position, (shapes, 3)), array_at(rotation, (shapes, 3, 3)),
        array_at(rows, (most, 7)), array_at(ids, (most,)), array_at(shape, (most, 2)),
    )  # fmt: skip


def _candidates(
    index: Any, numbers: Any, work: Any, position: Any, rotation: Any, end: Any, margin: float, out: Any
) -> int:
    placed = _placed(index, numbers, work, position, rotation, end)
    table, n = _shapes(index, numbers), len(placed.position)
    own, p = placed.numbers, len(table.pairs)
    return find_near_pairs(
        table.pairs, table.kind, part(own, 2, (n, 3)), own[2 + 3 * n : 2 + 4 * n], table.corners,
        table.start, placed.position, placed.rotation, margin, array_at(out, (p, 2)),
    )  # fmt: skip


def _contacts(
    index: Any, numbers: Any, work: Any, pairs: Any, pair_count: int, position: Any, rotation: Any, end: Any,
    frame_position: Any, frame_rotation: Any, margin: float, capacity: int, out_id: Any, out_shape: Any, out_gap: Any,
    out_point: Any, out_normal: Any, out_frame: Any, out_local: Any, out_weight: Any,
) -> int:  # fmt: skip
    head, table = array_at(index, (_HEAD,)), _shapes(index, numbers)
    placed = _placed(index, numbers, work, position, rotation, end)
    n, most = head[0], _MAX_POINTS * pair_count
    whole, near = array_at(index, (_HEAD + 4 * n,)), array_at(pairs, (pair_count, 2))
    rows, ids, shapes = (
        np.empty((most, 7)),
        np.empty(most, dtype=np.int64),
        np.empty((most, 2), dtype=np.int64),
    )
    count, frames = 0, 0
    for order in (0, 1, 2, 4, 3):  # as the detector measures them
        if head[4 + order] != 0:
            count = call_entry(
                head[4 + order],
                (
                    whole, placed.numbers, near, pair_count, placed.position, placed.rotation, margin, count, rows, ids,
                    shapes,
                ),
            )  # fmt: skip
    if count > capacity:
        return count
    for i in range(n):
        frames = max(frames, table.frame[i] + 1, table.second_frame[i] + 1)
    ids_of, shape, gap = (
        array_at(out_id, (capacity,)),
        array_at(out_shape, (capacity, 2)),
        array_at(out_gap, (capacity,)),
    )
    point, normal = array_at(out_point, (capacity, 3)), array_at(out_normal, (capacity, 3))
    frame, local = array_at(out_frame, (capacity, 4)), array_at(out_local, (capacity, 4, 3))
    weight = array_at(out_weight, (capacity, 4))
    write_contacts(
        count, rows, ids, shapes, table.frame, array_at(frame_position, (frames, 3)),
        array_at(frame_rotation, (frames, 3, 3)), 0, ids_of, shape, gap, point, normal, frame, local, weight,
    )  # fmt: skip
    if len(table.edges) == 0 or count == 0:
        return count
    size = part(placed.numbers, 2, (n, 3))
    write_edge_points(
        0, count, table.second_frame, table.frame, size, placed.position, placed.rotation, shape, gap, point, normal,
        frame, local, weight,
    )  # fmt: skip
    return merge_shared_ends(
        0, count, table.kind, table.second_frame, size, placed.rotation, table.flat[1],
        np.empty(frames, dtype=np.int64), np.empty(count, dtype=np.int64), ids_of, shape, gap, point, normal, frame,
        local, weight,
    )  # fmt: skip


def _half_space(
    index: Any, numbers: Any, pairs: Any, pair_count: int, position: Any, rotation: Any, margin: float, count: int,
    rows: Any, ids: Any, shape: Any,
) -> int:  # fmt: skip
    table = _shapes(index, numbers)
    near = _near(len(table.kind), pair_count, pairs, position, rotation, rows, ids, shape)
    return measure_half_space_pairs(
        near.pairs, pair_count, table.kind, table.size, near.position, near.rotation, margin,
        table.radius, table.corners, table.start, table.flat[0], count, near.rows, near.ids, near.shape,
    )  # fmt: skip


def _box(
    index: Any, numbers: Any, pairs: Any, pair_count: int, position: Any, rotation: Any, margin: float, count: int,
    rows: Any, ids: Any, shape: Any,
) -> int:  # fmt: skip
    table = _shapes(index, numbers)
    near = _near(len(table.kind), pair_count, pairs, position, rotation, rows, ids, shape)
    return measure_box_pairs(
        near.pairs, pair_count, table.kind, table.size, near.position, near.rotation, margin,
        table.flat[0], table.flat[1], count, near.rows, near.ids, near.shape,
    )  # fmt: skip


def _sphere(
    index: Any, numbers: Any, pairs: Any, pair_count: int, position: Any, rotation: Any, margin: float, count: int,
    rows: Any, ids: Any, shape: Any,
) -> int:  # fmt: skip
    table = _shapes(index, numbers)
    near = _near(len(table.kind), pair_count, pairs, position, rotation, rows, ids, shape)
    return measure_sphere_pairs(
        near.pairs, pair_count, table.kind, table.size, near.position, near.rotation, margin,
        count, near.rows, near.ids, near.shape,
    )  # fmt: skip


def _planar(
    index: Any, numbers: Any, pairs: Any, pair_count: int, position: Any, rotation: Any, margin: float, count: int,
    rows: Any, ids: Any, shape: Any,
) -> int:  # fmt: skip
    table = _shapes(index, numbers)
    near = _near(len(table.kind), pair_count, pairs, position, rotation, rows, ids, shape)
    return measure_planar_pairs(
        near.pairs, pair_count, table.kind, table.size, near.position, near.rotation, margin,
        table.corners, table.start, table.flat[0], count, near.rows, near.ids, near.shape,
    )  # fmt: skip


def _axial(
    index: Any, numbers: Any, pairs: Any, pair_count: int, position: Any, rotation: Any, margin: float, count: int,
    rows: Any, ids: Any, shape: Any,
) -> int:  # fmt: skip
    table = _shapes(index, numbers)
    near = _near(len(table.kind), pair_count, pairs, position, rotation, rows, ids, shape)
    return measure_axial_pairs(
        near.pairs, pair_count, table.kind, table.size, near.position, near.rotation, margin,
        table.flat[0], table.flat[1], np.empty((_MAX_OVERLAP_POINTS, 7)),
        np.empty(_MAX_OVERLAP_POINTS, dtype=np.int64), count, near.rows, near.ids, near.shape,
    )  # fmt: skip
