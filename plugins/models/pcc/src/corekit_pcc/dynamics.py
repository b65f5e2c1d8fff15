"""Mass matrix, gravity and Coriolis forces of an arm.

Translational energy with Gauss–Legendre nodes k of mass m_k, J_k = ∂x_k/∂q (3 × n, zero behind its section):

    T = ½·Σ_k m_k·‖ẋ_k‖²,    M = Σ_k m_k·J_kᵀJ_k                                          (1)
    f = Aᵀτ − K·q − D·v + Σ_k J_kᵀ·m_k·(g − a_k),    a_k = J̇_k·v                          (2)

Particles have no other velocity-dependent force: Σ J_kᵀ·m_k·a_k *is* C(q, v)·v, exactly, and a_k comes from the
jets. Without the option `coriolis`, a_k = 0 as in the CUSP paper. Three nodes reproduce the smallest eigenvalue
of M to 1e-4 at a radian of bending; one node a section would lower it two-hundredfold, and with it the longest
stable step of an explicit integrator.

A thin disk's rotary inertia I (about a diameter; 2I about its axis) is that of the two "particles" r = R·e_x,
R·e_y with "mass" I, because ½·ωᵀ·diag(I, I, 2I)·ω = ½·I·(‖ω × e_x‖² + ‖ω × e_y‖²) in body axes: (1) and (2)
hold for them without gravity.                                                            (3)

The sums run in arc parameters y; since y is affine in q (E of `chambers`), M_q = EᵀM_yE and f_q = Eᵀf_y.  (4)

Source: Godage et al. (2016) for (1); (2) is Lagrange's equation of particles, (3) the pseudo-inertia of a disk.
"""

from __future__ import annotations

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit_pcc.arm import Arm
from corekit_pcc.chain import POINT, Work, chain_columns, first_twist, point_columns, turning_columns
from corekit_pcc.section import section_turns

__all__ = ["dynamics", "into_coordinates", "mirror", "pull_back", "velocity_acceleration"]


@compiled
def velocity_acceleration(
    arm: Arm, count: int, column: int, vectors: Array, arc: Array
) -> tuple[float, float, float]:
    """a = J̇·v [m/s²] of the point at hand, from the order 1 of its columns; `column` is the row of the first.

    Where the base turns, ω × ẋ counts, the rate of its columns (`free_base`).
    """
    spin, speed = arm.base_spin, vectors[POINT, 1]
    x = spin[1] * speed[2] - spin[2] * speed[1]
    y = spin[2] * speed[0] - spin[0] * speed[2]
    z = spin[0] * speed[1] - spin[1] * speed[0]
    for a in range(count):
        rate = arc[a // 3, 1, a % 3]
        x += vectors[column + 3 * a, 1, 0] * rate
        y += vectors[column + 3 * a, 1, 1] * rate
        z += vectors[column + 3 * a, 1, 2] * rate
    return x, y, z


@compiled
def _add_particle(
    count: int,
    mass: float,
    load: tuple[float, float, float],
    column: int,
    vectors: Array,
    M: Array,
    force: Array,
) -> None:
    """Add a particle to (1) and its acceleration `load` = g − a to (2)."""
    for a in range(count):
        row = column + 3 * a
        x, y, z = mass * vectors[row, 0, 0], mass * vectors[row, 0, 1], mass * vectors[row, 0, 2]
        force[a] += x * load[0] + y * load[1] + z * load[2]
        for b in range(a + 1):
            other = column + 3 * b
            M[a, b] += x * vectors[other, 0, 0] + y * vectors[other, 0, 1] + z * vectors[other, 0, 2]


@compiled
def dynamics(
    arm: Arm, q: Array, v: Array, inputs: Array, coriolis: bool, M: Array, force: Array, work: Work
) -> None:
    """Write M, shape (n, n), and f, shape (n,): equations (1) and (2).

    Args:
        q, v: coordinates [m] and velocities [m/s], shape (n,).
        inputs: chamber forces τ [N], shape (sum of c,).
        coriolis: whether a_k counts.
    """
    sections = arm.length.size
    order = 1 if coriolis else 0
    table, scalars, vectors, arc = work.table, work.scalars, work.vectors, work.arc
    chain_columns(arm, q, v, order, table, scalars, vectors, arc)
    column = first_twist(sections) + 2
    M[:] = 0.0
    work.force[:] = 0.0
    turning = 0
    for i in range(sections):
        count = 3 * (i + 1)
        for k in range(arm.node.size):
            point_columns(i, arm.node[k], order, sections, table, scalars, vectors, arc)
            load = (arm.gravity[0], arm.gravity[1], arm.gravity[2])
            if coriolis:
                a = velocity_acceleration(arm, count, column, vectors, arc)
                load = (load[0] - a[0], load[1] - a[1], load[2] - a[2])
            _add_particle(count, arm.node_mass[i, k], load, column, vectors, M, work.force)
        while turning < arm.turning_section.size and arm.turning_section[turning] == i:
            section_turns(arm.turning_place[turning], arc[i], order, table, scalars, vectors)
            for direction in range(2):
                turning_columns(i, direction, order, sections, vectors)
                load = (0.0, 0.0, 0.0)
                if coriolis:
                    a = velocity_acceleration(arm, count, column, vectors, arc)
                    load = (-a[0], -a[1], -a[2])
                _add_particle(count, arm.turning_inertia[turning], load, column, vectors, M, work.force)
            turning += 1
    mirror(M)
    into_coordinates(arm.to_arc, M, work.block)
    mirror(M)  # symmetric to the last bit
    pull_back(arm.to_arc, work.force, force)
    for i in range(sections):
        for a in range(3):
            total = 0.0
            for b in range(3):
                total += arm.stiffness[i, a, b] * q[3 * i + b] + arm.damping[i, a, b] * v[3 * i + b]
            for j in range(arm.chamber_start[i], arm.chamber_start[i + 1]):
                total -= arm.chamber[j, a] * inputs[j]
            force[3 * i + a] -= total


@compiled
def mirror(matrix: Array) -> None:
    """Copy the lower triangle onto the upper one."""
    for a in range(matrix.shape[0]):
        for b in range(a):
            matrix[b, a] = matrix[a, b]


@compiled
def into_coordinates(to_arc: Array, matrix: Array, block: Array) -> None:
    """matrix ← Eᵀ·matrix·E for the block diagonal E: equation (4); `block` is scratch of its shape."""
    n = matrix.shape[0]
    for a in range(n):
        for i in range(n // 3):
            x, y, z = matrix[a, 3 * i], matrix[a, 3 * i + 1], matrix[a, 3 * i + 2]
            for j in range(3):
                block[a, 3 * i + j] = x * to_arc[i, 0, j] + y * to_arc[i, 1, j] + z * to_arc[i, 2, j]
    for i in range(n // 3):
        for j in range(3):
            x, y, z = to_arc[i, 0, j], to_arc[i, 1, j], to_arc[i, 2, j]
            for b in range(n):
                matrix[3 * i + j, b] = x * block[3 * i, b] + y * block[3 * i + 1, b] + z * block[3 * i + 2, b]


@compiled
def pull_back(to_arc: Array, force: Array, out: Array) -> None:
    """out = Eᵀ·force: equation (4)."""
    for i in range(to_arc.shape[0]):
        x, y, z = force[3 * i], force[3 * i + 1], force[3 * i + 2]
        for j in range(3):
            out[3 * i + j] = to_arc[i, 0, j] * x + to_arc[i, 1, j] * y + to_arc[i, 2, j] * z
