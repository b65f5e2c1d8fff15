"""A tree of links as three flat arrays, which is what crosses from Python into compiled code.

Every array handed to a compiled function costs 0.15 µs, so all tables stand one behind the other in `ints`, `reals` and
`buffer`; the first entries of `ints` say where. `whole`, `real` and `work` give a table as a view.

Tables of integers, a row each:

- NODES: computational points: parent, piece, kind, point, J's place, aux's place, Z's place, the least own velocity
  of its piece and of those behind it
- PIECES: joints, divisions: active columns, own columns, place in COLUMNS, first own velocity
- COLUMNS: the pieces' active columns (velocity indices), ancestors' first, own last
- POINTS: places of a basis: place of b_q in BASES, own columns, place of b_qq in CURVATURES or −1
- QUADRATURE: point, piece, first and end in ACTUATORS
- ACTUATORS: input (−1: factor 1), kind (THREAD, WRENCH, or STRESS of an elastic law)
- MASSES: node; LOADS: node, first input (−1: factor 1), kind; TENDONS: node, node, input
- DRIVEN: velocity, input; LOOPS: node, node, first row, rows, kind

Tables of reals:

- STEPS, per node: length h of the Magnus step [m], fixed rotation (9), fixed translation (3)
- STRAINS, per point: ξ − b_q·q, ξ̇ − b_q·q̇ and ξ̈ − b_q·q̈, six each
- BASES: b_q, row by row; then the same for ḃ_q and b̈_q, which only dependent bases have
- CURVATURES: b_qq, (own, own, 6)
- SECTIONS, per quadrature point: weight·L [m], diagonals of Σ and Υ, ξ*
- ACTIONS, per actuator: (d, d′) of a cable, B_a, or ∂W/∂ξ; what friction leaves of the cable's tension, 1 without it
- BODIES, per mass: I (9), A (3), weight's mass, rotational drag (3), linear drag (9)
- WRENCHES, per load: wrench (6), offset (3); ENDS, per tendon: two offsets
- SPRINGS, per velocity: stiffness, damping, added mass
- BALLS, per turn of a spherical or free joint that damps, is driven or has a rotor: its first velocity, damping about
  the link's axes (3), first input or −1, armature
- WORLD: gravity (3), base position (3), base rotation (9)
- LOOP_FRAMES, per loop: two offsets and rotations (24), rows' directions (36), compliance
- LINEAR: K and D of `linear_stiffness`, (n, n) each
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit_gvs.exponential import WIDTH
from corekit_gvs.vectors import inner

__all__ = [
    "INTS",
    "REALS",
    "STATE",
    "Packed",
    "index_table",
    "integers_of",
    "node_wrenches_of",
    "pack",
    "pole_of",
    "real",
    "table_of",
    "work",
    "work_of",
]  # fmt: skip

INTS = (
    "NODES",
    "PIECES",
    "COLUMNS",
    "POINTS",
    "QUADRATURE",
    "ACTUATORS",
    "MASSES",
    "LOADS",
    "TENDONS",
    "DRIVEN",
    "LOOPS",
)
NODES, PIECES, COLUMNS, POINTS, QUADRATURE, ACTUATORS, MASSES, LOADS, TENDONS, DRIVEN, LOOPS = range(11)
REALS = (
    "STEPS",
    "STRAINS",
    "BASES",
    "CURVATURES",
    "SECTIONS",
    "ACTIONS",
    "BODIES",
    "WRENCHES",
    "ENDS",
    "SPRINGS",
    "BALLS",
    "WORLD",
    "LOOP_FRAMES",
    "LINEAR",
)
(
    STEPS,
    STRAINS,
    BASES,
    CURVATURES,
    SECTIONS,
    ACTIONS,
    BODIES,
    WRENCHES,
    ENDS,
    SPRINGS,
    BALLS,
    WORLD,
    LOOP_FRAMES,
    LINEAR,
) = range(14)
PLACES, JACOBIANS, RELATIVE, NODE_WRENCHES, SUMS, FULL, COLUMN, SCRATCH, ZETAS, JACOBIAN_RATES, GATHERED = (
    range(11)
)
"""Tables of the work buffer: state of every node; its J; what a step does; wrench at every node; backward sums; four
(n, n) matrices; columns (FULL_COLUMNS, n); small scratch; Z of every step; J̇ and J̈ of every node;
sums of columns."""

_REAL_AT = len(INTS) + 1
_WORK_AT = _REAL_AT + len(REALS) + 1
_SIZES_AT = _WORK_AT + 12
HEADER = _SIZES_AT + 4
SIZE, MAIN, COUNT, BASIS_SIZE = _SIZES_AT, _SIZES_AT + 1, _SIZES_AT + 2, _SIZES_AT + 3
"""Where the numbers of velocities, of nodes that forces need and of all nodes stand, and the length of one of BASES."""

STATE = 24
"""A node's state: rotation (9), position, ω, v, bias of ω̇, bias of v̇, three each, world axes."""

