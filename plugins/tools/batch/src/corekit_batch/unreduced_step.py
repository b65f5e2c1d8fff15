"""A step of the driver that the solver gets before anything is eliminated: rows by entries, and what it gives.

What `corekit.engine.step.unreduced_step` and the checks of its answer do in Python for semi-implicit Euler, by the same
kernels in the same order. Where they would do more (a push that a lever limits, an impact, an answer to be judged), the
world is left to them: the function returns False and has changed nothing.
"""

from __future__ import annotations

import math
from typing import Final

from corekit.compiled import compiled
from corekit.compiled.entries import call_entry
from corekit.compiled.parts import part
from corekit.data.arrays import Array
from corekit.data.contacts import MAX_MATERIAL_POINTS
from corekit.engine.contact.contact_answer import solution_residuals
from corekit.engine.contact.contact_kernels import (
    add_rows,
    assign_tangents_and_friction,
    collect_material_points,
    find_new_impulses,
    gap_terms,
    match_by_id,
    max_penetration,
    place_entries,
)
from corekit.engine.step.error_bound import NEGLIGIBLE
from corekit.engine.step.opened_rows import ROUNDING, SHARE, constraint_errors
from corekit.engine.step.push_out import NOTICED
from corekit.roles.stage_solver import velocity_norms
from corekit_batch.bodies_step import columns_of, constraint_entries, matrix_of
from corekit_batch.contact_step import FASTER, LENIENCE
from corekit_batch.contact_tables import ContactMemory, ContactWork, Surroundings
from corekit_batch.tables import (
    BY_BAND,
    FIRST_AUX,
    FIRST_INDEX,
    FIRST_NUMBER,
    FIRST_Q,
    FIRST_SCRATCH,
    FIRST_V,
    METHOD,
    NV,
    ROWS,
    STEP,
    STEP_COLUMNS,
    WIDTH,
    Bodies,
    Work,
)

__all__ = ["accept_unreduced", "solve_unreduced"]

_MOST_POINTS: Final = MAX_MATERIAL_POINTS
_NEGLIGIBLE: Final = NEGLIGIBLE
_NOTICED: Final = NOTICED
_ROUNDING: Final = ROUNDING
_SHARE: Final = SHARE
_LENIENCE: Final = LENIENCE
_FASTER: Final = FASTER


