"""Newton's method on the equations of `newton`, with a line search that knows redundant contacts.

ε grows where no fraction of a step decreases the norm, and shrinks after a whole step. Contacts that would pull let go
at once, and friction is cut off at the cone if that is better. Where redundant contacts differ by little, loads move
between them without any change of the norm, until one lets go or begins to slide: a step ends there if no other
fraction is better.
"""

from __future__ import annotations

import math

from corekit.compiled import check_signals, compiled
from corekit.data.arrays import Array, IntArray
from corekit.roles.contact_laws import relative_velocity
from corekit_cone.gauss_seidel import project_impulses
from corekit_cone.newton import assemble_newton, factorise_linear, merit, substitute_linear
from corekit_cone.residuals import measure_error

__all__ = ["copy_values", "first_release", "iterate_newton", "keep_better", "release"]

_HALVINGS = 5
_LEAST_SHIFT, _FIRST_SHIFT, _MOST_SHIFT = 1e-12, 1e-6, 1.0
"""ε of `newton`: as small as rounding allows, at first, and where Newton's method gives up."""
_SHIFT_FACTOR = 1e-3
"""The first ε is at most this part of the norm."""
_BEYOND, _INSIDE = 1e-9, 1e-7
"""How far a step goes beyond the edge of a cone, and how far inside a contact must be to have one before it."""
_PLATEAU = 1e-6
"""Relative growth of the norm that is none."""


@compiled
def copy_values(source: Array, target: Array) -> None:
    """Copy a vector."""
    for i in range(len(source)):
        target[i] = source[i]


@compiled
def keep_better(
    delassus: Array, free: Array, width: int, friction: Array, lower: Array, upper: Array, rho: Array,
    reference: Array, impulse: Array, velocity: Array, best_error: float, best: Array,
) -> float:  # fmt: skip
    """Compute w of λ anew, write λ to `best` if its error is the least, and return the least error."""
    relative_velocity(delassus, free, impulse, velocity)
    error = measure_error(width, friction, lower, upper, rho, reference, impulse, velocity)
    if error < best_error:
        copy_values(impulse, best)
        return error
    return best_error


@compiled
def release(width: int, friction: Array, lower: Array, upper: Array, impulse: Array) -> None:
    """Set λ = 0 where a contact would pull, and bounded rows to their bounds; friction may leave the cone."""
    for c in range(len(friction)):
        n = c * width
        if impulse[n] < 0.0:
            for i in range(n, n + width):
                impulse[i] = 0.0
    for b in range(len(lower)):
        i = len(friction) * width + b
        impulse[i] = min(max(impulse[i], lower[b]), upper[b])


@compiled
def first_release(width: int, friction: Array, impulse: Array, step: Array) -> float:
    """The fraction of a step at which the first contact lets go or leaves its cone; 0 if none does before its end."""
    fraction = 1.0
    for c in range(len(friction)):
        n, mu = c * width, friction[c]
        if not impulse[n] > 0.0:
            continue
        if step[n] < 0.0:
            fraction = min(fraction, -(1.0 + _BEYOND) * impulse[n] / step[n])
        # |λ_t + f·Δ_t|² = μ²·(λ_n + f·Δ_n)² of a contact inside of its cone
        quadratic, linear, constant = (
            (mu * step[n]) ** 2,
            mu * mu * impulse[n] * step[n],
            (mu * impulse[n]) ** 2,
        )
        inside = constant
        for a in range(n + 1, n + width):
            quadratic -= step[a] * step[a]
            linear -= impulse[a] * step[a]
            constant -= impulse[a] * impulse[a]
        if constant > _INSIDE * inside:
            root = linear * linear - quadratic * constant
            if root > 0.0:
                q = -linear - math.copysign(math.sqrt(root), linear)
                for end in (q / quadratic if quadratic != 0.0 else -1.0, constant / q if q != 0.0 else -1.0):
                    if end > 0.0:
                        fraction = min(fraction, (1.0 + _BEYOND) * end)
    return fraction if fraction < 1.0 else 0.0


