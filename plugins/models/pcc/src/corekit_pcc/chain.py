"""The chain of sections: poses, and the twist with which each arc parameter moves all that hangs behind it.

Section i starts at (x_i, R_i), x_1 = 0 at the base (world axes; the base's position is added where poses are
written; where the base turns, the jets of R_1 do), and ends behind a rigid plate of thickness t:

    R_{i+1} = R_i·R(1),    x_{i+1} = x_i + R_i·p(1) + t·R_{i+1}·e_z                        (1)

Everything behind section i is carried rigidly by its arc parameters y. With P, W of `section` at s = 1,

    W_y ← R_i·W_y,    U_y = R_i·P_y − W_y × (x_i + R_i·p(1)),    ∂x/∂y = U_y + W_y × x      (2)

for every point x of the later sections: (U_y, W_y) is the spatial twist of y. A point on section i moves with
(2) for earlier parameters, with R_i·P_y(s) for its own, and not at all for later ones. All of it as jets.

Source: Murray, Li and Sastry (1994), "A mathematical introduction to robotic manipulation", section 3.4.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit.geometry.vectors import cross as cross_product
from corekit.geometry.vectors import row as vector_at
from corekit_pcc.arm import Arm
from corekit_pcc.jets import ORDERS, copy, cross, rotate, write
from corekit_pcc.section import (
    AXES,
    COLUMNS,
    POSITION,
    SCALARS,
    TURNS,
    VECTORS,
    section_columns,
    section_points,
)
from corekit_pcc.stumpff import FUNCTIONS

__all__ = ["POINT", "SPIN", "START", "Work", "chain_arcs", "chain_columns", "first_twist", "own_turns"]
__all__ += ["point_columns", "turning_columns"]

POINT, SPIN = VECTORS, VECTORS + 1
"""Rows of the point at hand, and of scratch."""
START = VECTORS + 2
"""Row of x_1; x_i and the three columns of R_i stand in the rows START + 4(i − 1) …"""


class Work(NamedTuple):
    """Work buffers of an arm of S sections, n = 3·S.

    Attributes:
        table: dᵐS_n/duᵐ of the section point at hand, shape (4, 9).
        scalars: scalar jets, shape (SCALARS, ORDERS).
        vectors: vector jets, shape (rows, ORDERS, 3): those of the section point at hand, POINT, SPIN, the
            starts and axes of all sections, and from `first_twist` on, for every arc parameter y, three rows:
            U_y, W_y and ∂x/∂y of the point at hand; at the end W_y of a frame's own section (`frames`).
        arc: (L, b_x, b_y) and their rates, shape (S, 2, 3).
        second: ∂P_y/∂y′ and ∂W_y/∂y′ of `section`, shape (2, 3, 3, 3).
        force: generalised force in arc parameters, shape (n,).
        carried: Σ F, Σ x × F, and Σ ∂x/∂y × F for every y, the sums of `tangent`, shape (2 + n, 3).
        block: scratch of matrices, shape (n, n).
    """

    table: Array
    scalars: Array
    vectors: Array
    arc: Array
    second: Array
    force: Array
    carried: Array
    block: Array

    @classmethod
    def allocate(cls, sections: int) -> Work:
        """Zeroed buffers."""
        n = 3 * sections
        return cls(
            np.zeros((4, FUNCTIONS)),
            np.zeros((SCALARS, ORDERS)),
            np.zeros((START + 4 * (sections + 1) + 3 * n + 3, ORDERS, 3)),
            np.zeros((sections, 2, 3)),
            np.zeros((2, 3, 3, 3)),
            np.zeros(n),
            np.zeros((2 + n, 3)),
            np.zeros((n, n)),
        )


@compiled(forceinline=True)
def first_twist(sections: int) -> int:
    """Row of U of the first arc parameter; its W and ∂x/∂y follow, then those of the next."""
    return START + 4 * (sections + 1)


@compiled(forceinline=True)
def own_turns(sections: int) -> int:
    """First of the three rows for R_i·W_y of the section that a frame stands on."""
    return first_twist(sections) + 9 * sections


@compiled
def chain_arcs(arm: Arm, q: Array, v: Array, arc: Array, vectors: Array) -> None:
    """Write the sections' arc parameters and rates, and the base's axes: R, ω × R, ½·ω × (ω × R)."""
    for i in range(arm.length.size):
        for row in range(3):
            value = arm.length[i] if row == 0 else 0.0
            rate = 0.0
            for j in range(3):
                value += arm.to_arc[i, row, j] * q[3 * i + j]
                rate += arm.to_arc[i, row, j] * v[3 * i + j]
            arc[i, 0, row] = value
            arc[i, 1, row] = rate
    spin = (arm.base_spin[0], arm.base_spin[1], arm.base_spin[2])
    for column in range(3):
        for x in range(3):
            vectors[START + 1 + column, 0, x] = arm.base_rotation[x, column]
        for k in range(1, ORDERS):
            turned = cross_product(spin, vector_at(vectors[START + 1 + column], k - 1))
            write(vectors, START + 1 + column, k, turned[0] / k, turned[1] / k, turned[2] / k)


@compiled
def chain_columns(
    arm: Arm, q: Array, v: Array, order: int, table: Array, scalars: Array, vectors: Array, arc: Array
) -> None:
    """Write x_i, R_i and the twists U_y, W_y of all sections up to `order`: equations (1) and (2)."""
    chain_arcs(arm, q, v, arc, vectors)
    twist = first_twist(arm.length.size)
    for i in range(arm.length.size):
        start = START + 4 * i
        section_columns(1.0, arc[i], order, table, scalars, vectors)
        rotate(vectors, start + 1, POSITION, order, POINT)
        for k in range(order + 1):
            for x in range(3):
                vectors[POINT, k, x] += vectors[start, k, x]
        for y in range(3):
            rotate(vectors, start + 1, COLUMNS + y, order, twist)
            rotate(vectors, start + 1, TURNS + y, order, twist + 1)
            cross(vectors, twist + 1, POINT, order, -1.0, twist)
            twist += 3
            rotate(vectors, start + 1, AXES + y, order, start + 5 + y)
        for k in range(order + 1):
            for x in range(3):
                plate = arm.plate[i] * vectors[start + 7, k, x]
                vectors[start + 4, k, x] = vectors[POINT, k, x] + plate


@compiled
def point_columns(
    i: int, s: float, order: int, sections: int, table: Array, scalars: Array, vectors: Array, arc: Array
) -> None:
    """Write x and ∂x/∂y, y < 3(i + 1), of the point at s on section i; `chain_columns` came before."""
    section_points(s, arc[i], order, table, scalars, vectors)
    start, twist = START + 4 * i, first_twist(sections)
    rotate(vectors, start + 1, POSITION, order, POINT)
    for k in range(order + 1):
        for x in range(3):
            vectors[POINT, k, x] += vectors[start, k, x]
    for _ in range(3 * i):
        copy(vectors, twist, order, twist + 2)
        cross(vectors, twist + 1, POINT, order, 1.0, twist + 2)
        twist += 3
    for y in range(3):
        rotate(vectors, start + 1, COLUMNS + y, order, twist + 2)
        twist += 3


@compiled
def turning_columns(i: int, direction: int, order: int, sections: int, vectors: Array) -> None:
    """Write r = R·e_d and ∂r/∂y in place of x and ∂x/∂y, for the section point evaluated last."""
    start, twist = START + 4 * i, first_twist(sections)
    rotate(vectors, start + 1, AXES + direction, order, POINT)
    for y in range(3 * (i + 1)):
        spin = twist + 1
        if y >= 3 * i:
            rotate(vectors, start + 1, TURNS + y - 3 * i, order, SPIN)
            spin = SPIN
        for k in range(order + 1):
            for x in range(3):
                vectors[twist + 2, k, x] = 0.0
        cross(vectors, spin, POINT, order, 1.0, twist + 2)
        twist += 3
