"""An arm by tables and C entries, for worlds stepped without Python: see `corekit.roles.compiled_form`.

Its integers are eight sizes, the section of every frame, and those of `packed`; its numbers the table of `packed`, and
the place of every frame along its section.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from corekit.compiled import compiled
from corekit.compiled.entries import array_at
from corekit.data.arrays import Array, IntArray
from corekit.roles.compiled_form import MODEL_ENTRIES, CompiledForm, add_displacement, entries_of
from corekit_pcc.packed import Packed, packed_dynamics, packed_poses, packed_rows, packed_tangent

__all__ = ["form_of"]

_HEAD: Final = 8
"""Velocities, length of aux, frames, inputs, whether Coriolis forces count, lengths of table, buffer and integers."""


def form_of(
    packed: Packed, frame_section: IntArray, frame_place: Array, inputs: int, *, coriolis: bool
) -> CompiledForm:
    """Return the form of an arm without cables on a base that stands.

    Args:
        packed: its tables. frame_section, frame_place: where its frames are.
        inputs: number of inputs. coriolis: whether Coriolis forces count.
    """
    table, integers, buffer = packed
    sizes = [3 * integers[0], 0, len(frame_place), inputs, coriolis, len(table), len(buffer), len(integers)]
    return CompiledForm(
        numbers=np.concatenate([table, frame_place]),
        index=np.concatenate([sizes, frame_section, integers]).astype(np.int64),
        scratch=len(buffer),
        entries=entries_of(
            MODEL_ENTRIES,
            dynamics=_dynamics,
            tangent=_tangent,
            integrate=add_displacement,
            poses=_poses,
            rows=_rows,
        ),
    )


class _Arm(NamedTuple):
    """Sizes, tables and work space of an arm, as views."""

    n: int
    frames: int
    inputs: int
    coriolis: bool
    table: Array
    place: Array
    section: IntArray
    integers: IntArray
    buffer: Array


@compiled
def _arm(index: Any, numbers: Any, work: Any) -> _Arm:
    """The arm whose tables stand at these addresses."""
    head = array_at(index, (_HEAD,))
    frames = head[2]
    integers, reals = array_at(index, (_HEAD + frames + head[7],)), array_at(numbers, (head[5] + frames,))
    return _Arm(
        head[0], frames, head[3], head[4] != 0, reals[: head[5]], reals[head[5] :], integers[_HEAD : _HEAD + frames],
        integers[_HEAD + frames :], array_at(work, (head[6],)),
    )  # fmt: skip


def _dynamics(
    index: Any, numbers: Any, work: Any, q: Any, v: Any, _aux: Any, inputs: Any, mass: Any, force: Any
) -> int:
    arm = _arm(index, numbers, work)
    n = arm.n
    packed_dynamics(
        arm.table, arm.integers, arm.buffer, array_at(q, (n,)), array_at(v, (n,)), array_at(inputs, (arm.inputs,)),
        arm.coriolis, array_at(mass, (n, n)), array_at(force, (n,)),
    )  # fmt: skip
    return 0


def _tangent(
    index: Any, numbers: Any, work: Any, q: Any, v: Any, _aux: Any, _inputs: Any, stiffness: Any, damping: Any
) -> int:
    arm = _arm(index, numbers, work)
    n = arm.n
    packed_tangent(
        arm.table, arm.integers, arm.buffer, array_at(q, (n,)), array_at(v, (n,)), arm.coriolis,
        array_at(stiffness, (n, n)), array_at(damping, (n, n)),
    )  # fmt: skip
    return 0


def _poses(
    index: Any, numbers: Any, work: Any, q: Any, v: Any, _aux: Any, position: Any, rotation: Any
) -> int:
    arm = _arm(index, numbers, work)
    packed_poses(
        arm.table, arm.integers, arm.buffer, array_at(q, (arm.n,)), array_at(v, (arm.n,)), arm.section, arm.place,
        array_at(position, (arm.frames, 3)), array_at(rotation, (arm.frames, 3, 3)),
    )  # fmt: skip
    return 0


def _rows(
    index: Any, numbers: Any, work: Any, q: Any, v: Any, _aux: Any, count: int, frame: Any, local: Any, dofs: Any,
    values: Any,
) -> int:  # fmt: skip
    arm = _arm(index, numbers, work)
    n = arm.n
    packed_rows(
        arm.table, arm.integers, arm.buffer, array_at(q, (n,)), array_at(v, (n,)), arm.section, arm.place,
        array_at(frame, (count,)), array_at(local, (count, 3)), array_at(dofs, (count, n)),
        array_at(values, (count, 3, n)),
    )  # fmt: skip
    return 0
