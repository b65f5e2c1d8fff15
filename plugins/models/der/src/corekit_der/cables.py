"""Cables along limbs, pulled by tension or wound up by length.

A cable at the offsets y and z along directors 1 and 2 follows the limb, which bends towards director 1 by k₁ > 0 and
towards director 2 by k₂ > 0 (see `elastic_forces`), so that on the limb's edges and pairs

    ℓ = Σ_edges (l − L) − Σ_pairs (y·k₁ + z·k₂),     f = −T·B,     B = ∂ℓ/∂q                        (1)

with T given or that of `corekit.roles.cables` for ℓ, the change of the cable's length from the rest shape on. The half
edge at a free end does not bend, so that a stretch is of first order in the edge length; forces are of second order.
A tension is a stress: T in every edge, and −T·(y, z) in every pair, as if its rest strain were larger by

    k̄₁ + T·y·V/EI₁,     k̄₂ + T·z·V/EI₂                                                        (2)

so the kernels of elasticity give (1) and the part of K with T constant, in the same band. With friction, every edge and
pair j has the share g_j(φ) of T (see `cable_friction`), f = −T·B_g with B_g = Σ_j g_j·B_j. A drive by length and
friction add over all coordinates of the limb

    B_g·(∂T/∂ℓ)·Bᵀ + T·Σ_p (Σ_j ∂g_j/∂φ_p·B_j)·(∂φ_p/∂q)ᵀ                                       (3)

so K is then sparse.
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
from corekit_der.cable_friction import Shares, order_pairs, shares_of, turns
from corekit_der.config import Cable, DERConfig
from corekit_der.elasticity import Elasticity
from corekit_der.graph import Graph
from corekit_der.tables import BlockEntries, Rods
from corekit_der.vectors import compiled

if TYPE_CHECKING:
    from corekit_der.symbolic_cables import CableExpressionData

__all__ = ["Cables"]


class Cables:
    """The cables of a graph of rods.

    Args:
        first: input of the first cable.

    Attributes:
        channels: `tension-NAME` or `length-NAME`, one per cable.
        blocks: coordinates along every cable driven by length or with friction, (1, d).
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
        self._pairs: list[IntArray] = []
        self._place: list[Array] = []
        self._shares: list[Shares] = []
        self._bends: list[Array] = [np.zeros((0, 2))] * len(config.cables)
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
            self._pairs.append(pairs)
            self._place.append(order_pairs(elasticity.rods, edges, pairs))
            self._shares.append(shares_of(0.0, self._place[-1], len(edges), np.zeros(len(pairs))))
            if cable.drive == "length" or cable.friction:
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
        if self.blocks:
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
            if cable.friction:
                turn, self._bends[i] = turns(self._strains[self._pairs[i]])
                self._shares[i] = shares_of(cable.friction, self._place[i], len(self._edges[i]), turn)
        moments = np.zeros_like(self._rods.rest_strain)
        for i, tension in enumerate(self._tension):
            pairs = self._pairs[i]
            moments[pairs] += tension * self._shares[i].pair[:, None] * self._arm[i, pairs]
        self._shift_rest_strains(moments)

    def _shift_rest_strains(self, moments: Array) -> None:
        stiffness = self._rods.pair_stiffness
        self._rods.rest_strain[:] += np.divide(
            moments, stiffness, out=np.zeros_like(moments), where=stiffness > 0.0
        )

    def add_axial_forces(self, out: Array) -> None:
        """Add the first sum of (1), for the edge state; the second comes with elasticity."""
        for edges, tension, shares in zip(self._edges, self._tension, self._shares, strict=True):
            add_tension(self._rods, edges, tension * shares.edge, len(self._elasticity.axes), out)

    def add_axial_stiffness(self, entries: BlockEntries, flat: Array) -> None:
        """Add its derivative to the flat storage of K."""
        if not self._cables:
            return
        block = np.zeros(36)
        for edges, tension, shares in zip(self._edges, self._tension, self._shares, strict=True):
            pulls, width = tension * shares.edge, len(self._elasticity.axes)
            add_tension_stiffness(self._rods, edges, pulls, width, entries, block, flat)

    def _slope(self, state: State, i: int, arm: Array, along: Array) -> Array:
        """Return Σ_j B_j, (n,), with other offsets (m, 2) in the pairs of cable i and weights (e,) of its edges.

        Elasticity is linear in the rest strains.
        """
        rods, q, aux, bent = self._rods, state.q, state.aux, (0.0, 1.0, 1.0)
        before, out, without = rods.rest_strain.copy(), np.zeros(len(q)), np.zeros(len(q))
        self._elasticity.add_forces(q, aux, bent, without)
        moments = np.zeros_like(before)
        moments[self._pairs[i], :2] = arm
        self._shift_rest_strains(moments)
        self._elasticity.add_forces(q, aux, bent, out)
        rods.rest_strain[:] = before
        add_tension(rods, self._edges[i], along, len(self._elasticity.axes), out)
        return without - out

    def _weighted_slope(self, state: State, i: int, pair: Array, edge: Array) -> Array:
        """Return Σ_j w_j·B_j of cable i with weights of its pairs and edges: B if all are 1, B_g if they are g."""
        return self._slope(state, i, pair[:, None] * self._arm[i, self._pairs[i], :2], edge)

    def add_dense_stiffness(self, state: State, stiffness: Matrix) -> None:
        """Add (3)."""
        driven = [i for i, cable in enumerate(self._cables) if cable.drive == "length" or cable.friction]
        for i, dofs, entries in zip(driven, self.blocks, self._entries, strict=True):
            shares, block = self._shares[i], np.zeros((state.q.size, state.q.size))
            if self._by_length[i]:
                pulled = self._weighted_slope(state, i, shares.pair, shares.edge)
                slope = self._weighted_slope(state, i, np.ones_like(shares.pair), np.ones_like(shares.edge))
                block += self._by_length[i] * np.outer(pulled, slope)
            if self._cables[i].friction and self._tension[i]:
                still = np.zeros_like(shares.edge)
                for p, bend in enumerate(self._bends[i]):
                    weaker = self._weighted_slope(state, i, shares.pair_slope[:, p], shares.edge_slope[:, p])
                    arm = np.zeros((len(self._pairs[i]), 2))
                    arm[p] = -bend  # B of an offset is minus the derivative of the curvature
                    block += self._tension[i] * np.outer(weaker, self._slope(state, i, arm, still))
            stiffness.data[entries] += block[np.ix_(dofs[0], dofs[0])]

    def expression_data(self) -> list[CableExpressionData]:
        """Return what the expressions need."""
        from corekit_der.symbolic_cables import CableExpressionData

        return [
            CableExpressionData(
                edges=self._edges[i],
                arm=self._arm[i],
                rest=self._rest,
                stiffness=cable.stiffness if cable.drive == "length" else None,
                limit=cable.limit,
                first=self._first + i,
                friction=cable.friction,
                pairs=self._pairs[i],
                place=self._place[i],
            )
            for i, cable in enumerate(self._cables)
        ]

    def write_input_jacobian(self, state: State, out: Array) -> None:
        """Write the columns of ∂f/∂u."""
        for i, cable in enumerate(self._cables):
            factor, shares = self._by_length[i] if cable.drive == "length" else 1.0, self._shares[i]
            out[:, self._first + i] = -factor * self._weighted_slope(state, i, shares.pair, shares.edge)


