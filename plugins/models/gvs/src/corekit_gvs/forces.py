"""M and f from a sweep, point by point.

    M = Σ J_ωᵀ·Î·J_ω + J_vᵀ·Â·J_v,   Î = R·I·Rᵀ,  Â = R·A·Rᵀ                                               (1)
    f = Σ Jᵀ·(wrenches) − Σ w·B_qᵀ·(Σ·(ξ − ξ*) + Υ·ξ̇ + T·B_a) − k·q − d·q̇ + joint efforts                 (2)
    moment  −(Î·α + ω × Î·ω + v × Â·v) − |v|·D̂·ω                                                          (3)
    force   −(Â·(a − ω × v) + ω × Â·v) + m·g − |v|·L̂·v                                                    (4)

(3), (4) are the Newton–Euler equations with a mass A that may differ by direction (added mass of a fluid), at a point
with α, a from the sweep: at q̈ = 0 what is left is f, at q̈ = w it is f − M·w. A cable at d in the section pulls with

    τ = k × d + l + d′,   B_a = (d × τ̂; τ̂)                                                                (5)

`term_factors` scales gravity, inertia, elasticity, viscosity, what is applied, and drag: all 1, or parts of f.
"""

from __future__ import annotations

import math

from corekit.data.arrays import Array, IntArray
from corekit_gvs.ball_rotors import add_ball_rotor_mass, add_ball_rotors
from corekit_gvs.ball_torques import add_ball_torques
from corekit_gvs.forward_recursion import strain_at
from corekit_gvs.tables import (
    ACTIONS,
    ACTUATORS,
    BASES,
    BODIES,
    BODY_INPUT,
    BODY_TABLE,
    COLUMN,
    COLUMNS,
    DRIVEN,
    ENDS,
    FULL,
    JACOBIANS,
    LOADS,
    MASSES,
    NODE_WRENCHES,
    NODES,
    PIECES,
    PLACES,
    POINTS,
    QUADRATURE,
    SCRATCH,
    SECTIONS,
    SIZE,
    SPRINGS,
    STATE,
    STRAINS,
    STRESS,
    TENDONS,
    THREAD,
    WORLD,
    WORLD_INPUT,
    WRENCHES,
    index_table,
    real,
    work,
)  # fmt: skip
from corekit_gvs.vectors import Vector, add, apply, combine, compiled, cross, dot, get, inner, store

__all__ = ["add_generalised", "add_loads", "assemble", "cable", "load_wrench", "stress", "turned"]


@inner
def turned(R: Array, local: Array, at: int, out: Array, to: int) -> None:
    """Write R·X·Rᵀ for a matrix X of nine numbers at a place."""
    for r in range(3):
        x0, x1, x2 = R[3 * r], R[3 * r + 1], R[3 * r + 2]
        h0 = x0 * local[at] + x1 * local[at + 3] + x2 * local[at + 6]
        h1 = x0 * local[at + 1] + x1 * local[at + 4] + x2 * local[at + 7]
        h2 = x0 * local[at + 2] + x1 * local[at + 5] + x2 * local[at + 8]
        for c in range(3):
            out[to + 3 * r + c] = h0 * R[3 * c] + h1 * R[3 * c + 1] + h2 * R[3 * c + 2]


@inner
def turned_diagonal(R: Array, local: Array, at: int, out: Array, to: int) -> None:
    """Write R·diag(x)·Rᵀ for three numbers at a place."""
    x0, x1, x2 = local[at], local[at + 1], local[at + 2]
    for r in range(3):
        for c in range(3):
            out[to + 3 * r + c] = (
                R[3 * r] * x0 * R[3 * c] + R[3 * r + 1] * x1 * R[3 * c + 1] + R[3 * r + 2] * x2 * R[3 * c + 2]
            )


@inner
def body_matrices(place: Array, body: Array, out: Array) -> None:
    """Write Î, Â, D̂ and L̂, nine numbers each."""
    turned(place, body, 0, out, 0)
    turned_diagonal(place, body, 9, out, 9)
    turned_diagonal(place, body, 13, out, 18)
    turned(place, body, 16, out, 27)


