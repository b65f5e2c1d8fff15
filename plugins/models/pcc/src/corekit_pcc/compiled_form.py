"""An arm by tables and C entries, for worlds stepped without Python: see `corekit.roles.compiled_form`.

Its integers are seven sizes, the section of every frame, and those of `packed`; its numbers the table of `packed`, and
the place of every frame along its section.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from corekit.compiled.entries import array_at
from corekit.data.arrays import Array, IntArray
from corekit.roles.compiled_form import MODEL_ENTRIES, CompiledForm, entries_of
from corekit_pcc.packed import Packed, packed_dynamics, packed_poses, packed_rows, packed_tangent

__all__ = ["form_of"]

_HEAD: Final = 7
"""Velocities, frames, inputs, whether Coriolis forces count, lengths of table, buffer and integers stand first."""


def form_of(
    packed: Packed, frame_section: IntArray, frame_place: Array, inputs: int, *, coriolis: bool
) -> CompiledForm:
    """Return the form of an arm without cables on a base that stands.

    Args:
        packed: its tables. frame_section, frame_place: where its frames are.
        inputs: number of inputs. coriolis: whether Coriolis forces count.
    """
    table, integers, buffer = packed
    sizes = [3 * integers[0], len(frame_place), inputs, coriolis, len(table), len(buffer), len(integers)]
    return CompiledForm(
        numbers=np.concatenate([table, frame_place]),
        index=np.concatenate([sizes, frame_section, integers]).astype(np.int64),
        scratch=len(buffer),
        entries=entries_of(
            MODEL_ENTRIES,
            dynamics=_dynamics,
            tangent=_tangent,
            integrate=_integrate,
            poses=_poses,
            rows=_rows,
        ),
    )


def _dynamics(
    index: Any, numbers: Any, work: Any, q: Any, v: Any, _aux: Any, inputs: Any, mass: Any, force: Any
) -> int:
    head = array_at(index, (_HEAD,))
    n, frames, coriolis = head[0], head[1], head[3] != 0
    whole = array_at(index, (_HEAD + frames + head[6],))
    packed_dynamics(
        array_at(numbers, (head[4],)), whole[_HEAD + frames :], array_at(work, (head[5],)), array_at(q, (n,)),
        array_at(v, (n,)), array_at(inputs, (head[2],)), coriolis, array_at(mass, (n, n)), array_at(force, (n,)),
    )  # fmt: skip
    return 0


def _tangent(
    index: Any, numbers: Any, work: Any, q: Any, v: Any, _aux: Any, _inputs: Any, stiffness: Any, damping: Any
) -> int:
    head = array_at(index, (_HEAD,))
    n, frames, coriolis = head[0], head[1], head[3] != 0
    whole = array_at(index, (_HEAD + frames + head[6],))
    packed_tangent(
        array_at(numbers, (head[4],)), whole[_HEAD + frames :], array_at(work, (head[5],)), array_at(q, (n,)),
        array_at(v, (n,)), coriolis, array_at(stiffness, (n, n)), array_at(damping, (n, n)),
    )  # fmt: skip
    return 0


def _integrate(
    index: Any,
    _numbers: Any,
    _work: Any,
    q: Any,
    _aux: Any,
    velocity: Any,
    step: float,
    out_q: Any,
    _out_aux: Any,
) -> int:
    n = array_at(index, (_HEAD,))[0]
    start, speed, out = array_at(q, (n,)), array_at(velocity, (n,)), array_at(out_q, (n,))
    for i in range(n):
        out[i] = start[i] + step * speed[i]
    return 0


def _poses(
    index: Any, numbers: Any, work: Any, q: Any, v: Any, _aux: Any, position: Any, rotation: Any
) -> int:
    head = array_at(index, (_HEAD,))
    n, frames = head[0], head[1]
    whole, table = array_at(index, (_HEAD + frames + head[6],)), array_at(numbers, (head[4] + frames,))
    packed_poses(
        table[: head[4]], whole[_HEAD + frames :], array_at(work, (head[5],)), array_at(q, (n,)), array_at(v, (n,)),
        whole[_HEAD : _HEAD + frames], table[head[4] :], array_at(position, (frames, 3)),
        array_at(rotation, (frames, 3, 3)),
    )  # fmt: skip
    return 0


def _rows(
    index: Any, numbers: Any, work: Any, q: Any, v: Any, _aux: Any, count: int, frame: Any, local: Any, dofs: Any,
    values: Any,
) -> int:  # fmt: skip
    head = array_at(index, (_HEAD,))
    n, frames = head[0], head[1]
    whole, table = array_at(index, (_HEAD + frames + head[6],)), array_at(numbers, (head[4] + frames,))
    packed_rows(
        table[: head[4]], whole[_HEAD + frames :], array_at(work, (head[5],)), array_at(q, (n,)), array_at(v, (n,)),
        whole[_HEAD : _HEAD + frames], table[head[4] :], array_at(frame, (count,)), array_at(local, (count, 3)),
        array_at(dofs, (count, n)), array_at(values, (count, 3, n)),
    )  # fmt: skip
    return 0
