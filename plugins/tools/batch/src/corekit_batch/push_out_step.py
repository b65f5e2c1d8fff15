"""Pushing out of an overlap in a step of the driver, less by a long lever: see `corekit.engine.step.push_out`."""

from __future__ import annotations

from typing import Final

from corekit.compiled import compiled
from corekit.compiled.entries import call_entry
from corekit.compiled.parts import part
from corekit.data.arrays import Array
from corekit.engine.step.push_out import NOTICED, share_of, update_fastest
from corekit_batch.contact_tables import ContactWork, Surroundings
from corekit_batch.responses import respond
from corekit_batch.tables import (
    FIRST_AUX,
    FIRST_INDEX,
    FIRST_NUMBER,
    FIRST_Q,
    FIRST_SCRATCH,
    FIRST_V,
    FRAMES,
    ROWS,
    WIDTH,
    Bodies,
    Work,
)

__all__ = ["limit_push"]

_NOTICED: Final = NOTICED
_WIDTH: Final = 3


@compiled
def limit_push(
    bodies: Bodies, numbers: Array, q: Array, v: Array, aux: Array, step: float, count: int, around: Surroundings,
    work: Work, own: ContactWork,
) -> None:  # fmt: skip
    """Let the bias of contacts ask for less where the push would throw what can hardly move, as `limit_push_out`."""
    nv, found = len(v), 0
    for c in range(count):
        if own.push[c] > _NOTICED * around.negligible / step:
            moved = part(own.half, found * nv, (1, nv))
            respond(bodies, own.jacobian[_WIDTH * c : _WIDTH * c + 1], moved, work)
            own.noticed[found] = c
            found += 1
    if found == 0:
        return
    moved, fastest = part(own.half, 0, (found, nv)), own.fastest[:found]
    fastest[:] = 0.0
    for b in range(len(bodies.row)):
        row = bodies.row[b]
        frames, width = row[FRAMES], row[WIDTH]
        dofs = part(own.frame_dofs, 0, (frames, width))
        values = part(own.frame_values, 0, (frames, 3, width))
        call_entry(
            bodies.entry[b, ROWS],
            (
                bodies.index[row[FIRST_INDEX] :], numbers[row[FIRST_NUMBER] :], work.scratch[row[FIRST_SCRATCH] :],
                q[row[FIRST_Q] :], v[row[FIRST_V] :], aux[row[FIRST_AUX] :], frames, own.every_frame, own.no_local,
                dofs, values,
            ),
        )  # fmt: skip
        update_fastest(row[FIRST_V], dofs, values, moved, fastest)
    for k in range(found):
        c = own.noticed[k]
        share = share_of(own.jacobian[_WIDTH * c], moved[k], fastest[k])
        own.bias[c, 0] += own.push[c] * (1.0 - share * share)
