"""The path of compliant contacts to Coulomb's law: ε of `compliant` becomes small.

**Path.** With λ⁰ = 0 the error is proportional to ε, which begins at 1. It is divided by a factor that grows where
Newton's method takes few iterations and shrinks where it fails; two solutions extrapolate to the next one. Bricks that
touch on all sides have many modes whose velocities differ by 10⁻⁶ m/s: the path sorts the coarse ones first.

**Jumps.** Coulomb's law is not monotone, so that the path may turn back. Gauss–Seidel sweeps over the compliant
contacts then lead to another solution at a slightly smaller ε, and there the path goes on.

**Multipliers.** Steps λ⁰ ← λ at the same ε remove its effect where modes are right (Hestenes, 1969, Multiplier and
gradient methods, J. Optim. Theory Appl. 4; here no convex program is behind it).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from corekit.data.arrays import Array
from corekit_cone.compliant import CompliantProblem, solve_compliant

__all__ = ["follow_path", "remove_compliance"]

Measure = Callable[[Array], float]
"""Returns the relative error of impulses; keeps those with the least."""
Relax = Callable[[Array, float], Array]
"""Returns impulses after sweeps at ε."""

_LIMIT, _LONG_LIMIT = 12, 40
"""Newton's iterations at an ε, and at the first one and after a jump."""
_FIRST, _LAST, _SMALL = 1.0, 1e-7, 1e-4
"""ε at first and at last, and from which on multipliers are tried."""
_FACTOR, _MOST, _LEAST = 10.0, 100.0, 1.1
"""Of ε: at first, at most, and where a jump is needed."""
_JUMP, _AFTER_JUMP = 1.1, 2.0
"""Of ε in a jump and after it."""
_FEW, _GROWTH = 4, 1.3
"""Iterations that are few, and the exponent by which the factor then grows; it shrinks to its root."""
_STEPS, _SLOW = 8, 0.5
"""Largest number of multiplier steps, and the part of the error that one must not leave."""


def remove_compliance(
    compliant: CompliantProblem,
    compliance: float,
    x: Array,
    impulse: Array,
    measure: Measure,
    tolerance: float,
) -> tuple[int, float]:
    """Make multiplier steps from λ and its x, while each halves the error; return Newton's iterations and the error."""
    count, error = 0, measure(impulse)
    for _ in range(_STEPS):
        solution = solve_compliant(compliant, compliance, x, impulse, _LIMIT)
        count += solution.iterations
        if not solution.is_found:
            break
        before, error = error, measure(solution.impulse)
        if error <= tolerance or error > _SLOW * before:
            break
        x, impulse = solution.x, solution.impulse
    return count, error


def follow_path(
    compliant: CompliantProblem, start: Array, relax: Relax, measure: Measure, tolerance: float, budget: int
) -> int:
    """Follow the path from impulses (R,) until their error meets the tolerance; return Newton's iterations.

    Args:
        budget: of these iterations.
    """
    nothing, count, factor = np.zeros_like(start), 0, 1.0
    impulse, compliance = start, _FIRST
    x, slope, here = start, nothing, _FIRST
    has_begun = False
    while count < budget:
        is_jump = factor < _LEAST
        compliance = max(here / (_JUMP if is_jump and has_begun else factor), _LAST)
        if is_jump:
            solution = solve_compliant(
                compliant, compliance, relax(impulse, compliance), nothing, _LONG_LIMIT
            )
        else:
            solution = solve_compliant(
                compliant, compliance, x + (compliance - here) * slope, nothing, _LIMIT
            )
        count += solution.iterations
        if not solution.is_found:
            if is_jump:
                break
            factor **= 0.5
            continue
        if is_jump:
            factor, slope = (_AFTER_JUMP if has_begun else _FACTOR), nothing
        else:
            slope = (solution.x - x) / (compliance - here)
            if solution.iterations <= _FEW:
                factor = min(factor**_GROWTH, _MOST)
        x, impulse, here, has_begun = solution.x, solution.impulse, compliance, True
        error = measure(impulse)
        if error > tolerance and compliance <= _SMALL:
            more, error = remove_compliance(compliant, compliance, x, impulse, measure, tolerance)
            count += more
        if error <= tolerance or compliance <= _LAST:
            break
    return count
