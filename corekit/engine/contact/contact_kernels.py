"""The loops over contacts, compiled: tangents, Jacobian, gap terms, warm starts.

    u_c = B_c·Σᵢ weightᵢ·ẋᵢ = J_c·v,    B_c = [nᵀ; tᵀ; (n × t)ᵀ]                          (1)

Every array has capacity; `count` says how many of its rows are in use. Buffers that a kernel writes come
last. Contacts are matched by id: the guess that an id stands where the last one was found, plus one,
makes that linear for sets that changed little.
"""

from __future__ import annotations

import math

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, BoolArray, IntArray

__all__ = [
    "add_rows",
    "add_rows_by_entries",
    "assign_tangents_and_friction",
    "collect_material_points",
    "find_new_impulses",
    "find_rowless",
    "find_turned_pairs",
    "gap_terms",
    "has_immovable",
    "id_order",
    "isolate_immovable",
    "least_mobility",
    "match_by_id",
    "max_overrun",
    "max_penetration",
    "place_entries",
]  # fmt: skip

_FEW = 64
"""Sets up to this size are searched one by one, larger ones by bisection."""
_ROUNDING = 1e-13
"""Cosine of a right angle: the directions of a chain of bodies err by some hundred ε."""
_UNSORTED = np.zeros(0, dtype=np.int64)


@compiled
def _locate(wanted: int, guess: int, known: IntArray, order: IntArray) -> int:
    """Where an id stands among known ones, looking at `guess` first; −1 if it does not.

    Args:
        order: `id_order` of the known ones.
    """
    count = len(known)
    if guess < count and known[guess] == wanted:
        return guess
    if len(order) == 0:
        for i in range(count):
            if known[i] == wanted:
                return i
        return -1
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if known[order[middle]] < wanted:
            low = middle + 1
        else:
            high = middle
    if low < count and known[order[low]] == wanted:
        return order[low]
    return -1


def id_order(known: IntArray) -> IntArray:
    """Return where known ids stand in rising order; nothing where they are few enough to be searched one by one."""
    return _UNSORTED if len(known) <= _FEW else np.argsort(known)


@compiled
def assign_tangents_and_friction(
    count: int, planar: bool, across_plane: Array, surface: IntArray, pair_friction: Array,
    known_id: IntArray, known_order: IntArray, known_tangent: Array,
    id: IntArray, shape: IntArray, gap: Array, normal: Array, tangent: Array, friction: Array,
) -> bool:  # fmt: skip
    """Write first tangents and friction coefficients of contacts; return whether gaps and normals are finite.

    A planar world has the one tangent in its plane, `across_plane` × n. Else the tangent is that of the
    same contact in the last step, made orthogonal, or the world axis least aligned with the normal.
    """
    guess, total = 0, 0.0
    for c in range(count):
        friction[c] = pair_friction[surface[shape[c, 0]], surface[shape[c, 1]]]
        n0, n1, n2 = normal[c, 0], normal[c, 1], normal[c, 2]
        total += abs(gap[c]) + abs(n0) + abs(n1) + abs(n2)
        if planar:
            a0, a1, a2 = across_plane[0], across_plane[1], across_plane[2]
            tangent[c, 0] = a1 * n2 - a2 * n1
            tangent[c, 1] = a2 * n0 - a0 * n2
            tangent[c, 2] = a0 * n1 - a1 * n0
            continue
        square = 0.0
        t0 = t1 = t2 = 0.0
        where = _locate(id[c], guess, known_id, known_order)
        if where >= 0:
            guess = where + 1
            t0, t1, t2 = known_tangent[where, 0], known_tangent[where, 1], known_tangent[where, 2]
            along = t0 * n0 + t1 * n1 + t2 * n2
            t0, t1, t2 = t0 - along * n0, t1 - along * n1, t2 - along * n2
            square = t0 * t0 + t1 * t1 + t2 * t2
        if square < 0.25:
            t0 = t1 = t2 = 0.0
            if abs(n0) <= abs(n1) and abs(n0) <= abs(n2):
                t0, along = 1.0, n0
            elif abs(n1) <= abs(n2):
                t1, along = 1.0, n1
            else:
                t2, along = 1.0, n2
            t0, t1, t2 = t0 - along * n0, t1 - along * n1, t2 - along * n2
            square = t0 * t0 + t1 * t1 + t2 * t2
        length = math.sqrt(square)
        tangent[c, 0], tangent[c, 1], tangent[c, 2] = t0 / length, t1 / length, t2 / length
    return total < math.inf


@compiled
def _owner(first_frame: IntArray, frame: int) -> int:
    """The body b that has a frame, first_frame[b] ≤ frame < first_frame[b + 1]."""
    low, high = 0, len(first_frame) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if first_frame[middle] <= frame:
            low = middle
        else:
            high = middle
    return low