FIXED, CHART, MIDPOINT, ZANNA, ROOT = 0, 1, 2, 3, 4
"""Kinds of node: moved by a fixed transform, by one in aux, by a step of order 2 or 4; the base."""

THREAD, WRENCH, STRESS = 0, 1, 2
WORLD_INPUT, BODY_INPUT, WORLD_TABLE, BODY_TABLE = 0, 1, 2, 3
FULL_COLUMNS = 36
RATE_ROWS = 12


class Packed(NamedTuple):
    """The three arrays; `ints` begins with a header of places and sizes."""

    ints: IntArray
    reals: Array
    buffer: Array


def pack(integers: Mapping[str, IntArray], reals: Mapping[str, Array], size: int, main: int) -> Packed:
    """The flat form of the tables, with a zeroed work buffer; fills in the last columns of NODES and where J stands."""
    nodes, pieces = integers["NODES"].copy(), integers["PIECES"]
    active, own = pieces[nodes[:, 1], 0], pieces[nodes[:, 1], 1]
    nodes[:, 4] = np.concatenate([[0], np.cumsum(active)[:-1]])
    nodes[:, 6] = np.concatenate([[0], np.cumsum(own)[:-1]])
    count = len(nodes)
    nodes[:, 7] = pieces[nodes[:, 1], 3]
    for i in range(count - 1, 0, -1):
        parent = nodes[i, 0]
        nodes[parent, 7] = min(nodes[parent, 7], nodes[i, 7])
    tables = {**integers, "NODES": nodes}
    flat = [np.ascontiguousarray(tables[name], dtype=np.int64).ravel() for name in INTS]
    real = [np.ascontiguousarray(reals[name], dtype=np.float64).ravel() for name in REALS]
    total = int(active.sum())
    lengths = [
        count * STATE, 6 * total, count * WIDTH, count * 6, count * 15, 4 * size * size, FULL_COLUMNS * size, 256,
        6 * int(own.sum()), RATE_ROWS * total, count * 3 * size,
    ]  # fmt: skip
    header = np.concatenate(
        [
            HEADER + np.concatenate([[0], np.cumsum([len(each) for each in flat])]),
            np.concatenate([[0], np.cumsum([len(each) for each in real])]),
            np.concatenate([[0], np.cumsum(lengths)]),
            [size, main, count, reals["BASES"].size // 3],
        ]
    ).astype(np.int64)
    return Packed(np.concatenate([header, *flat]), np.concatenate(real), np.zeros(sum(lengths)))


@inner
def index_table(ints: IntArray, table: int, width: int) -> IntArray:
    """A table of integers as (rows, width)."""
    return ints[ints[table] : ints[table + 1]].reshape((-1, width))


@inner
def real(ints: IntArray, reals: Array, table: int, width: int) -> Array:
    """A table of reals as (rows, width)."""
    return reals[ints[_REAL_AT + table] : ints[_REAL_AT + table + 1]].reshape((-1, width))


@inner
def work(ints: IntArray, buffer: Array, table: int) -> Array:
    """A work table, flat."""
    return buffer[ints[_WORK_AT + table] : ints[_WORK_AT + table + 1]]


def table_of(packed: Packed, table: int) -> Array:
    """A table of reals, flat, to be rewritten between sweeps."""
    return packed.reals[packed.ints[_REAL_AT + table] : packed.ints[_REAL_AT + table + 1]]


def integers_of(packed: Packed, table: int, width: int) -> IntArray:
    """A table of integers, (rows, width)."""
    return packed.ints[packed.ints[table] : packed.ints[table + 1]].reshape(-1, width)


def work_of(packed: Packed, table: int) -> Array:
    """A work table, flat, as the last sweep left it."""
    return packed.buffer[packed.ints[_WORK_AT + table] : packed.ints[_WORK_AT + table + 1]]


def node_wrenches_of(packed: Packed) -> Array:
    """The wrenches at all nodes that an assembly left, (nodes, 6): moment, force, world axes."""
    return work_of(packed, NODE_WRENCHES).reshape(-1, 6)


def pole_of(packed: Packed, last: int) -> Array:
    """O of `jacobian_rates`, (3,), where the last sweep left it."""
    node = last // 2
    return work_of(packed, PLACES)[STATE * node + 9 : STATE * node + 12]
