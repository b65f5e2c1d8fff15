"""What a step asks of the loops over contacts, in as few calls as the order of a step allows.

Arrays come in tables (`corekit.linalg.array_table`), one for each that owns them:

    scene       `ShapeScene`: frame, second frame and offsets of the shapes, poses of the frames, poses and ends of the
                shapes, how far shapes reach around a frame
    contacts    a `ContactSet`: id, shape, gap, normal, tangent, friction, frame, local, weight
    dressing    what holds in the world: surface of a shape, friction of a pair, normal of a planar world, whether
                there is one, approach, push_out and cap of the stabilisation
    known       ids and tangents of contacts
    rows        `ContactRows`: first frames of the bodies, their first velocities, where the carriers of each end,
                contact, slot, frame and local of the carriers, J, then dofs and values of every body
    answer      ids and impulses of contacts
    room        `Impulses`: bias, w₀, Y and W, each for as many rows as there is room
"""

from __future__ import annotations

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.linalg.array_table import block, index_matrix, indices, matrix, vector
from corekit.linalg.delassus_assembly import compute_delassus, forward_substitute, solve_free_velocity
from corekit.world.contact_kernels import (
    add_rows,
    carriers_of,
    dress,
    farthest,
    guesses,
    place_shapes,
    spread_rows,
    start_bias,
)  # fmt: skip

__all__ = [
    "dress_and_collect", "dress_at_start", "guess_again", "place", "place_and_probe", "respond", "spread", "take_rows",
]  # fmt: skip

_ID, _SHAPE, _GAP, _NORMAL, _TANGENT, _FRICTION, _FRAME, _LOCAL, _WEIGHT = range(9)
_FIRST_FRAME, _FIRST_VELOCITY, _ENDS, _CONTACT, _SLOT, _OWN_FRAME, _OWN_LOCAL, _MATRIX, _BODIES = range(9)
_BIAS, _FREE, _HALF, _DELASSUS = range(4)


@compiled
def place(scene: IntArray, shifted: bool) -> None:
    """Poses of the shapes that frames carry."""
    place_shapes(
        indices(scene, 0), matrix(scene, 2), block(scene, 3), shifted, indices(scene, 1), matrix(scene, 4),
        block(scene, 5), matrix(scene, 6), block(scene, 7), matrix(scene, 8),
    )  # fmt: skip


@compiled
def place_and_probe(scene: IntArray, shifted: bool, before: Array, now: Array) -> float:
    """The same, then the probe points; how far the farthest went since `before` [m]."""
    place(scene, shifted)
    return farthest(matrix(scene, 4), block(scene, 5), vector(scene, 9), before, now)


@compiled
def dress_and_collect(
    count: int, contacts: IntArray, dressing: IntArray, known_count: int, known: IntArray, coming: IntArray,
    rows: IntArray,
) -> int:  # fmt: skip
    """Friction and tangents of contacts, what `coming` knows of them, and their carriers body by body.

    Returns how many carriers there are; those beyond the room are not written.
    """
    ids, tangent, frame, local = (
        indices(contacts, _ID), matrix(contacts, _TANGENT), index_matrix(contacts, _FRAME), block(contacts, _LOCAL),
    )  # fmt: skip
    dress(
        count, indices(dressing, 3)[0] != 0, vector(dressing, 2), indices(dressing, 0), matrix(dressing, 1),
        indices(known, 0), matrix(known, 1), known_count, ids, index_matrix(contacts, _SHAPE),
        matrix(contacts, _NORMAL), tangent, vector(contacts, _FRICTION),
    )  # fmt: skip
    kept_id, kept_tangent = indices(coming, 0), matrix(coming, 1)
    for c in range(min(count, len(kept_id))):
        kept_id[c] = ids[c]
        for i in range(3):
            kept_tangent[c, i] = tangent[c, i]
    first, ends = indices(rows, _FIRST_FRAME), indices(rows, _ENDS)
    contact, slot, own_frame, own_local = (
        indices(rows, _CONTACT), indices(rows, _SLOT), indices(rows, _OWN_FRAME), matrix(rows, _OWN_LOCAL),
    )  # fmt: skip
    total, room = 0, len(contact)
    for b in range(len(ends)):
        begin = min(total, room)
        total += carriers_of(
            count, first[b], first[b + 1], frame, local, contact[begin:], slot[begin:], own_frame[begin:],
            own_local[begin:],
        )  # fmt: skip
        ends[b] = total
    return total


