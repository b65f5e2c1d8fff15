"""The search for the impulses: Newton's method from the best impulses so far, and sweeps in between.

From the guess, or from nothing if that has a smaller error, Newton's method goes first: from step to step modes seldom
change. Where it stops without a solution, Gauss–Seidel sweeps go on from the best impulses, twice as many each time,
and Newton's method tries again. The sweeps change the modes; Newton's method is exact once they are right. If that
does not help, the interior-point method starts from nothing, and at last with given slips, s ← |w_t| (Acary, Cadoux,
Lemaréchal, Malick, 2011), each time with Newton's method at its end.
"""

from __future__ import annotations

import math

from corekit.compiled import check_signals, compiled
from corekit.data.arrays import Array, IntArray
from corekit.roles.contact_laws import relative_velocity
from corekit_cone.gauss_seidel import project_impulses, sweep
from corekit_cone.interior_point import begin_interior, interior_step
from corekit_cone.iteration import copy_values, iterate_newton, keep_better
from corekit_cone.residuals import set_scales

__all__ = ["WORK_ROWS", "search"]

WORK_ROWS = 23
"""Vectors of workspace."""

_NEWTON_STEPS = 40
_FIRST_SWEEPS = 8
_MOST_SWEEPS = 256
_PATIENCE = 20
"""Sweeps after which the interior-point method tries, once."""
_INTERIOR_STEPS = 60
_STUCK = 1e-6
_CLOSED = 1e-18
"""Gap at which a program with given slips is solved."""
_CORRECTIONS = 30
"""Programs with given slips."""
_WHOLE_CORRECTIONS = 10
_NEAR, _NEAR_CORRECTIONS = 1e-5, 3
"""Error of impulses that no other slips improve much, and how many programs are tried then."""


@compiled
def _interior(
    delassus: Array, free: Array, width: int, friction: Array, lower: Array, upper: Array, rho: Array,
    reference: Array, tolerance: float, slip: Array, best_error: float, best: Array, impulse: Array, velocity: Array,
    index: IntArray, order: IntArray, work: Array, matrix: Array,
) -> tuple[int, float]:  # fmt: skip
    """Follow the central path from no guess to λ; return the number of steps and the least error.

    Args:
        slip: of every contact, as in `interior_step`.
    """
    factor, x, y, z = work[9], work[10], work[11], work[12]
    unknowns, energy = begin_interior(free, width, friction, lower, upper, rho, index, factor, x, y, z)
    count = 0
    while count < _INTERIOR_STEPS:
        check_signals()
        count += 1
        alpha, gap = interior_step(
            delassus, free, width, friction, lower, upper, energy, slip, index, unknowns, order, work[9:22],
            matrix,
        )  # fmt: skip
        for i in range(len(free)):
            impulse[i] = factor[i] * x[i]
        best_error = keep_better(
            delassus, free, width, friction, lower, upper, rho, reference, impulse, velocity, best_error, best
        )
        if best_error <= tolerance or alpha < _STUCK or (slip[0] >= 0.0 and gap < _CLOSED):
            break
    return count, best_error


