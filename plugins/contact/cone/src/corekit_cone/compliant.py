"""Contacts with a compliance that vanishes: a path to Coulomb's law without any guess of modes.

With a compliance ε·D, D = tr W_cc/width, and ρ = 1/(ε·D), each λ_c is a function of its velocity alone,

    y = λ⁰ − ρ·w,    λ_n = max(y_n, 0),    λ_t = y_t·min(1, μ·λ_n/|y_t|)                           (1)

which is Coulomb's law with w + ε·D·(λ − λ⁰) in place of w. Velocities of bodies that fit are the zeros of

    F(v) = v − Σ_c G·J_cᵀ·λ_c(J_c·v + w₀)                                                         (2)
    (1 + Σ_c G·J_cᵀ·C_c·J_c)·Δv = −F,    C = −∂λ/∂w                                               (3)

by Newton's method with a line search on |F| in the norm of the kinetic energy. With v = G·Jᵀ·x and d = λ − x its
square is dᵀ·J·G·Jᵀ·d, so that G⁻¹ is not needed. Redundant contacts are no difficulty, as (1) shares loads among them.

`compliant_path` follows ε to 0.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit.roles.contact import StepProblem
from corekit.roles.contact_blocks import ContactBlocks
from corekit_cone.block_newton import move, respond
from corekit_cone.body_factor import BodyEquations

__all__ = ["CompliantProblem", "Solution", "solve_compliant"]

_HALVINGS: Final = 12
_MEMORY: Final = 4
"""Norms before the last steps, of which the line search allows the largest."""
_FIT: Final = 1e-9
"""Largest velocity of J·F, relative to the reference, of a solution of (2)."""
_FLOOR: Final = 1e-12
"""The same where Newton's method ends."""


class CompliantProblem(NamedTuple):
    """A problem and what (1) and (3) need of it.

    Attributes:
        blocks: of its W. equations: of these.
        rho: 1/D of every contact, shape (m,).
        reference: velocity of the problem [m/s].
    """

    problem: StepProblem
    blocks: ContactBlocks
    equations: BodyEquations
    rho: Array
    reference: float


class Solution(NamedTuple):
    """A zero of (2), or what Newton's method came to.

    Attributes:
        x: with v = G·Jᵀ·x [N·s]. impulse: λ of (1) [N·s]. Both (R,).
        iterations: of Newton's method.
        is_found: whether F vanishes.
    """

    x: Array
    impulse: Array
    iterations: int
    is_found: bool


@compiled
def _respond_by_law(
    width: int, friction: Array, rho: Array, center: Array, velocity: Array, impulse: Array, slope: Array
) -> None:
    """Write λ of (1) and C of (3), shape (m, width, width)."""
    for c in range(len(friction)):
        n, mu, r, C = c * width, friction[c], rho[c], slope[c]
        load, size = center[n] - r * velocity[n], 0.0
        for i in range(width):
            impulse[n + i] = 0.0
            for j in range(width):
                C[i, j] = 0.0
        if not load > 0.0:
            continue
        impulse[n], C[0, 0] = load, r
        for a in range(n + 1, n + width):
            impulse[a] = center[a] - r * velocity[a]
            size += impulse[a] ** 2
        size = math.sqrt(size)
        sticks = size <= mu * load
        part = 1.0 if sticks else mu * load / size
        for i in range(1, width):
            along = impulse[n + i] / size if size > 0.0 else 0.0
            C[i, 0] = 0.0 if sticks else mu * r * along
            for j in range(1, width):
                other = impulse[n + j] / size if size > 0.0 else 0.0
                C[i, j] = r * part * ((1.0 if i == j else 0.0) - (0.0 if sticks else along * other))
        for a in range(n + 1, n + width):
            impulse[a] *= part


def solve_compliant(
    compliant: CompliantProblem, compliance: float, start: Array, center: Array, limit: int
) -> Solution:
    """Solve (2) by Newton's method.

    Args:
        compliance: ε.
        start: x [N·s], shape (R,).
        center: λ⁰ [N·s], shape (R,).
        limit: of iterations.
    """
    problem, blocks, equations, rho, reference = compliant
    width, friction, free = problem.rows_per_contact, problem.friction, problem.free_velocity
    stiffness, x = rho / compliance, start.copy()
    slope, impulse = np.empty((problem.contact_count, width, width)), np.empty(len(free))
    response = np.empty(blocks.velocity_count)
    motion, moved, motion_step = np.empty((3, len(free)))

    def residual(x: Array, motion: Array) -> tuple[Array, float]:
        """d and the square of the norm of F; `response` and `moved` are G·Jᵀ·d and J·G·Jᵀ·d."""
        _respond_by_law(width, friction, stiffness, center, motion + free, impulse, slope)
        difference = impulse - x
        respond(blocks, width, difference, response)
        move(blocks, width, response, moved)
        return difference, float(difference @ moved)

    respond(blocks, width, x, response)
    move(blocks, width, response, motion)
    difference, square = residual(x, motion)
    earlier, count = [square] * _MEMORY, 0
    while count < limit and abs(moved).max() > _FLOOR * reference and equations.factorise(slope):
        count += 1
        move(blocks, width, equations.solve(response), motion_step)
        step = difference - np.einsum("cij,cj->ci", slope, motion_step.reshape(-1, width)).ravel()
        fraction, bar = 1.0, max(earlier)
        for _ in range(_HALVINGS):
            difference, square = residual(x + fraction * step, motion + fraction * motion_step)
            if square <= (1.0 - 1e-4 * fraction) * bar:
                break
            fraction *= 0.5
        else:
            break
        x += fraction * step
        motion += fraction * motion_step
        earlier = [*earlier[1:], square]
    return Solution(x, impulse.copy(), count, bool(abs(moved).max() <= _FIT * reference))
