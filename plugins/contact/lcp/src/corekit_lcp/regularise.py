"""Stage T: a compliance on the normal rows, and how its effect is measured and taken out again.

After scaling, ε is added to the diagonal entry of every normal impulse,

    w_n = (A·z + b)_n + ε·z_n.                                                             (1)

Of all splits of a load over redundant contacts it picks the one of least norm. It also lets contacts
approach at the speed ε·z_n/r, r the row scale. Solving again with b_n − ε·z_n, z_n the last answer,
takes that out (the proximal point iteration): its fixed points solve (1) with ε = 0.

Source: eq. (16) of the CUSP paper, without the correction. Rockafellar (1976), "Monotone operators and the
proximal point algorithm".
"""

from __future__ import annotations

from corekit.compiled import compiled
from corekit.data.arrays import Array

__all__ = ["add_compliance", "induced_speed", "move_centre"]


@compiled
def add_compliance(matrix: Array, contacts: int, variables: int, weight: float) -> None:
    """Add ε to the normal diagonal, in place; contact i's normal variable is i·variables."""
    for i in range(contacts):
        matrix[i * variables, i * variables] += weight


@compiled
def induced_speed(z: Array, centre: Array, row_scale: Array, variables: int, weight: float) -> float:
    """max ε·|z_n − centre|/r: the largest normal speed that the compliance lets through [m/s]."""
    largest = 0.0
    for i in range(centre.size):
        normal = i * variables
        largest = max(largest, weight * abs(z[normal] - centre[i]) / row_scale[normal])
    return largest


@compiled
def move_centre(vector: Array, centre: Array, z: Array, variables: int, weight: float) -> None:
    """b_n ← b_n − ε·(z_n − centre), centre ← z_n: the next proximal point problem, in place.

    Args:
        vector: b, shape (n,).
        centre: what has been taken out so far, in units of z, shape (k,); zeros at first.
        z: the last answer, shape (n,).
    """
    for i in range(centre.size):
        normal = i * variables
        vector[normal] -= weight * (z[normal] - centre[i])
        centre[i] = z[normal]
