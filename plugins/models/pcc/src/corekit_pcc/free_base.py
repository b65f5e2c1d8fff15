"""The equations of a base that moves: what it adds to those of the arm.

The base has the velocity V of its origin and the angular velocity ω, both in world axes. With x a particle's place from
the base's origin in world axes, whose jets follow ω (`chain`), and x_b its columns of arc parameters,

    ẋ_world = V + ω × x + Σ_b x_b·ẏ_b:      columns e_i of V, e_j × x of ω, x_b of y                          (1)
    a = ω × ẋ + Σ_b ẋ_b·ẏ_b                                                                               (2)

so that M and f are those of `dynamics` with six columns more. A "particle" of rotary inertia has no columns of V.

Derivatives. ω is no rate of coordinates: moving the base by δ turns all but ω, which stays in the world. With

    ∂a/∂ω_j = 2·e_j × ẋ + (ω × e_j) × x,      ∂a/∂ẏ_b = 2·ẋ_b,      ∂a/∂V = 0                              (3)
    ∂a/∂δ_i = e_i × a − Σ_j (e_i × ω)_j·∂a/∂ω_j,      ∂a/∂y_b = ẍ_b                                        (4)

and F = m·(g − a) the entries of rows c and columns b beside those of the arm alone are

    K = Σ m·x_c·∂a/∂b − F·∂x_c/∂b,      D = Σ m·x_c·∂a/∂v_b                                               (5)
    ∂(e_j × x)/∂δ_i = e_j × (e_i × x),     ∂(e_j × x)/∂y_b = e_j × x_b,     ∂x_c/∂δ_i = e_i × x_c             (6)

(3): of a = Σ ∂_a x_b·v_a·v_b with e_j × (e_i × x) − e_i × (e_j × x) = −(e_i × e_j) × x. The pose of the base
moves as `pose_coordinates` says.

Source: derived here; columns of rigid motion as in Murray, Li and Sastry (1994), section 2.4.
"""

from __future__ import annotations

from typing import Final

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.geometry.vectors import Vector, add_scaled, cross, dot, row, scaled
from corekit_pcc.arm import Arm
from corekit_pcc.chain import POINT, Work, chain_columns, first_twist, point_columns, turning_columns
from corekit_pcc.dynamics import velocity_acceleration
from corekit_pcc.section import section_turns

__all__ = ["BASE", "add_base_columns", "base_dynamics", "base_tangent"]

BASE: Final = 6
"""Velocities of the base."""


@compiled
def _unit(i: int) -> Vector:
    """e_i."""
    return (1.0 if i == 0 else 0.0, 1.0 if i == 1 else 0.0, 1.0 if i == 2 else 0.0)


@compiled
def _column(c: int, placed: float, column: int, vectors: Array) -> Vector:
    """Column c of (1): V, ω, y; `placed` is 0 for rotary inertia."""
    if c < 3:
        e = _unit(c)
        return scaled(e, placed)
    if c < BASE:
        return cross(_unit(c - 3), row(vectors[POINT], 0))
    return row(vectors[column + 3 * (c - BASE)], 0)


@compiled
def _add_particle(
    count: int, mass: float, load: Vector, placed: float, column: int, vectors: Array, out: Array
) -> None:
    """Add a particle to the base's rows of M and f; `load` is g − a."""
    for c in range(BASE):
        own = _column(c, placed, column, vectors)
        for b in range(BASE + count):
            out[c, b] += mass * dot(own, _column(b, placed, column, vectors))
        out[c, out.shape[1] - 1] += mass * dot(own, load)


@compiled
def base_dynamics(arm: Arm, q: Array, v: Array, coriolis: bool, out: Array, work: Work) -> None:
    """Write the base's rows of M in arc parameters, and of f.

    Args:
        q, v: of the arm alone.
        coriolis: whether a counts.
        out: M of (V, ω, y), then f, shape (6, 7 + n).
    """
    sections = arm.length.size
    order = 1 if coriolis else 0
    table, scalars, vectors, arc = work.table, work.scalars, work.vectors, work.arc
    chain_columns(arm, q, v, order, table, scalars, vectors, arc)
    column, turning = first_twist(sections) + 2, 0
    gravity = (arm.gravity[0], arm.gravity[1], arm.gravity[2])
    out[:] = 0.0
    for i in range(sections):
        count = 3 * (i + 1)
        for k in range(arm.node.size):
            point_columns(i, arm.node[k], order, sections, table, scalars, vectors, arc)
            load = gravity
            if coriolis:
                load = add_scaled(gravity, -1.0, velocity_acceleration(arm, count, column, vectors, arc))
            _add_particle(count, arm.node_mass[i, k], load, 1.0, column, vectors, out)
        while turning < arm.turning_section.size and arm.turning_section[turning] == i:
            section_turns(arm.turning_place[turning], arc[i], order, table, scalars, vectors)
            for direction in range(2):
                turning_columns(i, direction, order, sections, vectors)
                load = (0.0, 0.0, 0.0)
                if coriolis:
                    load = add_scaled(load, -1.0, velocity_acceleration(arm, count, column, vectors, arc))
                _add_particle(count, arm.turning_inertia[turning], load, 0.0, column, vectors, out)
            turning += 1


