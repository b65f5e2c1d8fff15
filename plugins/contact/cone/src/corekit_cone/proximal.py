"""The proximal method for many contacts: convex programs in the velocities of the bodies, without any guess of modes.

With the slips s given, the law is that of a convex program (`cone`). A proximal step from λ⁰ adds a compliance,

    K ∋ λ ⊥ w + μ·s·n + ε·D·(λ − λ⁰) ∈ K*,   D = tr W_cc/width                                    (1)

so that each λ_c is a function of the velocity alone, with ρ = 1/(ε·D) and P the projection on K,

    λ_c(w) = P(λ⁰ − ρ·(w + μ·s·n))                                                                (2)

and v = Σ_c G·J_cᵀ·λ_c(J·v + w₀) is where the strictly convex function

    Φ(v) = ½·vᵀ·G⁻¹·v + Σ_c |λ_c(J_c·v + w₀)|²/(2·ρ_c)                                            (3)

is least. Newton's method with the slope of Φ along its steps finds it from anywhere, in a few iterations. Redundant
contacts are no difficulty, since (2) shares loads among them. Steps λ⁰ ← λ and s ← |w_t| follow (Acary, Cadoux,
Lemaréchal, Malick, 2011): ε then has no effect on the solution, and a fixed point is one of Coulomb's law. Where no λ
solves the problem, λ grows without end.

With v = G·Jᵀ·x the slope of Φ along Δv = G·Jᵀ·Δx is Δxᵀ·J·v − λ(w)ᵀ·J·Δv, so that G⁻¹ is not needed.

Sources: Rockafellar (1976), Augmented Lagrangians and applications of the proximal point algorithm in convex
programming, Math. Oper. Res. 1; Castro, Permenter, Han (2022), An unconstrained convex formulation of compliant
contact, IEEE Trans. Robotics 39.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit.roles.contact_blocks import BlockContactProblem, ContactBlocks
from corekit_cone.block_newton import move, respond
from corekit_cone.body_factor import BodyEquations

__all__ = ["proximal_step"]

COMPLIANCE: Final = 1e-4
"""ε of (1): a proximal step leaves about this part of the error."""
_ITERATIONS: Final = 40
_EVALUATIONS: Final = 30
_FLAT: Final = 0.1
"""Slope of Φ, relative to that at the begin, at which a line search ends."""


@compiled
def _respond_by_cones(
    width: int,
    friction: Array,
    rho: Array,
    slip: Array,
    center: Array,
    velocity: Array,
    impulse: Array,
    slope: Array,
) -> None:
    """Write λ(w) of (2) and, if `slope` (m, width, width) has contacts, C = −∂λ/∂w."""
    for c in range(len(friction)):
        n, mu, r = c * width, friction[c], rho[c]
        y_n, size = center[n] - r * (velocity[n] + mu * slip[c]), 0.0
        for a in range(n + 1, n + width):
            impulse[a] = center[a] - r * velocity[a]
            size += impulse[a] ** 2
        size = math.sqrt(size)
        is_open, sticks = y_n <= -mu * size, size <= mu * y_n
        part = (y_n + mu * size) / (1.0 + mu * mu)
        if len(slope):
            C = slope[c]
            for i in range(width):
                for j in range(width):
                    C[i, j] = r if i == j and sticks and not is_open else 0.0
            if not (is_open or sticks):
                share = r / (1.0 + mu * mu)
                C[0, 0] = share
                turn = r * mu * part / size  # across the direction of y
                for i in range(1, width):
                    along = impulse[n + i] / size
                    C[0, i] = C[i, 0] = mu * share * along
                    for j in range(1, width):
                        other = impulse[n + j] / size
                        C[i, j] = mu * mu * share * along * other
                        C[i, j] += turn * ((1.0 if i == j else 0.0) - along * other)
        impulse[n] = y_n if sticks else part
        factor = 1.0
        if is_open:
            impulse[n], factor = 0.0, 0.0
        elif not sticks:
            factor = mu * part / size
        for a in range(n + 1, n + width):
            impulse[a] *= factor


@compiled
def _search_line(
    width: int, friction: Array, rho: Array, slip: Array, center: Array, free: Array, motion: Array, step: Array,
    motion_step: Array, trial: Array, impulse: Array,
) -> float:  # fmt: skip
    """Return the fraction of a step at which the slope of Φ nearly vanishes.

    Args:
        motion: J·v. step, motion_step: Δx and J·Δv. trial, impulse: workspace. All (R,).
    """
    nothing = np.zeros((0, width, width))
    low, high, below, above, first, fraction = 0.0, 1.0, 0.0, 0.0, 0.0, 0.0
    for count in range(_EVALUATIONS):
        for i in range(len(free)):
            trial[i] = motion[i] + fraction * motion_step[i] + free[i]
        _respond_by_cones(width, friction, rho, slip, center, trial, impulse, nothing)
        slope = 0.0
        for i in range(len(free)):
            slope += step[i] * (trial[i] - free[i]) - impulse[i] * motion_step[i]
        if count == 0:
            first, below, fraction = slope, slope, 1.0
            if not first < 0.0:
                return 1.0
            continue
        if abs(slope) <= -_FLAT * first or (count == 1 and slope <= 0.0):
            break
        if slope > 0.0:
            high, above = fraction, slope
        else:
            low, below = fraction, slope
        wide = high - low
        fraction = low - below * wide / (above - below)
        fraction = min(max(fraction, low + 0.05 * wide), high - 0.05 * wide)
    return fraction


def proximal_step(
    problem: BlockContactProblem, equations: BodyEquations, rho: Array, reference: Array, slip: Array, center: Array,
    tolerance: float,
) -> tuple[Array, int]:  # fmt: skip
    """Return λ of one proximal step, in the cones, and the number of Newton's iterations.

    Args:
        equations: of the problem's blocks.
        rho, reference: of `residuals`, shape (m,). slip: s [m/s], shape (m,).
        center: λ⁰ [N·s], shape (R,).
        tolerance: largest difference of the velocities of both sides of (2), relative to the reference.
    """
    blocks: ContactBlocks = problem.blocks
    width, friction, free = problem.rows_per_contact, problem.friction, problem.free_velocity
    stiffness, contacts = rho / COMPLIANCE, problem.contact_count
    slope, bar = np.empty((contacts, width, width)), tolerance * np.repeat(reference, width)
    x, impulse, response = center.copy(), np.empty(len(free)), np.empty(problem.velocity_count)
    motion, difference, motion_step, step, trial = np.empty((5, len(free)))
    respond(blocks, width, x, response)
    move(blocks, width, response, motion)
    for count in range(_ITERATIONS):
        _respond_by_cones(width, friction, stiffness, slip, center, motion + free, impulse, slope)
        respond(blocks, width, impulse - x, response)
        move(blocks, width, response, difference)
        if not (abs(difference) > bar).any() or not equations.factorise(slope):
            return impulse, count
        move(blocks, width, equations.solve(response), motion_step)
        step[:] = impulse - x
        step -= np.einsum("cij,cj->ci", slope, motion_step.reshape(-1, width)).ravel()
        fraction = _search_line(
            width, friction, stiffness, slip, center, free, motion, step, motion_step, trial, impulse
        )
        x += fraction * step
        motion += fraction * motion_step
    return impulse, _ITERATIONS