@compiled
def _programs(
    delassus: Array, free: Array, width: int, friction: Array, lower: Array, upper: Array, rho: Array,
    reference: Array, tolerance: float, best_error: float, best: Array, impulse: Array, velocity: Array,
    index: IntArray, order: IntArray, work: Array, matrix: Array,
) -> tuple[int, float]:  # fmt: skip
    """Follow the central path with unknown slips, then with given ones that are corrected; each time, polish."""
    slip, count = work[22], 0
    for i in range(len(slip)):
        slip[i] = -1.0
    for correction in range(_CORRECTIONS + 1):
        steps, best_error = _interior(
            delassus, free, width, friction, lower, upper, rho, reference, tolerance, slip, best_error, best, impulse,
            velocity, index, order, work, matrix,
        )  # fmt: skip
        count += steps
        if best_error <= tolerance:
            break
        change, largest = 0.0, 0.0
        for c in range(len(friction)):
            speed = 0.0
            for a in range(c * width + 1, (c + 1) * width):
                speed += velocity[a] ** 2
            speed = math.sqrt(speed)
            change, largest = max(change, abs(speed - slip[c])), max(largest, speed)
            # half of the correction where whole ones turned back and forth
            slip[c] = 0.5 * (slip[c] + speed) if correction > _WHOLE_CORRECTIONS else speed
        if not largest < math.inf:
            break
        steps, best_error = iterate_newton(
            delassus, free, width, friction, lower, upper, rho, reference, tolerance, _NEWTON_STEPS, best_error, best,
            impulse, velocity, index, order, work, matrix,
        )  # fmt: skip
        count += steps
        if best_error <= tolerance or change <= tolerance * largest:
            break
        if best_error < _NEAR and correction >= _NEAR_CORRECTIONS:
            break
    return count, best_error


@compiled
def search(
    delassus: Array, free: Array, width: int, friction: Array, lower: Array, upper: Array, tolerance: float,
    limit: int, scales: Array, index: IntArray, order: IntArray, work: Array, matrix: Array, impulse: Array,
) -> tuple[float, int, int]:  # fmt: skip
    """Write the best λ found.

    Args:
        limit: largest number of sweeps.
        tolerance: largest relative error of a solution.
        scales: shape (2, m + p), written: ρ and reference velocities of `residuals`.
        index, order, work, matrix: workspace, shapes (R,), (R,), (WORK_ROWS, R), (R, R).
        impulse: λ, shape (R,); a guess.
    Returns:
        Its relative error, the number of sweeps and iterations, and the last method that was needed: 0 none,
        1 Newton's, 2 Gauss-Seidel, 3 interior points.
    """
    rho, reference = scales[0], scales[1]
    now, velocity, best = work[6], work[7], work[8]
    for i in range(len(free)):
        now[i], velocity[i] = 0.0, delassus[i, i]
    set_scales(velocity, free, lower, upper, width, rho, reference)
    project_impulses(width, friction, lower, upper, now)
    best_error = keep_better(
        delassus, free, width, friction, lower, upper, rho, reference, now, velocity, math.inf, best
    )
    project_impulses(width, friction, lower, upper, impulse)
    best_error = keep_better(
        delassus, free, width, friction, lower, upper, rho, reference, impulse, velocity, best_error, best
    )
    sweeps, iterations, planned, method = 0, 0, _FIRST_SWEEPS, 1
    copy_values(best, now)
    relative_velocity(delassus, free, now, velocity)
    if best_error <= 1e-3 * tolerance:
        copy_values(best, impulse)
        return best_error, 0, 0
    while True:
        count, best_error = iterate_newton(
            delassus, free, width, friction, lower, upper, rho, reference, tolerance,
            min(_NEWTON_STEPS, limit - iterations), best_error, best, now, velocity, index, order, work, matrix,
        )  # fmt: skip
        iterations += count
        if best_error <= tolerance or sweeps >= limit:
            break
        if sweeps >= _PATIENCE and method < 3:
            method = 3
            count, best_error = _programs(
                delassus, free, width, friction, lower, upper, rho, reference, tolerance, best_error, best, now,
                velocity, index, order, work, matrix,
            )  # fmt: skip
            iterations += count
            if best_error <= tolerance:
                break
        copy_values(best, now)
        relative_velocity(delassus, free, now, velocity)
        method = max(method, 2)
        for _ in range(min(planned, limit - sweeps)):
            check_signals()
            sweep(delassus, width, friction, lower, upper, now, velocity)
            sweeps += 1
        best_error = keep_better(
            delassus, free, width, friction, lower, upper, rho, reference, now, velocity, best_error, best
        )
        planned = min(2 * planned, _MOST_SWEEPS)
    copy_values(best, impulse)
    return best_error, sweeps + iterations, method
