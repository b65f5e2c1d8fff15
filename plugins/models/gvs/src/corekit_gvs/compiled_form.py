"""A tree by tables and C entries, for worlds stepped without Python: see `corekit.roles.compiled_form`.

Its integers are nine sizes, the node of every frame, and those of `tables`; its numbers the reals of `tables`, and six
factors of 1, by which every term of the force counts. The sweep that `dynamics` makes serves the entries after it.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from corekit.compiled import compiled
from corekit.compiled.entries import array_at
from corekit.data.arrays import Array, IntArray
from corekit.roles.compiled_form import MODEL_ENTRIES, CompiledForm, add_displacement, entries_of
from corekit_gvs.forces import assemble
from corekit_gvs.forward_recursion import POSES, ROWS, sweep
from corekit_gvs.geometric_stiffness import add_geometric_stiffness
from corekit_gvs.jacobian_rates import jacobian_rates
from corekit_gvs.outputs import frame_poses, point_rows
from corekit_gvs.tables import NODE_WRENCHES, Packed, work
from corekit_gvs.tangent import assemble_tangent

__all__ = ["form_of"]

_HEAD: Final = 9
"""Velocities, aux, nodes that forces need, all nodes, frames, inputs; lengths of integers, reals and buffer."""
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
    sizes = [size, aux, last, count, len(frame_node), inputs, len(ints), len(reals), len(buffer)]
    return CompiledForm(
        numbers=np.concatenate([reals, np.ones(_TERMS)]),
        index=np.concatenate([sizes, frame_node, ints]).astype(np.int64),
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


class _Tree(NamedTuple):
    """Sizes, tables and work space of a tree, as views; `last` and `count` as of `form_of`."""

    n: int
    last: int
    count: int
    inputs: int
    aux: int
    node: IntArray
    ints: IntArray
    reals: Array
    factors: Array
    buffer: Array


@compiled
def _tree(index: Any, numbers: Any, buffer: Any) -> _Tree:
    """The tree whose tables stand at these addresses."""
    head = array_at(index, (_HEAD,))
    frames = head[4]
    whole, table = array_at(index, (_HEAD + frames + head[6],)), array_at(numbers, (head[7] + _TERMS,))
    return _Tree(
        head[0], head[2], head[3], head[5], head[1], whole[_HEAD : _HEAD + frames], whole[_HEAD + frames :],
        table[: head[7]], table[head[7] :], array_at(buffer, (head[8],)),
    )  # fmt: skip


def _dynamics(
    index: Any, numbers: Any, buffer: Any, q: Any, v: Any, aux: Any, inputs: Any, mass: Any, force: Any
) -> int:
    tree, at_rest = _tree(index, numbers, buffer), np.empty(0)
    n, position, velocity = tree.n, array_at(q, (tree.n,)), array_at(v, (tree.n,))
    sweep(
        tree.ints, tree.reals, tree.buffer, position, velocity, array_at(aux, (tree.aux,)), at_rest, 0, tree.last, ROWS
    )  # fmt: skip
    assemble(
        tree.ints, tree.reals, tree.buffer, position, velocity, at_rest, array_at(inputs, (tree.inputs,)),
        tree.factors, tree.last, array_at(mass, (n, n)), array_at(force, (n,)),
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
    tree = _tree(index, numbers, buffer)
    n, velocity, moves = tree.n, array_at(v, (tree.n,)), False
    for i in range(n):
        moves = moves or velocity[i] != 0.0
    if moves:
        jacobian_rates(tree.ints, tree.reals, tree.buffer, tree.last)
    K = array_at(stiffness, (n, n))
    assemble_tangent(
        tree.ints, tree.reals, tree.buffer, array_at(q, (n,)), velocity, np.empty(0),
        array_at(inputs, (tree.inputs,)), tree.factors, tree.last, moves, K, array_at(damping, (n, n)),
    )  # fmt: skip
    wrenches = work(tree.ints, tree.buffer, NODE_WRENCHES).reshape((-1, 6))
    add_geometric_stiffness(tree.ints, tree.reals, tree.buffer, wrenches, tree.last, -1.0, K)
    return 0


def _poses(
    index: Any, numbers: Any, buffer: Any, q: Any, v: Any, aux: Any, position: Any, rotation: Any
) -> int:
    tree = _tree(index, numbers, buffer)
    sweep(
        tree.ints, tree.reals, tree.buffer, array_at(q, (tree.n,)), array_at(v, (tree.n,)),
        array_at(aux, (tree.aux,)), np.empty(0), 0, tree.count, POSES,
    )  # fmt: skip
    frames = len(tree.node)
    frame_poses(
        tree.ints, tree.buffer, tree.node, array_at(position, (frames, 3)), array_at(rotation, (frames, 3, 3))
    )
    return 0


def _rows(
    index: Any, numbers: Any, buffer: Any, q: Any, v: Any, aux: Any, points: int, frame: Any, local: Any, dofs: Any,
    values: Any,
) -> int:  # fmt: skip
    tree = _tree(index, numbers, buffer)
    n = tree.n
    if tree.count > tree.last:
        sweep(
            tree.ints, tree.reals, tree.buffer, array_at(q, (n,)), array_at(v, (n,)), array_at(aux, (tree.aux,)),
            np.empty(0), tree.last, tree.count, ROWS,
        )  # fmt: skip
    point_rows(
        tree.ints, tree.buffer, tree.node, array_at(frame, (points,)), array_at(local, (points, 3)),
        array_at(dofs, (points, n)), array_at(values, (points, 3, n)),
    )  # fmt: skip
    return 0
