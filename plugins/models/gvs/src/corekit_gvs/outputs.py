"""What the model answers from a sweep: poses, rows of points, energies.

A sweep is called by itself first: compiled into each of these functions it would be compiled that many times over.
"""

from __future__ import annotations

from corekit.data.arrays import Array, IntArray
from corekit_gvs.ball_rotors import ball_rotor_energy
from corekit_gvs.forward_recursion import strain_at
from corekit_gvs.tables import (
    BASES,
    BODIES,
    COLUMNS,
    JACOBIANS,
    MASSES,
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
    WORLD,
    index_table,
    real,
    work,
)  # fmt: skip
from corekit_gvs.vectors import apply_transposed, compiled, dot, get

__all__ = ["energies", "frame_poses", "point_rows", "same"]


@compiled
def same(at: Array, q: Array, v: Array, aux: Array) -> bool:
    """Whether `at` is (q, v, aux), one behind the other."""
    n, equal = len(q), True
    for i in range(n):
        equal = equal and at[i] == q[i] and at[n + i] == v[i]
    for i in range(len(aux)):
        equal = equal and at[2 * n + i] == aux[i]
    return equal


@compiled
def frame_poses(
    ints: IntArray, buffer: Array, node: IntArray, position: Array, rotation: Array
) -> None:  # fmt: skip
    """Write positions (f, 3) and rotations (f, 3, 3) of nodes."""
    places = work(ints, buffer, PLACES).reshape((-1, STATE))
    for i in range(len(node)):
        place = places[node[i]]
        for r in range(3):
            position[i, r] = place[9 + r]
            for c in range(3):
                rotation[i, r, c] = place[3 * r + c]


@compiled
def point_rows(
    ints: IntArray, buffer: Array, node: IntArray, frame: IntArray, local: Array, dofs: IntArray, values: Array
) -> None:  # fmt: skip
    """Write rows of points fixed in frames: ẋ = J_v·v + (J_ω·v) × R·local; all velocities in order."""
    nodes, pieces = index_table(ints, NODES, 8), index_table(ints, PIECES, 4)
    columns = index_table(ints, COLUMNS, 1).reshape(-1)
    places, jacobians = work(ints, buffer, PLACES).reshape((-1, STATE)), work(ints, buffer, JACOBIANS)
    n = ints[SIZE]
    for i in range(len(frame)):
        at = node[frame[i]]
        place, active, start = places[at], pieces[nodes[at, 1], 0], pieces[nodes[at, 1], 2]
        J = jacobians[6 * nodes[at, 4] : 6 * (nodes[at, 4] + active)].reshape((6, active))
        x, y, z = local[i, 0], local[i, 1], local[i, 2]
        a = place[0] * x + place[1] * y + place[2] * z
        b = place[3] * x + place[4] * y + place[5] * z
        c = place[6] * x + place[7] * y + place[8] * z
        for k in range(n):
            dofs[i, k] = k
            values[i, 0, k] = 0.0
            values[i, 1, k] = 0.0
            values[i, 2, k] = 0.0
        for k in range(active):
            j = columns[start + k]
            values[i, 0, j] = J[3, k] + J[1, k] * c - J[2, k] * b
            values[i, 1, j] = J[4, k] + J[2, k] * a - J[0, k] * c
            values[i, 2, j] = J[5, k] + J[0, k] * b - J[1, k] * a


@compiled
def energies(
    ints: IntArray, reals: Array, buffer: Array, q: Array, v: Array, out: Array
) -> None:  # fmt: skip
    """Write kinetic, gravitational and elastic energy; heights count from the world's origin."""
    pieces, points = index_table(ints, PIECES, 4), index_table(ints, POINTS, 3)
    masses, quadrature = index_table(ints, MASSES, 1).reshape(-1), index_table(ints, QUADRATURE, 4)
    bodies, springs = real(ints, reals, BODIES, 25), real(ints, reals, SPRINGS, 3)
    strains, sections = real(ints, reals, STRAINS, 18), real(ints, reals, SECTIONS, 19)
    B = real(ints, reals, BASES, 1).reshape(-1)
    gravity = get(real(ints, reals, WORLD, 1).reshape(-1), 0)
    places, x = work(ints, buffer, PLACES).reshape((-1, STATE)), work(ints, buffer, SCRATCH)[:18]
    kinetic, level, elastic = 0.0, 0.0, 0.0
    for i in range(len(masses)):
        place, body = places[masses[i]], bodies[i]
        omega, velocity = (
            apply_transposed(place, 0, get(place, 12)),
            apply_transposed(place, 0, get(place, 15)),
        )
        for r in range(3):
            kinetic += 0.5 * body[9 + r] * velocity[r] * velocity[r]
            for c in range(3):
                kinetic += 0.5 * omega[r] * body[3 * r + c] * omega[c]
        level -= body[12] * dot(gravity, get(place, 9))
    for i in range(len(quadrature)):
        point, piece = quadrature[i, 0], quadrature[i, 1]
        strain_at(strains[point], B, points[point, 0], pieces[piece, 1], pieces[piece, 3], q, v, q[:0], x, 0)
        for r in range(6):
            away = x[r] - sections[i, 13 + r]
            elastic += 0.5 * sections[i, 0] * sections[i, 1 + r] * away * away
    for j in range(len(springs)):
        elastic += 0.5 * springs[j, 0] * q[j] * q[j]
        kinetic += 0.5 * springs[j, 2] * v[j] * v[j]
    kinetic += ball_rotor_energy(ints, reals, buffer, q, v)
    out[0], out[1], out[2] = kinetic, level, elastic
