"""What friction in its guides leaves of a cable's tension along a link.

A cable turns as its link bends. By the capstan equation of `corekit.roles.cables`, from its drive at the link's base,

    T·g,   g = exp(−μ·Θ),   Θ = ∫ ω ds,   ω = √(κ_y² + κ_z² + ε²) − ε                          (1)

Θ at the quadrature points of a division is C·ω, by the rule of `running_integrals`. What a cable
turns by winding about the axis is left out; ε = 1e-3 rad/m keeps ω smooth where the link is straight. In f a tension is
g·T at every point, and K has, with the pulls p_k = w·b_qᵀ·B_a of the points,

    Σ_k p_k·T·∂g_k/∂q,   ∂g/∂q = −μ·g·C·∂ω/∂q,   ∂ω/∂q = (κ_y·b_κy + κ_z·b_κz)/√(…)            (2)
"""

from __future__ import annotations

import math
from typing import Any, final

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit_gvs.discretise import running_integrals
from corekit_gvs.forces import cable
from corekit_gvs.forward_recursion import strain_at
from corekit_gvs.tables import (
    ACTIONS,
    BASES,
    PIECES,
    POINTS,
    QUADRATURE,
    SCRATCH,
    SECTIONS,
    STRAINS,
    Packed,
    index_table,
    real,
    work,
)  # fmt: skip
from corekit_gvs.tree import Part
from corekit_gvs.vectors import compiled

__all__ = ["SMOOTHING", "CableFriction"]

SMOOTHING = 1e-3
"""ε of (1) [rad/m]."""


@compiled
def _write_turns(
    ints: IntArray, reals: Array, buffer: Array, q: Array, v: Array, where: IntArray, rows: IntArray, rate: Array,
    slope: Array, pull: Array,
) -> None:  # fmt: skip
    """Write ω (p,), ∂ω/∂q and p_k, (p, n) each, at the quadrature points `where` of a cable with these ACTIONS."""
    quadrature, pieces = index_table(ints, QUADRATURE, 4), index_table(ints, PIECES, 4)
    points = index_table(ints, POINTS, 3)
    strains, sections = real(ints, reals, STRAINS, 18), real(ints, reals, SECTIONS, 19)
    B, actions = real(ints, reals, BASES, 1).reshape(-1), real(ints, reals, ACTIONS, 7)
    scratch = work(ints, buffer, SCRATCH)
    x, wrench = scratch[:18], scratch[24:30]
    slope[:] = 0.0
    pull[:] = 0.0
    for k in range(len(where)):
        i = where[k]
        point, piece = quadrature[i, 0], quadrature[i, 1]
        at, own, first = points[point, 0], pieces[piece, 1], pieces[piece, 3]
        strain_at(strains[point], B, at, own, first, q, v, q[:0], x, 0)
        cable(x, actions[rows[k]], wrench)
        size = math.sqrt(x[1] * x[1] + x[2] * x[2] + SMOOTHING * SMOOTHING)
        rate[k] = size - SMOOTHING
        for j in range(own):
            slope[k, first + j] = (x[1] * B[at + own + j] + x[2] * B[at + 2 * own + j]) / size
            for r in range(6):
                pull[k, first + j] += sections[i, 0] * wrench[r] * B[at + r * own + j]


@final
class CableFriction:
    """Friction of one cable.

    Args:
        channel: its input. friction: μ.
        parts: the divisions through which it runs, in order.
        rows: its rows in ACTIONS, in the order of the parts' quadrature points.

    Attributes:
        where: its quadrature points, (p,). turning: C of (1) [m], (p, p).
        pull: (p, n), of the last `update`. share: g, (p,).
    """

    def __init__(self, channel: int, friction: float, parts: list[Part], rows: IntArray) -> None:
        self.channel, self.friction, self.rows = channel, friction, rows
        self.where: IntArray = np.array([i for part in parts for i in part.quadrature], dtype=np.int64)
        count = len(self.where)
        self.turning, first = np.zeros((count, count)), 0
        for part in parts:
            last = first + len(part.quadrature)
            places = np.array(part.quadrature_place)
            within = part.division.length * running_integrals(part.division, places)
            self.turning[first:last, first:last] = within[:-1]
            self.turning[last:, first:last] = within[-1]
            first = last
        self.share, self._rate = np.ones(count), np.zeros(count)
        self.pull = self._slope = np.zeros((count, 0))

    def update(self, packed: Packed, q: Array, v: Array, actions: Array) -> None:
        """Write g of a state into ACTIONS."""
        if self.pull.shape[1] != len(q):
            self.pull, self._slope = np.zeros((2, len(self.where), len(q)))
        _write_turns(*packed, q, v, self.where, self.rows, self._rate, self._slope, self.pull)
        np.exp(-self.friction * (self.turning @ self._rate), out=self.share)
        actions[self.rows, 6] = self.share

    def add_stiffness(self, tension: float, stiffness: Array) -> None:
        """Add (2) at the state of the last `update`."""
        slope = -self.friction * self.share[:, None] * (self.turning @ self._slope)
        stiffness += tension * (self.pull.T @ slope)

    def shares_of(self, strains: list[Any], ca: Any) -> list[Any]:
        """g as CasADi expressions, of the strains at the points."""
        rate = ca.vertcat(*[ca.sqrt(x[1] ** 2 + x[2] ** 2 + SMOOTHING**2) - SMOOTHING for x in strains])
        return ca.vertsplit(ca.exp(-self.friction * (ca.DM(self.turning) @ rate)))
