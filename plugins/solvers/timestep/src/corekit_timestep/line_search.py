"""How far to go along a Newton step.

Natural monotonicity: with A the matrix of the step Δ = −A⁻¹·ρ(v), a share s of it is taken if the next
step with the same matrix is shorter,

    |A⁻¹·ρ(v + s·Δ)| ≤ (1 − s/4)·|Δ|                                                    (1)

and s is halved otherwise. Unlike the residual, (1) does not change when equations are scaled: the stiff
stretch of a rod, whose residual is large while the velocity is nearly right, does not hold it back.
With impulses there is no such A⁻¹; there the residual must fall, impulses held,

    |ρ(v + s·Δ) − Jᵀλ| ≤ (1 − s/10)·|ρ(v) − Jᵀλ|                                         (2)

Source for (1): Deuflhard (2011), "Newton Methods for Nonlinear Problems", section 3.3.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from corekit.data.arrays import Array

__all__ = ["LEAST_SHARE", "Searched", "natural_search", "residual_search"]

LEAST_SHARE = 2.0**-10
"""Below this share of a Newton step no progress is possible: the step in time is too long."""


class Searched(NamedTuple):
    """How a search ended.

    share: of the step that was taken; 0 if none was good.
    size: left side of (1) or (2) there. largest: the largest entry of (1)'s there.
    available: whether the measure of (1) could be taken.
    """

    share: float
    size: float
    largest: float = 0.0
    available: bool = True


def natural_search(
    evaluate: Callable[[Array], bool],
    velocity: Array,
    change: Array,
    size: float,
    correction: Array,
    trial: Array,
    sizes: Callable[[Array], tuple[float, float]],
    *,
    least: float = LEAST_SHARE,
    enough: float = 0.0,
) -> Searched:
    """Find a share of `change` by (1); `trial` ends as v + s·Δ and `correction` as −A⁻¹·ρ(trial).

    Args:
        evaluate: writes `correction` for a velocity; False where impulses forbid it.
        velocity, change: v and Δ, shape (nv,) [m/s or rad/s]. size: |Δ|.
        correction, trial: written, shape (nv,).
        sizes: |·| of (1), and the largest entry.
        least: smallest share tried.
        enough: a correction up to this size is accepted in any case: it is rounding.
    """
    share = 1.0
    while share >= least:
        np.multiply(change, share, out=trial)
        trial += velocity
        if not evaluate(trial):
            return Searched(share, 0.0, available=False)
        found, largest = sizes(correction)
        if found <= max((1.0 - 0.25 * share) * size, enough):
            return Searched(share, found, largest)
        share *= 0.5
    return Searched(0.0, size)


def residual_search(
    residual: Callable[[Array], float],
    velocity: Array,
    change: Array,
    before: float,
    trial: Array,
    *,
    least: float = 2.0**-6,
) -> Searched:
    """Find a share of `change` by (2); `trial` ends as v + s·Δ. Share 1 where no share passes.

    Which contacts press may change along the way, so (2) can fail for every share although the whole step is
    good; then the whole step is taken and the next iteration judges it.

    Args:
        residual: of a velocity, impulses held [N·s or N·m·s].
        before: right side of (2) at share 0.
    """
    share, first = 1.0, 0.0
    while share >= least:
        np.multiply(change, share, out=trial)
        trial += velocity
        found = residual(trial)
        if found <= (1.0 - 0.1 * share) * before:
            return Searched(share, found)
        first = found if share == 1.0 else first
        share *= 0.5
    np.add(velocity, change, out=trial)
    return Searched(1.0, first)
