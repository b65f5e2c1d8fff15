"""Contacts at the start of a step of the driver: where shapes are, which may touch, and which do.

What `CollisionScene.update_poses`, `ContactPipeline.begin_step` and `detect_at_start` do, by the same kernels.
"""

from __future__ import annotations

import math

from corekit.compiled import compiled
from corekit.compiled.entries import call_entry
from corekit.data.arrays import Array
from corekit.engine.internal_edges.joined_ends import merge_joined
from corekit.engine.internal_edges.seams import leave_out_covered, leave_out_implied
from corekit.roles.collision_scene import max_probe_displacement, update_shape_poses
from corekit_batch.contact_tables import ContactMemory, ContactWork, Surroundings
from corekit_batch.tables import (
    FIRST_AUX,
    FIRST_FRAME,
    FIRST_INDEX,
    FIRST_NUMBER,
    FIRST_Q,
    FIRST_SCRATCH,
    FIRST_V,
    FRAMES,
    POSES,
    Bodies,
    Work,
)

__all__ = ["find_contacts"]


@compiled
def _place(
    bodies: Bodies,
    numbers: Array,
    q: Array,
    v: Array,
    aux: Array,
    around: Surroundings,
    work: Work,
    own: ContactWork,
) -> None:
    """Compute every frame and shape pose, as `CollisionScene.update_poses`."""
    for b in range(len(bodies.row)):
        row = bodies.row[b]
        first, frames = row[FIRST_FRAME], row[FRAMES]
        call_entry(
            bodies.entry[b, POSES],
            (
                bodies.index[row[FIRST_INDEX] :], numbers[row[FIRST_NUMBER] :], work.scratch[row[FIRST_SCRATCH] :],
                q[row[FIRST_Q] :], v[row[FIRST_V] :], aux[row[FIRST_AUX] :], own.frame_position[first : first + frames],
                own.frame_rotation[first : first + frames],
            ),
        )  # fmt: skip
    update_shape_poses(
        around.shape_frame, around.offset_position, around.offset_rotation, around.is_shifted, around.second_frame,
        own.frame_position, own.frame_rotation, own.position, own.rotation, own.end,
    )  # fmt: skip


@compiled
def find_contacts(
    bodies: Bodies, numbers: Array, q: Array, v: Array, aux: Array, time: float, step: float, around: Surroundings,
    memory: ContactMemory, w: int, work: Work, own: ContactWork,
) -> int:  # fmt: skip
    """Find the contacts at the start of a step; return how many, −1 where the kernel must, or −2 − those beyond room.

    As `ShapeMotion.approach` of a world that has made a step, and `ContactPipeline.begin_step` and `detect_at_start`.
    """
    elapsed = time - memory.probe_time[w]
    if not 0.0 < elapsed < math.inf:
        return -1
    _place(bodies, numbers, q, v, aux, around, work, own)
    moved = max_probe_displacement(
        own.frame_position, own.frame_rotation, around.probe_radius, memory.probe[w], own.probe
    )
    coming = 0.5 * (2.0 * (step * (moved / elapsed)))
    if not math.isfinite(coming):
        return -1
    margin = 0.0 + max(around.margin, 2.0 * coming)
    pairs = call_entry(
        around.detector[0],
        (
            around.detector_index, around.detector_numbers, own.of_detector, own.position, own.rotation, own.end,
            margin + coming, own.pairs,
        ),
    )  # fmt: skip
    if pairs == 0:
        return 0
    capacity = len(own.gap)
    count = call_entry(
        around.detector[1],
        (
            around.detector_index, around.detector_numbers, own.of_detector, own.pairs, pairs, own.position,
            own.rotation, own.end, own.frame_position, own.frame_rotation, margin, capacity, own.id, own.shape, own.gap,
            own.point, own.normal, own.frame, own.local, own.weight,
        ),
    )  # fmt: skip
    if count > capacity:
        return -2 - count
    if len(around.seam_first) > 0:
        count = leave_out_covered(
            count, own.places, around.seam_first, around.seam_neighbour, around.size, own.position, own.rotation,
            own.id, own.shape, own.gap, own.point, own.normal, own.frame, own.local, own.weight,
        )  # fmt: skip
        count = leave_out_implied(
            count, own.places, around.seam_surface, around.second_frame, around.seam_first, around.seam_neighbour,
            around.size, own.position, own.rotation, own.id, own.shape, own.gap, own.point, own.normal, own.frame,
            own.local, own.weight,
        )  # fmt: skip
    if len(around.joined) > 0:
        count = merge_joined(
            count, around.joined_first, around.joined, around.size, around.shape_frame, around.second_frame,
            own.position, own.rotation, own.end, own.frame_rotation, own.newest, own.earlier, own.members, own.id,
            own.shape, own.gap, own.point, own.normal, own.frame, own.local, own.weight,
        )  # fmt: skip
    return count
