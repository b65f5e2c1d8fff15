"""Bodies in a step of the driver: A·Δ = r without contact, and where v⁺ leads.

What `corekit.engine.bodies.body_terms` and semi-implicit Euler do in Python, by the same kernels in the same order.
"""

from __future__ import annotations

import math
from typing import Final

from corekit.compiled import compiled
from corekit.compiled.entries import call_entry
from corekit.compiled.parts import part
from corekit.data.arrays import Array, IntArray
from corekit.engine.bodies.assembly_kernels import assemble_bands, assemble_blocks, turn_right_side
from corekit.engine.bodies.body_constraints import write_targets
from corekit.linalg.cholesky import (
    NARROW,
    factorise_band,
    factorise_blocks,
    solve_blocks,
    substitute_band,
    write_band,
)
from corekit.linalg.vectors import copy_vector
from corekit_batch.tables import (
    BLOCK,
    BY_BAND,
    BY_BLOCKS,
    BY_CHOLESKY,
    CONSTRAINTS,
    DAMPING,
    DAMPING_COLUMNS,
    DISSIPATION,
    DYNAMICS,
    FACTOR,
    FIRST_AUX,
    FIRST_HELD,
    FIRST_INDEX,
    FIRST_MATRIX,
    FIRST_NUMBER,
    FIRST_Q,
    FIRST_ROW,
    FIRST_ROW_ENTRY,
    FIRST_SCRATCH,
    FIRST_U,
    FIRST_V,
    HAS_DERIVATIVES,
    HAS_DISSIPATION,
    HELD,
    INTEGRATE,
    IS_SYMMETRIC,
    MASS,
    METHOD,
    NV,
    REPARAMETRISE,
    ROW_COUNT,
    ROW_WIDTH,
    STEP,
    STEP_COLUMNS,
    STIFFNESS,
    STIFFNESS_COLUMNS,
    STRIDE,
    TANGENT,
    WHOLE,
    Bodies,
    Work,
)  # fmt: skip

__all__ = [
    "assemble_bodies", "band_of", "columns_of", "constraint_entries", "end_of_step", "free_increment", "held_of",
    "matrix_of",
]  # fmt: skip

_NARROW: Final = NARROW


