"""Contact in a step of the driver: its rows, and the impulses that it gives.

What `corekit.engine.contact` and `corekit.engine.step` do in Python for semi-implicit Euler among obstacles that stand,
by the same kernels in the same order. Where they would do more than usual (an LCP solver, an impact, an answer to be
judged), the world is left to them: the function returns False and has changed nothing.
"""

from __future__ import annotations

import math
from typing import Final

from corekit.compiled import compiled
from corekit.compiled.entries import call_entry
from corekit.compiled.parts import part
from corekit.data.arrays import Array
from corekit.engine.contact.contact_answer import is_gross, solution_residuals
from corekit.engine.contact.contact_kernels import (
    add_rows,
    assign_tangents_and_friction,
    collect_material_points,
    find_new_impulses,
    gap_terms,
    has_immovable,
    match_by_id,
    max_penetration,
)
from corekit.engine.impact import write_impact_bias
from corekit.engine.step.delassus import FEW, add_response, reduce_rows, write_square
from corekit.engine.step.error_bound import NEGLIGIBLE
from corekit.linalg.cholesky import add_impulse_response, forward_substitute
from corekit.linalg.vectors import multiply
from corekit.roles.stage_solver import velocity_norms
from corekit_batch.bodies_step import held_of, matrix_of
from corekit_batch.contact_tables import ContactMemory, ContactWork, Surroundings
from corekit_batch.push_out_step import limit_push
from corekit_batch.responses import respond
from corekit_batch.tables import (
    FACTOR,
    FIRST_AUX,
    FIRST_INDEX,
    FIRST_NUMBER,
    FIRST_Q,
    FIRST_SCRATCH,
    FIRST_V,
    MASS,
    NV,
    ROWS,
    WIDTH,
    Bodies,
    Work,
)  # fmt: skip

__all__ = ["FASTER", "LENIENCE", "accept_contacts", "solve_contacts"]

LENIENCE: Final = 10.0
FASTER: Final = 100.0
_FEW: Final = FEW


@compiled
def _build_rows(
    bodies: Bodies, numbers: Array, q: Array, v: Array, aux: Array, count: int, around: Surroundings,
    memory: ContactMemory, w: int, work: Work, own: ContactWork,
) -> bool:  # fmt: skip
    """Assign tangents and friction and write J, as `ContactPipeline.build_jacobian`; False if gaps are not finite."""
    known = memory.count[w]
    finite = assign_tangents_and_friction(
        count, False, own.across, around.surface, around.friction, memory.id[w, :known], own.unsorted,
        memory.tangent[w, :known], own.id, own.shape, own.gap, own.normal, own.tangent, own.friction,
    )  # fmt: skip
    if not finite:
        return False
    collect_material_points(
        count,
        around.first_frame,
        own.frame,
        own.local,
        own.ends,
        own.contact,
        own.slot,
        own.own_frame,
        own.own_local,
    )
    jacobian, nv, begin = own.jacobian[: 3 * count], len(v), 0
    for r in range(3 * count):
        for i in range(nv):
            jacobian[r, i] = 0.0
    for b in range(len(bodies.row)):
        row, end = bodies.row[b], own.ends[b]
        n, k = end - begin, row[WIDTH]
        if n > 0:
            dofs, values = part(own.dofs, 0, (n, k)), part(own.values, 0, (n, 3, k))
            call_entry(
                bodies.entry[b, ROWS],
                (
                    bodies.index[row[FIRST_INDEX] :], numbers[row[FIRST_NUMBER] :], work.scratch[row[FIRST_SCRATCH] :],
                    q[row[FIRST_Q] :], v[row[FIRST_V] :], aux[row[FIRST_AUX] :], n, own.own_frame[begin:end],
                    own.own_local[begin:end], dofs, values,
                ),
            )  # fmt: skip
            contact = own.contact[begin:end]
            add_rows(
                3, row[FIRST_V], contact, own.slot[begin:end], contact, own.weight, own.normal, own.tangent, dofs,
                values, jacobian,
            )  # fmt: skip
        begin = end
    return True


