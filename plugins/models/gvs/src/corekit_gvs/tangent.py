"""K = −∂f/∂q and D = −∂f/∂q̇.

With f = Σ Jᵀ·F − Σ w·B_qᵀ·s − …, of `forces`,

    ∂f/∂q = Σ Jᵀ·∂F/∂q + ∂(Σ Jᵀ·F)/∂q|_F − Σ w·(B_qᵀ·(∂s/∂ξ)·B_q + B_qᵀ·Υ·Ḃ + s·b_qq)                       (1)
    ∂s/∂ξ = Σ + Σ T·∂B_a/∂ξ,   ∂B_a/∂ξ = (1/|τ|)·[d̃; 1]·(1 − τ̂·τ̂ᵀ)·[−d̃, 1]                              (2)

the first part of bodies by `inertia`, the second part by `geometric_stiffness`.
"""

from __future__ import annotations

import math

from corekit.data.arrays import Array, IntArray
from corekit_gvs.ball_rotors import add_ball_rotor_slopes
from corekit_gvs.ball_torques import add_ball_torque_slopes
from corekit_gvs.forces import cable, load_wrench, stress
from corekit_gvs.forward_recursion import strain_at
from corekit_gvs.geometric_stiffness import add_curvature, add_form
from corekit_gvs.inertia import add_bodies
from corekit_gvs.tables import (
    ACTIONS,
    ACTUATORS,
    BASES,
    BASIS_SIZE,
    BODY_INPUT,
    BODY_TABLE,
    COLUMN,
    COLUMNS,
    CURVATURES,
    ENDS,
    JACOBIANS,
    LINEAR,
    LOADS,
    NODES,
    PIECES,
    PLACES,
    POINTS,
    QUADRATURE,
    SCRATCH,
    SECTIONS,
    SIZE,
    STATE,
    STRAINS,
    TENDONS,
    THREAD,
    WRENCHES,
    index_table,
    real,
    work,
)  # fmt: skip
from corekit_gvs.vectors import Vector, add, apply, combine, compiled, cross, dot, get, inner

__all__ = ["assemble_tangent", "push_slopes"]


@inner
def column(x: Array, r: int, k: int) -> Vector:
    """Three rows of a column."""
    return (x[r, k], x[r + 1, k], x[r + 2, k])


@inner
def thread_slope(x: Array, action: Array, amount: float, wrench: Array, out: Array) -> None:
    """Add amount·∂B_a/∂ξ of (2)."""
    length = cable(x, action, wrench)
    d, t = get(action, 0), get(wrench, 3)
    factor = amount / length
    for j in range(6):
        # a column of [−d̃, 1], projected across the cable
        unit = (1.0 if j % 3 == 0 else 0.0, 1.0 if j % 3 == 1 else 0.0, 1.0 if j % 3 == 2 else 0.0)
        moved = cross(unit, d) if j < 3 else unit
        across = combine(factor, moved, -factor * dot(moved, t), t)
        lever = cross(d, across)
        for r in range(3):
            out[r, j] += lever[r]
            out[3 + r, j] += across[r]


