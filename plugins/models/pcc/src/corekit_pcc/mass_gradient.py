"""How the mass matrix changes with the place of an arm, along two velocities: ∂(wᵀ·M·x)/∂δ.

With the kinetic energy T(u) = ½·uᵀ·M·u of a velocity u, by particles as in `dynamics`,

    wᵀ·M·x = ½·(T(w + x) − T(w − x)),     ∂T/∂δ = Σ_k m_k·ẋ_k·∂ẋ_k/∂δ                                      (1)

The velocity of a particle is V + ω × x + Σ_b x_b·u_b. Along the motion by u its jets of order 1 (`chain`, with the
base's spin ω) are ẋ − V and the rates of its columns, and these are its derivatives,

    ∂ẋ/∂y_b = ẋ_b,      ∂ẋ/∂δ_i = ω × (e_i × x) + e_i × (ẋ − V − ω × x),      0 by a displacement of the base        (2)

with the turn δ_i of a base that moves, which leaves u as it is. Scaled so that w and x are of the same energy (1)
cancels no more digits than it must.
"""

from __future__ import annotations

import math

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.geometry.vectors import Vector, add_scaled, cross, dot, row
from corekit_pcc.arm import Arm
from corekit_pcc.chain import POINT, Work, chain_columns, first_twist, point_columns, turning_columns
from corekit_pcc.free_base import BASE
from corekit_pcc.packed import unpack, work_of
from corekit_pcc.section import section_turns

__all__ = ["packed_mass_gradient"]


@compiled
def _add_particle(
    count: int, mass: float, speed: Vector, spin: Vector, column: int, vectors: Array, of_turn: Array, of_arc: Array
) -> None:  # fmt: skip
    """Add (2) of a particle times m·ẋ; `speed` is V."""
    x, moved = row(vectors[POINT], 0), row(vectors[POINT], 1)
    pushed = add_scaled(speed, 1.0, moved)
    inside = add_scaled(moved, -1.0, cross(spin, x))
    for b in range(count):
        of_arc[b] += mass * dot(pushed, row(vectors[column + 3 * b], 1))
    for i in range(3):
        e = (1.0 if i == 0 else 0.0, 1.0 if i == 1 else 0.0, 1.0 if i == 2 else 0.0)
        of_turn[i] += mass * dot(pushed, add_scaled(cross(e, inside), 1.0, cross(spin, cross(e, x))))


@compiled
def _add_energy_slopes(
    arm: Arm, q: Array, u: Array, factor: float, work: Work, of_turn: Array, of_arc: Array
) -> None:
    """Add factor·∂T/∂δ; `u` is (V, ω, q̇)."""
    sections = arm.length.size
    table, scalars, vectors, arc = work.table, work.scalars, work.vectors, work.arc
    for x in range(3):
        arm.base_spin[x] = u[3 + x]
    spin, speed, still = (u[3], u[4], u[5]), (u[0], u[1], u[2]), (0.0, 0.0, 0.0)
    chain_columns(arm, q, u[BASE:], 1, table, scalars, vectors, arc)
    column, turning = first_twist(sections) + 2, 0
    for i in range(sections):
        count = 3 * (i + 1)
        for k in range(arm.node.size):
            point_columns(i, arm.node[k], 1, sections, table, scalars, vectors, arc)
            _add_particle(count, factor * arm.node_mass[i, k], speed, spin, column, vectors, of_turn, of_arc)
        while turning < arm.turning_section.size and arm.turning_section[turning] == i:
            mass = factor * arm.turning_inertia[turning]
            section_turns(arm.turning_place[turning], arc[i], 1, table, scalars, vectors)
            for direction in range(2):
                turning_columns(i, direction, 1, sections, vectors)
                _add_particle(count, mass, still, spin, column, vectors, of_turn, of_arc)
            turning += 1


@compiled
def packed_mass_gradient(
    table: Array, index: IntArray, buffer: Array, q: Array, w: Array, x: Array, both: Array, out: Array
) -> None:
    """Write (1), shape (6 + n,); the spin of the base in the table is then another one.

    Args:
        q: of the arm alone. w, x: (V, ω, q̇), shape (6 + n,). both: scratch, shape (2, 6 + n).
    """
    arm = unpack(table, index)
    sections = arm.length.size
    work = work_of(buffer, sections)
    out[:] = 0.0
    own, other = math.sqrt(dot_all(w, w)), math.sqrt(dot_all(x, x))
    if own == 0.0 or other == 0.0:
        return
    of_arc = both[1, BASE:]
    of_arc[:] = 0.0
    for sign in (1.0, -1.0):
        for j in range(len(w)):
            both[0, j] = w[j] / own + sign * x[j] / other
        _add_energy_slopes(arm, q, both[0], 0.5 * sign * own * other, work, out[3:BASE], of_arc)
    for i in range(sections):
        for j in range(3):
            for k in range(3):
                out[BASE + 3 * i + j] += arm.to_arc[i, k, j] * of_arc[3 * i + k]


@compiled
def dot_all(a: Array, b: Array) -> float:
    """a·b of vectors of any length."""
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total
