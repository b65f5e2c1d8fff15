"""Many steps of many worlds in one call, without Python's lock: the loop that the threads of a batch run.

No kernel here makes an array, nor the text of an error as `a[:] = b` of two arrays does: then numba counts no
references, which took two fifths of a step of a rigid body (3.0 to 1.8 µs) and a quarter of one of an arm in contact
(53 to 38 µs).
"""

from __future__ import annotations

from corekit.compiled import compiled
from corekit.data.arrays import BoolArray, IntArray
from corekit_batch.bodies_step import assemble_bodies, end_of_step, free_increment
from corekit_batch.contact_search import find_contacts
from corekit_batch.contact_step import accept_contacts, solve_contacts
from corekit_batch.contact_tables import ContactMemory, ContactWork, Surroundings
from corekit_batch.tables import BY_KERNEL, DONE, NO_ROOM, STOPPED, Bodies, Work, Worlds
from corekit_batch.unreduced_step import accept_unreduced, solve_unreduced

__all__ = ["advance"]


@compiled
def _write_inputs(worlds: Worlds, w: int, at: int, work: Work) -> None:
    given = worlds.inputs[min(at, len(worlds.inputs) - 1)]
    for i in range(len(work.inputs)):
        work.inputs[i] = worlds.written[w, i] if worlds.is_written[i] else given[i]


@compiled
def _make_step(
    bodies: Bodies, around: Surroundings, worlds: Worlds, memory: ContactMemory, w: int, at: int, work: Work,
    of_contacts: ContactWork,
) -> int:  # fmt: skip
    """Make one step of a world; return DONE, or why it could not be made, with nothing of the world changed."""
    numbers, time = worlds.numbers[min(w, len(worlds.numbers) - 1)], worlds.time[at]
    q, v, aux, step, count = worlds.q[w], worlds.v[w], worlds.aux[w], worlds.length, 0
    if around.exist:
        count = find_contacts(bodies, numbers, q, v, aux, time, step, around, memory, w, work, of_contacts)
        if count < 0:
            return BY_KERNEL if count == -1 else NO_ROOM
    _write_inputs(worlds, w, at, work)
    if around.is_unreduced:
        if not assemble_bodies(bodies, numbers, q, v, aux, step, work) or not solve_unreduced(
            bodies, numbers, q, v, aux, step, count, around, memory, w, work, of_contacts
        ):
            return BY_KERNEL
    elif not free_increment(bodies, numbers, q, v, aux, step, work):
        return BY_KERNEL
    if (
        count > 0
        and not around.is_unreduced
        and not solve_contacts(bodies, numbers, q, v, aux, step, count, around, memory, w, work, of_contacts)
    ):
        return BY_KERNEL
    if not end_of_step(bodies, numbers, q, v, aux, step, work):
        return BY_KERNEL
    if around.exist:
        accept_contacts(count, around.width, time, memory, w, of_contacts)
    if around.is_unreduced:
        accept_unreduced(count, memory, w, work, of_contacts)
    return DONE


@compiled(nogil=True)
def advance(
    bodies: Bodies, around: Surroundings, worlds: Worlds, memory: ContactMemory, which: IntArray,
    is_stopped: BoolArray, work: Work, of_contacts: ContactWork,
) -> None:  # fmt: skip
    """Make the steps of worlds up to `Worlds.until`; `Worlds.status` says why each was left.

    Args:
        which: numbers of the worlds.
        is_stopped: shape (1,); another thread sets it to end all after the step that each makes now.
    """
    for w in which:
        worlds.status[w] = DONE
        while worlds.status[w] == DONE and worlds.step[w] < worlds.until[w]:
            at = worlds.step[w] - worlds.first_step[0]
            if is_stopped[0]:
                worlds.status[w] = STOPPED
            elif worlds.is_cut[at]:
                worlds.status[w] = BY_KERNEL
            else:
                worlds.status[w] = _make_step(bodies, around, worlds, memory, w, at, work, of_contacts)
                worlds.step[w] += 1 if worlds.status[w] == DONE else 0