@compiled
def _line_search(
    delassus: Array, free: Array, width: int, friction: Array, lower: Array, upper: Array, rho: Array,
    reference: Array, bar: float, impulse: Array, step: Array, trial: Array, velocity: Array, kept: Array,
) -> tuple[float, float]:  # fmt: skip
    """Write the best of some fractions of a step to `kept`; return its squared norm and its fraction.

    Args:
        bar: squared norm below which a fraction is good enough.
        trial, velocity: workspace, shape (R,).
    """
    fraction, smallest, smallest_fraction = 1.0, math.inf, 0.0
    for halving in range(_HALVINGS + 1):
        if halving == _HALVINGS:
            fraction = first_release(width, friction, impulse, step)
            if fraction == 0.0:
                break
        for i in range(len(free)):
            trial[i] = impulse[i] + fraction * step[i]
        for is_projected in (False, True):
            if is_projected:
                project_impulses(width, friction, lower, upper, trial)
            else:
                release(width, friction, lower, upper, trial)
            relative_velocity(delassus, free, trial, velocity)
            value = merit(delassus, width, friction, lower, upper, rho, reference, trial, velocity)
            if value < smallest:
                smallest, smallest_fraction = value, fraction
                copy_values(trial, kept)
            if value <= (1.0 - 1e-4 * fraction) * bar:
                return smallest, smallest_fraction
        fraction *= 0.5
    return smallest, smallest_fraction


@compiled
def iterate_newton(
    delassus: Array, free: Array, width: int, friction: Array, lower: Array, upper: Array, rho: Array,
    reference: Array, tolerance: float, limit: int, best_error: float, best: Array, impulse: Array, velocity: Array,
    index: IntArray, order: IntArray, work: Array, matrix: Array,
) -> tuple[int, float]:  # fmt: skip
    """Iterate from λ and w, and write the best impulses; return the number of iterations and the least error.

    Args:
        rho, reference: as in `residuals`. limit: of iterations.
        best: λ with the least error so far, shape (R,), written.
        index, order, work, matrix: workspace, shapes (R,), (R,), (6, R) at least, (R, R).
    """
    step, shifted, rhs, trial, trial_velocity, kept = work[0], work[1], work[2], work[3], work[4], work[5]
    now = merit(delassus, width, friction, lower, upper, rho, reference, impulse, velocity)
    # the norms before the last steps, of which the line search allows the largest
    earlier = (now, now, now, now)
    count, shift = 0, min(max(_SHIFT_FACTOR * math.sqrt(now), _LEAST_SHIFT), _FIRST_SHIFT)
    while count < limit:
        check_signals()
        count += 1
        unknowns = assemble_newton(
            delassus, width, friction, lower, upper, rho, impulse, velocity, shift, index, step, shifted, matrix,
            rhs,
        )  # fmt: skip
        if not factorise_linear(matrix, order, unknowns):
            break
        substitute_linear(matrix, order, rhs, unknowns)
        for k in range(unknowns):
            step[index[k]] = rhs[k]
        bar = max(now, earlier[0], earlier[1], earlier[2], earlier[3])
        smallest, fraction = _line_search(
            delassus, free, width, friction, lower, upper, rho, reference, bar, impulse, step, trial,
            trial_velocity, kept,
        )  # fmt: skip
        earlier = (now, earlier[0], earlier[1], earlier[2])
        if not smallest < (1.0 + _PLATEAU) * bar:
            if shift >= _MOST_SHIFT:
                break
            shift *= 100.0
            continue
        shift = max(0.1 * shift, _LEAST_SHIFT) if fraction == 1.0 else min(4.0 * shift, _MOST_SHIFT)
        now, before = smallest, best_error
        copy_values(kept, impulse)
        project_impulses(width, friction, lower, upper, kept)
        best_error = keep_better(
            delassus, free, width, friction, lower, upper, rho, reference, kept, velocity, best_error, best
        )
        relative_velocity(delassus, free, impulse, velocity)
        if best_error <= tolerance and (best_error <= 1e-5 * tolerance or not best_error < 0.1 * before):
            break
    return count, best_error
