"""Stiffness and damping matrices of an arm: exact derivatives of the force of `dynamics`.

With f = Aᵀτ − K_e·q − D_e·v − Σ J_kᵀ·F_k, F_k = m_k·(a_k − g) and a_k = J̇_k·v (0 without `coriolis`),

    −∂f/∂q = K_e + H + Σ m_k·J_kᵀ·J̈_k,      H_ab = Σ_k F_k·∂²x_k/∂q_a∂q_b                  (1)
    −∂f/∂v = D_e + 2·Σ m_k·J_kᵀ·J̇_k                                                        (2)

because ∂a/∂q = J̈ and ∂a/∂v = 2·J̇ along q + t·v: jets of order 2 give both to rounding. H needs second
derivatives of positions, and a chain of rigidly carried parts has few of its own. For arc parameters a, b of
sections i ≤ j, with W of `chain` and x_b = ∂x/∂b:

    i < j:   x_ab = W_a × x_b,            Σ F·x_ab = W_a·Σ_{k ≥ j} x_b × F                   (3)
    i = j:   points of section i:  x_ab = R_i·∂P_a/∂b                                       (4)
             later points:         x_ab = P_ab + W_ab × (x − e) + W_a × (x_b − P_b)          (5)

where e is the section's end and P_b, P_ab, W_ab the columns and derivatives there. The rotary "particles" r of
`dynamics` obey (3); (4) becomes r_ab = W_ab × r + W_a × r_b, and (5) the same with the end's W.
One sweep from tip to base that carries Σ F, Σ x × F and Σ x_b × F gives H. It is symmetric; the Coriolis parts
are not.

Source: derived here; (2) and ∂a/∂q from differentiating a = Σ x_bc·v_b·v_c.
"""

from __future__ import annotations

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit_pcc.arm import Arm
from corekit_pcc.chain import (
    POINT,
    SPIN,
    START,
    Work,
    chain_columns,
    first_twist,
    point_columns,
    turning_columns,
)
from corekit_pcc.dynamics import into_coordinates, velocity_acceleration
from corekit_pcc.jets import rotate
from corekit_pcc.section import TURNS, second_points, second_turns, section_series, section_turns

__all__ = ["tangent"]

_Vector = tuple[float, float, float]


@compiled
def tangent(arm: Arm, q: Array, v: Array, coriolis: bool, K: Array, D: Array, work: Work) -> None:
    """Write K = −∂f/∂q and D = −∂f/∂v, shape (n, n): equations (1) to (5)."""
    sections = arm.length.size
    order = 2 if coriolis else 0
    table, scalars, vectors, arc = work.table, work.scalars, work.vectors, work.arc
    second, second_turn, carried = work.second[0], work.second[1], work.carried
    chain_columns(arm, q, v, order, table, scalars, vectors, arc)
    column = first_twist(sections) + 2
    K[:] = 0.0
    D[:] = 0.0
    carried[:] = 0.0
    turning = arm.turning_section.size - 1
    for i in range(sections - 1, -1, -1):
        axes, count = START + 4 * i + 1, 3 * (i + 1)
        if i < sections - 1:
            section_series(1.0, arc[i], table)
            second_points(1.0, arc[i], table, second)
            second_turns(1.0, arc[i], table, second_turn)
            _add_later_points(i, arm.plate[i], column, vectors, second, second_turn, carried, K)
        for k in range(arm.node.size):
            mass = arm.node_mass[i, k]
            point_columns(i, arm.node[k], order, sections, table, scalars, vectors, arc)
            load = (-mass * arm.gravity[0], -mass * arm.gravity[1], -mass * arm.gravity[2])
            if coriolis:
                a = velocity_acceleration(arm, count, column, vectors, arc)
                load = (load[0] + mass * a[0], load[1] + mass * a[1], load[2] + mass * a[2])
                _add_velocity_parts(count, mass, column, vectors, K, D)
            _carry(count, load, 1.0, column, vectors, carried)
            if order == 0:
                section_series(arm.node[k], arc[i], table)
            second_points(arm.node[k], arc[i], table, second)
            _contract(i, _into_section(axes, load, vectors), second, K)
        while coriolis and turning >= 0 and arm.turning_section[turning] == i:
            mass, place = arm.turning_inertia[turning], arm.turning_place[turning]
            section_turns(place, arc[i], order, table, scalars, vectors)
            second_turns(place, arc[i], table, second_turn)
            for direction in range(2):
                turning_columns(i, direction, order, sections, vectors)
                a = velocity_acceleration(arm, count, column, vectors, arc)
                load = (mass * a[0], mass * a[1], mass * a[2])
                _add_velocity_parts(count, mass, column, vectors, K, D)
                _carry(count, load, 0.0, column, vectors, carried)
                _contract(i, _into_section(axes, _cross_row(vectors, POINT, load), vectors), second_turn, K)
                _add_turned(i, load, column, vectors, K)
            turning -= 1
        _add_earlier_parameters(i, column, vectors, carried, K)
    into_coordinates(arm.to_arc, K, work.block)
    into_coordinates(arm.to_arc, D, work.block)
    for i in range(sections):
        for a in range(3):
            for b in range(3):
                K[3 * i + a, 3 * i + b] += arm.stiffness[i, a, b]
                D[3 * i + a, 3 * i + b] += arm.damping[i, a, b]


