"""Rods by tables and C entries, for worlds stepped without Python: see `corekit.roles.compiled_form`.

Rods in space whose K is a band: without viscosity, and with a drag that resists every motion of a node alike. Their
integers are sizes and the tables of indices, one behind the other; their numbers those of materials, loads and axes.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from corekit.compiled import compiled
from corekit.compiled.entries import array_at
from corekit.compiled.parts import part
from corekit.data.arrays import Array, BoolArray, IntArray
from corekit.roles.compiled_form import MODEL_ENTRIES, CompiledForm, add_displacement, entries_of
from corekit_der.actuation import set_rest_strains
from corekit_der.elastic_forces import elastic_forces
from corekit_der.frame_points import (
    edge_point_jacobians,
    edge_poses,
    node_point_jacobians,
    node_poses,
    place_edges,
)
from corekit_der.frames import frames_outdated, update_reference_frames, update_reference_twists
from corekit_der.graph import Graph
from corekit_der.loads import add_world_force
from corekit_der.stiffness import elastic_stiffness
from corekit_der.tables import EDGE_ROW, BlockEntryTable, Rods

__all__ = ["RodTables", "form_of"]

_HEAD: Final = 15
"""Velocities, aux, edges, pairs, inputs, nodes, frames, forces, columns of K's band, whether edges have frames, whether
inputs bend the rods; entries and kinds of the blocks of edges and of pairs."""
_ROW: Final = EDGE_ROW
_BLOCKS: Final = 8 * 8 + 11 * 11 + 3 * 8


class RodTables(NamedTuple):
    """What the form of rods is made of; see `Rods`, `BlockEntries`, `AppliedLoads` and `GraphFrames`."""

    rods: Rods
    entries: BlockEntryTable
    columns: int
    graph: Graph
    prescribed: BoolArray
    mass: Array
    weight: Array
    drag: Array
    shape: Array
    first: IntArray
    bends: bool
    inputs: int
    forces: list[tuple[int, int, int]]
    nodes: IntArray
    frame_edge: IntArray
    along: Array
    has_edges: bool
    origin: Array
    rotation: Array


def form_of(tables: RodTables) -> CompiledForm:
    """Return the form of rods."""
    t, rods, entries = tables, tables.rods, tables.entries
    edges, pairs, frames = len(rods.length), len(rods.rest_strain), len(t.frame_edge)
    aux = 6 * edges + pairs
    head = [
        len(t.mass), aux, edges, pairs, t.inputs, len(t.nodes), frames, len(t.forces), t.columns, t.has_edges, t.bends,
        len(entries[0]), len(entries[3]), len(entries[4]), len(entries[7]),
    ]  # fmt: skip
    forces = [number for node, _, first in t.forces for number in (node, first)]
    indices = [rods.edge, rods.pair, rods.pair_dofs, t.first, t.prescribed, t.nodes, t.frame_edge, *entries]
    numbers = [
        rods.length, rods.axial, rods.sign, rods.phase, rods.pair_stiffness, rods.rest_strain, t.shape, t.graph.natural,
        t.graph.voronoi, t.mass, t.weight, t.drag, t.along, t.rotation, t.origin,
    ]  # fmt: skip
    return CompiledForm(
        numbers=np.concatenate([np.ravel(each).astype(np.float64) for each in numbers]),
        index=np.concatenate([head, *(np.ravel(each) for each in indices), forces]).astype(np.int64),
        scratch=edges * (_ROW + 1) + 3 * pairs + _BLOCKS,
        entries=entries_of(
            MODEL_ENTRIES, dynamics=_dynamics, tangent=_tangent, integrate=add_displacement,
            reparametrise=_reparametrise, poses=_poses, rows=_rows,
        ),
    )  # fmt: skip


class _Rod(NamedTuple):
    """Sizes, tables and work space of rods, as views."""

    n: int
    aux: int
    inputs: int
    nodes: int
    frames: int
    columns: int
    has_edges: bool
    bends: bool
    rods: Rods
    first: IntArray
    prescribed: IntArray
    node: IntArray
    frame_edge: IntArray
    entries: BlockEntryTable
    forces: IntArray
    shape: Array
    natural: Array
    voronoi: Array
    mass: Array
    weight: Array
    drag: Array
    along: Array
    rotation: Array
    origin: Array


@compiled
def _rod(index: Any, numbers: Any, work: Any) -> _Rod:
    """The rods whose tables stand at these addresses."""
    h = array_at(index, (_HEAD,))
    n, e, p, nodes, frames = h[0], h[2], h[3], h[5], h[6]
    se, ke, sp, kp = h[11], h[12], h[13], h[14]
    blocks = se + 2 * e + ke * se + sp + 2 * p + kp * sp
    total = _HEAD + 4 * e + 8 * p + nodes + frames + blocks + 2 * h[7]
    i = array_at(index, (total,))[_HEAD:]
    edge, i = part(i, 0, (e, 3)), i[3 * e :]
    pair, i = part(i, 0, (p, 2)), i[2 * p :]
    pair_dofs, i = part(i, 0, (p, 5)), i[5 * p :]
    first, i = i[:p], i[p:]
    prescribed, i = i[:e], i[e:]
    node, i = i[:nodes], i[nodes:]
    frame_edge, i = i[:frames], i[frames:]
    entry_e, i = i[:se], i[se:]
    base_e, kind_e, i = i[:e], i[e : 2 * e], i[2 * e :]
    table_e, i = part(i, 0, (ke, se)), i[ke * se :]
    entry_p, i = i[:sp], i[sp:]
    base_p, kind_p, i = i[:p], i[p : 2 * p], i[2 * p :]
    table_p, i = part(i, 0, (kp, sp)), i[kp * sp :]
    x = array_at(numbers, (2 * e + 17 * p + 3 * n + frames + 12,))
    length, axial, x = x[:e], x[e : 2 * e], x[2 * e :]
    sign, phase, x = part(x, 0, (p, 2)), part(x, 2 * p, (p, 2)), x[4 * p :]
    stiffness, x = part(x, 0, (p, 3)), x[3 * p :]
    rest, x = part(x, 0, (p, 3)), x[3 * p :]
    shape, natural, x = part(x, 0, (p, 3)), part(x, 3 * p, (p, 3)), x[6 * p :]
    voronoi, x = x[:p], x[p:]
    mass, weight, drag, x = x[:n], x[n : 2 * n], x[2 * n : 3 * n], x[3 * n :]
    along, x = x[:frames], x[frames:]
    w = array_at(work, (e * (_ROW + 1) + 3 * p + _BLOCKS,))
    state, torque, w = part(w, 0, (e, _ROW)), w[e * _ROW : e * (_ROW + 1)], w[e * (_ROW + 1) :]
    if h[10] != 0:  # inputs change them
        rest = part(w, 0, (p, 3))
    w = w[3 * p :]
    rods = Rods(
        edge, length, axial, pair, sign, phase, pair_dofs, stiffness, rest, state, torque, w[:64].reshape((8, 8)),
        w[64:185].reshape((11, 11)), w[185:].reshape((3, 8)),
    )  # fmt: skip
    return _Rod(
        n, h[1], h[4], nodes, frames, h[8], h[9] != 0, h[10] != 0, rods, first, prescribed, node, frame_edge,
        (entry_e, base_e, kind_e, table_e, entry_p, base_p, kind_p, table_p), i, shape, natural, voronoi, mass, weight,
        drag, along, x[:9].reshape((3, 3)), x[9:],
    )  # fmt: skip


@compiled
def _bend(rod: _Rod, inputs: Any) -> Array:
    """Set the rest strains for the inputs at an address; return these."""
    u = array_at(inputs, (rod.inputs,))
    if rod.bends:
        set_rest_strains(rod.rods, rod.shape, rod.natural, rod.voronoi, rod.first, 3, u)
    return u


def _dynamics(
    index: Any, numbers: Any, work: Any, q: Any, v: Any, aux: Any, inputs: Any, mass: Any, force: Any
) -> int:
    rod = _rod(index, numbers, work)
    u, velocity, out = _bend(rod, inputs), array_at(v, (rod.n,)), array_at(force, (rod.n,))
    own = array_at(mass, (rod.n,))
    for i in range(rod.n):
        out[i] = rod.weight[i] - rod.drag[i] * velocity[i]
        own[i] = rod.mass[i]
    r = rod.rods
    elastic_forces(
        (
            r.edge, r.length, r.axial, r.pair, r.sign, r.phase, r.pair_dofs, r.pair_stiffness, r.rest_strain,
            r.edge_state, r.torque, r.block, r.nodal, r.slope,
        ),
        array_at(q, (rod.n,)), array_at(aux, (rod.aux,)), (1.0, 1.0, 1.0), out,
    )  # fmt: skip
    for k in range(len(rod.forces) // 2):
        begin = rod.forces[2 * k + 1]
        add_world_force(rod.rotation, rod.forces[2 * k], u[begin : begin + 3], out)
    return 0


def _tangent(
    index: Any, numbers: Any, work: Any, q: Any, _v: Any, aux: Any, inputs: Any, stiffness: Any, damping: Any
) -> int:
    rod = _rod(index, numbers, work)
    _bend(rod, inputs)
    flat, own = array_at(stiffness, (rod.n * rod.columns,)), array_at(damping, (rod.n,))
    flat[:] = 0.0
    r = rod.rods
    elastic_stiffness(
        (
            r.edge, r.length, r.axial, r.pair, r.sign, r.phase, r.pair_dofs, r.pair_stiffness, r.rest_strain,
            r.edge_state, r.torque, r.block, r.nodal, r.slope,
        ),
        array_at(q, (rod.n,)), array_at(aux, (rod.aux,)), rod.entries, flat,
    )  # fmt: skip
    for i in range(rod.n):
        own[i] = rod.drag[i]
    return 0


def _reparametrise(index: Any, numbers: Any, work: Any, q: Any, v: Any, aux: Any) -> int:
    rod = _rod(index, numbers, work)
    place, own, r = array_at(q, (rod.n,)), array_at(aux, (rod.aux,)), rod.rods
    prescribed = np.empty(len(rod.prescribed), dtype=np.bool_)
    for j in range(len(prescribed)):
        prescribed[j] = rod.prescribed[j] != 0
    table = (
        r.edge, r.length, r.axial, r.pair, r.sign, r.phase, r.pair_dofs, r.pair_stiffness, r.rest_strain, r.edge_state,
        r.torque, r.block, r.nodal, r.slope,
    )  # fmt: skip
    if not frames_outdated(table, prescribed, place, own):
        return 0
    update_reference_frames(r, prescribed, place, array_at(v, (rod.n,)), own)
    update_reference_twists(r, place, own)
    return 1


def _poses(
    index: Any, numbers: Any, work: Any, q: Any, _v: Any, aux: Any, position: Any, rotation: Any
) -> int:
    rod = _rod(index, numbers, work)
    place, nodes = array_at(q, (rod.n,)), rod.nodes
    points, axes = array_at(position, (rod.frames, 3)), array_at(rotation, (rod.frames, 3, 3))
    node_poses(place, rod.node, rod.rotation, rod.origin, rod.rotation, points, axes)
    if rod.frames > nodes:
        edge_poses(
            rod.rods, place, array_at(aux, (rod.aux,)), rod.frame_edge[nodes:], rod.along[nodes:], points[nodes:],
            axes[nodes:],
        )  # fmt: skip
        place_edges(rod.rotation, rod.origin, points[nodes:], axes[nodes:])
    return 0


def _rows(
    index: Any, numbers: Any, work: Any, q: Any, _v: Any, aux: Any, count: int, frame: Any, local: Any, dofs: Any,
    values: Any,
) -> int:  # fmt: skip
    rod = _rod(index, numbers, work)
    which = array_at(frame, (count,))
    if not rod.has_edges:
        node_point_jacobians(
            rod.node, rod.rotation, which, array_at(dofs, (count, 3)), array_at(values, (count, 3, 3))
        )
        return 0
    index_of, value_of = array_at(dofs, (count, 7)), array_at(values, (count, 3, 7))
    edge, along = np.empty(count, dtype=np.int64), np.empty(count)
    for c in range(count):
        edge[c], along[c] = rod.frame_edge[which[c]], rod.along[which[c]]
        if edge[c] < 0:
            for k in range(7):
                index_of[c, k] = rod.node[which[c]] + k if k < 3 else 0
                for a in range(3):
                    value_of[c, a, k] = rod.rotation[a, k] if k < 3 else 0.0
    edge_point_jacobians(
        rod.rods, array_at(q, (rod.n,)), array_at(aux, (rod.aux,)), edge, along, array_at(local, (count, 3)),
        rod.rotation, index_of, value_of,
    )  # fmt: skip
    return 0
