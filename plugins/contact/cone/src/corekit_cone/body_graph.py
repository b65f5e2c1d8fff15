"""In which order bodies are eliminated from the linear equations of `block_newton`, and which blocks this fills.

The equations have a block for each body and couple bodies that share a contact. When a body is eliminated, all its
remaining neighbours become neighbours of each other. The next one always is a body of least degree. The graph is that
of the bodies, not of their velocities: it is six times smaller each way, and bodies stay together.

Source: George, Liu (1989), The evolution of the minimum degree ordering algorithm, SIAM Review 31.
"""

from __future__ import annotations

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import BoolArray, IntArray

__all__ = ["eliminate_bodies", "position_of"]


@compiled
def _join_neighbours(first: IntArray, body: IntArray, near: BoolArray, degree: IntArray) -> None:
    """Write True for bodies that share a contact, and how many each has."""
    for c in range(len(first) - 1):
        for e in range(first[c], first[c + 1]):
            for f in range(first[c], first[c + 1]):
                one, other = body[e], body[f]
                if one != other and not near[one, other]:
                    near[one, other] = True
                    degree[one] += 1


@compiled
def _eliminate(near: BoolArray, degree: IntArray, order: IntArray, begin: IntArray, later: IntArray) -> bool:
    """Write the order and the neighbours that each body has when it goes; False if `later` is too short."""
    bodies, count = len(order), 0
    is_gone = np.zeros(bodies, dtype=np.bool_)
    for k in range(bodies):
        b, least = -1, bodies
        for i in range(bodies):
            if not is_gone[i] and degree[i] < least:
                b, least = i, degree[i]
        order[k], begin[k], is_gone[b] = b, count, True
        if count + least > len(later):
            return False
        own = later[count : count + least]
        n = 0
        for j in range(bodies):
            if near[b, j] and not is_gone[j]:
                own[n] = j
                n += 1
        count += n
        for i in own:
            degree[i] -= 1
            for j in own:
                if i != j and not near[i, j]:
                    near[i, j] = True
                    degree[i] += 1
    begin[bodies] = count
    return True


@compiled
def _number_positions(order: IntArray, begin: IntArray, later: IntArray) -> None:
    """Replace bodies by their positions in the order, rising for each body."""
    position = np.empty(len(order), dtype=np.int64)
    for k in range(len(order)):
        position[order[k]] = k
    for k in range(len(order)):
        own = later[begin[k] : begin[k + 1]]
        for p in range(len(own)):
            own[p] = position[own[p]]
        own.sort()


def eliminate_bodies(first: IntArray, body: IntArray, bodies: int) -> tuple[IntArray, IntArray, IntArray]:
    """Order the bodies.

    Args:
        first: touches of contact c are first[c] ≤ e < first[c + 1], shape (m + 1,).
        body: of every touch, shape (E,).
        bodies: B, how many there are.

    Returns:
        The body at each position (B,); where the neighbours of a position that go later begin (B + 1,); these, by
        their positions, rising.
    """
    order, begin = np.empty(bodies, dtype=np.int64), np.empty(bodies + 1, dtype=np.int64)
    room = 8 * (len(body) + 1)
    while True:
        near, degree = np.zeros((bodies, bodies), dtype=np.bool_), np.zeros(bodies, dtype=np.int64)
        _join_neighbours(first, body, near, degree)
        later: IntArray = np.empty(room, dtype=np.int64)
        if _eliminate(near, degree, order, begin, later):
            break
        room *= 4
    later = later[: begin[-1]]
    _number_positions(order, begin, later)
    return order, begin, later


@compiled
def position_of(later: IntArray, low: int, high: int, wanted: int) -> int:
    """The index of `wanted` among the rising values later[low:high], by bisection."""
    while low < high:
        middle = (low + high) // 2
        if later[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low