@compiled
def collect_material_points(
    count: int, first_frame: IntArray, frame: IntArray, local: Array,
    ends: IntArray, contact: IntArray, slot: IntArray, own_frame: IntArray, own_local: Array,
) -> int:  # fmt: skip
    """Collect the material points of the contacts body by body: their contact, slot, frame in the body, and place.

    Body b has the frames first_frame[b] ≤ f < first_frame[b + 1], and the points before ends[b].
    Returns how many slots of a contact are in use; nothing is written beyond the room of the output arrays.
    """
    room, slots = len(contact), 1
    for b in range(len(ends)):
        ends[b] = 0
    for is_counting in (True, False):
        for c in range(count):
            for s in range(frame.shape[1]):
                f = frame[c, s]
                if f < 0:
                    continue
                b = _owner(first_frame, f)
                n = ends[b]
                if not is_counting and n < room:
                    contact[n], slot[n], own_frame[n] = c, s, f - first_frame[b]
                    for i in range(3):
                        own_local[n, i] = local[c, s, i]
                    slots = max(slots, s + 1)
                ends[b] += 1
        if is_counting:
            # where the points of each body begin; writing them leads to their ends
            begin = 0
            for b in range(len(ends)):
                begin, ends[b] = begin + ends[b], begin
    return slots


@compiled
def _along(w0: float, w1: float, w2: float, x: float, y: float, z: float) -> float:
    """Return w·(x, y, z), and 0 where they are at right angles: a planar body does not move across its plane."""
    total = w0 * x + w1 * y + w2 * z
    size = (abs(w0) + abs(w1) + abs(w2)) * (abs(x) + abs(y) + abs(z))
    return 0.0 if abs(total) < _ROUNDING * size else total  # what is not finite stays so


@compiled
def add_rows(
    width: int, first_velocity: int, contact: IntArray, slot: IntArray, place: IntArray, weight: Array, normal: Array,
    tangent: Array, dofs: IntArray, values: Array, matrix: Array,
) -> None:  # fmt: skip
    """Add the rows of a body's material points, in contact axes and weighted, to J (m·width, nv): (1).

    The rows of a point begin at width·place; place is its contact, or the number of that among those of the body.
    """
    k = dofs.shape[1]
    for a in range(len(contact)):
        c = contact[a]
        w = weight[c, slot[a]]
        n0, n1, n2 = w * normal[c, 0], w * normal[c, 1], w * normal[c, 2]
        t0, t1, t2 = tangent[c, 0], tangent[c, 1], tangent[c, 2]
        s0, s1, s2 = n1 * t2 - n2 * t1, n2 * t0 - n0 * t2, n0 * t1 - n1 * t0
        t0, t1, t2 = w * t0, w * t1, w * t2
        row = place[a] * width
        for j in range(k):
            d = first_velocity + dofs[a, j]
            x, y, z = values[a, 0, j], values[a, 1, j], values[a, 2, j]
            matrix[row, d] += _along(n0, n1, n2, x, y, z)
            matrix[row + 1, d] += _along(t0, t1, t2, x, y, z)
            if width == 3:
                matrix[row + 2, d] += _along(s0, s1, s2, x, y, z)


@compiled
def place_entries(
    width: int, first_velocity: int, widest: int, contact: IntArray, slot: IntArray, dofs: IntArray, columns: IntArray,
    out_dofs: IntArray,
) -> None:  # fmt: skip
    """Write where the entries of a body's points stand in rows, and their dofs, see `add_rows_by_entries`."""
    for a in range(len(contact)):
        for j in range(dofs.shape[1]):
            columns[a, j] = slot[a] * widest + j
            for row in range(contact[a] * width, (contact[a] + 1) * width):
                out_dofs[row, columns[a, j]] = first_velocity + dofs[a, j]


@compiled
def add_rows_by_entries(
    width: int, first_velocity: int, widest: int, contact: IntArray, slot: IntArray, weight: Array, normal: Array,
    tangent: Array, dofs: IntArray, values: Array, out_dofs: IntArray, out_values: Array,
) -> None:  # fmt: skip
    """Write the same rows by entries into zeroed arrays, each point at its slot, `widest` entries per slot."""
    columns = np.empty_like(dofs)
    place_entries(width, first_velocity, widest, contact, slot, dofs, columns, out_dofs)
    add_rows(width, 0, contact, slot, contact, weight, normal, tangent, columns, values, out_values)


@compiled
def _stabilised(gap: float, step: float, approach: float, push_out: float, cap: float) -> float:
    """s(φ) [m]: approach·φ apart, max(φ·min(1, h·push_out), −h·cap) in penetration."""
    if gap > 0.0:
        return approach * gap
    return max(gap * min(1.0, push_out * step), -cap * step)


@compiled
def max_penetration(count: int, gap: Array) -> float:
    """The largest −gap [m], −∞ without contacts."""
    depth = -np.inf
    for c in range(count):
        depth = max(depth, -gap[c])
    return depth


@compiled
def max_overrun(count: int, gap: Array, step: float, normal_velocity: Array) -> float:
    """By how much a motion with constant velocities overruns a gap at most, or deepens an overlap [m]; −∞ for none."""
    most = -np.inf
    for c in range(count):
        most = max(most, min(gap[c], 0.0) - gap[c] - step * normal_velocity[c])
    return most