@compiled
def _cross_row(vectors: Array, row: int, force: _Vector) -> _Vector:
    """(order 0 of a row) × force."""
    x, y, z = vectors[row, 0, 0], vectors[row, 0, 1], vectors[row, 0, 2]
    return y * force[2] - z * force[1], z * force[0] - x * force[2], x * force[1] - y * force[0]


@compiled
def _into_section(axes: int, force: _Vector, vectors: Array) -> _Vector:
    """Rᵀ·force for the section axes in the rows axes … axes + 2."""
    x, y, z = force
    return (
        vectors[axes, 0, 0] * x + vectors[axes, 0, 1] * y + vectors[axes, 0, 2] * z,
        vectors[axes + 1, 0, 0] * x + vectors[axes + 1, 0, 1] * y + vectors[axes + 1, 0, 2] * z,
        vectors[axes + 2, 0, 0] * x + vectors[axes + 2, 0, 1] * y + vectors[axes + 2, 0, 2] * z,
    )


@compiled
def _carry(count: int, force: _Vector, placed: float, column: int, vectors: Array, carried: Array) -> None:
    """Add F (if `placed` is 1), x × F and x_b × F of the point at hand to the sums of the sweep."""
    for x in range(3):
        carried[0, x] += placed * force[x]
    couple = _cross_row(vectors, POINT, force)
    for x in range(3):
        carried[1, x] += couple[x]
    for b in range(count):
        couple = _cross_row(vectors, column + 3 * b, force)
        for x in range(3):
            carried[2 + b, x] += couple[x]


@compiled
def _contract(i: int, force: _Vector, second: Array, K: Array) -> None:
    """Add force·second[a, b] to section i's block: equation (4)."""
    for a in range(3):
        for b in range(3):
            entry = second[a, b, 0] * force[0] + second[a, b, 1] * force[1] + second[a, b, 2] * force[2]
            K[3 * i + a, 3 * i + b] += entry


@compiled
def _add_turned(i: int, force: _Vector, column: int, vectors: Array, K: Array) -> None:
    """Add F·(W_a × r_b) of a rotary particle's own section: the second half of its (4)."""
    for a in range(3):
        rotate(vectors, START + 4 * i + 1, TURNS + a, 0, SPIN)
        for b in range(3):
            couple = _cross_row(vectors, column + 3 * (3 * i + b), force)
            for x in range(3):
                K[3 * i + a, 3 * i + b] += vectors[SPIN, 0, x] * couple[x]


@compiled
def _add_earlier_parameters(i: int, column: int, vectors: Array, carried: Array, K: Array) -> None:
    """Add (3) for the parameters b of section i, whose own and later points have been carried."""
    for b in range(3 * i, 3 * i + 3):
        for a in range(3 * i):
            spin = column + 3 * a - 1
            entry = 0.0
            for x in range(3):
                entry += vectors[spin, 0, x] * carried[2 + b, x]
            K[a, b] += entry
            K[b, a] += entry


@compiled
def _add_later_points(
    i: int, plate: float, column: int, vectors: Array, second: Array, turn: Array, carried: Array, K: Array
) -> None:
    """Add (5) for section i: `second` and `turn` belong to its end, `carried` holds the later points."""
    axes, after, scratch = START + 4 * i + 1, START + 4 * (i + 1), POINT
    force = (carried[0, 0], carried[0, 1], carried[0, 2])
    for x in range(3):  # the section's end e lies a plate before the next start
        vectors[scratch, 0, x] = vectors[after, 0, x] - plate * vectors[after + 3, 0, x]
    lever = _cross_row(vectors, scratch, force)
    about_end = (carried[1, 0] - lever[0], carried[1, 1] - lever[1], carried[1, 2] - lever[2])
    _contract(i, _into_section(axes, force, vectors), second, K)
    _contract(i, _into_section(axes, about_end, vectors), turn, K)
    end = (vectors[scratch, 0, 0], vectors[scratch, 0, 1], vectors[scratch, 0, 2])
    for b in range(3):
        shift = column + 3 * (3 * i + b) - 2
        turned = _cross_row(vectors, shift + 1, end)
        for x in range(3):
            vectors[scratch, 0, x] = vectors[shift, 0, x] + turned[x]
        moved = _cross_row(vectors, scratch, force)
        for a in range(3):
            spin = column + 3 * (3 * i + a) - 1
            for x in range(3):
                couple = carried[2 + 3 * i + b, x] - moved[x]
                K[3 * i + a, 3 * i + b] += vectors[spin, 0, x] * couple


@compiled
def _add_velocity_parts(count: int, mass: float, column: int, vectors: Array, K: Array, D: Array) -> None:
    """Add m·JᵀJ̈ to K and 2m·JᵀJ̇ to D: the Coriolis parts of (1) and (2); J̈ is twice the jet's order 2."""
    for a in range(count):
        row = column + 3 * a
        x, y, z = mass * vectors[row, 0, 0], mass * vectors[row, 0, 1], mass * vectors[row, 0, 2]
        for b in range(count):
            other = column + 3 * b
            K[a, b] += 2.0 * (x * vectors[other, 2, 0] + y * vectors[other, 2, 1] + z * vectors[other, 2, 2])
            D[a, b] += 2.0 * (x * vectors[other, 1, 0] + y * vectors[other, 1, 1] + z * vectors[other, 1, 2])
