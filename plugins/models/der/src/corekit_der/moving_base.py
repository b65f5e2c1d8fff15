"""A base that moves: the clamp is released, and the edge that it held is the base.

The coordinates stay those of nodes and edges in axes that do not move, and the joint that holds the base holds that
edge: x_c, the clamped node, and the axes E = (m₁, m₂, t), so that at the rest values x̂_c and Ê

    R = E·Êᵀ,   o = x_c − R·x̂_c                                                              (1)

are the pose of the base. The rest of its seven coordinates, the edge's length, is elastic.

The ghost edge behind a clamp becomes a free one, see `free_ghosts`.
"""

from __future__ import annotations

from typing import final

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.data.state import State
from corekit.errors import ConfigError, Mistake
from corekit_der.config import Clamp, DERConfig
from corekit_der.elasticity import Elasticity
from corekit_der.free_ghosts import FreeGhost
from corekit_der.graph import Graph

__all__ = ["BaseEdge", "release_clamp"]


def release_clamp(config: DERConfig, graph: Graph, path: str) -> BaseEdge:
    """Release the only clamp of a graph; return the edge that carries the base.

    Raises:
        ConfigError: planar rods, another number of clamps than one, one that holds no direction or several edges, or
            one that moves by itself.
    """
    _check(config, graph, path)
    ((clamp, node, _, edges),) = graph.clamps
    graph.prescribed_node[:], graph.prescribed_edge[:] = False, False
    graph.clamps.clear()
    edge = int(edges[0])
    base = BaseEdge(graph, edge, node)
    if clamp.kind == "clamp":
        base.ghost = FreeGhost.of(graph, edge, node)
    return base


def _check(config: DERConfig, graph: Graph, path: str) -> None:
    wrong: list[Mistake] = []
    where = f"{path}.options"
    if config.planar:
        wrong.append(
            Mistake(f"{where}.planar", True, "must be false: a base that moves carries the plane away")
        )
    if len(config.clamps) != 1:
        said = "a base that moves holds the rods at one clamp; hold other nodes by [[joints]] of edges"
        wrong.append(Mistake(f"{where}.clamps", f"{len(config.clamps)} clamps", said))
    for i, clamp in enumerate(config.clamps[:1]):
        here = f"{where}.clamps[{i}]"
        if clamp.kind == "pin":
            wrong.append(
                Mistake(f"{here}.kind", "pin", "must be 'clamp' or 'edge': a base holds a direction")
            )
        elif len(graph.clamps[0][3]) != 1:
            said = "must be a node of one edge: a base that moves holds one"
            wrong.append(Mistake(f"{here}.at", clamp.at, said))
        wrong += _motions(clamp, here)
    if wrong:
        raise ConfigError(wrong, path)


def _motions(clamp: Clamp, where: str) -> list[Mistake]:
    said = "leave it out: what carries the base moves it"
    return [
        Mistake(f"{where}.{name}", "a signal", said)
        for name in ("displacement", "angle", "twist")
        if getattr(clamp, name) is not None
    ]


@final
class BaseEdge:
    """The edge that is the base.

    Attributes:
        edge: its index. along: place of the clamped node on it, 0 or 1.
        place, axes: x̂_c [m] and Ê of (1), (3,) and (3, 3).
        ghost: its ghost, or None.
    """

    def __init__(self, graph: Graph, edge: int, node: int) -> None:
        self.edge, self.along = edge, float(graph.edge[edge, 1] == node)
        self.place = graph.position[node].copy()
        tangent, director = graph.tangent[edge], graph.director[edge]
        self.axes = np.column_stack([director, np.cross(tangent, director), tangent])
        self.ghost: FreeGhost | None = None

    def carry(
        self, elasticity: Elasticity, node_dofs: IntArray, angle: IntArray, before: tuple[Array, Array, Array, Array],
        after: tuple[Array, Array, Array, Array], state: State,
    ) -> None:  # fmt: skip
        """Move all rods with the base, as a rigid body.

        Args:
            node_dofs, angle: indices of nodes (N, 3) and of angles (E,).
            before, after: position, rotation, velocity and angular velocity of the base, in the axes of coordinates.
        """
        (p, turn, v, spin), (p_new, turn_new, v_new, spin_new) = before, after
        relative = state.v - self._rigid(elasticity, node_dofs, angle, state, p, v, spin)
        change = turn_new @ turn.T
        state.q[node_dofs] = p_new + (state.q[node_dofs] - p) @ change.T
        sources = state.aux[: 6 * len(angle)].reshape(-1, 2, 3)
        sources[:] = sources @ change.T
        relative[node_dofs] = relative[node_dofs] @ change.T
        state.v[:] = relative + self._rigid(elasticity, node_dofs, angle, state, p_new, v_new, spin_new)

    @staticmethod
    def _rigid(
        elasticity: Elasticity, node_dofs: IntArray, angle: IntArray, state: State, p: Array, v: Array, spin: Array
    ) -> Array:  # fmt: skip
        """Velocities (n,) of a rigid motion: ω × e of edges, and θ̇ = ω·t − A·(ω × e) by (2) of `frames`."""
        out = np.zeros(len(state.v))
        out[node_dofs] = v + np.cross(spin, state.q[node_dofs] - p)
        elasticity.compute_edges(state.q, state.aux)
        edges = elasticity.rods.edge_state
        swept = np.cross(spin, edges[:, 3:4] * edges[:, :3])
        out[angle] = edges[:, :3] @ spin - np.einsum("ei,ei->e", edges[:, 10:13], swept)
        return out
