"""Initial state from the user's options."""

from __future__ import annotations

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.data.state import State
from corekit.errors import ConfigError, Mistake
from corekit_der.clamp_motion import ClampMotion
from corekit_der.elasticity import Elasticity
from corekit_der.frames import transport_directors
from corekit_der.graph import Graph
from corekit_der.initial_options import BendingMode, DERInitial, LimbStart, bending_mode
from corekit_der.numbering import Numbering

__all__ = ["InitialStateWriter"]


class InitialStateWriter:
    """Writer of initial states of one graph of rods.

    Args:
        path: path of the body, for messages.
        rest_q, rest_aux: q and aux of the rest shape.
    """

    def __init__(
        self,
        path: str,
        graph: Graph,
        numbering: Numbering,
        elasticity: Elasticity,
        clamp_motion: ClampMotion,
        rest_q: Array,
        rest_aux: Array,
    ) -> None:
        self._path, self._graph, self._numbering = path, graph, numbering
        self._elasticity, self._clamp_motion = elasticity, clamp_motion
        self._rest_q, self._rest_aux = rest_q, rest_aux
        self._x = numbering.node[:, None] + np.arange(len(elasticity.axes))
        self._names = [limb.name for limb in graph.limbs]

    def write(self, initial: DERInitial, out: State) -> None:
        """Write q, v, aux and time.

        Raises:
            ConfigError: unknown limbs or one twice, wrong numbers of points, what leaves the plane of planar rods, or
                clamped nodes that start away from their clamp.
        """
        mistakes: list[Mistake] = []
        out.time = 0.0
        out.q[:], out.v[:], out.aux[:] = self._rest_q, 0.0, self._rest_aux
        names = [start.limb for start in initial.limbs]
        for i, start in enumerate(initial.limbs):
            if start.limb in names[:i]:
                reason = f"is the limb of limbs[{names.index(start.limb)}]: start each limb once"
                mistakes.append(Mistake(f"{self._path}.initial.limbs[{i}].limb", start.limb, reason))
                continue
            self._write_limb(start, f"{self._path}.initial.limbs[{i}]", out, mistakes)
        for i, mode in enumerate(initial.modes):
            self._add_mode(mode, f"{self._path}.initial.modes[{i}]", out, mistakes)
        if initial.limbs:
            mistakes.extend(self._check_clamps(out))
        self._extend_ends(out)
        if mistakes:
            raise ConfigError(mistakes, "the initial state")
        self._elasticity.update_reference_twists(out.q, out.aux)

    def _extend_ends(self, out: State) -> None:
        """Write the free ghosts at ends: they continue the edge before them straight."""
        graph, x, angle = self._graph, self._x, self._numbering.edge
        for _, end, ghost in graph.end_frames:
            behind = int(graph.edge[ghost].sum()) - end
            (first,) = np.flatnonzero((graph.edge == end).any(axis=1) & (np.arange(len(graph.edge)) != ghost))
            other = int(graph.edge[first].sum()) - end
            for values in (out.q, out.v):
                values[x[behind]] = 2.0 * values[x[end]] - values[x[other]]
                values[angle[ghost]] = values[angle[first]]
            out.aux[6 * ghost : 6 * ghost + 6] = out.aux[6 * first : 6 * first + 6]

    def _find_limb(self, name: str, where: str, mistakes: list[Mistake]) -> tuple[IntArray, IntArray] | None:
        """Return the nodes and edges of a limb; None after a mistake."""
        if name not in self._names:
            mistakes.append(Mistake(f"{where}.limb", name, f"limbs are {', '.join(self._names)}"))
            return None
        number = self._names.index(name)
        return self._graph.nodes_of[number], np.flatnonzero(self._graph.limb == number)

    def _write_limb(self, start: LimbStart, where: str, out: State, mistakes: list[Mistake]) -> None:
        found = self._find_limb(start.limb, where, mistakes)
        if found is None:
            return
        (nodes, edges), axes = found, list(self._elasticity.axes)
        before = len(mistakes)
        for name in ("points", "velocities"):
            entries = getattr(start, name)
            if entries and len(entries) != len(nodes):
                reason = f"give one for each of the {len(nodes)} nodes"
                mistakes.append(Mistake(f"{where}.{name}", f"{len(entries)} entries", reason))
        across = any(point[1] for point in (*start.points, start.velocity, *start.velocities))
        if len(axes) == 2 and (start.twist or start.spin or across):
            mistakes.append(
                Mistake(
                    where, "twist, spin or something along y", "a planar rod stays in the base's x–z plane"
                )
            )
        if len(mistakes) > before:
            return
        x = self._x[nodes]
        out.v[x] += np.array(start.velocity)[axes]
        if start.velocities:
            out.v[x] += np.array(start.velocities)[:, axes]
        if start.points:
            out.q[x] = np.array(start.points)[:, axes]
            if len(axes) == 3:
                self._set_sources(edges, out)
        if len(axes) == 3:
            arc = np.cumsum(self._graph.length[edges]) - 0.5 * self._graph.length[edges]
            out.q[self._numbering.edge[edges]] += start.twist * (arc - arc[0])
            out.v[self._numbering.edge[edges[~self._graph.prescribed_edge[edges]]]] += start.spin

    def _add_mode(self, mode: BendingMode, where: str, out: State, mistakes: list[Mistake]) -> None:
        found = self._find_limb(mode.limb, where, mistakes)
        if len(self._elasticity.axes) == 2 and mode.tip[1]:
            reason = "a planar rod stays in the base's x–z plane: y must be 0"
            mistakes.append(Mistake(f"{where}.tip", list(mode.tip), reason))
        elif found is not None:
            nodes, edges = found
            arc = np.concatenate([[0.0], np.cumsum(self._graph.length[edges])])[: len(nodes)]
            shape = bending_mode(mode.number, arc / arc[-1])
            out.v[self._x[nodes]] += np.outer(shape, np.array(mode.tip)[list(self._elasticity.axes)])

    def _set_sources(self, edges: IntArray, out: State) -> None:
        """Set the sources of a limb's edges to its present shape, without twist."""
        graph = self._graph
        edges = edges[~graph.prescribed_edge[edges]]
        if not len(edges):
            return
        ends = graph.edge[edges]
        vector = out.q[self._x[ends[:, 1]]] - out.q[self._x[ends[:, 0]]]
        length = np.linalg.norm(vector, axis=1)
        tangent = vector / np.where(length > 0.0, length, 1.0)[:, None]
        before, director = graph.tangent[edges[0]], graph.director[edges[0]]
        if before @ tangent[0] > -1.0 + 1e-9:  # otherwise it is orthogonal to both
            director = transport_directors(np.vstack([before, tangent[0]]), director)[1]
        source = np.column_stack([tangent, transport_directors(tangent, director)])
        out.aux[(6 * edges)[:, None] + np.arange(6)] = source

    def _check_clamps(self, state: State) -> list[Mistake]:
        """Return a mistake if clamped coordinates start away from their clamp."""
        index = self._clamp_motion.index
        value, rate = np.zeros(len(index)), np.zeros(len(index))
        self._clamp_motion.evaluate(state.time, value, rate)
        far = np.abs(state.q[index] - value) > 1e-6 * float(np.max(self._graph.length))
        far &= state.q[index] != self._rest_q[index]
        if not far.any():
            return []
        reason = "must start at the clamp: change these points or the rest shape"
        found = f"{int(far.sum())} clamped coordinates away from their clamp"
        return [Mistake(f"{self._path}.initial.limbs", found, reason)]
