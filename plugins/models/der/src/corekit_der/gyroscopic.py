"""Inertia of the edges' spin about their tangents, in full: the option `gyroscopic`.

An edge with the moment of inertia I about its tangent t has the kinetic energy and the angular momentum

    T = ½·I·s²,     H = I·s·t,     s = θ̇ + A·ė                                               (1)

with the spin s and the connection A of `frames`. Lagrange's equations of T in (e, θ) are those of a mass and a force,

    M = I·b∘b,  b = (A, 1),     f_e = −I·κ·A + I·s·u,     f_θ = −I·κ                         (2)
    u = (t × ė)/l²,     κ = Ȧ·ė = −k·(A·ė)·(w·ė),     k = 1/(l·(1 + a·t)),     w = (2 + a·t)·t + a

I·s·u is the couple that turns H with the tangent: e × u = −ṫ. It comes from the curl of A, which no choice of sources
removes: ∂A/∂e = S − [t]×/(2·l²), S = −½·k·(A∘w + w∘A). The rest of (2) vanishes at the source. With δe and δė,

    δκ = g·δe + 2·ė·S·δė,     δs = (∂A/∂e)ᵀ·ė·δe + A·δė + δθ̇
    g = k²·(A·ė)·(w·ė)·(t + a) − k·{(w·ė)·(∂A/∂e)ᵀ·ė + (A·ė)·[(t·ė)·(a − (a·t)·t) + (2 + a·t)·(ė − (t·ė)·t)]/l}
    δu = −(3·(t·δe)·u + ė × δe/l²)/l + t × δė/l²                                             (3)

The angular momentum Σ m·x × ẋ + Σ I·s·t is then that of a symmetry of the Lagrangian, which forces inside the rods
keep. What the model lacks is the inertia of a section about its diameters: relative to the rod's own, (r/L)².

Source: Bergou et al. (2010) for A; (2) and (3) follow from (1).
"""

from __future__ import annotations

from typing import final

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.linalg.matrices import Sparse
from corekit_der.graph import Graph
from corekit_der.numbering import Numbering, block_dofs, block_entries
from corekit_der.tables import BlockEntries, Rods
from corekit_der.vectors import Vector, add_scaled, compiled, cross, dot, inlined, row, scale, triple

__all__ = ["SpinInertia", "spin_blocks"]

_SIDES = ((0, -1.0), (4, 1.0))
"""Where the start and the end of an edge stand among (x_a, θ, x_b), and their sign in e."""


def spin_blocks(graph: Graph, numbering: Numbering) -> IntArray:
    """Indices of (x_a, θ, x_b) of every edge, (E, 7)."""
    units = np.column_stack(
        [numbering.node[graph.edge[:, 0]], numbering.edge, numbering.node[graph.edge[:, 1]]]
    )
    return block_dofs(units, (3, 1, 3))


@inlined
def _rate(rods: Rods, j: int, v: Array) -> Vector:
    """Return ė of an edge."""
    return add_scaled(triple(v, rods.edge[j, 1]), -1.0, triple(v, rods.edge[j, 0]))


@inlined
def _turning(rods: Rods, aux: Array, j: int) -> tuple[float, Vector]:
    """Return k and w of (2)."""
    cosine = rods.edge_state[j, 13]
    turn = add_scaled(scale(2.0 + cosine, row(rods.edge_state, j, 0)), 1.0, triple(aux, 6 * j))
    return 1.0 / (rods.edge_state[j, 3] * (1.0 + cosine)), turn


@compiled
def _add_mass(rods: Rods, inertia: Array, entries: BlockEntries, block: Array, M: Array) -> None:
    """Add M of (2) without its diagonal entry of θ; `block` (2, 49) is a workspace."""
    for j in range(len(inertia)):
        if inertia[j] == 0.0:
            continue
        A = rods.edge_state[j, 10:13]
        block[0] = 0.0
        for first, sign in _SIDES:
            for a in range(3):
                block[0, 7 * (first + a) + 3] = block[0, 21 + first + a] = sign * inertia[j] * A[a]
                for other, sign_other in _SIDES:
                    for b in range(3):
                        block[0, 7 * (first + a) + other + b] = sign * sign_other * inertia[j] * A[a] * A[b]
        base, kind = entries.base[j], entries.kind[j]
        for k in range(len(entries.entry)):
            M[base + entries.table[kind, k]] += block[0, entries.entry[k]]


@compiled
def _add_forces(rods: Rods, aux: Array, v: Array, inertia: Array, force: Array) -> None:
    """Add f of (2)."""
    for j in range(len(inertia)):
        rate, A, t = _rate(rods, j, v), row(rods.edge_state, j, 10), row(rods.edge_state, j, 0)
        k, w = _turning(rods, aux, j)
        start, end, angle = rods.edge[j]
        along = dot(A, rate)
        curl = scale(inertia[j] * (v[angle] + along) / rods.edge_state[j, 3] ** 2, cross(t, rate))
        torque = inertia[j] * k * along * dot(w, rate)
        force[angle] += torque
        own = add_scaled(curl, torque, A)
        for a in range(3):
            force[start + a] -= own[a]
            force[end + a] += own[a]