@compiled
def _assemble(bodies: Bodies, count: int, work: Work, own: ContactWork) -> bool:
    """Write W and w₀ of the contacts for v_f in `work.velocity`, as `DelassusOperator` does; False if W is large."""
    rows, nv = 3 * count, len(work.velocity)
    if bodies.all_blocks and rows > _FEW and nv > _FEW:
        return False
    free, delassus = own.free[:rows], part(own.delassus, 0, (rows, rows))
    for c in range(count):
        for a in range(3):
            free[3 * c + a] = own.bias[c, a]
    if not bodies.all_blocks:
        response = part(own.half, 0, (rows, nv))
        respond(bodies, own.jacobian, response, work)
        reduce_rows(own.jacobian, response, work.velocity, own.which, free, delassus)
        return True
    half = part(own.half, 0, (nv, rows))
    for b in range(len(bodies.row)):
        at, n = bodies.row[b, FIRST_V], bodies.row[b, NV]
        forward_substitute(
            matrix_of(bodies, b, FACTOR, work), held_of(bodies, b), own.jacobian[:rows], at,
            work.velocity[at : at + n], free, half,
        )  # fmt: skip
    write_square(half, delassus)
    return True


@compiled
def _add_response(bodies: Bodies, rows: int, work: Work, own: ContactWork) -> None:
    """Add G·Jᵀ·λ to `work.velocity`, as `DelassusOperator.add_response`."""
    nv, impulse = len(work.velocity), own.impulse[:rows]
    if not bodies.all_blocks:
        add_response(part(own.half, 0, (rows, nv)), impulse, work.velocity)
        return
    half = part(own.half, 0, (nv, rows))
    for b in range(len(bodies.row)):
        at, n = bodies.row[b, FIRST_V], bodies.row[b, NV]
        add_impulse_response(
            matrix_of(bodies, b, FACTOR, work), held_of(bodies, b), half, at, impulse, own.response[:n],
            work.velocity[at : at + n],
        )  # fmt: skip


@compiled
def _product(own: ContactWork, count: int, v: Array, which: int) -> Array:
    """J·v by contacts, (m, 3)."""
    out = own.velocity[which, :count]
    multiply(own.jacobian[: 3 * count], v, part(out, 0, (3 * count,)))
    return out


