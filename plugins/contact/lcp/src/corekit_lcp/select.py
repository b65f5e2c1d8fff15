"""Stage Q: inertial rank selection.

With A_step = L·Lᵀ, the whitened normal rows Y = L⁻¹·J_nᵀ are columns, one a contact. Column-pivoted QR
Y·S·P = Q·R, with weights S = diag(s), orders contacts by what they add to those before;

    keep contact P_k while |R_kk| > ε·|R_11|,
    s_c = a_c·(0.3 + 0.7·w₀,c/min w₀)/(1 + max(gap_c, 0)/gap_ref)                          (1)

among those that approach, w₀,c < 0, with a_c = 1 for contacts that carry load in the guess and 1/20 for the others.
Of several equivalent contacts these weights keep the loaded one, then the closest one with the largest approach
velocity. The load then need not move between near duplicates, which is hard for iterative solvers, and of duplicates
the one with the largest approach velocity is the active one. The factor L is not needed: Yᵀ·Y = W_nn, the normal
block of the Delassus matrix, so the Cholesky factorisation of S·W_nn·S with diagonal pivoting has the same pivots,

    d_c = s_c²·W_cc − Σ_k l_ck²,     R_kk² = max_c d_c,                                    (2)

for any structure of the step matrix and of the constraints eliminated from it.

Leaving a contact out is harmless only if it is a *non-negative* combination of kept ones; linear dependence is not
enough (n kept, −n left out). Therefore the solver checks the contacts that it left out after the solve. Of those that
would penetrate, w_c < 0, it adds back the ones that (1) chooses among them with the weights s_c = −w_c, which is the
worst of each group of near duplicates.

Source: eq. (14)–(15) of the CUSP paper; there without weights and without the check.
"""

from __future__ import annotations

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, BoolArray, IntArray

__all__ = ["add_back", "add_touching", "keep_all", "keep_closing", "select_contacts"]

UNLOADED = 0.05
"""Weight of contacts without load in the guess, beside 1 for the others."""

SLOW = 0.3
"""Weight of contacts that hardly approach, beside 1 for the fastest."""


@compiled
def select_contacts(
    delassus: Array,
    free: Array,
    guess: Array,
    gap: Array,
    width: int,
    tolerance: float,
    reference_gap: float,
    factor: Array,
    remaining: Array,
    weight: Array,
    dropped: BoolArray,
    kept: IntArray,
) -> int:
    """Choose contacts by (1)–(2).

    Args:
        delassus, free, guess: W (R, R), w₀ (R,) and the guessed λ (R,), contact c's normal row at c·width.
        gap: shape (m,) [m].
        tolerance: ε. reference_gap: gap_ref [m].
        factor: workspace, columns l_k as rows, shape (m, m).
        remaining, weight: workspace, d and s, shape (m,).
        dropped: shape (m,), written: whether a contact is left out.
        kept: shape (m,), written: the chosen contacts in ascending order.
    Returns:
        The number of kept contacts.
    """
    fastest = 0.0
    for c in range(gap.size):
        fastest = min(fastest, free[c * width])
    for c in range(gap.size):
        load = 1.0 if guess[c * width] > 0.0 else UNLOADED
        weight[c], dropped[c] = 0.0, True
        if free[c * width] < 0.0:
            load *= SLOW + (1.0 - SLOW) * free[c * width] / fastest
            weight[c] = load / (1.0 + max(gap[c], 0.0) / reference_gap)
    select_independent(delassus, width, tolerance, factor, remaining, weight, dropped)
    return list_kept(dropped, kept)


@compiled
def keep_all(dropped: BoolArray, kept: IntArray) -> int:
    """Choose every contact."""
    dropped[:] = False
    return list_kept(dropped, kept)


@compiled
def keep_closing(free: Array, width: int, dropped: BoolArray, kept: IntArray) -> int:
    """Choose the contacts that approach, w₀,c < 0."""
    for c in range(dropped.size):
        dropped[c] = not free[c * width] < 0.0
    return list_kept(dropped, kept)


@compiled
def add_touching(velocity: Array, width: int, limit: float, dropped: BoolArray, kept: IntArray) -> int:
    """Add the contacts that were left out and touch at the solution, w_n ≤ limit; return the number of kept ones."""
    for c in range(dropped.size):
        if dropped[c] and not velocity[c * width] > limit:
            dropped[c] = False
    return list_kept(dropped, kept)


@compiled
def add_back(
    delassus: Array,
    velocity: Array,
    width: int,
    limit: float,
    tolerance: float,
    factor: Array,
    remaining: Array,
    weight: Array,
    dropped: BoolArray,
    kept: IntArray,
) -> int:
    """Add back contacts that were left out and would penetrate, w_n < −limit.

    Args:
        velocity: w of all rows at the solution, shape (R,) [m/s].
        limit: [m/s]. tolerance: ε of the choice among them.
        delassus, width, factor, remaining, weight, dropped, kept: as in `select_contacts`; the last two
            are updated.
    Returns:
        The number of kept contacts.
    """
    for c in range(dropped.size):
        speed = velocity[c * width]
        weight[c] = -speed if dropped[c] and speed < -limit else 0.0
    select_independent(delassus, width, tolerance, factor, remaining, weight, dropped)
    return list_kept(dropped, kept)


@compiled
def select_independent(
    delassus: Array,
    width: int,
    tolerance: float,
    factor: Array,
    remaining: Array,
    weight: Array,
    dropped: BoolArray,
) -> None:
    """Clear `dropped` for the contacts that (1) chooses with the given weights; those of weight 0 are no candidates."""
    contacts = dropped.size
    for c in range(contacts):
        remaining[c] = weight[c] ** 2 * delassus[c * width, c * width]
    first = 0.0
    for k in range(contacts):
        pivot = -1
        for c in range(contacts):
            if dropped[c] and weight[c] > 0.0 and (pivot < 0 or remaining[c] > remaining[pivot]):
                pivot = c
        if pivot < 0:
            return
        if k == 0:
            first = remaining[pivot]
        if not remaining[pivot] > tolerance**2 * first:
            return
        dropped[pivot] = False
        root = np.sqrt(remaining[pivot])
        for c in range(contacts):
            if weight[c] > 0.0:
                entry = weight[c] * delassus[c * width, pivot * width] * weight[pivot]
                for j in range(k):
                    entry -= factor[j, c] * factor[j, pivot]
                factor[k, c] = entry / root
                remaining[c] -= factor[k, c] ** 2


@compiled
def list_kept(dropped: BoolArray, kept: IntArray) -> int:
    """Write the indices of the contacts that are not dropped, and return their number."""
    count = 0
    for c in range(dropped.size):
        if not dropped[c]:
            kept[count] = c
            count += 1
    return count