@compiled
def _build_rows(
    bodies: Bodies, numbers: Array, q: Array, v: Array, aux: Array, count: int, around: Surroundings,
    memory: ContactMemory, w: int, work: Work, own: ContactWork,
) -> int:  # fmt: skip
    """Assign tangents and friction and write J by entries; return entries a row, 0 if gaps are not finite."""
    known, width = memory.count[w], around.width
    finite = assign_tangents_and_friction(
        count, width == 2, around.across, around.surface, around.friction, memory.id[w, :known], own.unsorted,
        memory.tangent[w, :known], own.id, own.shape, own.gap, own.normal, own.tangent, own.friction,
    )  # fmt: skip
    if not finite:
        return 0
    slots = collect_material_points(
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
    row, n, k = bodies.row[0], own.ends[0], bodies.row[0, WIDTH]
    columns, rows = slots * k, count * width
    for i in range(rows * columns):
        own.entry_dofs[i], own.entry_values[i] = 0, 0.0
    if n > 0:
        dofs, values = part(own.dofs, 0, (n, k)), part(own.values, 0, (n, 3, k))
        call_entry(
            bodies.entry[0, ROWS],
            (
                bodies.index[row[FIRST_INDEX] :], numbers[row[FIRST_NUMBER] :], work.scratch[row[FIRST_SCRATCH] :],
                q[row[FIRST_Q] :], v[row[FIRST_V] :], aux[row[FIRST_AUX] :], n, own.own_frame[:n], own.own_local[:n],
                dofs, values,
            ),
        )  # fmt: skip
        contact, slot, places = own.contact[:n], own.slot[:n], part(own.columns, 0, (n, k))
        place_entries(
            width, row[FIRST_V], k, contact, slot, dofs, places,
            part(own.entry_dofs, 0, (rows, columns)),
        )  # fmt: skip
        add_rows(
            width, 0, contact, slot, contact, own.weight, own.normal, own.tangent, places, values,
            part(own.entry_values, 0, (rows, columns)),
        )  # fmt: skip
    return columns


@compiled
def _rates(own: ContactWork, count: int, width: int, columns: int, v: Array, which: int) -> Array:
    """J·v by contacts, (m, width)."""
    rows = count * width
    out = part(own.velocity[which], 0, (rows,))
    for r in range(rows):
        total = 0.0
        for k in range(r * columns, (r + 1) * columns):
            total += own.entry_values[k] * v[own.entry_dofs[k]]
        out[r] = total
    return part(out, 0, (count, width))


@compiled
def _has_rowless(own: ContactWork, count: int, width: int, columns: int) -> bool:
    """Whether nothing moves a contact along its normal."""
    for c in range(count):
        moves = False
        for k in range(c * width * columns, (c * width + 1) * columns):
            moves = moves or own.entry_values[k] != 0.0
        if not moves:
            return True
    return False


@compiled
def _write_band(bodies: Bodies, work: Work, own: ContactWork) -> int:
    """Write A by its lower band, (n, columns), into `own.band`; return the columns."""
    n = bodies.row[0, NV]
    if bodies.row[0, METHOD] == BY_BAND:
        columns = bodies.row[0, STEP_COLUMNS]
        band = columns_of(bodies, 0, STEP, columns, work)
        for j in range(n):
            for d in range(columns):
                own.band[j * columns + d] = band[j, d]
        return columns
    blocks = matrix_of(bodies, 0, STEP, work)
    columns = blocks.shape[1]
    for j in range(n):
        for d in range(columns):
            i = j % columns + d
            own.band[j * columns + d] = blocks[j // columns, i, j % columns] if i < columns else 0.0
    return columns


@compiled
def _is_judged_well(
    bodies: Bodies, count: int, columns: int, v: Array, around: Surroundings, work: Work, own: ContactWork
) -> bool:
    """Whether the kernel's checks of the answer would pass, see `contact_answer` and `opened_rows` of the engine."""
    width = around.width
    relative = _rates(own, count, width, columns, work.velocity, 0)
    # less than the kernel leaves out of account, which adds what coordinates alone would do and the rounding of places
    speed = max(velocity_norms(v, own.scale)[1], velocity_norms(work.velocity, own.scale)[1])
    nothing = (1.0 - 1e-9) * _NEGLIGIBLE * speed
    bias = part(own.bias, 0, (count, width))
    normal, driven, cone, left = solution_residuals(
        relative, bias, own.impulse[: count * width], own.friction[:count], own.all_move
    )
    worst = max(own.residuals[0], own.residuals[1], own.residuals[2], own.residuals[3])
    if left > nothing and not max(normal, driven, cone) <= _LENIENCE * worst:
        return False
    dofs, values = constraint_entries(bodies, 0, work)
    for i in range(len(v)):
        own.before[i] = work.velocity[i] - v[i]
    worst, size = constraint_errors(
        bodies.kept,
        dofs,
        values,
        work.row_compliance,
        work.row_impulse,
        own.before,
        work.row_target,
        own.scale,
    )
    return worst <= _ROUNDING * size < math.inf or worst <= _SHARE * size < math.inf


@compiled
def _ends_plainly(
    count: int, columns: int, v: Array, step: float, around: Surroundings, memory: ContactMemory, w: int, work: Work,
    own: ContactWork,
) -> bool:  # fmt: skip
    """Whether no impact is to be resolved and no energy to be judged: see `impact` and `step_energy` of the engine."""
    width, known = around.width, memory.count[w]
    if around.resolves_impacts and find_new_impulses(
        width, own.id, own.impulse[: width * count], memory.id[w, :known], own.unsorted,
        memory.impulse[w, : width * known], own.new[:count],
    ):  # fmt: skip
        return False
    before = _rates(own, count, width, columns, v, 0)
    after = _rates(own, count, width, columns, work.velocity, 1)
    speed, known_speed = 0.0, 0.0
    for c in range(count):
        for a in range(width):
            speed, known_speed = max(speed, abs(after[c, a])), max(known_speed, abs(before[c, a]))
    if not around.negligible < speed * step < math.inf:
        return True
    depth = max(0.0, max_penetration(count, own.gap))
    pushed = min(depth * min(1.0 / step, around.push_out), around.cap)
    return speed <= _FASTER * max(pushed, known_speed)


@compiled
def _prepare(
    count: int, columns: int, v: Array, step: float, around: Surroundings, memory: ContactMemory, w: int,
    own: ContactWork,
) -> bool:  # fmt: skip
    """Write the bias, with J·v in `own.spare`, guess and memory; False where the kernel must make the step."""
    width, known, carried = around.width, memory.count[w], memory.carried_count[w]
    rows, at_rest = count * width, part(own.still, 0, (count,))
    bias = part(own.bias, 0, (count, width))
    gap_terms(
        count, own.id, own.gap, at_rest, step, around.approach, around.push_out, around.cap, own.id[:count],
        own.unsorted, own.gap, bias, own.first_gap, own.room, own.push,
    )  # fmt: skip
    for c in range(count):
        if not own.push[c] <= _NOTICED * around.negligible / step:
            return False
    if _has_rowless(own, count, width, columns):
        return False
    impulse, memory_of = own.impulse[:rows], own.carried[:count]
    for i in range(rows):
        impulse[i] = 0.0
    for c in range(count):
        memory_of[c] = 0.0
    match_by_id(
        width, own.id, memory.id[w, :known], own.unsorted, memory.impulse[w, : width * known], impulse
    )
    match_by_id(
        1, own.id, memory.carried_id[w, :carried], own.unsorted, memory.carried[w, :carried], memory_of
    )
    for i in range(rows):
        own.start[i] = impulse[i]
    rates, moving = _rates(own, count, width, columns, v, 0), part(own.spare, 0, (own.spare.size,))
    for c in range(count):
        for a in range(width):
            moving[c * width + a] = bias[c, a] + rates[c, a]
    return True


@compiled
def solve_unreduced(
    bodies: Bodies, numbers: Array, q: Array, v: Array, aux: Array, step: float, count: int, around: Surroundings,
    memory: ContactMemory, w: int, work: Work, own: ContactWork,
) -> bool:  # fmt: skip
    """Write v⁺ into `work.velocity`, λ_b and λ_c; False where the kernel must make the step."""
    width, columns = around.width, 1
    if count > 0:
        columns = _build_rows(bodies, numbers, q, v, aux, count, around, memory, w, work, own)
        if columns == 0 or not _prepare(count, columns, v, step, around, memory, w, own):
            return False
    dofs, values = constraint_entries(bodies, 0, work)
    for r in range(len(work.row_impulse)):
        work.row_impulse[r] = memory.row_impulse[w, r]
    own.sizes[0], own.sizes[1] = bodies.row[0, NV], _write_band(bodies, work, own)
    own.sizes[2], own.sizes[3] = dofs.shape
    own.sizes[4], own.sizes[5], own.sizes[6], own.sizes[7] = count, width, columns, around.may_rub
    own.sizes[8], own.sizes[9] = len(own.gap), _MOST_POINTS * bodies.row[0, WIDTH]
    own.outcome[0] = call_entry(
        around.solver[0],
        (
            around.solver_index, around.solver_numbers, own.of_solver, own.sizes, own.band, work.rhs, dofs, values,
            work.row_compliance, work.row_target, work.least, work.most, own.entry_dofs, own.entry_values, own.spare,
            own.friction, own.start, own.carried, work.velocity, work.row_impulse, own.impulse, own.residuals,
        ),
    )  # fmt: skip
    if own.outcome[0] == 0:
        return False
    for i in range(len(v)):
        work.velocity[i] += v[i]
    if count == 0:
        return True
    return _is_judged_well(bodies, count, columns, v, around, work, own) and _ends_plainly(
        count, columns, v, step, around, memory, w, work, own
    )


@compiled
def accept_unreduced(count: int, memory: ContactMemory, w: int, work: Work, own: ContactWork) -> None:
    """Keep λ_b of an accepted step, and what the solver carries."""
    for r in range(len(work.row_impulse)):
        memory.row_impulse[w, r] = work.row_impulse[r]
    if own.outcome[0] == 2:
        memory.carried_count[w] = count
        for c in range(count):
            memory.carried_id[w, c], memory.carried[w, c] = own.id[c], own.carried[c]
