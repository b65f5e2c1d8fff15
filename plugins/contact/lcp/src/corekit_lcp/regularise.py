"""Stage T: a compliance on the normal rows, and how its effect is measured and removed.

After scaling, ε is added to the diagonal entry of every normal impulse,

    w_n = (A·z + b)_n + ε·z_n.                                                             (1)

It distributes a load over redundant contacts with the least norm. It also allows contacts to approach at the speed
ε·z_n/r, r the row scale. A further solve with b_n − ε·z_n, z_n the last solution, removes this (the proximal point
iteration): its fixed points solve (1) with ε = 0.

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
    """The largest normal velocity due to the compliance, max ε·|z_n − centre|/r [m/s]."""
    largest = 0.0
    for i in range(centre.size):
        normal = i * variables
        largest = max(largest, weight * abs(z[normal] - centre[i]) / row_scale[normal])
    return largest


@compiled
def move_centre(vector: Array, centre: Array, z: Array, variables: int, weight: float) -> None:
    """Set up the next proximal point problem in place: b_n ← b_n − ε·(z_n − centre), centre ← z_n.

    Args:
        vector: b, shape (n,).
        centre: the part removed so far, in units of z, shape (k,); zeros at first.
        z: the last solution, shape (n,).
    """
    for i in range(centre.size):
        normal = i * variables
        vector[normal] -= weight * (z[normal] - centre[i])
        centre[i] = z[normal]
