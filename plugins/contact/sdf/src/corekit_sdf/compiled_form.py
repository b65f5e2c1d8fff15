"""The detector of one scene by tables and C entries: see `corekit.roles.compiled_form`.

Each family of pairs has an entry of its own, compiled where the scene has such pairs; `contacts` calls them by address.

    integers   shapes n, corners, listed pairs, addresses of the families' entries (5), kind (n,), frame (n,),
               corner_start (n + 1,), pairs (p, 2)
    numbers    sine and cosine of the flat angle, size (n, 3), radius (n,), corners (c, 3)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from corekit.compiled import compiled
from corekit.compiled.entries import array_at, call_entry, entry_address
from corekit.data.arrays import Array, IntArray
from corekit.roles.compiled_form import DETECTOR_ENTRIES, CompiledForm, entries_of
from corekit_sdf.axial_overlap import MAX_OVERLAP_POINTS
from corekit_sdf.broad_phase import find_near_pairs
from corekit_sdf.measure_axial import measure_axial_pairs
from corekit_sdf.measure_box import measure_box_pairs
from corekit_sdf.measure_half_space import measure_half_space_pairs
from corekit_sdf.measure_planar import measure_planar_pairs
from corekit_sdf.measure_sphere import measure_sphere_pairs
from corekit_sdf.rows import MAX_POINTS
from corekit_sdf.write import write_contacts

__table_ = ["form_of"]

_FAMILIES: Final = 5
_HEAD: Final = 3 + _FAMILIES
_MAX_POINTS: Final = MAX_POINTS
_MAX_OVERLAP_POINTS: Final = MAX_OVERLAP_POINTS
_MEASURE: Final = "integers floats integers integer floats floats float integer floats integers integers"
"""Index, numbers, pairs, their count, positions, rotations, margin; count so far, rows, ids and shapes, as written."""


def form_of(
    families: Sequence[bool], flat: tuple[float, float], kind: IntArray, frame: IntArray, size: Array, radius: Array,
    corners: Array, corner_start: IntArray, pairs: IntArray,
) -> CompiledForm:  # fmt: skip
    """Return the form of a scene without edges whose pairs are listed.

    Args:
        families: whether there are pairs of each. flat: sine and cosine, see `SdfDetector`.
        kind … corner_start: of all shapes, see `broad_phase.find_near_pairs`. pairs: all that may touch, (p, 2).
    """
    measures = (_half_space, _box, _sphere, _axial, _planar)
    addresses = [
        entry_address(measure, _MEASURE) if has else 0
        for has, measure in zip(families, measures, strict=True)
    ]
    head = [len(kind), len(corners), len(pairs), *addresses]
    return CompiledForm(
        numbers=np.concatenate([flat, size.ravel(), radius, corners.ravel()]),
        index=np.concatenate([head, kind, frame, corner_start, pairs.ravel()]).astype(np.int64),
        entries=entries_of(DETECTOR_ENTRIES, candidates=_candidates, contacts=_contacts),
    )


class _Shapes(NamedTuple):
    """Views of the tables of all shapes; `flat` is the sine and cosine of the flat angle."""

    kind: IntArray
    frame: IntArray
    start: IntArray
    pairs: IntArray
    flat: Array
    size: Array
    radius: Array
    corners: Array


@compiled
def _shapes(index: Any, numbers: Any) -> _Shapes:
    """The tables at two addresses."""
    head = array_at(index, (_HEAD,))
    n, c, p = head[0], head[1], head[2]
    integers, reals = array_at(index, (_HEAD + 3 * n + 1 + 2 * p,)), array_at(numbers, (2 + 4 * n + 3 * c,))
    return _Shapes(
        integers[_HEAD : _HEAD + n], integers[_HEAD + n : _HEAD + 2 * n],
        integers[_HEAD + 2 * n : _HEAD + 3 * n + 1], integers[_HEAD + 3 * n + 1 :].reshape((p, 2)),
        reals[:2], reals[2 : 2 + 3 * n].reshape((n, 3)), reals[2 + 3 * n : 2 + 4 * n],
        reals[2 + 4 * n :].reshape((c, 3)),
    )  # fmt: skip


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
    index: Any, numbers: Any, _work: Any, position: Any, rotation: Any, margin: float, out: Any
) -> int:
    table = _shapes(index, numbers)
    n, p = len(table.kind), len(table.pairs)
    return find_near_pairs(
        table.pairs, table.kind, table.size, table.radius, table.corners, table.start, array_at(position, (n, 3)),
        array_at(rotation, (n, 3, 3)), margin, array_at(out, (p, 2)),
    )  # fmt: skip


def _contacts(
    index: Any, numbers: Any, _work: Any, pairs: Any, pair_count: int, position: Any, rotation: Any,
    frame_position: Any, frame_rotation: Any, margin: float, capacity: int, out_id: Any, out_shape: Any, out_gap: Any,
    out_point: Any, out_normal: Any, out_frame: Any, out_local: Any, out_weight: Any,
) -> int:  # fmt: skip
    head = array_at(index, (_HEAD,))
    n, most = head[0], _MAX_POINTS * pair_count
    places, turns = array_at(position, (n, 3)), array_at(rotation, (n, 3, 3))
    whole, table = array_at(index, (_HEAD + 2 * n,)), array_at(numbers, (2,))
    near = array_at(pairs, (pair_count, 2))
    rows, ids, shapes = (
        np.empty((most, 7)),
        np.empty(most, dtype=np.int64),
        np.empty((most, 2), dtype=np.int64),
    )
    count, frames = 0, 0
    for order in (0, 1, 2, 4, 3):  # as the detector measures them
        if head[3 + order] != 0:
            count = call_entry(
                head[3 + order],
                (whole, table, near, pair_count, places, turns, margin, count, rows, ids, shapes),
            )
    if count > capacity:
        return count
    frame = whole[_HEAD + n :]
    for i in range(n):
        frames = max(frames, frame[i] + 1)
    write_contacts(
        count, rows, ids, shapes, frame, array_at(frame_position, (frames, 3)),
        array_at(frame_rotation, (frames, 3, 3)), 0, array_at(out_id, (capacity,)), array_at(out_shape, (capacity, 2)),
        array_at(out_gap, (capacity,)), array_at(out_point, (capacity, 3)), array_at(out_normal, (capacity, 3)),
        array_at(out_frame, (capacity, 4)), array_at(out_local, (capacity, 4, 3)), array_at(out_weight, (capacity, 4)),
    )  # fmt: skip
    return count


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