@inner
def add_mass(J: Array, matrices: Array, W: Array, out: Array) -> None:
    """Add (1) of one point to the upper triangle of `out`, in the point's own columns; W is scratch, (6, columns)."""
    n = J.shape[1]
    for part in range(2):
        m, at = 9 * part, 3 * part
        for r in range(3):
            x0, x1, x2 = matrices[m + 3 * r], matrices[m + 3 * r + 1], matrices[m + 3 * r + 2]
            for k in range(n):
                W[at + r, k] = x0 * J[at, k] + x1 * J[at + 1, k] + x2 * J[at + 2, k]
    add_product(J, W, out, True)


@inner
def add_product(J: Array, W: Array, out: Array, upper: bool) -> None:
    """Add Jᵀ·W to `out`, or to its upper triangle alone."""
    n = J.shape[1]
    for i in range(n):
        a0, a1, a2, a3, a4, a5 = J[0, i], J[1, i], J[2, i], J[3, i], J[4, i], J[5, i]
        row = out[i]
        for k in range(i if upper else 0, n):
            row[k] += a0 * W[0, k] + a1 * W[1, k] + a2 * W[2, k] + a3 * W[3, k] + a4 * W[4, k] + a5 * W[5, k]


@inner
def flush(compact: Array, columns: IntArray, upper: bool, out: Array) -> None:
    """Add a matrix in a piece's columns to the whole one and zero it."""
    n = len(columns)
    for i in range(n):
        row = columns[i]
        for k in range(i if upper else 0, n):
            out[row, columns[k]] += compact[i, k]
            compact[i, k] = 0.0


@inner
def cable(x: Array, action: Array, out: Array) -> float:
    """Write B_a of (5) for a strain x and (d, d′), and return |τ|."""
    d = get(action, 0)
    tau = add(add(cross(get(x, 0), d), get(x, 3)), get(action, 3))
    length = math.sqrt(dot(tau, tau))
    along = (tau[0] / length, tau[1] / length, tau[2] / length)
    store(out, 0, cross(d, along))
    store(out, 3, along)
    return length


@inner
def stress(
    ints: IntArray, reals: Array, inputs: Array, index: int, x: Array, term_factors: Array, out: Array, wrench: Array
) -> None:  # fmt: skip
    """Write Σ·(ξ − ξ*), or ∂W/∂ξ of `elastic_law`, + Υ·ξ̇ + T·B_a of one quadrature point; x holds ξ, ξ̇."""
    point, section = index_table(ints, QUADRATURE, 4)[index], real(ints, reals, SECTIONS, 19)[index]
    actuators, actions = index_table(ints, ACTUATORS, 2), real(ints, reals, ACTIONS, 7)
    for r in range(6):
        out[r] = (
            term_factors[2] * section[1 + r] * (x[r] - section[13 + r])
            + term_factors[3] * section[7 + r] * x[6 + r]
        )
    for a in range(point[2], point[3]):
        amount = term_factors[4] * (1.0 if actuators[a, 0] < 0 else inputs[actuators[a, 0]])
        if actuators[a, 1] == STRESS:
            amount = -term_factors[2]
        if amount == 0.0:
            continue
        if actuators[a, 1] == THREAD:
            cable(x, actions[a], wrench)
            amount *= actions[a, 6]
            for r in range(6):
                out[r] += amount * wrench[r]
        else:
            for r in range(6):
                out[r] -= amount * actions[a, r]


@inner
def add_sections(
    ints: IntArray, reals: Array, buffer: Array, q: Array, v: Array, inputs: Array, term_factors: Array, force: Array
) -> None:  # fmt: skip
    """Subtract the second sum of (2)."""
    quadrature, pieces, points = (
        index_table(ints, QUADRATURE, 4),
        index_table(ints, PIECES, 4),
        index_table(ints, POINTS, 3),
    )
    strains, sections = real(ints, reals, STRAINS, 18), real(ints, reals, SECTIONS, 19)
    B = real(ints, reals, BASES, 1).reshape(-1)
    scratch = work(ints, buffer, SCRATCH)
    x, s, wrench = scratch[:18], scratch[18:24], scratch[24:30]
    for i in range(len(quadrature)):
        point, piece = quadrature[i, 0], quadrature[i, 1]
        at, own, first = points[point, 0], pieces[piece, 1], pieces[piece, 3]
        strain_at(strains[point], B, at, own, first, q, v, q[:0], x, 0)
        stress(ints, reals, inputs, i, x, term_factors, s, wrench)
        weight = sections[i, 0]
        for r in range(6):
            pull = weight * s[r]
            if pull != 0.0:
                for j in range(own):
                    force[first + j] -= pull * B[at + r * own + j]