@compiled
def guess_again(
    count: int, width: int, ids: IntArray, known_count: int, known: IntArray, guess: IntArray
) -> None:
    """Impulses of contacts in an earlier answer as a guess, zero for new ones."""
    guesses(
        count, width, ids, known_count, indices(known, 0), vector(known, 1), vector(guess, 1), indices(guess, 0)
    )  # fmt: skip


@compiled
def dress_at_start(
    count: int, width: int, step: float, contacts: IntArray, dressing: IntArray, known_count: int, known: IntArray,
    coming: IntArray, rows: IntArray, last_count: int, last: IntArray, guess: IntArray, room: IntArray,
) -> int:  # fmt: skip
    """The same at the start of a step, with the contacts' bias, and their impulses in the last answer as a guess."""
    rule = vector(dressing, 4)
    start_bias(count, vector(contacts, _GAP), step, rule[0], rule[1], rule[2], matrix(room, _BIAS))
    guess_again(count, width, indices(contacts, _ID), last_count, last, guess)
    return dress_and_collect(count, contacts, dressing, known_count, known, coming, rows)


@compiled
def take_rows(count: int, width: int, contacts: IntArray, rows: IntArray) -> None:
    """Write J of `count` contacts, (m·width, nv)."""
    out, ends, first = (
        matrix(rows, _MATRIX)[: count * width],
        indices(rows, _ENDS),
        indices(rows, _FIRST_VELOCITY),
    )
    contact, slot = indices(rows, _CONTACT), indices(rows, _SLOT)
    weight, normal, tangent = matrix(contacts, _WEIGHT), matrix(contacts, _NORMAL), matrix(contacts, _TANGENT)
    out[:] = 0.0
    begin = 0
    for b in range(len(ends)):
        end = ends[b]
        if end > begin:
            add_rows(
                end - begin, width, first[b], contact[begin:], slot[begin:], weight, normal, tangent,
                index_matrix(rows, _BODIES + 2 * b), block(rows, _BODIES + 2 * b + 1), out,
            )  # fmt: skip
        begin = end


@compiled
def spread(
    carriers: int, count: int, width: int, contacts: IntArray, rows: IntArray, out_dofs: IntArray, out_values: Array
) -> int:  # fmt: skip
    """J of the first body by entries, see `spread_rows`."""
    return spread_rows(
        carriers, count * width, width, indices(rows, _CONTACT), indices(rows, _SLOT), matrix(contacts, _WEIGHT),
        matrix(contacts, _NORMAL), matrix(contacts, _TANGENT), index_matrix(rows, _BODIES), block(rows, _BODIES + 1),
        out_dofs, out_values,
    )  # fmt: skip


@compiled
def respond(
    build: bool, count: int, width: int, contacts: IntArray, rows: IntArray, factors: IntArray, room: IntArray,
    velocity: Array,
) -> float:  # fmt: skip
    """Write v_f, J if it is to be built, w₀ = J·v_f + bias, Y and W of contacts; returns the least W_rr."""
    solve_free_velocity(factors, velocity)
    if build:
        take_rows(count, width, contacts, rows)
    r, n = count * width, len(velocity)
    resting, half = vector(room, _FREE)[:r], vector(room, _HALF)[: n * r].reshape((n, r))
    bias = matrix(room, _BIAS)
    for c in range(count):
        for a in range(width):
            resting[c * width + a] = bias[c, a]
    forward_substitute(factors, matrix(rows, _MATRIX), velocity, resting, half)
    return compute_delassus(half, vector(room, _DELASSUS)[: r * r].reshape((r, r)))
