"""All passes of `contact_slopes` in one compiled call, by the compiled form of the world's contact detector.

It is what `ContactSlopes` does pass by pass in Python, by the same kernels in the same order, for worlds with one
detector that has such a form and nothing that changes what it finds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

import numpy as np

from corekit.compiled import compiled
from corekit.compiled.entries import call_entry
from corekit.data.arrays import Array, IntArray
from corekit.engine.contact.contact_kernels import assign_tangents_and_friction
from corekit.roles.collision_scene import update_shape_poses
from corekit.roles.compiled_form import DETECTOR_ENTRIES, CompiledForm
from corekit_gradients.adjoint.contact_slope_kernels import add_changes, locate, turn_frames

if TYPE_CHECKING:
    from corekit.data.contacts import ContactSet
    from corekit.engine.contact.contact_pipeline import ContactPipeline

__all__ = ["ContactPasses"]

_ROOM: Final = 16
"""Contacts for a pair of shapes; where there are more Python finds them."""
_ARGUMENTS: Final = (
    "integers floats floats integers integer floats floats floats floats floats float integer integers integers "
    "floats floats floats integers floats floats"
)
"""Of the entry `contacts` as it is called here: called with others a process ends."""


class _Scene(NamedTuple):
    """Shapes, surfaces and poses, which passes change, see `CollisionScene`; address and tables of a detector."""

    frame: IntArray
    second_frame: IntArray
    offset_position: Array
    offset_rotation: Array
    is_shifted: bool
    frame_position: Array
    frame_rotation: Array
    position: Array
    rotation: Array
    end: Array
    surface: IntArray
    friction: Array
    across: Array
    entry: int
    index: IntArray
    numbers: Array
    work: Array


class _Passes(NamedTuple):
    """Frames that move in each pass, of which `first` says where they begin, and the axis of each."""

    frames: IntArray
    first: IntArray
    axis: IntArray
    step: float


@compiled
def _measure(
    scene: _Scene, passes: _Passes, kept_position: Array, kept_rotation: Array, pairs: IntArray, candidates: int,
    margin: float, is_planar: bool, known_id: IntArray, known_order: IntArray, known_tangent: Array, id: IntArray,
    shape: IntArray, n: Array, t: Array, weight: Array, local: Array, gap: Array, of_n: Array, of_t: Array,
    of_weight: Array, of_local: Array, of_gap: Array, scale: Array,
) -> bool:  # fmt: skip
    """Add the changes of all passes and write their scales; False, with the poses as they were, where room is short."""
    k, count = len(id), 0
    near = np.empty((candidates, 2), dtype=np.int64)
    for i in range(candidates):
        a, b = pairs[i, 0], pairs[i, 1]
        for c in range(k):
            if (shape[c, 0] == a and shape[c, 1] == b) or (shape[c, 0] == b and shape[c, 1] == a):
                near[count] = pairs[i]
                count += 1
                break
    room, fits = _ROOM * count, True
    found_id, found_shape = np.empty(room, dtype=np.int64), np.empty((room, 2), dtype=np.int64)
    found_gap, found_mu, point, found_n, found_t = (
        np.empty(room), np.empty(room), np.empty((room, 3)), np.empty((room, 3)), np.empty((room, 3))
    )  # fmt: skip
    frame, found_local, found_weight = (
        np.empty((room, 4), dtype=np.int64),
        np.empty((room, 4, 3)),
        np.empty((room, 4)),
    )
    at, width = np.empty(k, dtype=np.int64), np.empty(k)
    for p in range(len(passes.axis)):
        frames = passes.frames[passes.first[p] : passes.first[p + 1]]
        width[:] = 0.0
        for sign in (1.0, -1.0):
            turn_frames(
                frames, passes.axis[p], sign * passes.step, kept_position, kept_rotation, scene.frame_position,
                scene.frame_rotation,
            )  # fmt: skip
            update_shape_poses(
                scene.frame, scene.offset_position, scene.offset_rotation, scene.is_shifted, scene.second_frame,
                scene.frame_position, scene.frame_rotation, scene.position, scene.rotation, scene.end,
            )  # fmt: skip
            m = call_entry(
                scene.entry,
                (
                    scene.index, scene.numbers, scene.work, near, count, scene.position, scene.rotation, scene.end,
                    scene.frame_position, scene.frame_rotation, margin, room, found_id, found_shape, found_gap, point,
                    found_n, frame, found_local, found_weight,
                ),
            )  # fmt: skip
            if m > room:
                fits = False
                break
            assign_tangents_and_friction(
                m, is_planar, scene.across, scene.surface, scene.friction, known_id, known_order, known_tangent,
                found_id, found_shape, found_gap, found_n, found_t, found_mu,
            )  # fmt: skip
            locate(id, m, found_id, at)
            for c in range(k):
                width[c] += 1.0 if at[c] >= 0 else 0.0
            add_changes(
                at, sign, n, t, weight, local, gap, found_n, found_t, found_weight, found_local, found_gap,
                of_n[p], of_t[p], of_weight[p], of_local[p], of_gap[p],
            )  # fmt: skip
        for f in frames:
            scene.frame_position[f], scene.frame_rotation[f] = kept_position[f], kept_rotation[f]
        if not fits:
            break
        for c in range(k):
            scale[p, c] = 1.0 / (width[c] * passes.step) if width[c] > 0.0 else 0.0
    return fits


@final
class ContactPasses:
    """The passes of one world.

    Args:
        pipeline: of the world. form: of its detector, see `form_of`.
    """

    def __init__(self, pipeline: ContactPipeline, form: CompiledForm) -> None:
        scene, friction = pipeline.scene, pipeline.friction
        table, poses = scene.table, scene.poses
        self._pipeline = pipeline
        self._scene = _Scene(
            table.frame, table.second_frame, table.offset_position, table.offset_rotation, scene.is_shifted,
            poses.frame_position, poses.frame_rotation, poses.position, poses.rotation, poses.end, friction.surface,
            friction.coefficient, pipeline.plane_normal, form.entries["contacts"], form.index, form.numbers,
            np.zeros(form.scratch),
        )  # fmt: skip

    @staticmethod
    def form_of(pipeline: ContactPipeline) -> CompiledForm | None:
        """The form of the detector of a world for which one call is enough; None of others."""
        alters = (pipeline.seams, pipeline.joined, pipeline.areas, pipeline.rehearsed)
        if len(pipeline.detectors) != 1 or pipeline.record_width or any(each is not None for each in alters):
            return None
        if DETECTOR_ENTRIES["contacts"] != _ARGUMENTS or (pipeline.scene.table.second_frame >= 0).any():
            return None  # contacts at ends that edges share are those of other pairs too
        if not any("compiled-form" in words for words in pipeline.abilities):
            return None
        detector: Any = pipeline.detectors[0]
        form = detector.compiled_form()
        return form if isinstance(form, CompiledForm) and form.entries["contacts"] else None

    def measure(
        self, contacts: ContactSet, kept: tuple[Array, Array], moved: tuple[IntArray, ...], axis: IntArray,
        step: float, changes: tuple[Array, ...], scale: Array,
    ) -> bool:  # fmt: skip
        """Add what a detector says of contacts in every pass, of whose frames `moved` tells; False if room is short."""
        pipeline, k = self._pipeline, contacts.count
        (candidates,), known = pipeline.candidates, pipeline.known
        frames = np.concatenate(moved) if moved else np.zeros(0, dtype=np.int64)
        first = np.cumsum([0, *(len(each) for each in moved)])
        of_n, of_t, of_weight, of_local, of_gap = changes
        fits = _measure(
            self._scene, _Passes(frames, first, axis, step), kept[0], kept[1], candidates.pairs, candidates.count,
            pipeline.margin, pipeline.width == 2, known.id, known.order, known.tangent, contacts.id[:k],
            contacts.shape, contacts.normal, contacts.tangent, contacts.weight, contacts.local_point, contacts.gap,
            of_n, of_t, of_weight, of_local, of_gap, scale,
        )  # fmt: skip
        return bool(fits)
