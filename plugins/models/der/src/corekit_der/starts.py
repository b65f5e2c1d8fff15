"""The start that a user describes, written into a state."""

from __future__ import annotations

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.data.state import State
from corekit.errors import ConfigError, Mistake
from corekit_der.forms import Form
from corekit_der.frames import directors_along
from corekit_der.graph import Graph
from corekit_der.initial import BendingMode, DERInitial, LimbStart, bending_mode
from corekit_der.motion import HeldMotion
from corekit_der.numbering import Numbering

__all__ = ["Starter"]


class Starter:
    """Writes starts of one graph of rods.

    Args:
        path: of the body, for messages.
        rest_q, rest_aux: the rest state.
    """

    def __init__(
        self,
        path: str,
        graph: Graph,
        numbering: Numbering,
        form: Form,
        held: HeldMotion,
        rest_q: Array,
        rest_aux: Array,
    ) -> None:
        self._path, self._graph, self._numbering, self._form, self._held = path, graph, numbering, form, held
        self._rest_q, self._rest_aux = rest_q, rest_aux
        self._x = numbering.node[:, None] + np.arange(len(form.axes))
        self._names = [limb.name for limb in graph.limbs]

    def write(self, initial: DERInitial, out: State) -> None:
        """Write q, v, aux and time.

        Raises:
            ConfigError: limbs that do not exist, wrong numbers of points, held nodes elsewhere than they are held.
        """
        wrong: list[Mistake] = []
        out.time = 0.0
        out.q[:], out.v[:], out.aux[:] = self._rest_q, 0.0, self._rest_aux
        for i, start in enumerate(initial.limbs):
            self._limb(start, f"{self._path}.initial.limbs[{i}]", out, wrong)
        for i, mode in enumerate(initial.modes):
            self._mode(mode, f"{self._path}.initial.modes[{i}]", out, wrong)
        if initial.limbs:
            wrong.extend(self._held_elsewhere(out))
        if wrong:
            raise ConfigError(wrong, "the initial state")
        self._form.follow(out.q, out.aux)

    def _find(self, name: str, where: str, wrong: list[Mistake]) -> tuple[IntArray, IntArray] | None:
        """Nodes and edges of a limb."""
        if name not in self._names:
            wrong.append(Mistake(f"{where}.limb", name, f"limbs are {', '.join(self._names)}"))
            return None
        number = self._names.index(name)
        return self._graph.nodes_of[number], np.flatnonzero(self._graph.limb == number)

    def _limb(self, start: LimbStart, where: str, out: State, wrong: list[Mistake]) -> None:
        found = self._find(start.limb, where, wrong)
        if found is None:
            return
        (nodes, edges), axes = found, list(self._form.axes)
        before = len(wrong)
        for word in ("points", "velocities"):
            given = getattr(start, word)
            if given and len(given) != len(nodes):
                said = f"give one for each of the {len(nodes)} nodes"
                wrong.append(Mistake(f"{where}.{word}", f"{len(given)} entries", said))
        if len(axes) == 2 and (start.twist or any(point[1] for point in start.points)):
            wrong.append(
                Mistake(where, "twist or a y coordinate", "a planar rod stays in the base's x–z plane")
            )
        if len(wrong) > before:
            return
        x = self._x[nodes]
        out.v[x] += np.array(start.velocity)[axes]
        if start.velocities:
            out.v[x] += np.array(start.velocities)[:, axes]
        if start.points:
            out.q[x] = np.array(start.points)[:, axes]
            if len(axes) == 3:
                self._follow_shape(edges, out)
        if len(axes) == 3:
            arc = np.cumsum(self._graph.length[edges]) - 0.5 * self._graph.length[edges]
            out.q[self._numbering.edge[edges]] += start.twist * (arc - arc[0])

    def _mode(self, mode: BendingMode, where: str, out: State, wrong: list[Mistake]) -> None:
        found = self._find(mode.limb, where, wrong)
        if found is not None:
            nodes, edges = found
            arc = np.concatenate([[0.0], np.cumsum(self._graph.length[edges])])[: len(nodes)]
            shape = bending_mode(mode.number, arc / arc[-1])
            out.v[self._x[nodes]] += np.outer(shape, np.array(mode.tip)[list(self._form.axes)])

    def _follow_shape(self, edges: IntArray, out: State) -> None:
        """Sources of a limb's edges at its present shape, free of twist from its first edge on."""
        graph = self._graph
        edges = edges[~graph.held_edge[edges]]
        if not len(edges):
            return
        ends = graph.edge[edges]
        vector = out.q[self._x[ends[:, 1]]] - out.q[self._x[ends[:, 0]]]
        length = np.linalg.norm(vector, axis=1)
        tangent = vector / np.where(length > 0.0, length, 1.0)[:, None]
        before, director = graph.tangent[edges[0]], graph.director[edges[0]]
        if before @ tangent[0] > -1.0 + 1e-9:  # else it is orthogonal to both
            director = directors_along(np.vstack([before, tangent[0]]), director)[1]
        source = np.column_stack([tangent, directors_along(tangent, director)])
        out.aux[(6 * edges)[:, None] + np.arange(6)] = source

    def _held_elsewhere(self, state: State) -> list[Mistake]:
        """Held coordinates that were given a start elsewhere than they are held."""
        index = self._held.index
        value, rate = np.zeros(len(index)), np.zeros(len(index))
        self._held.at(state.time, value, rate)
        far = np.abs(state.q[index] - value) > 1e-6 * float(np.max(self._graph.length))
        far &= state.q[index] != self._rest_q[index]
        if not far.any():
            return []
        said = "is held elsewhere: start it where its clamp is, or change the rest shape"
        found = f"{int(far.sum())} held coordinates moved by the start"
        return [Mistake(f"{self._path}.initial.limbs", found, said)]