@inlined
def _write_derivatives(rods: Rods, aux: Array, v: Array, j: int, by_e: Array, by_rate: Array) -> None:
    """Write −∂f/∂e and −∂f/∂(ė, θ̇) of (3) for I = 1 as rows (e, θ), (4, 4) each; nothing depends on θ."""
    rate, A, t = _rate(rods, j, v), row(rods.edge_state, j, 10), row(rods.edge_state, j, 0)
    length, cosine, a = rods.edge_state[j, 3], rods.edge_state[j, 13], triple(aux, 6 * j)
    k, w = _turning(rods, aux, j)
    along, turned, stretched = dot(A, rate), dot(w, rate), dot(t, rate)
    spin, square = v[rods.edge[j, 2]] + along, length * length
    u = scale(1.0 / square, cross(t, rate))
    kappa = -k * along * turned
    two_S = scale(-k, add_scaled(scale(turned, A), along, w))
    connection = add_scaled(scale(0.5, two_S), 0.5, u)
    swung = add_scaled(scale(stretched, a), 2.0 + cosine, rate)
    swung = add_scaled(swung, -stretched * (2.0 + 2.0 * cosine), t)
    g = add_scaled(scale(k * k * along * turned, add_scaled(t, 1.0, a)), -k * turned, connection)
    g = add_scaled(g, -k * along / length, swung)
    for i in range(3):
        by_e[3, i], by_rate[3, i] = g[i], two_S[i]
        by_e[i, 3], by_rate[i, 3] = 0.0, -u[i]
        for m in range(3):
            by_e[i, m] = A[i] * g[m] - u[i] * connection[m] + 3.0 * spin * u[i] * t[m] / length
            by_e[i, m] -= 0.5 * kappa * k * (A[i] * w[m] + w[i] * A[m])
            by_rate[i, m] = A[i] * two_S[m] - u[i] * A[m]
    by_e[3, 3] = by_rate[3, 3] = 0.0
    # the skew parts: −κ·[t]×/(2·l²) and s·[ė]×/l³, and −s·[t]×/l²
    _add_cross(by_e, add_scaled(scale(-0.5 * kappa / square, t), spin / (square * length), rate))
    _add_cross(by_rate, scale(-spin / square, t))


@inlined
def _add_cross(out: Array, x: Vector) -> None:
    """Add [x]× to the first three rows and columns."""
    out[0, 1] -= x[2]
    out[0, 2] += x[1]
    out[1, 0] += x[2]
    out[1, 2] -= x[0]
    out[2, 0] -= x[1]
    out[2, 1] += x[0]


@compiled
def _add_derivatives(
    rods: Rods, aux: Array, v: Array, inertia: Array, entries: BlockEntries, block: Array, small: Array,
    K: Array, D: Array,
) -> None:  # fmt: skip
    """Add −∂f/∂q and −∂f/∂v; `block` (2, 49) and `small` (2, 4, 4) are workspaces."""
    for j in range(len(inertia)):
        if inertia[j] == 0.0:
            continue
        _write_derivatives(rods, aux, v, j, small[0], small[1])
        for r in range(7):
            for c in range(7):
                sign = (-1.0 if r < 3 else 1.0) * (-1.0 if c < 3 else 1.0)
                for i in range(2):
                    block[i, 7 * r + c] = inertia[j] * sign * small[i, (r if r < 4 else r - 4), c % 4]
        base, kind = entries.base[j], entries.kind[j]
        for k in range(len(entries.entry)):
            K[base + entries.table[kind, k]] += block[0, entries.entry[k]]
            D[base + entries.table[kind, k]] += block[1, entries.entry[k]]


@final
class SpinInertia:
    """(2) and (3) of all edges of a graph, for the edge state of `frames`.

    Args:
        angles: indices of the edges' angles, (E,).
        blocks: of `spin_blocks`.
        template: a matrix like M, K and D.
    """

    def __init__(self, angles: IntArray, blocks: IntArray, template: Sparse) -> None:
        self._angles = angles
        self._entries = block_entries(blocks, template)
        self._block, self._small = np.zeros((2, 49)), np.zeros((2, 4, 4))

    def add_mass(self, rods: Rods, mass: Array, out: Sparse) -> None:
        """Add to a diagonal M what (1) adds to the inertia ½·I·θ̇², with I among `mass` (n,)."""
        _add_mass(rods, mass[self._angles], self._entries, self._block, out.data)

    def add_forces(self, rods: Rods, aux: Array, v: Array, mass: Array, force: Array) -> None:
        """Add f of (2)."""
        _add_forces(rods, aux, v, mass[self._angles], force)

    def add_derivatives(self, rods: Rods, aux: Array, v: Array, mass: Array, K: Array, D: Array) -> None:
        """Add −∂f/∂q and −∂f/∂v to the flat storages of K and D."""
        _add_derivatives(rods, aux, v, mass[self._angles], self._entries, self._block, self._small, K, D)

    def kinetic_energy(self, rods: Rods, v: Array, mass: Array) -> float:
        """Return ½·Σ I·(s² − θ̇²), what (1) has beside ½·I·θ̇² [J]."""
        rate = v[rods.edge[:, 1, None] + np.arange(3)] - v[rods.edge[:, 0, None] + np.arange(3)]
        swept = np.einsum("ei,ei->e", rods.edge_state[:, 10:13], rate)
        return 0.5 * float(mass[self._angles] @ (swept * (2.0 * v[self._angles] + swept)))
