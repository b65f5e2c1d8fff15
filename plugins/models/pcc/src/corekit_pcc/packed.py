"""An arm's tables and work buffers as three flat arrays: what crosses from Python into compiled code.

Every array handed to a compiled function costs 0.15 µs, so the 24 of `Arm` and `Work` would cost more than
the arithmetic of some kernels. Inside compiled code the same arrays are views that cost next to nothing.
The functions below are those of `dynamics`, `tangent`, `frames` and `free_base` behind that door.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from corekit.compiled import compiled
from corekit.compiled.parts import part
from corekit.data.arrays import Array, IntArray
from corekit_pcc.arm import Arm
from corekit_pcc.chain import Work, first_twist
from corekit_pcc.dynamics import dynamics
from corekit_pcc.frames import compute_point_jacobians, frame_poses
from corekit_pcc.free_base import base_dynamics, base_tangent
from corekit_pcc.jets import ORDERS
from corekit_pcc.section import SCALARS
from corekit_pcc.stumpff import FUNCTIONS
from corekit_pcc.tangent import tangent

__all__ = [
    "Packed",
    "pack",
    "packed_base_dynamics",
    "packed_base_tangent",
    "packed_dynamics",
    "packed_poses",
    "packed_rows",
    "packed_tangent",
    "unpack",
    "work_of",
]

_FIRST = 4
"""Numbers of sections, nodes, chambers and turning places stand first in the table of integers."""


class Packed(NamedTuple):
    """An arm and its buffers.

    Attributes:
        table: the arm's real tables, one behind the other.
        integers: its sizes and integer tables.
        buffer: all work buffers.
    """

    table: Array
    integers: IntArray
    buffer: Array


def pack(arm: Arm) -> Packed:
    """The flat form of an arm, with zeroed buffers."""
    sizes = [len(arm.length), len(arm.node), len(arm.chamber), len(arm.turning_place)]
    real = [np.asarray(each, dtype=np.float64).ravel() for each in arm if each.dtype.kind == "f"]
    table = np.concatenate(real)
    integers = np.concatenate([sizes, arm.chamber_start, arm.turning_section]).astype(np.int64)
    return Packed(table, integers, np.zeros(sum(each.size for each in Work.allocate(sizes[0]))))


@compiled
def unpack(table: Array, index: IntArray) -> Arm:
    """The arm as views."""
    sections, nodes, chambers, turning = index[0], index[1], index[2], index[3]
    starts, places = _FIRST, _FIRST + sections + 1
    plate = sections
    to_arc = plate + sections
    chamber = to_arc + 9 * sections
    stiffness = chamber + 3 * chambers
    damping = stiffness + 9 * sections
    node = damping + 9 * sections
    node_mass = node + nodes
    place = node_mass + sections * nodes
    inertia = place + turning
    base = inertia + turning
    return Arm(
        part(table, 0, (sections,)),
        part(table, plate, (sections,)),
        part(table, to_arc, (sections, 3, 3)),
        part(table, chamber, (chambers, 3)),
        part(index, starts, (sections + 1,)),
        part(table, stiffness, (sections, 3, 3)),
        part(table, damping, (sections, 3, 3)),
        part(table, node, (nodes,)),
        part(table, node_mass, (sections, nodes)),
        part(index, places, (turning,)),
        part(table, place, (turning,)),
        part(table, inertia, (turning,)),
        part(table, base, (3,)),
        part(table, base + 3, (3, 3)),
        part(table, base + 12, (3,)),
        part(table, base + 15, (3,)),
    )


@compiled
def work_of(buffer: Array, sections: int) -> Work:
    """The work buffers as views, in the shapes of `Work.allocate`."""
    n = 3 * sections
    rows = first_twist(sections) + 3 * n + 3
    scalars = 4 * FUNCTIONS
    vectors = scalars + SCALARS * ORDERS
    arc = vectors + rows * ORDERS * 3
    second = arc + 6 * sections
    force = second + 54
    carried = force + n
    block = carried + (2 + n) * 3
    return Work(
        part(buffer, 0, (4, FUNCTIONS)),
        part(buffer, scalars, (SCALARS, ORDERS)),
        part(buffer, vectors, (rows, ORDERS, 3)),
        part(buffer, arc, (sections, 2, 3)),
        part(buffer, second, (2, 3, 3, 3)),
        part(buffer, force, (n,)),
        part(buffer, carried, (2 + n, 3)),
        part(buffer, block, (n, n)),
    )


@compiled
def packed_dynamics(
    table: Array, index: IntArray, buffer: Array, q: Array, v: Array, inputs: Array, coriolis: bool,
    mass: Array, force: Array,
) -> None:  # fmt: skip
    """`dynamics`."""
    arm = unpack(table, index)
    dynamics(arm, q, v, inputs, coriolis, mass, force, work_of(buffer, arm.length.size))


@compiled
def packed_tangent(
    table: Array, index: IntArray, buffer: Array, q: Array, v: Array, coriolis: bool, stiffness: Array, damping: Array
) -> None:  # fmt: skip
    """`tangent`."""
    arm = unpack(table, index)
    tangent(arm, q, v, coriolis, stiffness, damping, work_of(buffer, arm.length.size))


@compiled
def packed_poses(
    table: Array, index: IntArray, buffer: Array, q: Array, v: Array, section: IntArray, place: Array,
    position: Array, rotation: Array,
) -> None:  # fmt: skip
    """`frame_poses`."""
    arm = unpack(table, index)
    frame_poses(arm, q, v, section, place, position, rotation, work_of(buffer, arm.length.size))


@compiled
def packed_rows(
    table: Array, index: IntArray, buffer: Array, q: Array, v: Array, section: IntArray, place: Array,
    frame: IntArray, local: Array, dofs: IntArray, values: Array,
) -> None:  # fmt: skip
    """`compute_point_jacobians`."""
    arm = unpack(table, index)
    compute_point_jacobians(
        arm, q, v, section, place, frame, local, dofs, values, work_of(buffer, arm.length.size)
    )


@compiled
def packed_base_dynamics(
    table: Array, index: IntArray, buffer: Array, q: Array, v: Array, coriolis: bool, out: Array
) -> None:
    """`base_dynamics`."""
    arm = unpack(table, index)
    base_dynamics(arm, q, v, coriolis, out, work_of(buffer, arm.length.size))


@compiled
def packed_base_tangent(
    table: Array,
    index: IntArray,
    buffer: Array,
    q: Array,
    v: Array,
    coriolis: bool,
    stiffness: Array,
    damping: Array,
) -> None:
    """`base_tangent`."""
    arm = unpack(table, index)
    base_tangent(arm, q, v, coriolis, stiffness, damping, work_of(buffer, arm.length.size))