@inner
def load_wrench(
    kind: int, first: int, wrench: Array, place: Array, inputs: Array, amount: float, out: Array
) -> Vector:
    """Write moment and force of a load about its node, world axes; returns the offset of its point, world axes."""
    if kind in (WORLD_INPUT, BODY_INPUT):
        for r in range(6):
            out[r] = amount * inputs[first + r]
    else:
        factor = amount if first < 0 else amount * inputs[first]
        for r in range(6):
            out[r] = factor * wrench[r]
    if kind in (BODY_INPUT, BODY_TABLE):
        moment, force = apply(place, 0, get(out, 0)), apply(place, 0, get(out, 3))
        store(out, 0, moment)
        store(out, 3, force)
    arm = apply(place, 0, get(wrench, 6))
    store(out, 0, add(get(out, 0), cross(arm, get(out, 3))))
    return arm


@inner
def add_loads(
    ints: IntArray, reals: Array, buffer: Array, inputs: Array, amount: float, node_wrenches: Array
) -> None:
    """Add loads and tendons to the wrenches at the nodes."""
    if amount == 0.0:  # what is not finite stays out of parts that have none of it
        return
    loads, wrenches = index_table(ints, LOADS, 3), real(ints, reals, WRENCHES, 9)
    tendons, ends = index_table(ints, TENDONS, 3), real(ints, reals, ENDS, 6)
    places = work(ints, buffer, PLACES).reshape((-1, STATE))
    wrench = work(ints, buffer, SCRATCH)[30:36]
    for i in range(len(loads)):
        node = loads[i, 0]
        load_wrench(loads[i, 2], loads[i, 1], wrenches[i], places[node], inputs, amount, wrench)
        for r in range(6):
            node_wrenches[node, r] += wrench[r]
    for i in range(len(tendons)):
        one, two = tendons[i, 0], tendons[i, 1]
        arm, other = apply(places[one], 0, get(ends[i], 0)), apply(places[two], 0, get(ends[i], 3))
        chord = combine(1.0, add(get(places[two], 9), other), -1.0, add(get(places[one], 9), arm))
        tension = amount * float(inputs[tendons[i, 2]]) / math.sqrt(dot(chord, chord))
        pull = (tension * chord[0], tension * chord[1], tension * chord[2])
        moment, counter = cross(arm, pull), cross(other, pull)
        for r in range(3):
            node_wrenches[one, r] += moment[r]
            node_wrenches[one, 3 + r] += pull[r]
            node_wrenches[two, r] -= counter[r]
            node_wrenches[two, 3 + r] -= pull[r]


@inner
def add_inertia(
    place: Array, body: Array, m: Array, gravity: Vector, term_factors: Array, push: Array
) -> None:
    """Add (3) and (4) of one point; m holds its matrices in world axes."""
    omega, v, alpha, a = get(place, 12), get(place, 15), get(place, 18), get(place, 21)
    spin, flow = apply(m, 0, omega), apply(m, 9, v)
    moment = add(apply(m, 0, alpha), add(cross(omega, spin), cross(v, flow)))
    force = add(apply(m, 9, combine(1.0, a, -1.0, cross(omega, v))), cross(omega, flow))
    speed = term_factors[5] * math.sqrt(dot(v, v))
    drag, resist = apply(m, 18, omega), apply(m, 27, v)
    for r in range(3):
        push[r] -= term_factors[1] * moment[r] + speed * drag[r]
        push[3 + r] += (
            term_factors[0] * body[12] * gravity[r] - term_factors[1] * force[r] - speed * resist[r]
        )


