"""In which order bodies are eliminated from the linear equations of `block_newton`.

The matrix has a block per body and couples bodies that share a contact. The order of minimum degree is found on the
graph of the bodies, not of their velocities: it is six times smaller each way, and bodies stay together. Elimination
in this order without pivoting keeps the fill of the graph; pivots are safe, since the matrix is the identity plus a
product that is positive semidefinite for all but sliding contacts.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from corekit.data.arrays import IntArray
from corekit.roles.contact_blocks import ContactBlocks

__all__ = ["order_bodies"]

_FEW: Final = 30
"""Bodies that are eliminated as they stand: to find an order costs more."""


def order_bodies(blocks: ContactBlocks) -> ContactBlocks:
    """Return the same blocks with the bodies' velocities in an order of little fill."""
    from scipy.sparse import coo_array, diags_array
    from scipy.sparse.linalg import splu

    bodies = len(blocks.body_first) - 1
    if bodies <= _FEW:
        return blocks
    body: IntArray = np.empty(len(blocks.contact), dtype=np.int64)
    body[blocks.body_touch] = np.repeat(np.arange(bodies), np.diff(blocks.body_first))
    touches: IntArray = np.diff(blocks.first)
    one, other = _neighbours(blocks.first, body, touches)
    graph = coo_array((np.ones(len(one)), (one, other)), shape=(bodies, bodies)).tocsc()
    dominant = (graph + diags_array(graph.sum(axis=1) + 1.0)).tocsc()
    order = splu(
        dominant, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
    ).perm_c
    size: IntArray = np.zeros(bodies, dtype=np.int64)
    size[body] = blocks.size
    by_order: IntArray = np.empty(bodies, dtype=np.int64)
    by_order[order] = size  # body b is the order[b]-th
    begin: IntArray = np.cumsum([0, *by_order], dtype=np.int64)
    return blocks._replace(velocity=begin[order[body]])


def _neighbours(first: IntArray, body: IntArray, touches: IntArray) -> tuple[IntArray, IntArray]:
    """Pairs of bodies that share a contact, in both directions, by contacts with two bodies or more."""
    ones: list[IntArray] = []
    others: list[IntArray] = []
    for count in range(2, int(touches.max(initial=0)) + 1):
        begin = first[:-1][touches == count]
        own = body[begin[:, None] + np.arange(count)]
        for i in range(count):
            for j in range(count):
                if i != j:
                    ones.append(own[:, i])
                    others.append(own[:, j])
    nothing: IntArray = np.zeros(0, dtype=np.int64)
    return np.concatenate([nothing, *ones]), np.concatenate([nothing, *others])
