"""Many steps of many worlds in one call, without Python's lock: the loop that the threads of a batch run."""

from __future__ import annotations

from corekit.compiled import compiled
from corekit.data.arrays import BoolArray, IntArray
from corekit_batch.bodies_step import end_of_step, free_increment
from corekit_batch.tables import BY_KERNEL, DONE, STOPPED, Bodies, Work, Worlds

__all__ = ["advance"]


@compiled
def _write_inputs(worlds: Worlds, w: int, at: int, work: Work) -> None:
    given = worlds.inputs[min(at, len(worlds.inputs) - 1)]
    for i in range(len(work.inputs)):
        work.inputs[i] = worlds.written[w, i] if worlds.is_written[i] else given[i]


@compiled
def _advance_world(bodies: Bodies, worlds: Worlds, w: int, is_stopped: BoolArray, work: Work) -> int:
    """Make the steps of a world; return why it was left."""
    numbers = worlds.numbers[min(w, len(worlds.numbers) - 1)]
    q, v, aux = worlds.q[w], worlds.v[w], worlds.aux[w]
    while worlds.step[w] < worlds.until[w]:
        if is_stopped[0]:
            return STOPPED
        at = worlds.step[w] - worlds.first_step[0]
        if worlds.is_cut[at]:
            return BY_KERNEL
        step = worlds.stop[at] - worlds.time[at]
        _write_inputs(worlds, w, at, work)
        if not free_increment(bodies, numbers, q, v, aux, step, work):
            return BY_KERNEL
        if not end_of_step(bodies, numbers, q, v, aux, step, work):
            return BY_KERNEL
        worlds.step[w] += 1
    return DONE


@compiled(nogil=True)
def advance(bodies: Bodies, worlds: Worlds, which: IntArray, is_stopped: BoolArray, work: Work) -> None:
    """Make the steps of worlds up to `Worlds.until`; `Worlds.status` says why each was left.

    Args:
        which: numbers of the worlds.
        is_stopped: shape (1,); another thread sets it to end all after the step that each makes now.
    """
    for w in which:
        worlds.status[w] = _advance_world(bodies, worlds, w, is_stopped, work)
