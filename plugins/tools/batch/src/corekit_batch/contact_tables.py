"""What the driver knows of shapes and surfaces, what worlds remember of contacts, and a thread's buffers for them."""

from __future__ import annotations

from typing import NamedTuple

from corekit.data.arrays import Array, BoolArray, IntArray

__all__ = ["ContactMemory", "ContactWork", "Surroundings"]


class Surroundings(NamedTuple):
    """Shapes, surfaces, detector and solver, alike in all worlds; without contact arrays are empty.

    Attributes:
        exist: whether anything may touch.
        first_frame: of every body, and how many frames there are, shape (bodies + 1,).
        shape_frame, second_frame, offset_position, offset_rotation, is_shifted: of all shapes, see `CollisionScene`.
        size: of all shapes, (shapes, 3). joined_first, joined: ends that shapes of a body share, see `JoinedEnds`.
        seam_first, seam_surface, seam_neighbour: boxes that touch each other, see `Seams`; empty where none do.
        probe_radius: of every frame [m].
        surface, friction: see `FrictionTable`.
        detector, solver: addresses of `candidates` and `contacts`, and of `solve`.
        detector_index, detector_scratch, detector_numbers, solver_index, solver_scratch, solver_numbers: of their
            forms.
        approach, push_out, cap: of the stabilisation. margin, negligible: in every step [m], see `ContactPipeline`.
        width: rows per contact. across: normal of the plane of a planar world, or 0, (3,).
        is_unreduced: whether the solver gets steps before A is factorised. may_rub: whether any contact has friction.
        resolves_impacts: whether impacts end at velocity level. many: contacts from which islands are looked for.
    """

    exist: bool
    first_frame: IntArray
    shape_frame: IntArray
    second_frame: IntArray
    size: Array
    joined_first: IntArray
    joined: IntArray
    seam_first: IntArray
    seam_surface: IntArray
    seam_neighbour: IntArray
    offset_position: Array
    offset_rotation: Array
    is_shifted: bool
    probe_radius: Array
    surface: IntArray
    friction: Array
    detector: IntArray
    solver: IntArray
    detector_index: IntArray
    detector_scratch: int
    detector_numbers: Array
    solver_index: IntArray
    solver_scratch: int
    solver_numbers: Array
    approach: float
    push_out: float
    cap: float
    margin: float
    negligible: float
    width: int
    across: Array
    is_unreduced: bool
    may_rub: bool
    resolves_impacts: bool
    many: int


class ContactMemory(NamedTuple):
    """What W worlds remember of the contacts of their last step, with room for C.

    Attributes:
        count: shape (W,). id, tangent, impulse: shapes (W, C), (W, C, 3) and (W, width·C) [N·s].
        row_impulse: λ_b of all constraints, (W, nb) [N·s].
        carried_count, carried_id, carried: what the solver carries by contact, shapes (W,), (W, C) and (W, C).
        shape, normal: whose contacts they are and how they stand, (W, C, 2) and (W, C, 3).
        probe: points of the frames at the start of that step, (W, 4·frames, 3). probe_time: when, −∞ before any (W,).
    """

    count: IntArray
    id: IntArray
    tangent: Array
    impulse: Array
    shape: IntArray
    normal: Array
    probe: Array
    probe_time: Array
    row_impulse: Array
    carried_count: IntArray
    carried_id: IntArray
    carried: Array


class ContactWork(NamedTuple):
    """Buffers of one thread, with room for C contacts and P material points.

    Attributes:
        position, rotation, end: of all shapes; those of obstacles stay.
        frame_position, frame_rotation: of all frames. probe: points of the frames.
        pairs: candidates. id … friction: the contact set, see `ContactSet`.
        ends, contact, slot, own_frame, own_local: material points by bodies, see `collect_material_points`.
        dofs, values: rows of the points, for the widest body.
        jacobian: J, room for 3·C rows. bias, first_gap, room, push: of contacts.
        delassus, free, half: of the contact problem, room for 3·C rows.
        impulse, start: λ and that of the last step. residuals: (4,).
        velocity: three of contacts in their axes, (3, C, 3). new: of contacts. all_move: (0,).
        response, which: (nv,). across: zeros (3,). unsorted: (0,). still, spare: zeros and work space, (C, 3).
        noticed, fastest: of contacts that push. every_frame, no_local, frame_dofs, frame_values: rows of the origins of
            a body's frames, for the one with most.
        places: of `leave_out_covered`. newest, earlier, members: of `merge_joined`. of_detector, of_solver: work space
            of their forms.
        sizes, columns, entry_dofs, entry_values, carried: of an unreduced step, see the entry `unreduced`: sizes (10,),
            room for entries of points, for J by entries and for C contacts. band: A by its lower band.
        outcome: of the solver, (1,).
        before: v⁺ without contact, (nv,). scale: of the surface's speed, as of `System.velocity_scale`, (nv,).
    """

    position: Array
    rotation: Array
    end: Array
    frame_position: Array
    frame_rotation: Array
    probe: Array
    pairs: IntArray
    id: IntArray
    shape: IntArray
    gap: Array
    point: Array
    normal: Array
    tangent: Array
    frame: IntArray
    local: Array
    weight: Array
    friction: Array
    ends: IntArray
    contact: IntArray
    slot: IntArray
    own_frame: IntArray
    own_local: Array
    dofs: IntArray
    values: Array
    jacobian: Array
    bias: Array
    first_gap: Array
    room: Array
    push: Array
    delassus: Array
    free: Array
    half: Array
    impulse: Array
    start: Array
    residuals: Array
    velocity: Array
    new: BoolArray
    hit: BoolArray
    all_move: BoolArray
    response: Array
    which: IntArray
    across: Array
    unsorted: IntArray
    still: Array
    spare: Array
    noticed: IntArray
    fastest: Array
    every_frame: IntArray
    no_local: Array
    frame_dofs: IntArray
    frame_values: Array
    places: Array
    newest: IntArray
    earlier: IntArray
    members: IntArray
    of_detector: Array
    of_solver: Array
    sizes: IntArray
    columns: IntArray
    entry_dofs: IntArray
    entry_values: Array
    carried: Array
    band: Array
    outcome: IntArray
    before: Array
    scale: Array
