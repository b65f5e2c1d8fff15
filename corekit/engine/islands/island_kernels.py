"""The loops of `contact_islands`, compiled: contact rows by bodies, and which contacts depend on each other.

A touch is a pair of a contact and a body. Touches stand body by body, those of a body by contacts.
"""

from __future__ import annotations

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray

__all__ = [
    "count_touches",
    "label_islands",
    "measure_mobility",
    "number_contacts",
    "order_contacts",
    "place_touches",
]


@compiled
def number_contacts(contact: IntArray, local: IntArray, out: IntArray) -> int:
    """Number the contacts of a body's material points, which rise; return how many there are.

    Args:
        contact: of every point. local: number of the contact of every point, written. out: the contacts, written.
    """
    count = 0
    for a in range(len(contact)):
        if count == 0 or out[count - 1] != contact[a]:
            out[count] = contact[a]
            count += 1
        local[a] = count - 1
    return count


@compiled
def _root(parent: IntArray, c: int) -> int:
    while parent[c] != c:
        parent[c] = parent[parent[c]]
        c = parent[c]
    return c


@compiled
def measure_mobility(
    width: int, body_first: IntArray, body_size: IntArray, touch_contact: IntArray, touch_place: IntArray,
    jacobian: Array, response: Array, mobility: Array, moves: IntArray,
) -> None:  # fmt: skip
    """Write W_nn of every contact (m,), and 1 for the bodies that impulses move (B,)."""
    mobility[:] = 0.0
    for b in range(len(body_size)):
        n = body_size[b]
        moves[b] = 0
        for e in range(body_first[b], body_first[b + 1]):
            at = touch_place[e]
            for j in range(n):
                mobility[touch_contact[e]] += jacobian[at + j] * response[at + j]
            for j in range(width * n):
                if response[at + j] != 0.0:
                    moves[b] = 1


@compiled
def label_islands(
    body_first: IntArray, touch_contact: IntArray, mobility: Array, moves: IntArray, parent: IntArray, label: IntArray
) -> int:  # fmt: skip
    """Write the island of every contact, numbered by its first contact; return how many there are.

    A body that no impulse moves connects nothing. Contacts that no impulse moves along their normal have label −1; one
    whose mobility is not a number belongs to an island, so that its solver sees it.

    Args:
        parent: workspace, shape (m,).
    """
    contacts, count = len(label), 0
    for c in range(contacts):
        parent[c], label[c] = c, -1
    for b in range(len(moves)):
        before = -1
        for e in range(body_first[b], body_first[b + 1]):
            c = touch_contact[e]
            if moves[b] and not mobility[c] <= 0.0:
                if before >= 0:
                    one, two = _root(parent, before), _root(parent, c)
                    parent[max(one, two)] = min(one, two)
                before = c
    for c in range(contacts):
        if not mobility[c] <= 0.0:
            root = _root(parent, c)
            if root == c:
                label[c] = count
                count += 1
            else:
                label[c] = label[root]
    return count


@compiled
def order_contacts(label: IntArray, begin: IntArray, order: IntArray, position: IntArray) -> None:
    """Write where each island begins (islands + 1,), its contacts in turn, and where each contact is in its island."""
    begin[:] = 0
    for k in label:
        if k >= 0:
            begin[k + 1] += 1
    for k in range(len(begin) - 1):
        begin[k + 1] += begin[k]
    filled = begin.copy()
    for c in range(len(label)):
        k = label[c]
        if k >= 0:
            order[filled[k]] = c
            position[c] = filled[k] - begin[k]
            filled[k] += 1


@compiled
def count_touches(
    body_first: IntArray, touch_contact: IntArray, moves: IntArray, label: IntArray, position: IntArray,
    contact_begin: IntArray, first: IntArray, touch_begin: IntArray, body_begin: IntArray, body_island: IntArray,
) -> None:  # fmt: skip
    """Write `first` of `ContactBlocks` island after island, where touches and bodies begin, and islands of bodies.

    An island has one entry more in `first` than it has contacts.
    """
    first[:] = 0
    touch_begin[:] = 0
    body_begin[:] = 0
    for b in range(len(moves)):
        body_island[b] = -1
        for e in range(body_first[b], body_first[b + 1]):
            c = touch_contact[e]
            k = label[c]
            if moves[b] and k >= 0:
                body_island[b] = k
                first[contact_begin[k] + k + position[c] + 1] += 1
                touch_begin[k + 1] += 1
        if body_island[b] >= 0:
            body_begin[body_island[b] + 1] += 1
    for k in range(len(touch_begin) - 1):
        touch_begin[k + 1] += touch_begin[k]
        body_begin[k + 1] += body_begin[k]
        for i in range(contact_begin[k] + k, contact_begin[k + 1] + k):
            first[i + 1] += first[i]


@compiled
def place_touches(
    body_first: IntArray, body_size: IntArray, touch_contact: IntArray, touch_place: IntArray, label: IntArray,
    position: IntArray, contact_begin: IntArray, first: IntArray, touch_begin: IntArray, body_begin: IntArray,
    body_island: IntArray, velocity_count: IntArray, velocity: IntArray, size: IntArray, place: IntArray,
    contact: IntArray, new_body_first: IntArray, body_touch: IntArray,
) -> None:  # fmt: skip
    """Write the other arrays of `ContactBlocks` island after island, and the length of each island's v."""
    velocity_count[:] = 0
    next_touch, next_body, listed = first.copy(), body_begin.copy(), touch_begin.copy()
    for k in range(len(touch_begin) - 1):
        new_body_first[body_begin[k] + k] = 0
    for b in range(len(body_size)):
        k = body_island[b]
        if k < 0:
            continue
        for e in range(body_first[b], body_first[b + 1]):
            c = touch_contact[e]
            if label[c] < 0:
                continue
            row = contact_begin[k] + k + position[c]
            own = next_touch[row]
            next_touch[row] += 1
            at = touch_begin[k] + own
            velocity[at], size[at], place[at] = velocity_count[k], body_size[b], touch_place[e]
            contact[at] = position[c]
            body_touch[listed[k]] = own
            listed[k] += 1
        new_body_first[next_body[k] + k + 1] = listed[k] - touch_begin[k]
        next_body[k] += 1
        velocity_count[k] += body_size[b]
