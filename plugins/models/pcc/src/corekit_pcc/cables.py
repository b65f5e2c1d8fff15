"""Cables along an arm, driven by tension or by length.

A cable at the distance ρ and angle ψ from the backbone runs from the base through sections 1 … n and is fixed at the
end of the last. Guides keep its offset, so its length in a section is, as for chambers,

    l_i = (L_i − L₀_i) − ρ·(b_x·cos ψ + b_y·sin ψ) = j_i·x_i,    l = Σ_i l_i                       (1)

from the rest shape on, and its tension T, given or that of `corekit.roles.cables` for l, gives the generalised force

    Q_i = −T·g_i·j_iᵀ,     g_i = exp(−μ·Σ_{k<i} θ_k)·m(μ·θ_i),     θ = √(b² + ε²) − ε             (2)

since a cable beside the backbone turns by the section's angle. ε = 1e-3 rad keeps θ smooth where the section is
straight. It adds to K

    ∂(T·g·j)/∂x = T·jᵀ·∂g/∂x + g·jᵀ·(∂T/∂l)·j                                                    (3)

which friction makes unsymmetric.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.roles.cables import cable_tension, mean_capstan_factor
from corekit.roles.model import Channel, ChannelKind
from corekit_pcc.cable_options import Cable

__all__ = ["SMOOTHING", "Cables", "add_cable_forces", "add_cable_stiffness", "cable_channel", "cables_of"]
__all__ += ["write_cable_jacobian"]

SMOOTHING = 1e-3
"""ε of (2) [rad]."""


class Cables(NamedTuple):
    """C cables along S sections.

    Attributes:
        slope: j of (1), zero behind a cable's end, (C, S, 3).
        stiffness: k [N/m], 0 of cables driven by tension, (C,).
        friction, limit: μ and T_max [N], (C,).
        to_bend: rows b_x and b_y of E of `chambers`, (S, 2, 3).
        first: input of the first cable, (1,).
        factor, gradient, behind: workspaces, g of a cable, (S,), ∂g/∂q, (S, 3·S), and a row of it, (3·S,).
    """

    slope: Array
    stiffness: Array
    friction: Array
    limit: Array
    to_bend: Array
    first: IntArray
    factor: Array
    gradient: Array
    behind: Array


def cable_channel(cable: Cable) -> Channel:
    """The input of a cable."""
    if cable.drive == "tension":
        return Channel(f"tension-{cable.name}", "N", lower=0.0, upper=cable.limit, sign="pulls")
    sign = "wound up from the rest shape on; below 0 it is let out and slack"
    return Channel(f"length-{cable.name}", "m", kind=ChannelKind.POSITION, sign=sign)


def cables_of(cables: Sequence[Cable], to_arc: Array, first: int) -> Cables:
    """The tables of cables along an arm with the maps `to_arc`, E of `chambers`; `first` is their first input."""
    sections = len(to_arc)
    slope = np.zeros((len(cables), sections, 3))
    for c, cable in enumerate(cables):
        along = np.array([1.0, -cable.radius * np.cos(cable.angle), -cable.radius * np.sin(cable.angle)])
        last = sections if cable.sections is None else cable.sections
        slope[c, :last] = np.einsum("y,iyx->ix", along, to_arc[:last])
    return Cables(
        slope=slope,
        stiffness=np.array(
            [each.stiffness if each.drive == "length" else 0.0 for each in cables], dtype=float
        ),
        friction=np.array([each.friction for each in cables], dtype=float),
        limit=np.array([each.limit for each in cables], dtype=float),
        to_bend=np.ascontiguousarray(to_arc[:, 1:]),
        first=np.array([first]),
        factor=np.zeros(sections),
        gradient=np.zeros((sections, 3 * sections)),
        behind=np.zeros(3 * sections),
    )


@compiled
def _compute_tension(cables: Cables, c: int, q: Array, amount: float) -> tuple[float, float, float]:
    """T of a cable with the input `amount`, ∂T/∂l and ∂T/∂(input)."""
    if cables.stiffness[c] == 0.0:
        return amount, 0.0, 1.0
    stretch, slope = amount, cables.slope[c].reshape(-1)
    for k in range(len(slope)):
        stretch += slope[k] * q[k]
    tension, by_length = cable_tension(stretch, cables.stiffness[c], cables.limit[c])
    return tension, by_length, by_length


@compiled
def _update_factors(cables: Cables, c: int, q: Array) -> None:
    """Write g of (2) and ∂g/∂q of a cable."""
    mu, factor, gradient, behind_slope = cables.friction[c], cables.factor, cables.gradient, cables.behind
    gradient[:] = 0.0
    behind_slope[:] = 0.0
    behind = 1.0
    for i in range(len(factor)):
        b, bend = cables.to_bend[i], (0.0, 0.0)
        for a in range(3):
            bend = (bend[0] + b[0, a] * q[3 * i + a], bend[1] + b[1, a] * q[3 * i + a])
        size = math.sqrt(bend[0] * bend[0] + bend[1] * bend[1] + SMOOTHING * SMOOTHING)
        turn = mu * (size - SMOOTHING)
        mean, mean_slope = mean_capstan_factor(turn)
        factor[i] = behind * mean
        for k in range(3 * i):
            gradient[i, k] = behind_slope[k] * mean
        falls = math.exp(-turn)
        for a in range(3):
            by_turn = mu * (bend[0] * b[0, a] + bend[1] * b[1, a]) / size
            gradient[i, 3 * i + a] = behind * mean_slope * by_turn
            behind_slope[3 * i + a] = -behind * by_turn
        for k in range(3 * i + 3):
            behind_slope[k] *= falls
        behind *= falls


@compiled
def add_cable_forces(cables: Cables, q: Array, inputs: Array, force: Array) -> None:
    """Add (2) of all cables, shape (n,)."""
    for c in range(len(cables.friction)):
        tension, _, _ = _compute_tension(cables, c, q, inputs[cables.first[0] + c])
        _update_factors(cables, c, q)
        for i in range(len(cables.factor)):
            for a in range(3):
                force[3 * i + a] -= tension * cables.factor[i] * cables.slope[c, i, a]


@compiled
def add_cable_stiffness(cables: Cables, q: Array, inputs: Array, K: Array) -> None:
    """Add (3) of all cables, shape (n, n)."""
    for c in range(len(cables.friction)):
        tension, by_length, _ = _compute_tension(cables, c, q, inputs[cables.first[0] + c])
        _update_factors(cables, c, q)
        along = cables.slope[c].reshape(-1)
        for row in range(len(along)):
            i = row // 3
            for k in range(len(along)):
                turned = tension * cables.gradient[i, k] + cables.factor[i] * by_length * along[k]
                K[row, k] += along[row] * turned


@compiled
def write_cable_jacobian(cables: Cables, q: Array, inputs: Array, out: Array) -> None:
    """Write the columns of all cables into ∂f/∂u, shape (n, inputs)."""
    for c in range(len(cables.friction)):
        column = cables.first[0] + c
        _, _, by_input = _compute_tension(cables, c, q, inputs[column])
        _update_factors(cables, c, q)
        for row in range(len(q)):
            out[row, column] = -by_input * cables.factor[row // 3] * cables.slope[c, row // 3, row % 3]