def _channel(cable: Cable) -> Channel:
    if cable.drive == "tension":
        return Channel(f"tension-{cable.name}", "N", lower=0.0, upper=cable.limit, sign="pulls")
    sign = "wound up from the rest shape on; below 0 it is let out and slack"
    return Channel(f"length-{cable.name}", "m", kind=ChannelKind.POSITION, sign=sign)


@compiled
def add_tension(rods: Rods, edges: IntArray, tension: Array, width: int, force: Array) -> None:
    """Add what pulls the ends of edges together, for the edge state; a node has `width` coordinates."""
    for i, j in enumerate(edges):
        for k in range(width):
            force[rods.edge[j, 0] + k] += tension[i] * rods.edge_state[j, k]
            force[rods.edge[j, 1] + k] -= tension[i] * rods.edge_state[j, k]


@compiled
def add_tension_stiffness(
    rods: Rods, edges: IntArray, tension: Array, width: int, entries: BlockEntries, block: Array, K: Array
) -> None:
    """Add T·(1 − t∘t)/l of edges to the flat storage of K; `block` is a workspace, (36,)."""
    for i, j in enumerate(edges):
        t, length = rods.edge_state[j], rods.edge_state[j, 3]
        for a in range(width):
            for b in range(width):
                value = tension[i] * ((1.0 if a == b else 0.0) - t[a] * t[b]) / length
                row, below = 2 * width * a, 2 * width * (width + a)
                block[row + b] = block[below + width + b] = value
                block[row + width + b] = block[below + b] = -value
        base, kind = entries.base[j], entries.kind[j]
        for k in range(len(entries.entry)):
            K[base + entries.table[kind, k]] += block[entries.entry[k]]
