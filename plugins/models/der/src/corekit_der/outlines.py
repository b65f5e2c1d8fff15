"""What is drawn of a graph of rods: limbs as tubes, and cables as lines beside them.

A cable with the offsets y and z runs through the section in the middle of every edge of its limb, and through those at
the limb's ends, which are those of the first and last edge, or of the ghosts behind them where an end is clamped,

    p_j = ½·(x_a + x_b) + y·m₁ + z·m₂,        p_end = x_end + y·m₁ + z·m₂                                (1)

so that the line is as long as (1) of `cables` says, but for the l·φ²/8 by which it cuts corners of an angle φ.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.roles.model import Outline
from corekit_der.graph import Graph

__all__ = ["cable_edges", "cable_line", "limb_outline"]


def cable_edges(graph: Graph, limb: str) -> IntArray:
    """Return the edges whose sections a cable of a limb runs through, in order, those of the ends around them."""
    edges = np.flatnonzero(graph.limb == [each.name for each in graph.limbs].index(limb))
    if graph.limbs[int(graph.limb[edges[0]])].closed:
        return np.append(edges, edges[0])
    ghosts = graph.limb[graph.pair] < 0
    before = graph.pair[ghosts[:, 0] & (graph.pair[:, 1] == edges[0]), 0]
    behind = graph.pair[ghosts[:, 1] & (graph.pair[:, 0] == edges[-1]), 1]
    return np.concatenate(
        [before[:1] if len(before) else edges[:1], edges, behind[:1] if len(behind) else edges[-1:]]
    )


def cable_line(
    graph: Graph, limb: str, offset: tuple[float, float], points: Array, middles: Array, axes: Array
) -> Array:
    """Return (1), (k, 3) [m], closed where the limb is.

    Args:
        offset: y and z [m].
        points: of all nodes (N, 3). middles, axes: of `cable_edges`, (k, 3) and (k, 3, 3), with m₁, m₂, t as columns.
    """
    number = [each.name for each in graph.limbs].index(limb)
    line = middles.copy()
    if not graph.limbs[number].closed:
        line[[0, -1]] = points[graph.nodes_of[number][[0, -1]]]
    return line + axes[:, :, :2] @ np.array(offset)


def limb_outline(graph: Graph, points: Array, cables: Sequence[tuple[str, Array]]) -> Outline:
    """Return polylines of the limbs through `points` of all nodes (N, 3) [m], that of a ring closed, and cables."""
    chains, radii = list[IntArray](), list[Array]()
    for i, limb in enumerate(graph.limbs):
        nodes, own = graph.nodes_of[i], graph.radius[graph.limb == i]
        chains.append(np.append(nodes, nodes[0]) if limb.closed else nodes)
        before, after = (own[-1:], own[:1]) if limb.closed else (own[:1], own[-1:])
        radii.append(0.5 * (np.concatenate([before, own]) + np.concatenate([own, after])))
    starts = np.concatenate([[0], np.cumsum([len(chain) for chain in chains])[:-1]])
    every = points[np.concatenate(chains)]
    return Outline(
        points=every, radius=np.concatenate(radii), starts=starts.astype(np.int64), actuators=tuple(cables)
    )
