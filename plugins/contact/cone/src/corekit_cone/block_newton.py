"""Newton's method of `newton` for W by blocks: its linear equations in the velocities of the bodies.

The equations (4) and (5) of `newton` give the change of a contact's impulse by that of its velocity,

    Δλ_c = r_c − C_c·J_c·Δv                                                                       (1)
    open             r = −λ,                        C = 0
    sticks           r_i = −w_i/(ε·W_ii),           C = diag 1/(ε·W_ii)
    slides along d   r_n, C_n as if it stuck;       Δ_d = μ·Δ_n − (λ_d − μ·λ_n),
                     Δ_e = −(λ_e + ρ·g·(w_e + J_e·Δv))/(1 − g + ε·g),  e ⊥ d, g = κ/|y_t|

and with Δv = Σ_c G·J_cᵀ·Δλ_c

    (1 + Σ_c G·J_cᵀ·C_c·J_c)·Δv = Σ_c G·J_cᵀ·r_c                                                  (2)

whose unknowns are the bodies', however many contacts there are, and whose entries couple bodies that touch. Redundant
contacts need no care: ε bounds C. Iterations remove its effect, each by a factor of the order of ε.
"""

from __future__ import annotations

import math

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit.roles.contact_blocks import ContactBlocks, add_change

__all__ = ["expand_step", "linearise_contacts", "move", "respond"]


@compiled
def linearise_contacts(
    width: int, diagonal: Array, friction: Array, shift: float, impulse: Array, velocity: Array, slope: Array,
    constant: Array,
) -> None:  # fmt: skip
    """Write C (m, width, width) and r (R,) of (1) at λ and w."""
    slope[:] = 0.0
    for c in range(len(diagonal)):
        n, normal = c * width, diagonal[c, 0, 0]
        lateral = diagonal[c, 1, 1] if width == 2 else 0.5 * (diagonal[c, 1, 1] + diagonal[c, 2, 2])
        lateral = lateral if lateral > 0.0 else normal
        y_n = impulse[n] - velocity[n] / normal
        for i in range(n, n + width):
            constant[i] = -impulse[i]
        if y_n <= 0.0:
            continue
        C, stiff, mu = slope[c], 1.0 / (shift * normal), friction[c]
        C[0, 0], constant[n] = stiff, -stiff * velocity[n]
        if mu <= 0.0:
            continue
        size = 0.0
        for a in range(n + 1, n + width):
            size += (impulse[a] - velocity[a] / lateral) ** 2
        size, radius = math.sqrt(size), mu * y_n
        if size <= radius:
            for a in range(1, width):
                C[a, a] = 1.0 / (shift * lateral)
                constant[n + a] = -C[a, a] * velocity[n + a]
            continue
        g = radius / size
        across = 1.0 / (1.0 - g + shift * g)
        d1 = (impulse[n + 1] - velocity[n + 1] / lateral) / size
        d2 = (impulse[n + 2] - velocity[n + 2] / lateral) / size if width == 3 else 0.0
        l1, l2 = impulse[n + 1], impulse[n + 2] if width == 3 else 0.0
        along = mu * constant[n] - (d1 * l1 + d2 * l2 - mu * impulse[n])
        w1, w2 = velocity[n + 1], velocity[n + 2] if width == 3 else 0.0
        e = -(d1 * l2 - d2 * l1 + g / lateral * (d1 * w2 - d2 * w1)) * across
        flow = g / lateral * across
        constant[n + 1] = d1 * along - (d2 * e if width == 3 else 0.0)
        C[1, 0] = mu * stiff * d1
        if width == 3:
            constant[n + 2] = d2 * along + d1 * e
            C[2, 0] = mu * stiff * d2
            C[1, 1], C[1, 2] = flow * d2 * d2, -flow * d1 * d2
            C[2, 1], C[2, 2] = -flow * d1 * d2, flow * d1 * d1


@compiled
def respond(blocks: ContactBlocks, width: int, impulse: Array, velocity: Array) -> None:
    """Write v = Σ_c G·J_cᵀ·λ_c (nv,)."""
    velocity[:] = 0.0
    for c in range(len(blocks.first) - 1):
        add_change(blocks, width, c, impulse[c * width : (c + 1) * width], velocity)


@compiled
def move(blocks: ContactBlocks, width: int, velocity: Array, out: Array) -> None:
    """Write J·v (R,)."""
    for c in range(len(blocks.first) - 1):
        for a in range(width):
            total = 0.0
            for e in range(blocks.first[c], blocks.first[c + 1]):
                at, v, n = blocks.place[e] + a * blocks.size[e], blocks.velocity[e], blocks.size[e]
                for j in range(n):
                    total += blocks.jacobian[at + j] * velocity[v + j]
            out[c * width + a] = total


@compiled
def expand_step(
    blocks: ContactBlocks, width: int, slope: Array, constant: Array, change: Array, step: Array
) -> None:
    """Write Δλ (R,) by (1) of Δv (nv,)."""
    for c in range(len(blocks.first) - 1):
        n, C = c * width, slope[c]
        g0 = g1 = g2 = 0.0
        for e in range(blocks.first[c], blocks.first[c + 1]):
            at, v, size = blocks.place[e], blocks.velocity[e], blocks.size[e]
            for j in range(size):
                g0 += blocks.jacobian[at + j] * change[v + j]
                g1 += blocks.jacobian[at + size + j] * change[v + j]
                if width == 3:
                    g2 += blocks.jacobian[at + 2 * size + j] * change[v + j]
        for a in range(width):
            step[n + a] = (
                constant[n + a] - C[a, 0] * g0 - C[a, 1] * g1 - (C[a, 2] * g2 if width == 3 else 0.0)
            )
