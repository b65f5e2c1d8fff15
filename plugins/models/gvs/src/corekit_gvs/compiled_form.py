"""A tree by tables and C entries, for worlds stepped without Python: see `corekit.roles.compiled_form`.

Its integers are ten sizes, the node of every frame, and those of `tables`; its numbers the reals of `tables`, and six
factors of 1, by which every term of the force counts. The sweep that `dynamics` makes serves the entries after it.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from corekit.compiled.entries import array_at
from corekit.data.arrays import IntArray
from corekit.roles.compiled_form import MODEL_ENTRIES, CompiledForm, entries_of
from corekit_gvs.forces import assemble
from corekit_gvs.forward_recursion import POSES, ROWS, sweep
from corekit_gvs.geometric_stiffness import add_geometric_stiffness
from corekit_gvs.jacobian_rates import jacobian_rates
from corekit_gvs.outputs import frame_poses, point_rows
from corekit_gvs.tables import NODE_WRENCHES, Packed, work
from corekit_gvs.tangent import assemble_tangent

__all__ = ["form_of"]

_HEAD: Final = 9
"""Velocities, nodes that forces need, all nodes, frames, inputs, length of aux, of integers, reals and buffer."""
_TERMS: Final = 6


def form_of(
    packed: Packed, frame_node: IntArray, size: int, last: int, count: int, inputs: int, aux: int
) -> CompiledForm:
    """Return the form of a tree whose tables stay as they are.

    Args:
        packed: the tables. frame_node: node of every frame. size: number of velocities.
        last, count: nodes that forces need, and all. inputs, aux: how many numbers.
    """
    ints, reals, buffer = packed
    sizes = [size, last, count, len(frame_node), inputs, aux, len(ints), len(reals), len(buffer)]
    return CompiledForm(
        numbers=np.concatenate([reals, np.ones(_TERMS)]),
        index=np.concatenate([sizes, frame_node, ints]).astype(np.int64),
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
    index: Any, numbers: Any, buffer: Any, q: Any, v: Any, aux: Any, inputs: Any, mass: Any, force: Any
) -> int:
    head = array_at(index, (_HEAD,))
    n, last, frames = head[0], head[1], head[3]
    ints = array_at(index, (_HEAD + frames + head[6],))[_HEAD + frames :]
    table, scratch, at_rest = (
        array_at(numbers, (head[7] + _TERMS,)),
        array_at(buffer, (head[8],)),
        np.empty(0),
    )
    reals, u = table[: head[7]], array_at(inputs, (head[4],))
    position, velocity = array_at(q, (n,)), array_at(v, (n,))
    sweep(ints, reals, scratch, position, velocity, array_at(aux, (head[5],)), at_rest, 0, last, ROWS)
    assemble(
        ints, reals, scratch, position, velocity, at_rest, u, table[head[7] :], last, array_at(mass, (n, n)),
        array_at(force, (n,)),
    )  # fmt: skip
    return 0


def _tangent(
    index: Any,
    numbers: Any,
    buffer: Any,
    q: Any,
    v: Any,
    _aux: Any,
    inputs: Any,
    stiffness: Any,
    damping: Any,
) -> int:
    head = array_at(index, (_HEAD,))
    n, last, frames = head[0], head[1], head[3]
    ints = array_at(index, (_HEAD + frames + head[6],))[_HEAD + frames :]
    table, scratch = array_at(numbers, (head[7] + _TERMS,)), array_at(buffer, (head[8],))
    reals, velocity, moves = table[: head[7]], array_at(v, (n,)), False
    for i in range(n):
        moves = moves or velocity[i] != 0.0
    if moves:
        jacobian_rates(ints, reals, scratch, last)
    K = array_at(stiffness, (n, n))
    assemble_tangent(
        ints, reals, scratch, array_at(q, (n,)), velocity, array_at(inputs, (head[4],)), table[head[7] :], last, moves,
        K, array_at(damping, (n, n)),
    )  # fmt: skip
    wrenches = work(ints, scratch, NODE_WRENCHES).reshape((-1, 6))
    add_geometric_stiffness(ints, reals, scratch, wrenches, last, -1.0, K)
    return 0


def _integrate(
    index: Any,
    _numbers: Any,
    _buffer: Any,
    q: Any,
    aux: Any,
    velocity: Any,
    step: float,
    out_q: Any,
    out_aux: Any,
) -> int:
    head = array_at(index, (_HEAD,))
    n, frames = head[0], head[5]
    start, speed, out = array_at(q, (n,)), array_at(velocity, (n,)), array_at(out_q, (n,))
    for i in range(n):
        out[i] = start[i] + step * speed[i]
    before, after = array_at(aux, (frames,)), array_at(out_aux, (frames,))
    for i in range(frames):
        after[i] = before[i]
    return 0


def _poses(
    index: Any, numbers: Any, buffer: Any, q: Any, v: Any, aux: Any, position: Any, rotation: Any
) -> int:
    head = array_at(index, (_HEAD,))
    n, frames = head[0], head[3]
    whole, scratch = array_at(index, (_HEAD + frames + head[6],)), array_at(buffer, (head[8],))
    ints, reals = whole[_HEAD + frames :], array_at(numbers, (head[7],))
    sweep(
        ints, reals, scratch, array_at(q, (n,)), array_at(v, (n,)), array_at(aux, (head[5],)), np.empty(0), 0, head[2],
        POSES,
    )  # fmt: skip
    node = whole[_HEAD : _HEAD + frames]
    frame_poses(ints, scratch, node, array_at(position, (frames, 3)), array_at(rotation, (frames, 3, 3)))
    return 0


def _rows(
    index: Any, numbers: Any, buffer: Any, q: Any, v: Any, aux: Any, points: int, frame: Any, local: Any, dofs: Any,
    values: Any,
) -> int:  # fmt: skip
    head = array_at(index, (_HEAD,))
    n, last, count, frames = head[0], head[1], head[2], head[3]
    whole, scratch = array_at(index, (_HEAD + frames + head[6],)), array_at(buffer, (head[8],))
    ints, reals = whole[_HEAD + frames :], array_at(numbers, (head[7],))
    if count > last:
        sweep(
            ints, reals, scratch, array_at(q, (n,)), array_at(v, (n,)), array_at(aux, (head[5],)), np.empty(0), last,
            count, ROWS,
        )  # fmt: skip
    point_rows(
        ints, scratch, whole[_HEAD : _HEAD + frames], array_at(frame, (points,)), array_at(local, (points, 3)),
        array_at(dofs, (points, n)), array_at(values, (points, 3, n)),
    )  # fmt: skip
    return 0
