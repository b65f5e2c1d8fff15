"""A body by one table of 24 numbers, one integer and C entries: see `corekit.roles.compiled_form`."""

from __future__ import annotations

from typing import Any

import numpy as np

from corekit.compiled import compiled
from corekit.compiled.entries import array_at
from corekit.data.arrays import Array, IntArray
from corekit.roles.compiled_form import MODEL_ENTRIES, CompiledForm, entries_of
from corekit_rigid.dynamics import dissipation, dynamics, tangent
from corekit_rigid.frames import compute_point_jacobians, frame_pose, integrate_pose
from corekit_rigid.solid import Solid

__all__ = ["form_of"]


def form_of(solid: Solid) -> CompiledForm:
    """Return the form of a body: the numbers of `Solid` in order, and whether it is free."""
    numbers = [np.ravel(each).astype(np.float64) for each in solid[1:]]
    return CompiledForm(
        numbers=np.concatenate(numbers),
        index=np.array([solid.free], dtype=np.int64),
        entries=entries_of(
            MODEL_ENTRIES, dynamics=_dynamics, tangent=_tangent, dissipation=_dissipation, integrate=_integrate,
            poses=_poses, rows=_rows,
        ),
    )  # fmt: skip


@compiled
def _solid(index: IntArray, n: Array) -> Solid:
    return Solid(
        index[0] != 0, n[0], n[1:10].reshape((3, 3)), n[10:13], n[13:16], n[16:19], n[19:22], n[22], n[23]
    )


@compiled
def _sizes(index: IntArray) -> tuple[int, int]:
    """Return nq and nv."""
    return (7, 6) if index[0] else (4, 3)


def _dynamics(
    index: Any, numbers: Any, _work: Any, q: Any, v: Any, _aux: Any, inputs: Any, mass: Any, force: Any
) -> int:
    integers = array_at(index, (1,))
    nq, nv = _sizes(integers)
    dynamics(
        _solid(integers, array_at(numbers, (24,))), array_at(q, (nq,)), array_at(v, (nv,)), array_at(inputs, (6,)),
        array_at(mass, (nv // 3, 3, 3)), array_at(force, (nv,)),
    )  # fmt: skip
    return 0


def _tangent(
    index: Any, numbers: Any, _work: Any, q: Any, v: Any, _aux: Any, inputs: Any, stiffness: Any, damping: Any
) -> int:
    integers = array_at(index, (1,))
    nq, nv = _sizes(integers)
    tangent(
        _solid(integers, array_at(numbers, (24,))), array_at(q, (nq,)), array_at(v, (nv,)), array_at(inputs, (6,)),
        array_at(stiffness, (nv // 3, 3, 3)), array_at(damping, (nv // 3, 3, 3)),
    )  # fmt: skip
    return 0


def _dissipation(
    index: Any, numbers: Any, _work: Any, _q: Any, _v: Any, _aux: Any, _inputs: Any, damping: Any
) -> int:
    integers = array_at(index, (1,))
    blocks = _sizes(integers)[1] // 3
    dissipation(_solid(integers, array_at(numbers, (24,))), array_at(damping, (blocks, 3, 3)))
    return 0


def _integrate(
    index: Any,
    numbers: Any,
    _work: Any,
    q: Any,
    _aux: Any,
    velocity: Any,
    step: float,
    out_q: Any,
    _out_aux: Any,
) -> int:
    integers = array_at(index, (1,))
    nq, nv = _sizes(integers)
    integrate_pose(
        _solid(integers, array_at(numbers, (24,))), array_at(q, (nq,)), array_at(velocity, (nv,)), step,
        array_at(out_q, (nq,)),
    )  # fmt: skip
    return 0


def _poses(
    index: Any, numbers: Any, _work: Any, q: Any, _v: Any, _aux: Any, position: Any, rotation: Any
) -> int:
    integers = array_at(index, (1,))
    frame_pose(
        _solid(integers, array_at(numbers, (24,))), array_at(q, (_sizes(integers)[0],)), array_at(position, (3,)),
        array_at(rotation, (3, 3)),
    )  # fmt: skip
    return 0


def _rows(
    index: Any, numbers: Any, _work: Any, q: Any, _v: Any, _aux: Any, count: int, _frame: Any, local: Any, dofs: Any,
    values: Any,
) -> int:  # fmt: skip
    integers = array_at(index, (1,))
    nq, nv = _sizes(integers)
    compute_point_jacobians(
        _solid(integers, array_at(numbers, (24,))), array_at(q, (nq,)), array_at(local, (count, 3)),
        array_at(dofs, (count, nv)), array_at(values, (count, 3, nv)),
    )  # fmt: skip
    return 0