@inner
def add_section_slopes(
    ints: IntArray, reals: Array, buffer: Array, q: Array, v: Array, inputs: Array, term_factors: Array,
    stiffness: Array, damping: Array,
) -> None:  # fmt: skip
    """Add the last sum of (1) but for what `linear_stiffness` has: cables, and sections on dependent bases."""
    quadrature, pieces, points = (
        index_table(ints, QUADRATURE, 4),
        index_table(ints, PIECES, 4),
        index_table(ints, POINTS, 3),
    )
    strains, sections = real(ints, reals, STRAINS, 18), real(ints, reals, SECTIONS, 19)
    actuators, actions = index_table(ints, ACTUATORS, 2), real(ints, reals, ACTIONS, 7)
    B, curvatures = real(ints, reals, BASES, 1).reshape(-1), real(ints, reals, CURVATURES, 1).reshape(-1)
    scratch, wide = work(ints, buffer, SCRATCH), work(ints, buffer, COLUMN)
    x, s, wrench, form = scratch[:18], scratch[18:24], scratch[24:30], scratch[36:72].reshape((6, 6))
    size = ints[BASIS_SIZE]
    for i in range(len(quadrature)):
        point, piece, dependent = quadrature[i, 0], quadrature[i, 1], points[quadrature[i, 0], 2] >= 0
        at, own, first = points[point, 0], pieces[piece, 1], pieces[piece, 3]
        acted = quadrature[i, 3] > quadrature[i, 2]
        if own == 0 or not (dependent or acted):
            continue
        weight = sections[i, 0]
        strain_at(strains[point], B, at, own, first, q, v, q[:0], x, 0)
        own_B = B[at : at + 6 * own].reshape((6, own))
        half = wide[: 6 * own].reshape((6, own))
        form[:] = 0.0
        if dependent:
            rate = B[size + at : size + at + 6 * own].reshape((6, own))
            for r in range(6):
                form[r, r] = sections[i, 7 + r]
            add_form(own_B, form, own_B, weight, first, half, damping)
            add_form(rate, form, own_B, weight, first, half, stiffness)
            for r in range(6):
                form[r, r] = sections[i, 1 + r]
            stress(ints, reals, inputs, i, x, term_factors, s, wrench)
            add_curvature(curvatures, points[point, 2], own, s, weight, first, stiffness)
        for a in range(quadrature[i, 2], quadrature[i, 3]):
            if actuators[a, 1] == THREAD:
                thread_slope(x, actions[a], actions[a, 6] * inputs[actuators[a, 0]], wrench, form)
        add_form(own_B, form, own_B, weight, first, half, stiffness)


@inner
def push_slopes(ints: IntArray, buffer: Array, node: int, W: Array, factor: float, out: Array) -> None:
    """Add factor·Jᵀ·W at a node, W of shape (6, n)."""
    nodes, pieces = index_table(ints, NODES, 8), index_table(ints, PIECES, 4)
    columns, jacobians = index_table(ints, COLUMNS, 1).reshape(-1), work(ints, buffer, JACOBIANS)
    active, start, at = pieces[nodes[node, 1], 0], pieces[nodes[node, 1], 2], nodes[node, 4]
    J = jacobians[6 * at : 6 * (at + active)].reshape((6, active))
    for i in range(active):
        row = out[columns[start + i]]
        a0, a1, a2 = factor * J[0, i], factor * J[1, i], factor * J[2, i]
        a3, a4, a5 = factor * J[3, i], factor * J[4, i], factor * J[5, i]
        for k in range(W.shape[1]):
            row[k] += a0 * W[0, k] + a1 * W[1, k] + a2 * W[2, k] + a3 * W[3, k] + a4 * W[4, k] + a5 * W[5, k]


@inner
def scatter(ints: IntArray, buffer: Array, node: int, out: Array) -> None:
    """Write J of a node with all columns, (6, n)."""
    nodes, pieces = index_table(ints, NODES, 8), index_table(ints, PIECES, 4)
    columns, jacobians = index_table(ints, COLUMNS, 1).reshape(-1), work(ints, buffer, JACOBIANS)
    active, start, at = pieces[nodes[node, 1], 0], pieces[nodes[node, 1], 2], nodes[node, 4]
    J = jacobians[6 * at : 6 * (at + active)].reshape((6, active))
    out[:] = 0.0
    for r in range(6):
        for k in range(active):
            out[r, columns[start + k]] = J[r, k]