@compiled
def _is_judged_well(bodies: Bodies, count: int, v: Array, work: Work, own: ContactWork) -> bool:
    """Whether the kernel's check of the answer would pass, see `corekit.engine.contact.contact_answer`."""
    bias, impulse, friction = own.bias[:count], own.impulse[: 3 * count], own.friction[:count]
    relative = _product(own, count, work.velocity, 0)
    # less than the kernel leaves out of account, which adds the rounding of places
    speed = max(
        velocity_norms(v, own.scale)[1],
        velocity_norms(own.before, own.scale)[1],
        velocity_norms(work.velocity, own.scale)[1],
    )
    nothing = (1.0 - 1e-9) * NEGLIGIBLE * speed
    normal, driven, cone, left = solution_residuals(relative, bias, impulse, friction, own.all_move)
    if left <= nothing:
        return True
    worst = max(own.residuals[0], own.residuals[1], own.residuals[2])
    if not max(normal, driven, cone) <= LENIENCE * worst:
        return False
    free, most = _product(own, count, own.before, 1), 0.0
    for b in range(len(bodies.row)):
        at, n, k = bodies.row[b, FIRST_V], bodies.row[b, NV], 0
        mass = matrix_of(bodies, b, MASS, work)  # of a band by blocks of 1
        k = mass.shape[1]
        for i in range(n):
            total = 0.0
            for j in range(k):
                total += mass[i // k, i % k, j] * own.before[at + i // k * k + j]
            most = max(most, abs(total))
    # the momentum is summed in another order than by the kernel: what rounding may decide is left to it
    less, more = (1.0 - 1e-9) * most, (1.0 + 1e-9) * most
    return not (
        is_gross(free, relative, bias, impulse, friction, own.all_move, nothing, less)
        or is_gross(free, relative, bias, impulse, friction, own.all_move, nothing, more)
    )


@compiled
def _ends_plainly(
    count: int,
    v: Array,
    step: float,
    around: Surroundings,
    memory: ContactMemory,
    w: int,
    work: Work,
    own: ContactWork,
) -> bool:
    """Whether no impact is to be resolved and no energy to be judged: see `impact` and `step_energy` of the engine."""
    before, after = _product(own, count, v, 0), _product(own, count, work.velocity, 1)
    if around.resolves_impacts:
        known = memory.count[w]
        new, hit = own.new[:count], own.hit[:count]
        if find_new_impulses(
            3,
            own.id,
            own.impulse[: 3 * count],
            memory.id[w, :known],
            own.unsorted,
            memory.impulse[w, : 3 * known],
            new,
        ):
            free = _product(own, count, own.before, 2)
            if write_impact_bias(
                new, own.impulse[: 3 * count], before, free, after, own.still[:count], own.bias[:count],
                part(own.still, 0, (count,)), own.spare[:count], hit,
            ):  # fmt: skip
                return False
    speed, known_speed = 0.0, 0.0
    for c in range(count):
        for a in range(3):
            speed, known_speed = max(speed, abs(after[c, a])), max(known_speed, abs(before[c, a]))
    if not around.negligible < speed * step < math.inf:
        return True
    depth = max(0.0, max_penetration(count, own.gap))
    pushed = min(depth * min(1.0 / step, around.push_out), around.cap)
    return speed <= FASTER * max(pushed, known_speed)


@compiled
def solve_contacts(
    bodies: Bodies, numbers: Array, q: Array, v: Array, aux: Array, step: float, count: int, around: Surroundings,
    memory: ContactMemory, w: int, work: Work, own: ContactWork,
) -> bool:  # fmt: skip
    """Replace v⁺ without contact in `work.velocity` by v⁺, and write λ; False where the kernel must make the step."""
    if count >= around.many:
        return False
    if not _build_rows(bodies, numbers, q, v, aux, count, around, memory, w, work, own):
        return False
    rows, known = 3 * count, memory.count[w]
    at_rest = part(own.still, 0, (count,))
    gap_terms(
        count, own.id, own.gap, at_rest, step, around.approach, around.push_out, around.cap, own.id[:count],
        own.unsorted, own.gap, own.bias[:count], own.first_gap, own.room, own.push,
    )  # fmt: skip
    limit_push(bodies, numbers, q, v, aux, step, count, around, work, own)
    impulse, start = own.impulse[:rows], own.start[:rows]
    for i in range(rows):
        impulse[i] = 0.0
    match_by_id(3, own.id, memory.id[w, :known], own.unsorted, memory.impulse[w, : 3 * known], impulse)
    for i in range(rows):
        start[i] = impulse[i]
    for i in range(len(v)):
        own.before[i] = work.velocity[i]
    if not _assemble(bodies, count, work, own):
        return False
    delassus, free = part(own.delassus, 0, (rows, rows)), own.free[:rows]
    total = 0.0
    for i in range(rows):
        total += free[i]
        for j in range(rows):
            total += delassus[i, j]
    if not math.isfinite(total) or has_immovable(count, 3, delassus):
        return False
    solved = call_entry(
        around.solver[0],
        (
            around.solver_index, around.solver_numbers, own.of_solver, count, delassus, free, own.friction, start,
            impulse, own.residuals,
        ),
    )  # fmt: skip
    if not solved:
        return False
    _add_response(bodies, rows, work, own)
    return _is_judged_well(bodies, count, v, work, own) and _ends_plainly(
        count, v, step, around, memory, w, work, own
    )


@compiled
def accept_contacts(
    count: int, width: int, time: float, memory: ContactMemory, w: int, own: ContactWork
) -> None:
    """Keep the contacts of an accepted step, and where the frames were at its start."""
    memory.count[w], memory.probe_time[w] = count, time
    for c in range(count):
        memory.id[w, c] = own.id[c]
        for a in range(3):
            memory.tangent[w, c, a], memory.normal[w, c, a] = own.tangent[c, a], own.normal[c, a]
        for a in range(width):
            memory.impulse[w, width * c + a] = own.impulse[width * c + a]
        for a in range(2):
            memory.shape[w, c, a] = own.shape[c, a]
    for p in range(len(own.probe)):
        for a in range(3):
            memory.probe[w, p, a] = own.probe[p, a]