@compiled
def find_turned_pairs(
    count: int, shape: IntArray, normal: Array, other_count: int, other_shape: IntArray, other_normal: Array,
    pairs: IntArray,
) -> int:  # fmt: skip
    """Write the shapes of each contact of the other set whose normal is 60° or more from all of the pair in this one.

    Returns how many were written; a pair may come several times.
    """
    found = 0
    for c in range(other_count):
        most = -2.0
        for k in range(count):
            if shape[k, 0] == other_shape[c, 0] and shape[k, 1] == other_shape[c, 1]:
                cosine = 0.0
                for i in range(3):
                    cosine += normal[k, i] * other_normal[c, i]
                most = max(most, cosine)
        if -2.0 < most < 0.5:
            pairs[found] = other_shape[c]
            found += 1
    return found


@compiled
def gap_terms(
    count: int, id: IntArray, end_gap: Array, normal_velocity: Array, step: float,
    approach: float, push_out: float, cap: float,
    start_id: IntArray, start_order: IntArray, start_gap: Array, bias: Array, first_gap: Array, room: Array,
    push: Array,
) -> float:  # fmt: skip
    """Write φ̃/h = (s(φ₀) + φ_k − φ₀)/h − u_n along the normal [m/s], and 0 across it.

    And φ₀, the room φ_k − min(φ₀, 0) that is left from φ_k to where no contact is deeper than at the start [m], and the
    speed −s(φ₀)/h at which an overlap is pushed out, else 0 [m/s]. Return the largest of these speeds.
    A contact unknown at the start has φ₀ = φ_k − h·u_n.
    """
    guess, fastest = 0, 0.0
    for c in range(count):
        first = end_gap[c] - step * normal_velocity[c]
        where = _locate(id[c], guess, start_id, start_order)
        if where >= 0:
            guess = where + 1
            first = start_gap[where]
        stabilised = _stabilised(first, step, approach, push_out, cap)
        bias[c, 0] = (stabilised + end_gap[c] - first - step * normal_velocity[c]) / step
        first_gap[c] = first
        room[c] = end_gap[c] - min(first, 0.0)
        push[c] = -min(stabilised, 0.0) / step
        fastest = max(fastest, push[c])
        for a in range(1, bias.shape[1]):
            bias[c, a] = 0.0
    return fastest


@compiled
def match_by_id(
    width: int, id: IntArray, known_id: IntArray, known_order: IntArray, known: Array, out: Array
) -> None:
    """Write `width` numbers of each contact that another set knows too; of others `out` stays as it is."""
    guess = 0
    for c in range(len(out) // width):
        where = _locate(id[c], guess, known_id, known_order)
        if where >= 0:
            guess = where + 1
            for a in range(width):
                out[width * c + a] = known[width * where + a]


@compiled
def find_new_impulses(
    width: int, id: IntArray, impulse: Array, known_id: IntArray, known_order: IntArray, known: Array, new: BoolArray
) -> bool:  # fmt: skip
    """Write which contacts push, and did not in another set or were not in it; whether there are any."""
    guess, found = 0, False
    for c in range(len(new)):
        new[c] = impulse[width * c] > 0.0
        where = _locate(id[c], guess, known_id, known_order)
        if where >= 0:
            guess = where + 1
            new[c] = new[c] and known[width * where] <= 0.0
        found = found or new[c]
    return found


@compiled
def least_mobility(count: int, width: int, delassus: Array) -> float:
    """W_nn up to which a contact cannot move: entries of J that are rounding have 1e-24 of those of others at most."""
    largest = 0.0
    for c in range(count):
        if delassus[c * width, c * width] > largest:
            largest = delassus[c * width, c * width]
    return 1e-24 * largest


@compiled
def has_immovable(count: int, width: int, delassus: Array) -> bool:
    """Whether a contact cannot move along its normal; one that is not a number is no such contact."""
    found, least = False, least_mobility(count, width, delassus)
    for c in range(count):
        found |= delassus[c * width, c * width] <= least
    return found


@compiled
def find_rowless(width: int, values: Array, movable: BoolArray) -> bool:
    """Write which contacts have an entry in their normal row, of J by entries (m·width, k); whether one has none."""
    found = False
    for c in range(len(movable)):
        movable[c] = False
        for j in range(values.shape[1]):
            movable[c] = movable[c] or values[c * width, j] != 0.0
        found = found or not movable[c]
    return found


@compiled
def isolate_immovable(width: int, movable: BoolArray, delassus: Array, free: Array, friction: Array) -> None:
    """Turn contacts that cannot move along their normal into open, frictionless rows.

    Such a contact (a clamped frame against an obstacle) has no answer and changes nothing: its rows of W become those
    of the identity, scaled as the largest entry, and w₀ is positive along the normal.
    """
    scale = 0.0
    for r in range(len(free)):
        scale = max(scale, delassus[r, r])
    for c in range(len(movable)):
        if movable[c]:
            continue
        friction[c] = 0.0
        for row in range(c * width, (c + 1) * width):
            for other in range(len(free)):
                delassus[row, other] = delassus[other, row] = 0.0
            delassus[row, row] = scale if scale > 0.0 else 1.0
            free[row] = 1.0 if row == c * width else 0.0
