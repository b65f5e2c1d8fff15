"""Stage T: a compliance, with which redundant contacts share loads as soft pads do, and how its effect is removed.

The loads of a body that is pinched along a line or a face are not unique. Where the impulses differ, so do the bounds
of friction, and so does the motion. Pads that are a little soft, alike at every contact, decide: with a compliance e of
every row (contacts alike, other rows relative to their mobility),

    w = W·λ + w₀ + e·(λ − λ⁰),   λ⁰ = 0                                                    (1)

has one answer, and as e → 0 this becomes the answer of rigid contacts with the least norm of λ, if contacts do not
slide; sliding ones keep what (1) says, that the pads' compressions fit a motion of the bodies. The compliance lets
contacts approach at the speed e·(λ − λ⁰). The modes of the answer determine that without it (`mode_warm_start`). Where
e was too large for them, a smaller one follows, and at last the proximal point iteration: its λ⁰ is the last answer, so
that its fixed points solve (1) with e = 0.

The CUSP paper adds ε to the normal diagonal of the scaled matrix,

    w_n = (A·z + b)_n + ε·(z_n − z⁰_n)                                                     (2)

which is a compliance e = ε/(r·c) of normal rows alone, r and c the scales of row and column. In the paper z⁰ = 0: of
redundant contacts the least loads are the answer, and where the guess has others, a solver that starts there goes along
a valley whose floor rises by ε alone. With z⁰ the guess there is no such way: the answer is near the guess.

Source: eq. (16) of the CUSP paper for (2), without z⁰. Rockafellar (1976), "Monotone operators and the proximal point
algorithm".
"""

from __future__ import annotations

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray

__all__ = [
    "DECREASE",
    "LEAST_WEIGHT",
    "add_compliance",
    "add_scaled_compliance",
    "induced_speed",
    "unit_compliance",
]

DECREASE, LEAST_WEIGHT = 1e-2, 1e-9
"""Factor of the compliance from one correction to the next, and where it ends."""


@compiled
def unit_compliance(mobility: Array, contacts: int, width: int, soft: Array) -> None:
    """Write the compliance of every row for a weight of 1: the least mobility of a contact, a bounded row's own.

    Args:
        mobility: of contacts and bounded rows, shape (m + p,).
        soft: shape (R,), written.
    """
    least = mobility[0] if contacts else 1.0
    for c in range(contacts):
        least = min(least, mobility[c])
    for i in range(contacts * width):
        soft[i] = least
    for b in range(len(soft) - contacts * width):
        soft[contacts * width + b] = mobility[contacts + b]


@compiled
def add_compliance(
    delassus: Array, free: Array, rows: IntArray, soft: Array, weight: float, centre: Array
) -> None:
    """Add (1) to the problem of the kept rows, in place.

    Args:
        delassus, free: W and w₀ of the kept rows.
        rows: index of each kept row in the whole problem, shape (R′,).
        soft, centre: compliance for a weight of 1, and λ⁰, of all rows, shape (R,).
    """
    for i in range(rows.size):
        own = weight * soft[rows[i]]
        delassus[i, i] += own
        free[i] -= own * centre[rows[i]]


@compiled
def add_scaled_compliance(
    matrix: Array, vector: Array, column_scale: Array, rows: IntArray, contacts: int, variables: int, width: int,
    weight: float, centre: Array,
) -> None:  # fmt: skip
    """Add (2) to the scaled LCP, in place; contact i's normal variable is i·variables, its normal row i·width."""
    for i in range(contacts):
        normal = i * variables
        matrix[normal, normal] += weight
        vector[normal] -= weight * centre[rows[i * width]] / column_scale[normal]


@compiled
def induced_speed(
    impulse: Array, centre: Array, soft: Array, rows: IntArray, row_scale: Array, column_scale: Array, contacts: int,
    variables: int, width: int, weight: float, scaled: bool,
) -> float:  # fmt: skip
    """The largest normal velocity due to the compliance, max e·|λ_n − λ⁰_n|."""
    largest = 0.0
    for i in range(contacts):
        row, normal = rows[i * width], i * variables
        own = 1.0 / (row_scale[normal] * column_scale[normal]) if scaled else soft[row]
        largest = max(largest, weight * own * abs(impulse[row] - centre[row]))
    return largest
