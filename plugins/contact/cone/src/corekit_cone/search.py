"""The search for the impulses: Newton's method from the best impulses so far, and sweeps in between.

From the guess, or from nothing if that has a smaller error, Newton's method goes first: from step to step modes seldom
change. Where it stops without a solution, Gauss–Seidel sweeps go on from the best impulses, twice as many each time,
and Newton's method tries again. The sweeps change the modes; Newton's method is exact once they are right. If that
does not help, the interior-point method starts from nothing, and at last with given slips, s ← |w_t| (Acary, Cadoux,
Lemaréchal, Malick, 2011), each time with Newton's method at its end.
"""

from __future__ import annotations

import math

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit_cone.gauss_seidel import project_impulses, sweep
from corekit_cone.interior_point import begin_interior, interior_step
from corekit_cone.newton import assemble_newton, factorise_linear, merit, substitute_linear
from corekit_cone.residuals import measure_error, set_scales, update_velocity

__all__ = ["WORK_ROWS", "search"]

WORK_ROWS = 23
"""Vectors of workspace."""

_NEWTON_STEPS = 20
_HALVINGS = 5
_FIRST_SWEEPS = 8
_MOST_SWEEPS = 256
_PATIENCE = 100
"""Sweeps after which the interior-point method tries, once."""
_INTERIOR_STEPS = 60
_STUCK = 1e-6
_CLOSED = 1e-18
"""Gap at which a program with given slips is solved."""
_CORRECTIONS = 30
"""Programs with given slips."""
_WHOLE_CORRECTIONS = 10


@compiled
def _copy(source: Array, target: Array) -> None:
    for i in range(len(source)):
        target[i] = source[i]


@compiled
def _consider(
    delassus: Array, free: Array, width: int, friction: Array, lower: Array, upper: Array, rho: Array,
    reference: Array, impulse: Array, velocity: Array, best_error: float, best: Array,
) -> float:  # fmt: skip
    """Compute w of λ anew, write λ to `best` if its error is the least, and return the least error."""
    update_velocity(delassus, free, impulse, velocity)
    error = measure_error(width, friction, lower, upper, rho, reference, impulse, velocity)
    if error < best_error:
        _copy(impulse, best)
        return error
    return best_error


@compiled
def _newton(
    delassus: Array, free: Array, width: int, friction: Array, lower: Array, upper: Array, rho: Array,
    reference: Array, tolerance: float, limit: int, best_error: float, best: Array, impulse: Array, velocity: Array,
    index: IntArray, order: IntArray, work: Array, matrix: Array,
) -> tuple[int, float]:  # fmt: skip
    """Iterate from λ and w; return the number of iterations and the least error."""
    step, response, rhs, trial, trial_velocity, cut = work[0], work[1], work[2], work[3], work[4], work[5]
    rows = len(free)
    # the norms before the last steps, of which the line search allows the largest
    memory = (math.inf, math.inf, math.inf)
    now = merit(delassus, width, friction, lower, upper, rho, reference, impulse, velocity)
    count = 0
    while count < limit:
        count += 1
        unknowns = assemble_newton(
            delassus, width, friction, lower, upper, rho, impulse, velocity, index, step, response, matrix,
            rhs,
        )  # fmt: skip
        if not factorise_linear(matrix, order, unknowns):
            break
        substitute_linear(matrix, order, rhs, unknowns)
        for k in range(unknowns):
            step[index[k]] = rhs[k]
        for i in range(rows):
            response[i] = 0.0
        update_velocity(delassus, response, step, response)
        memory = (now, memory[0], memory[1])
        bar = now
        for past in memory:
            if past < math.inf:
                bar = max(bar, past)
        fraction, smallest, smallest_fraction = 1.0, math.inf, 0.0
        for _ in range(_HALVINGS):
            for i in range(rows):
                trial[i] = impulse[i] + fraction * step[i]
                trial_velocity[i] = velocity[i] + fraction * response[i]
            value = merit(delassus, width, friction, lower, upper, rho, reference, trial, trial_velocity)
            if value < smallest:
                smallest, smallest_fraction = value, fraction
            if value <= (1.0 - 1e-4 * fraction) * bar:
                break
            fraction *= 0.5
        if not smallest < bar:
            break
        for i in range(rows):
            impulse[i] += smallest_fraction * step[i]
        now = smallest
        _copy(impulse, cut)
        project_impulses(width, friction, lower, upper, cut)
        before = best_error
        best_error = _consider(
            delassus, free, width, friction, lower, upper, rho, reference, cut, trial_velocity, best_error,
            best,
        )  # fmt: skip
        if best_error <= tolerance and (best_error <= 1e-3 * tolerance or not best_error < 0.1 * before):
            break
        update_velocity(delassus, free, impulse, velocity)
    return count, best_error


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
        count += 1
        alpha, gap = interior_step(
            delassus, free, width, friction, lower, upper, energy, slip, index, unknowns, order, work[9:22],
            matrix,
        )  # fmt: skip
        for i in range(len(free)):
            impulse[i] = factor[i] * x[i]
        best_error = _consider(
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
        steps, best_error = _newton(
            delassus, free, width, friction, lower, upper, rho, reference, tolerance, _NEWTON_STEPS, best_error, best,
            impulse, velocity, index, order, work, matrix,
        )  # fmt: skip
        count += steps
        if best_error <= tolerance or change <= tolerance * largest:
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
    contacts, rho, reference = len(friction), scales[0], scales[1]
    set_scales(delassus, free, width, contacts, rho, reference)
    now, velocity, best = work[6], work[7], work[8]
    for i in range(len(free)):
        now[i] = 0.0
    project_impulses(width, friction, lower, upper, now)
    best_error = _consider(
        delassus, free, width, friction, lower, upper, rho, reference, now, velocity, math.inf, best
    )
    project_impulses(width, friction, lower, upper, impulse)
    best_error = _consider(
        delassus, free, width, friction, lower, upper, rho, reference, impulse, velocity, best_error, best
    )
    sweeps, iterations, planned, method = 0, 0, _FIRST_SWEEPS, 1
    _copy(best, now)
    update_velocity(delassus, free, now, velocity)
    if best_error <= 1e-3 * tolerance:
        _copy(best, impulse)
        return best_error, 0, 0
    while True:
        count, best_error = _newton(
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
        _copy(best, now)
        update_velocity(delassus, free, now, velocity)
        method = max(method, 2)
        for _ in range(min(planned, limit - sweeps)):
            sweep(delassus, width, friction, lower, upper, now, velocity)
            sweeps += 1
        best_error = _consider(
            delassus, free, width, friction, lower, upper, rho, reference, now, velocity, best_error, best
        )
        planned = min(2 * planned, _MOST_SWEEPS)
    _copy(best, impulse)
    return best_error, sweeps + iterations, method
