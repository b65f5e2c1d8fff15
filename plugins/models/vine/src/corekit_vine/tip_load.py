"""What a force at the tip does to a base that moves; `dynamics` has what it does to the bodies.

F = F₁·E₁ + F₂·E₂ turns with the plane and acts at s = x·E₁ + y·E₂ + d·a of the last body, so that by its power

    F·(V + ω × s + ṡ):     f_V = F,     f_ω = s × F                                                (1)
    −K: ∂f_V/∂δ_i = e_i × F,   ∂f_ω/∂δ_i = e_i × (s × F),   ∂f_ω/∂k = s_k × F                      (2)

with δ a turn of the base, and s_x = E₁, s_y = E₂, s_t = d·b.
"""

from __future__ import annotations

import math

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.geometry.vectors import Vector, add_scaled, cross, scaled
from corekit_vine.chain import half_length
from corekit_vine.moving_base import BASE

__all__ = ["add_tip_load", "add_tip_load_derivatives"]


@compiled
def _axes(rotation: Array) -> tuple[Vector, Vector]:
    """E₁ and E₂."""
    return (rotation[0, 0], rotation[1, 0], rotation[2, 0]), (rotation[0, 2], rotation[1, 2], rotation[2, 2])


@compiled
def _load(rotation: Array, lengths: Array, q: Array, inputs: Array) -> tuple[Vector, Vector, Vector]:
    """F, s and s_t."""
    first, second = _axes(rotation)
    last, load, links = len(q) - 1, len(inputs) - 2, len(q) // 6
    d, c, s = half_length(lengths, links - 1), math.cos(q[last]), math.sin(q[last])
    force = add_scaled(scaled(first, inputs[load]), inputs[load + 1], second)
    place = add_scaled(scaled(first, q[last - 2] + d * c), q[last - 1] + d * s, second)
    return force, place, add_scaled(scaled(first, -d * s), d * c, second)


@compiled
def add_tip_load(rotation: Array, lengths: Array, q: Array, inputs: Array, out: Array) -> None:
    """Add (1) to the force on the base; q is that of the bodies."""
    force, place, _ = _load(rotation, lengths, q, inputs)
    turn = cross(place, force)
    for i in range(3):
        out[i] += force[i]
        out[3 + i] += turn[i]


@compiled
def add_tip_load_derivatives(
    rotation: Array, lengths: Array, q: Array, inputs: Array, where: IntArray, stiffness: Array
) -> None:
    """Add K of (2); `where` (9, 9) are the places of the entries of base and last body."""
    force, place, by_turn = _load(rotation, lengths, q, inputs)
    first, second = _axes(rotation)
    turn = cross(place, force)
    by_body = (cross(first, force), cross(second, force), cross(by_turn, force))
    for k in range(3):
        axis = (1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0)
        pushes, turns = cross(axis, force), cross(axis, turn)
        moved = by_body[k]
        for i in range(3):
            stiffness[where[i, 3 + k]] -= pushes[i]
            stiffness[where[3 + i, 3 + k]] -= turns[i]
            stiffness[where[3 + i, BASE + k]] -= moved[i]