@inner
def add_load_slopes(ints: IntArray, reals: Array, buffer: Array, inputs: Array, stiffness: Array) -> None:
    """Subtract Jᵀ·∂F of loads and tendons."""
    loads, wrenches = index_table(ints, LOADS, 3), real(ints, reals, WRENCHES, 9)
    tendons, ends = index_table(ints, TENDONS, 3), real(ints, reals, ENDS, 6)
    places, wide = work(ints, buffer, PLACES).reshape((-1, STATE)), work(ints, buffer, COLUMN)
    wrench, n = work(ints, buffer, SCRATCH)[30:36], ints[SIZE]
    one_J, two_J = wide[: 6 * n].reshape((6, n)), wide[6 * n : 12 * n].reshape((6, n))
    W = wide[12 * n : 18 * n].reshape((6, n))
    for i in range(len(loads)):
        node, kind = loads[i, 0], loads[i, 2]
        arm = load_wrench(kind, loads[i, 1], wrenches[i], places[node], inputs, 1.0, wrench)
        follows = kind in (BODY_INPUT, BODY_TABLE)
        if not follows and arm[0] == 0.0 and arm[1] == 0.0 and arm[2] == 0.0:
            continue
        scatter(ints, buffer, node, one_J)
        moment, force = get(wrench, 0), get(wrench, 3)
        for k in range(n):
            theta = column(one_J, 0, k)
            dm = cross(theta, moment) if follows else cross(cross(theta, arm), force)
            df = cross(theta, force) if follows else (0.0, 0.0, 0.0)
            for r in range(3):
                W[r, k] = dm[r]
                W[3 + r, k] = df[r]
        push_slopes(ints, buffer, node, W, -1.0, stiffness)
    for i in range(len(tendons)):
        one, two = tendons[i, 0], tendons[i, 1]
        scatter(ints, buffer, one, one_J)
        scatter(ints, buffer, two, two_J)
        arm, other = apply(places[one], 0, get(ends[i], 0)), apply(places[two], 0, get(ends[i], 3))
        chord = combine(1.0, add(get(places[two], 9), other), -1.0, add(get(places[one], 9), arm))
        length = math.sqrt(dot(chord, chord))
        along = combine(1.0 / length, chord, 0.0, chord)
        tension = float(inputs[tendons[i, 2]])
        for end in range(2):
            lever, J, sign = (arm, one_J, 1.0) if end == 0 else (other, two_J, -1.0)
            pull = combine(sign * tension, along, 0.0, along)
            for k in range(n):
                near, far = column(one_J, 0, k), column(two_J, 0, k)
                moved = combine(
                    1.0,
                    add(column(two_J, 3, k), cross(far, other)),
                    -1.0,
                    add(column(one_J, 3, k), cross(near, arm)),
                )
                change = combine(1.0, moved, -dot(moved, along), along)
                df = combine(sign * tension / length, change, 0.0, change)
                dm = add(cross(lever, df), cross(cross(column(J, 0, k), lever), pull))
                for r in range(3):
                    W[r, k] = dm[r]
                    W[3 + r, k] = df[r]
            push_slopes(ints, buffer, one if end == 0 else two, W, -1.0, stiffness)


@compiled
def assemble_tangent(
    ints: IntArray, reals: Array, buffer: Array, q: Array, v: Array, w: Array, inputs: Array, term_factors: Array,
    last: int, moves: bool, stiffness: Array, damping: Array,
) -> None:  # fmt: skip
    """Write K but for the part of `geometric_stiffness`, and D; after a sweep with rows and `jacobian_rates`.

    Inertia and drag are quadratic in velocities: where nothing `moves` they add nothing, without `jacobian_rates` too.
    """
    linear, n = real(ints, reals, LINEAR, 1), ints[SIZE]
    for i in range(n):
        for j in range(n):
            stiffness[i, j], damping[i, j] = linear[i * n + j, 0], linear[(n + i) * n + j, 0]
    add_ball_torque_slopes(ints, reals, buffer, q, v, inputs, stiffness, damping)
    if moves:
        add_ball_rotor_slopes(ints, reals, buffer, q, v, w, stiffness, damping)
        add_bodies(ints, reals, buffer, last, stiffness, damping)
    add_load_slopes(ints, reals, buffer, inputs, stiffness)
    add_section_slopes(ints, reals, buffer, q, v, inputs, term_factors, stiffness, damping)
