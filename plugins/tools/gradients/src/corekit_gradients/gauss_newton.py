"""Least sums of squares within bounds by Gauss and Newton's method, with Jacobians by one sweep back a residual.

    ℓ(x) = Σ_i r_i(x)²,      J = ∂r/∂x,      δ: min |r + J·δ|² + μ·s²·|δ|²,      x + δ within bounds              (1)

with s the largest singular value of J and μ the damping of Levenberg and Marquardt, which falls where ℓ falls as (1)
promised and rises where it does not. J holds the curvature 2·Jᵀ·J of ℓ, which BFGS must gather from gradients, so that
fewer runs are needed where residuals are small or nearly linear.

Source: C. Kanzow, N. Yamashita, M. Fukushima, "Levenberg–Marquardt methods with strong local convergence properties
for solving nonlinear equations with convex constraints", Journal of Computational and Applied Mathematics 172 (2004).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from corekit.data.arrays import Array
from corekit_gradients.search import Minimum

__all__ = ["minimise_squares"]

Residuals = Callable[[Array], tuple[Array, Callable[[], Array]]]

_SUFFICIENT: Final = 1e-4
_FIRST: Final = 1e-4
_LEAST: Final = 1e-12
"""Damping at the start, and its least value: what rounding leaves of dependent columns."""


def minimise_squares(
    residuals: Residuals,
    start: Array,
    low: Array,
    high: Array,
    *,
    iterations: int,
    tolerance: float,
    progress: Callable[[int, int, float, float, Array], object] | None = None,
) -> Minimum:
    """Search from a start, of which every variable has the size 1.

    Args:
        residuals: x → r, shape (m,), not finite where there is none, and what returns J there, shape (m, n).
        start: shape (n,). low, high: bounds, infinite where there are none.
        iterations: at most so many.
        tolerance: of the projected gradient, and of what an iteration promises to gain, relative to ℓ at the start.
        progress: called after every iteration with its number, the calls, ℓ, the projected gradient, and x.
    """
    from scipy.optimize import lsq_linear

    x, calls, damping = np.clip(start, low, high), 1, _FIRST
    r, slopes = residuals(x)
    if not np.isfinite(r).all():
        blank = np.full(len(x), np.nan)
        return Minimum(x, np.nan, blank, 0, calls, False, "the start has no finite value", np.inf)
    value = float(r @ r)
    least = tolerance * max(value, np.finfo(float).tiny)
    reason, converged, k = f"{iterations} iterations were allowed", False, 0
    for k in range(iterations + 1):
        jacobian = slopes()
        gradient = 2.0 * r @ jacobian
        projected = np.clip(x - gradient, low, high) - x
        slope = float(np.abs(projected).max(initial=0.0))
        if progress is not None and k:
            progress(k, calls, value, slope, x)
        if slope <= least:
            reason, converged = "the gradient vanishes up to the tolerance", True
            break
        if k == iterations:
            break
        size, is_first, taken = float(np.linalg.norm(jacobian, 2)), True, None
        while taken is None:
            damped = np.vstack([jacobian, np.sqrt(damping) * size * np.eye(len(x))])
            right = np.concatenate([-r, np.zeros(len(x))])
            step = lsq_linear(damped, right, (low - x, high - x), method="bvls").x
            promised = value - float(np.sum((r + jacobian @ step) ** 2))
            if promised <= least:
                break
            there = np.clip(x + step, low, high)
            found, its_slopes = residuals(there)
            calls += 1
            share = (value - float(found @ found)) / promised
            if share > _SUFFICIENT:  # not of nan
                taken = there, found, its_slopes, share
            else:
                damping, is_first = 10.0 * max(damping, _FIRST), False
        if taken is None:
            reason = (
                "no step promises more than the tolerance" if is_first else "no lower value along its steps"
            )
            converged = is_first
            break
        x, r, slopes, share = taken
        value = float(r @ r)
        if share > 0.75:
            damping = max(0.1 * damping, _LEAST)
    free = float(np.linalg.norm(np.where(projected != 0.0, gradient, 0.0)))
    return Minimum(x, value, gradient, k, calls, converged, f"Gauss-Newton: {reason}", free)