@compiled
def matrix_of(bodies: Bodies, b: int, which: int, work: Work) -> Array:
    """One of a body's matrices by its blocks, (n/k, k, k)."""
    n, k = bodies.row[b, NV], bodies.row[b, BLOCK]
    begin = bodies.row[b, FIRST_MATRIX] + which * bodies.row[b, STRIDE]
    return part(work.matrix, begin, (n // k, k, k))


@compiled
def columns_of(bodies: Bodies, b: int, which: int, columns: int, work: Work) -> Array:
    """One of a body's bands by the columns of the matrix, (n, columns)."""
    n, begin = bodies.row[b, NV], bodies.row[b, FIRST_MATRIX] + which * bodies.row[b, STRIDE]
    return part(work.matrix, begin, (n, columns))


@compiled
def _flat_of(bodies: Bodies, b: int, which: int, columns: int, work: Work) -> Array:
    """The numbers of one of a body's bands or blocks, (n·columns,)."""
    begin = bodies.row[b, FIRST_MATRIX] + which * bodies.row[b, STRIDE]
    return part(work.matrix, begin, (bodies.row[b, NV] * columns,))


@compiled
def band_of(bodies: Bodies, b: int, work: Work) -> Array:
    """The factor of a body's band, see `factorise_band`."""
    rows = bodies.row[b, NV] + 2 * _NARROW
    begin = bodies.row[b, FIRST_MATRIX] + FACTOR * bodies.row[b, STRIDE]
    return part(work.matrix, begin, (rows, _NARROW + 1))


@compiled
def held_of(bodies: Bodies, b: int) -> IntArray:
    """Indices of a body's velocities that stay 0."""
    first = bodies.row[b, FIRST_HELD]
    return part(bodies.held, first, (bodies.row[b, HELD],))


@compiled
def _evaluate(bodies: Bodies, b: int, numbers: Array, q: Array, v: Array, aux: Array, work: Work) -> None:
    """Write M, f and, where the scheme needs them, K and D of a body; D₀ in place of D, which is then in WHOLE."""
    row, entry = bodies.row[b], bodies.entry[b]
    first_v, n = row[FIRST_V], row[NV]
    index, own, scratch = (
        bodies.index[row[FIRST_INDEX] :],
        numbers[row[FIRST_NUMBER] :],
        work.scratch[row[FIRST_SCRATCH] :],
    )
    q, v, aux = q[row[FIRST_Q] :], v[first_v:], aux[row[FIRST_AUX] :]
    u = work.inputs[row[FIRST_U] :]
    call_entry(
        entry[DYNAMICS],
        (
            index,
            own,
            scratch,
            q,
            v,
            aux,
            u,
            matrix_of(bodies, b, MASS, work),
            work.force[first_v : first_v + n],
        ),
    )
    if not row[HAS_DERIVATIVES] or not (bodies.is_damped or bodies.beta != 0.0):
        return
    is_banded = row[METHOD] == BY_BAND
    stiffness = _flat_of(bodies, b, STIFFNESS, row[STIFFNESS_COLUMNS] if is_banded else row[BLOCK], work)
    damping = _flat_of(bodies, b, DAMPING, row[DAMPING_COLUMNS] if is_banded else row[BLOCK], work)
    call_entry(entry[TANGENT], (index, own, scratch, q, v, aux, u, stiffness, damping))
    if row[HAS_DISSIPATION] and row[IS_SYMMETRIC]:
        copy_vector(damping, _flat_of(bodies, b, WHOLE, row[BLOCK], work))
        call_entry(entry[DISSIPATION], (index, own, scratch, q, v, aux, u, damping))


@compiled
def _assemble(bodies: Bodies, b: int, step: float, whole_v: Array, work: Work) -> None:
    """Write A and r of a body, as `BodyTerms.linearise` does at the start of a step."""
    row = bodies.row[b]
    at, n, k = row[FIRST_V], row[NV], row[BLOCK]
    v, zero, rhs = whole_v[at : at + n], work.zero[at : at + n], work.rhs[at : at + n]
    c_v, c_q, is_symmetric = (
        step if bodies.is_damped else 0.0,
        bodies.beta * step * step,
        row[IS_SYMMETRIC] != 0,
    )
    has_derivatives = row[HAS_DERIVATIVES] != 0
    if not has_derivatives:
        c_v = c_q = 0.0
    if row[METHOD] == BY_BAND:
        assemble_bands(
            columns_of(bodies, b, MASS, 1, work), columns_of(bodies, b, DAMPING, row[DAMPING_COLUMNS], work),
            columns_of(bodies, b, STIFFNESS, row[STIFFNESS_COLUMNS], work), work.force[at : at + n], v, v, v, zero,
            step, 1.0, c_v, c_q, c_q != 0.0, columns_of(bodies, b, STEP, row[STEP_COLUMNS], work), rhs,
        )  # fmt: skip
        return
    mass, matrix = matrix_of(bodies, b, MASS, work), matrix_of(bodies, b, STEP, work)
    stiffness, damping = matrix_of(bodies, b, STIFFNESS, work), matrix_of(bodies, b, DAMPING, work)
    lacks = assemble_blocks(
        mass,
        damping,
        stiffness,
        work.force[at : at + n],
        v,
        v,
        v,
        zero,
        step,
        1.0,
        c_v,
        c_q,
        is_symmetric,
        matrix,
        rhs,
    )
    turns = is_symmetric and has_derivatives and (c_v != 0.0 or c_q != 0.0)
    is_held = row[HAS_DISSIPATION] != 0
    if turns and (lacks or is_held):
        turn_right_side(
            stiffness, matrix_of(bodies, b, WHOLE, work) if is_held else damping, damping, is_held, c_v, c_q, v, zero,
            matrix, held_of(bodies, b), work.zero, part(work.rest, 0, (k, k)),
            part(work.turned, 0, (k, k + 1)), rhs,
        )  # fmt: skip


@compiled
def _solve(bodies: Bodies, b: int, work: Work) -> bool:
    """Factorise A of a body and write Δ; False where A is singular."""
    row = bodies.row[b]
    at, n = row[FIRST_V], row[NV]
    rhs, out = work.rhs[at : at + n], work.velocity[at : at + n]
    held = held_of(bodies, b)
    if row[METHOD] == BY_BAND:
        band = band_of(bodies, b, work)
        write_band(columns_of(bodies, b, STEP, row[STEP_COLUMNS], work), held, band)
        if not factorise_band(band):
            return False
        for i in range(n):
            out[i] = rhs[i]
        for i in held:
            out[i] = 0.0
        for i in range(n, n + 2 * _NARROW):
            work.band[i] = 0.0  # of a longer body before
        substitute_band(band, work.band[: n + 2 * _NARROW], out)
        return True
    matrix, factor = matrix_of(bodies, b, STEP, work), matrix_of(bodies, b, FACTOR, work)
    if row[METHOD] == BY_BLOCKS:
        if not factorise_blocks(matrix, held, factor):
            return False
        solve_blocks(factor, held, rhs, work.zero, matrix, out)
        return True
    full, columns, size = matrix[0], factor[0], work.size
    for i in range(n):
        out[i] = rhs[i]
        for j in range(n):
            columns[j, i] = full[i, j]  # LAPACK's order
    size[0], size[1] = n, 1
    if row[METHOD] == BY_CHOLESKY:
        call_entry(bodies.lapack[2], (work.letters, size, columns, size, size[2:]))
        if size[2] != 0:
            return False
        call_entry(bodies.lapack[3], (work.letters, size, size[1:], columns, size, out, size, size[2:]))
        return True
    call_entry(bodies.lapack[0], (size, size, columns, size, work.pivot, size[2:]))
    if size[2] != 0:
        return False
    call_entry(
        bodies.lapack[1], (work.letters[1:], size, size[1:], columns, size, work.pivot, out, size, size[2:])
    )
    return True


@compiled
def constraint_entries(bodies: Bodies, b: int, work: Work) -> tuple[IntArray, Array]:
    """Dofs and values of the rows of a body's constraints, (nb, k) each."""
    rows, width, at = bodies.row[b, ROW_COUNT], bodies.row[b, ROW_WIDTH], bodies.row[b, FIRST_ROW_ENTRY]
    return part(work.row_dofs, at, (rows, width)), part(work.row_values, at, (rows, width))


@compiled
def _write_constraints(
    bodies: Bodies, b: int, numbers: Array, q: Array, v: Array, aux: Array, step: float, work: Work
) -> None:
    """Write J_b, E, r and the bounds of a body, as `BodyConstraints.linearise` does at the start of a step."""
    row = bodies.row[b]
    at, end, first_v = row[FIRST_ROW], row[FIRST_ROW] + row[ROW_COUNT], row[FIRST_V]
    dofs, values = constraint_entries(bodies, b, work)
    error, rate, alpha = work.row_error[at:end], work.row_rate[at:end], work.row_alpha[at:end]
    lower, upper = work.row_lower[at:end], work.row_upper[at:end]
    call_entry(
        bodies.entry[b, CONSTRAINTS],
        (
            bodies.index[row[FIRST_INDEX] :], numbers[row[FIRST_NUMBER] :], work.scratch[row[FIRST_SCRATCH] :],
            q[row[FIRST_Q] :], v[first_v:], aux[row[FIRST_AUX] :], work.inputs[row[FIRST_U] :], dofs, values, error,
            rate, alpha, lower, upper,
        ),
    )  # fmt: skip
    velocity, zero = v[first_v : first_v + row[NV]], work.zero[first_v : first_v + row[NV]]
    write_targets(
        bodies.is_rate[at:end], error, rate, alpha, dofs, values, error, rate, dofs, values, velocity, zero, zero,
        velocity, step, step, step * step, False, work.row_target[at:end], work.row_compliance[at:end],
    )  # fmt: skip
    for r in range(at, end):
        is_bounded = bodies.is_bounded[r]
        work.least[r] = step * work.row_lower[r] if is_bounded else -math.inf
        work.most[r] = step * work.row_upper[r] if is_bounded else math.inf


@compiled
def assemble_bodies(
    bodies: Bodies, numbers: Array, q: Array, v: Array, aux: Array, step: float, work: Work
) -> bool:
    """Write A, r and the constraints of all bodies; False where the kernel must decide what to do."""
    for b in range(len(bodies.row)):
        for i in held_of(bodies, b):
            if v[bodies.row[b, FIRST_V] + i] != 0.0:
                return False
        _evaluate(bodies, b, numbers, q, v, aux, work)
        if bodies.row[b, ROW_COUNT] > 0:
            _write_constraints(bodies, b, numbers, q, v, aux, step, work)
        _assemble(bodies, b, step, v, work)
    return True


@compiled
def free_increment(
    bodies: Bodies, numbers: Array, q: Array, v: Array, aux: Array, step: float, work: Work
) -> bool:
    """Write v⁺ without contact into `work.velocity`; False where the kernel must decide what to do.

    Args:
        numbers: of the world. q, v, aux: of the world, at the start of the step.
        step: h [s].
    """
    if not assemble_bodies(bodies, numbers, q, v, aux, step, work):
        return False
    for b in range(len(bodies.row)):
        if not _solve(bodies, b, work):
            return False
    for i in range(len(v)):
        work.velocity[i] += v[i]
    return True


@compiled
def end_of_step(
    bodies: Bodies, numbers: Array, q: Array, v: Array, aux: Array, step: float, work: Work
) -> bool:
    """Replace q, v and aux by those at the end of the step; False, with nothing changed, where one is not finite."""
    for b in range(len(bodies.row)):
        row = bodies.row[b]
        at_q, at_aux, at_v = row[FIRST_Q], row[FIRST_AUX], row[FIRST_V]
        call_entry(
            bodies.entry[b, INTEGRATE],
            (
                bodies.index[row[FIRST_INDEX] :], numbers[row[FIRST_NUMBER] :], work.scratch[row[FIRST_SCRATCH] :],
                q[at_q:], aux[at_aux:], work.velocity[at_v:], step, work.q[at_q:], work.aux[at_aux:],
            ),
        )  # fmt: skip
        for k in range(row[FIRST_HELD], row[FIRST_HELD] + row[HELD]):
            work.q[at_q + bodies.held_q[k]] = bodies.place[k]
    for i in range(len(q)):
        if not math.isfinite(work.q[i]):
            return False
    for i in range(len(v)):
        if not math.isfinite(work.velocity[i]):
            return False
    for i in range(len(q)):
        q[i] = work.q[i]
    for i in range(len(v)):
        v[i] = work.velocity[i]
    for i in range(len(aux)):
        aux[i] = work.aux[i]
    for b in range(len(bodies.row)):
        if bodies.entry[b, REPARAMETRISE] != 0:
            row = bodies.row[b]
            call_entry(
                bodies.entry[b, REPARAMETRISE],
                (
                    bodies.index[row[FIRST_INDEX] :], numbers[row[FIRST_NUMBER] :], work.scratch[row[FIRST_SCRATCH] :],
                    q[row[FIRST_Q] :], v[row[FIRST_V] :], aux[row[FIRST_AUX] :],
                ),
            )  # fmt: skip
    return True
