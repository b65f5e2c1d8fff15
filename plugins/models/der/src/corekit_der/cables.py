"""Cables along limbs, pulled by tension or wound up by length.

A cable at the offsets y and z along directors 1 and 2 follows the limb, which bends towards director 1 by k₁ > 0 and
towards director 2 by k₂ > 0 (see `elastic_forces`), so that on the limb's edges and pairs

    ℓ = Σ_edges (l − L) − Σ_pairs (y·k₁ + z·k₂),     f = −T·B,     B = ∂ℓ/∂q                        (1)

with T given or that of `corekit.roles.cables` for ℓ, the change of the cable's length from the rest shape on. The half
edge at a free end does not bend, so that a stretch is of first order in the edge length; forces are of second order.
A tension is a stress: T in every edge, and −T·(y, z) in every pair, as if its rest strain were larger by

    k̄₁ + T·y·V/EI₁,     k̄₂ + T·z·V/EI₂                                                        (2)

so the kernels of elasticity give (1) and the part of K with T constant, in the same band. A drive by length
adds B·(∂T/∂ℓ)·Bᵀ over all coordinates of the limb; K is then sparse.                              (3)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.data.state import State
from corekit.errors import ConfigError, Mistake
from corekit.linalg.matrices import Matrix, Sparse
from corekit.roles.cables import cable_tension
from corekit.roles.model import Channel, ChannelKind
from corekit_der.config import Cable, DERConfig
from corekit_der.elasticity import Elasticity
from corekit_der.graph import Graph
from corekit_der.tables import BlockEntries, Rods
from corekit_der.vectors import compiled

if TYPE_CHECKING:
    from corekit_der.symbolic import CableExpressionData

__all__ = ["Cables"]


class Cables:
    """The cables of a graph of rods.

    Args:
        first: input of the first cable.

    Attributes:
        channels: `tension-NAME` or `length-NAME`, one per cable.
        blocks: coordinates along every cable driven by length, (1, d).
    """

    def __init__(self, config: DERConfig, graph: Graph, elasticity: Elasticity, first: int) -> None:
        self._cables, self._elasticity, self._rods, self._first = (
            config.cables,
            elasticity,
            elasticity.rods,
            first,
        )
        self.channels = tuple(map(_channel, config.cables))
        names, mistakes = [limb.name for limb in config.limbs], list[Mistake]()
        self._edges: list[IntArray] = []
        self._arm = np.zeros((len(config.cables), len(graph.pair), 3))
        self.blocks: list[IntArray] = []
        for i, cable in enumerate(config.cables):
            if cable.limb not in names:
                mistakes.append(Mistake(f"cables[{i}].limb", cable.limb, f"limbs are {', '.join(names)}"))
                continue
            if config.planar and cable.offset[1]:
                mistakes.append(
                    Mistake(f"cables[{i}].offset", list(cable.offset), "a planar rod has only the first")
                )
            limb = names.index(cable.limb)
            edges, pairs = np.flatnonzero(graph.limb == limb), np.flatnonzero(graph.pair_limb == limb)
            self._edges.append(edges)
            self._arm[i, pairs, :2] = cable.offset
            if cable.drive == "length":
                dofs = [elasticity.blocks[0][edges].ravel(), elasticity.blocks[1][pairs].ravel()]
                self.blocks.append(np.unique(np.concatenate(dofs))[None, :])
        if mistakes:
            raise ConfigError(mistakes, "the cables")
        self._strains, self._entries = np.zeros((len(graph.pair), 3)), list[IntArray]()
        self._tension, self._by_length = np.zeros(len(config.cables)), np.zeros(len(config.cables))
        self._rest = self._strains.copy()

    def set_rest(self, q: Array, aux: Array) -> None:
        """Count lengths from this shape on."""
        self._elasticity.compute_strains(q, aux, self._rest)

    def find_entries(self, matrix: Matrix) -> None:
        """Find the entries of K for (3)."""
        if not isinstance(matrix, Sparse):
            return
        for dofs in self.blocks:
            rows, columns = np.meshgrid(dofs[0], dofs[0], indexing="ij")
            self._entries.append(matrix.pattern.where(rows.ravel(), columns.ravel()).reshape(rows.shape))

    def apply(self, state: State, inputs: Array) -> None:
        """Compute the tensions and shift the rest strains by (2); these are those without cables before."""
        if not self._cables:
            return
        if any(cable.drive == "length" for cable in self._cables):
            self._elasticity.compute_strains(state.q, state.aux, self._strains)
        for i, cable in enumerate(self._cables):
            given = float(inputs[self._first + i])
            self._tension[i], self._by_length[i] = given, 0.0
            if cable.stiffness is not None and cable.drive == "length":
                edges = self._edges[i]
                length = np.sum(self._rods.edge_state[edges, 3] - self._rods.length[edges])
                length -= np.sum(self._arm[i] * (self._strains - self._rest))
                self._tension[i], self._by_length[i] = cable_tension(
                    length + given, cable.stiffness, cable.limit
                )
        stiffness = self._rods.pair_stiffness
        moments = np.einsum("c,cpi->pi", self._tension, self._arm)
        self._rods.rest_strain[:] += np.divide(
            moments, stiffness, out=np.zeros_like(moments), where=stiffness > 0.0
        )

    def add_axial_forces(self, out: Array) -> None:
        """Add the first sum of (1), for the edge state; the second comes with elasticity."""
        for edges, tension in zip(self._edges, self._tension, strict=True):
            add_tension(self._rods, edges, tension, len(self._elasticity.axes), out)

    def add_axial_stiffness(self, entries: BlockEntries, flat: Array) -> None:
        """Add its derivative to the flat storage of K."""
        block = np.zeros(36)
        for edges, tension in zip(self._edges, self._tension, strict=True):
            add_tension_stiffness(
                self._rods, edges, tension, len(self._elasticity.axes), entries, block, flat
            )

    def compute_slope(self, state: State, i: int) -> Array:
        """Return B of cable i, (n,): elasticity is linear in the rest strains."""
        rods, q, aux = self._rods, state.q, state.aux
        before, out, without = rods.rest_strain.copy(), np.zeros(len(q)), np.zeros(len(q))
        bent = (0.0, 1.0, 1.0)
        self._elasticity.add_forces(q, aux, bent, without)
        stiffness = rods.pair_stiffness
        rods.rest_strain[:] += np.divide(
            self._arm[i], stiffness, out=np.zeros_like(stiffness), where=stiffness > 0.0
        )
        self._elasticity.add_forces(q, aux, bent, out)
        rods.rest_strain[:] = before
        add_tension(rods, self._edges[i], 1.0, len(self._elasticity.axes), out)
        return without - out

    def add_length_stiffness(self, state: State, stiffness: Matrix) -> None:
        """Add (3)."""
        driven = [i for i, cable in enumerate(self._cables) if cable.drive == "length"]
        for i, dofs, entries in zip(driven, self.blocks, self._entries, strict=True):
            if self._by_length[i]:
                slope = self.compute_slope(state, i)[dofs[0]]
                stiffness.data[entries] += self._by_length[i] * np.outer(slope, slope)

    def expression_data(self) -> list[CableExpressionData]:
        """Return what the expressions need."""
        from corekit_der.symbolic import CableExpressionData

        return [
            CableExpressionData(
                edges=self._edges[i],
                arm=self._arm[i],
                rest=self._rest,
                stiffness=cable.stiffness if cable.drive == "length" else None,
                limit=cable.limit,
                first=self._first + i,
            )
            for i, cable in enumerate(self._cables)
        ]

    def write_input_jacobian(self, state: State, out: Array) -> None:
        """Write the columns of ∂f/∂u."""
        for i, cable in enumerate(self._cables):
            factor = self._by_length[i] if cable.drive == "length" else 1.0
            out[:, self._first + i] = -factor * self.compute_slope(state, i)


def _channel(cable: Cable) -> Channel:
    if cable.drive == "tension":
        return Channel(f"tension-{cable.name}", "N", lower=0.0, upper=cable.limit, sign="pulls")
    sign = "wound up from the rest shape on; below 0 it is let out and slack"
    return Channel(f"length-{cable.name}", "m", kind=ChannelKind.POSITION, sign=sign)


@compiled
def add_tension(rods: Rods, edges: IntArray, tension: float, width: int, force: Array) -> None:
    """Add what pulls the ends of edges together, for the edge state; a node has `width` coordinates."""
    for j in edges:
        for k in range(width):
            force[rods.edge[j, 0] + k] += tension * rods.edge_state[j, k]
            force[rods.edge[j, 1] + k] -= tension * rods.edge_state[j, k]


@compiled
def add_tension_stiffness(
    rods: Rods, edges: IntArray, tension: float, width: int, entries: BlockEntries, block: Array, K: Array
) -> None:
    """Add T·(1 − t∘t)/l of edges to the flat storage of K; `block` is a workspace, (36,)."""
    for j in edges:
        t, length = rods.edge_state[j], rods.edge_state[j, 3]
        for a in range(width):
            for b in range(width):
                value = tension * ((1.0 if a == b else 0.0) - t[a] * t[b]) / length
                row, below = 2 * width * a, 2 * width * (width + a)
                block[row + b] = block[below + width + b] = value
                block[row + width + b] = block[below + b] = -value
        base, kind = entries.base[j], entries.kind[j]
        for k in range(len(entries.entry)):
            K[base + entries.table[kind, k]] += block[entries.entry[k]]
