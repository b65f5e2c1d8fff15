"""Newton's step for the slip speeds: γ(σ) is linear as long as the same rows are active.

With C_A·x = −b_A − μ·σ of the active rows, x = F·λ is the least of all,

    ∂x/∂σ = −C_A⁺·μ,      ∂γ_c/∂σ = −d_kᵀ·F_t,c·∂x/∂σ                                            (1)

with d_k the direction that opposes the slip of contact c. The zero of γ(σ) − σ on this piece is

    σ + Δ,      (I − ∂γ/∂σ)·Δ = γ(σ) − σ                                                         (2)

which is the solution if it lies on the piece: a few steps find it where the fixed-point iteration needs hundreds, or
goes round. Dependent rows have a pseudo-inverse.
"""

from __future__ import annotations

import numpy as np

from corekit.data.arrays import Array

__all__ = ["newton_shift"]

_ACTIVE = 1e-12
"""Multiplier that counts, relative to the largest."""
_DEPENDENT = 1e-9
"""Singular value of C_A that is rounding, relative to the largest."""


def newton_shift(
    rows: Array, multiplier: Array, bounds: tuple[Array, Array], root: Array, friction: Array, directions: Array,
    velocity: Array, shift: Array, slip: Array,
) -> Array:  # fmt: skip
    """The zero of (2), where the signs of σ allow it, shape (m,).

    Args:
        rows, multiplier: C and y of the last solution; those of contacts first, then one per bounded row.
        bounds: least and most of the multipliers.
        root: F, shape (R, rank). velocity: w, shape (R,).
        friction, directions: μ (m,) and D, as in `contact_rows`.
        shift, slip: σ and γ(σ), shape (m,).
    """
    contacts, along, choices = len(friction), directions.shape[1], directions.shape[2]
    count = np.where(friction > 0.0, choices, 1)
    owner = np.concatenate(
        [np.repeat(np.arange(contacts), count), np.full(len(multiplier) - count.sum(), -1)]
    )
    small = _ACTIVE * np.abs(multiplier).max(initial=0.0)
    active = (np.abs(multiplier) > small) & (multiplier > bounds[0]) & (multiplier < bounds[1])
    sliding = np.flatnonzero((friction > 0.0) & ((slip > 0.0) | (shift > 0.0)))
    tangents = np.arange(along) + 1 + sliding[:, None] * (along + 1)
    own = directions[np.zeros_like(sliding) if len(directions) == 1 else sliding]
    along_slip = np.einsum("sak,sa->sk", own, velocity[tangents]).argmin(axis=1)
    opposing = np.take_along_axis(own, along_slip[:, None, None], axis=2)[:, :, 0]
    changes = (owner[active, None] == sliding) * friction[sliding]
    try:
        response = np.linalg.lstsq(rows[active], -changes, rcond=_DEPENDENT)[0]
        slope = np.einsum("sa,sar->sr", opposing, root[tangents]) @ response
        slope[slip[sliding] > 0.0] *= -1.0
        slope[slip[sliding] <= 0.0] = 0.0
        residual = slip[sliding] - shift[sliding]
        step = np.linalg.lstsq(np.eye(len(sliding)) - slope, residual, rcond=_ACTIVE)[0]
    except np.linalg.LinAlgError:  # its iterations do not converge
        return slip.copy()
    found = shift.copy()
    found[sliding] = np.maximum(shift[sliding] + step, 0.0)
    return found
