"""The solution by contact modes, before any LCP is assembled: those of the guess, then those of Newton's method.

One kernel for the contact problem in units of its own, which the solver calls from Python and its C entry without it.
"""

from __future__ import annotations

from typing import Final

from corekit.compiled import compiled
from corekit.data.arrays import Array, BoolArray, IntArray
from corekit.linalg.vectors import copy_vector
from corekit_lcp.mode_warm_start import CORNER, ON_BOUND, solve_modes
from corekit_lcp.records import ContactProblemArrays, Modes
from corekit_lcp.soft_newton import search_modes

__all__ = ["AMBIGUOUS", "FOUND", "UNKNOWN", "WARM", "solve_by_modes"]

WARM, FOUND, AMBIGUOUS, UNKNOWN = 0, 1, 2, 3
"""The modes of the guess hold; Newton's method found others; those of the guess hold and are not those of soft
contacts, which were not found; there is no solution yet."""
_CORNER: Final = CORNER
_ON_BOUND: Final = ON_BOUND


@compiled
def solve_by_modes(
    delassus: Array, free: Array, friction: Array, directions: Array, lower: Array, upper: Array, mobility: Array,
    reference: Array, velocity_unit: float, impulse_unit: float, beta: Array, first: IntArray, columns: Array,
    equations: Array, numbers: Array, order: IntArray, soft: Array, dropped: BoolArray, finds_least_norm: bool,
    weight: float, corrections: int, centre: Array, good: Array, shifted: Array, rough: Array, polished: Array,
    guess: Array, trial: Array, candidate: Array, velocity: Array, tolerance: float, impulse: Array,
) -> tuple[int, int, tuple[float, float, float, float, float]]:  # fmt: skip
    """Solve the problem by the modes of a guess, else by those to which Newton's method leads from there.

    Args:
        delassus … impulse_unit, beta … dropped: fields of `ContactProblemArrays` and `Modes` one by one, since Python
            calls this in every step and compiled code takes 4 µs to take two records apart.
        guess, trial, rough, polished, velocity, tolerance: as of `solve_modes`.
        finds_least_norm: whether the solution must be that of soft contacts; else Newton's method is not asked.
        weight, corrections, centre, good, shifted, candidate: as of `search_modes`.
        impulse: the guess, shape (R,); receives λ. Where there is none, `guess` holds what LCP solvers begin with.
    Returns:
        Which solution it is, iterations of Newton's method, and residuals as of `measure_residuals`.
    """
    problem = ContactProblemArrays(
        delassus, free, friction, directions, lower, upper, mobility, reference, velocity_unit, impulse_unit
    )
    modes = Modes(beta, first, columns, equations, numbers, order, soft, dropped)
    warm, is_least = solve_modes(
        problem, _CORNER, modes, guess, trial, velocity, tolerance, _ON_BOUND, True, finds_least_norm, impulse
    )
    if warm[3] <= tolerance and is_least:
        return WARM, 0, warm
    if not finds_least_norm:
        return UNKNOWN, 0, warm
    copy_vector(impulse, candidate)
    steps, found = search_modes(
        problem,
        modes,
        weight,
        corrections,
        centre,
        good,
        shifted,
        rough,
        polished,
        velocity,
        tolerance,
        candidate,
    )
    if found[3] <= tolerance:
        copy_vector(candidate, impulse)
        return FOUND, steps, found
    if warm[3] <= tolerance:
        return AMBIGUOUS, steps, warm
    copy_vector(impulse, guess)  # `solve_modes` lets contacts join there
    return UNKNOWN, steps, found