@inner
def add_generalised(ints: IntArray, buffer: Array, node_wrenches: Array, force: Array) -> None:
    """Add Jᵀ·(wrenches) of all nodes."""
    nodes, pieces = index_table(ints, NODES, 8), index_table(ints, PIECES, 4)
    columns = index_table(ints, COLUMNS, 1).reshape(-1)
    jacobians = work(ints, buffer, JACOBIANS)
    for i in range(len(node_wrenches)):
        m0, m1, m2, f0, f1, f2 = (
            node_wrenches[i, 0], node_wrenches[i, 1], node_wrenches[i, 2],
            node_wrenches[i, 3], node_wrenches[i, 4], node_wrenches[i, 5],
        )  # fmt: skip
        if m0 == 0.0 and m1 == 0.0 and m2 == 0.0 and f0 == 0.0 and f1 == 0.0 and f2 == 0.0:
            continue
        active, start = pieces[nodes[i, 1], 0], pieces[nodes[i, 1], 2]
        J = jacobians[6 * nodes[i, 4] : 6 * (nodes[i, 4] + active)].reshape((6, active))
        for k in range(active):
            force[columns[start + k]] += (
                m0 * J[0, k] + m1 * J[1, k] + m2 * J[2, k] + f0 * J[3, k] + f1 * J[4, k] + f2 * J[5, k]
            )


@compiled
def assemble(
    ints: IntArray, reals: Array, buffer: Array, q: Array, v: Array, w: Array, inputs: Array,
    term_factors: Array, last: int, mass: Array, force: Array,
) -> None:  # fmt: skip
    """Write M and f − M·w after a sweep with rows over the first `last` nodes, and their wrenches into NODE_WRENCHES.

    w is that of the sweep. An empty `mass` is left out.
    """
    nodes, pieces, masses = (
        index_table(ints, NODES, 8),
        index_table(ints, PIECES, 4),
        index_table(ints, MASSES, 1).reshape(-1),
    )
    columns, driven = index_table(ints, COLUMNS, 1).reshape(-1), index_table(ints, DRIVEN, 2)
    bodies, springs = real(ints, reals, BODIES, 25), real(ints, reals, SPRINGS, 3)
    gravity = get(real(ints, reals, WORLD, 1).reshape(-1), 0)
    places, jacobians = work(ints, buffer, PLACES).reshape((-1, STATE)), work(ints, buffer, JACOBIANS)
    node_wrenches = work(ints, buffer, NODE_WRENCHES).reshape((-1, 6))[:last]
    matrices = work(ints, buffer, SCRATCH)[100:136]
    full, wide = work(ints, buffer, FULL), work(ints, buffer, COLUMN)
    n = ints[SIZE]
    wanted = len(mass) > 0
    mass[:] = 0.0
    node_wrenches[:] = 0.0
    for j in range(n):
        force[j] = -term_factors[2] * springs[j, 0] * q[j] - term_factors[3] * springs[j, 1] * v[j]
    for j in range(len(w)):
        force[j] -= term_factors[1] * springs[j, 2] * w[j]
    add_ball_torques(ints, reals, buffer, q, v, inputs, term_factors[3], term_factors[4], force)
    add_ball_rotors(ints, reals, buffer, q, v, w, term_factors[1], force)
    for i in range(len(driven)):
        force[driven[i, 0]] += term_factors[4] * inputs[driven[i, 1]]
    add_loads(ints, reals, buffer, inputs, term_factors[4], node_wrenches)
    for i in range(len(masses)):
        node = masses[i]
        piece = nodes[node, 1]
        active, start = pieces[piece, 0], pieces[piece, 2]
        J = jacobians[6 * nodes[node, 4] : 6 * (nodes[node, 4] + active)].reshape((6, active))
        body_matrices(places[node], bodies[i], matrices)
        add_inertia(places[node], bodies[i], matrices, gravity, term_factors, node_wrenches[node])
        if not wanted:
            continue
        compact = full[: active * active].reshape((active, active))
        if i == 0 or nodes[masses[i - 1], 1] != piece:
            compact[:] = 0.0
        add_mass(J, matrices, wide[: 6 * active].reshape((6, active)), compact)
        if i == len(masses) - 1 or nodes[masses[i + 1], 1] != piece:
            flush(compact, columns[start : start + active], True, mass)
    for i in range(n if wanted else 0):
        for k in range(i + 1, n):
            # a compact triangle need not be one of the whole
            both = mass[i, k] + mass[k, i]
            mass[i, k] = both
            mass[k, i] = both
        mass[i, i] += springs[i, 2]
    if wanted:
        add_ball_rotor_mass(ints, reals, buffer, q, mass)
    add_generalised(ints, buffer, node_wrenches, force)
    add_sections(ints, reals, buffer, q, v, inputs, term_factors, force)