@compiled
def _of_rate(j: int, spin: Vector, vectors: Array) -> Vector:
    """∂a/∂ω_j of (3)."""
    e = _unit(j)
    along = cross(e, row(vectors[POINT], 1))
    return add_scaled(cross(cross(spin, e), row(vectors[POINT], 0)), 2.0, along)


@compiled
def _of_turn(i: int, a: Vector, spin: Vector, vectors: Array) -> Vector:
    """∂a/∂δ_i of (4)."""
    change, total = cross(_unit(i), spin), cross(_unit(i), a)
    for j in range(3):
        total = add_scaled(total, -change[j], _of_rate(j, spin, vectors))
    return total


@compiled
def _add_tangent(
    count: int, mass: float, load: Vector, a: Vector, spin: Vector, placed: float, moving: bool, column: int,
    vectors: Array, K: Array, D: Array,
) -> None:  # fmt: skip
    """Add (5) of a particle; `load` is F, columns are ω and y."""
    for b in range(3 + count):
        by_place, by_rate = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        if moving:
            if b < 3:
                by_place, by_rate = _of_turn(b, a, spin, vectors), _of_rate(b, spin, vectors)
            else:
                jet = vectors[column + 3 * (b - 3)]
                by_place, by_rate = scaled(row(jet, 2), 2.0), scaled(row(jet, 1), 2.0)
        turned = _column(3 + b, placed, column, vectors)
        for c in range(BASE + count):
            if c >= BASE and b >= 3:
                break
            own = _column(c, placed, column, vectors)
            K[c, b] += mass * dot(own, by_place)
            D[c, b] += mass * dot(own, by_rate)
            if c >= BASE:
                K[c, b] -= dot(load, cross(_unit(b), own))
            elif c >= 3:
                K[c, b] -= dot(load, cross(_unit(c - 3), turned))


@compiled
def base_tangent(arm: Arm, q: Array, v: Array, coriolis: bool, K: Array, D: Array, work: Work) -> None:
    """Write (5) in arc parameters, shape (6 + n, 3 + n): columns of ω and y, where the arm's own entries stay zero."""
    sections = arm.length.size
    order = 2 if coriolis else 0
    table, scalars, vectors, arc = work.table, work.scalars, work.vectors, work.arc
    chain_columns(arm, q, v, order, table, scalars, vectors, arc)
    column, turning = first_twist(sections) + 2, 0
    gravity, spin = (
        (arm.gravity[0], arm.gravity[1], arm.gravity[2]),
        (arm.base_spin[0], arm.base_spin[1], arm.base_spin[2]),
    )
    K[:] = 0.0
    D[:] = 0.0
    a = (0.0, 0.0, 0.0)
    for i in range(sections):
        count = 3 * (i + 1)
        for k in range(arm.node.size):
            mass = arm.node_mass[i, k]
            point_columns(i, arm.node[k], order, sections, table, scalars, vectors, arc)
            if coriolis:
                a = velocity_acceleration(arm, count, column, vectors, arc)
            load = scaled(add_scaled(gravity, -1.0, a), mass)
            _add_tangent(count, mass, load, a, spin, 1.0, coriolis, column, vectors, K, D)
        while turning < arm.turning_section.size and arm.turning_section[turning] == i:
            mass = arm.turning_inertia[turning]
            section_turns(arm.turning_place[turning], arc[i], order, table, scalars, vectors)
            for direction in range(2):
                turning_columns(i, direction, order, sections, vectors)
                if coriolis:
                    a = velocity_acceleration(arm, count, column, vectors, arc)
                load = scaled(a, -mass)
                _add_tangent(count, mass, load, a, spin, 0.0, coriolis, column, vectors, K, D)
            turning += 1


@compiled
def add_base_columns(
    base: Array, frame: IntArray, local: Array, position: Array, rotation: Array, own_dofs: IntArray, own_values: Array,
    dofs: IntArray, values: Array,
) -> None:  # fmt: skip
    """Write rows of points fixed in frames, with the columns (1) of the base before those of the arm.

    Args:
        base: origin of the base in the world [m], shape (3,).
        frame, local: of the points, shapes (c,) and (c, 3) [m].
        position, rotation: of all frames.
        own_dofs, own_values: rows in the arm's coordinates, (c, n) and (c, 3, n).
    """
    for c in range(frame.size):
        f, at = frame[c], (local[c, 0], local[c, 1], local[c, 2])
        x = (position[f, 0] - base[0], position[f, 1] - base[1], position[f, 2] - base[2])
        for axis in range(3):
            x = add_scaled(x, at[axis], (rotation[f, 0, axis], rotation[f, 1, axis], rotation[f, 2, axis]))
        for k in range(3):
            e, turned = _unit(k), cross(_unit(k), x)
            dofs[c, k], dofs[c, 3 + k] = k, 3 + k
            for i in range(3):
                values[c, i, k], values[c, i, 3 + k] = e[i], turned[i]
        for k in range(own_dofs.shape[1]):
            dofs[c, BASE + k] = BASE + own_dofs[c, k]
            for i in range(3):
                values[c, i, BASE + k] = own_values[c, i, k]
