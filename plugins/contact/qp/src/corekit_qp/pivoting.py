"""The exact law of friction as one linear complementarity problem, for where the search for slip speeds goes round.

With λ = C·z of the variables (λ_n, β₁…β_r, σ) of every contact, λ_t = Σ β_k·d_k,

    w_n ≥ 0 ⊥ λ_n,     d_kᵀ·w_t + σ ≥ 0 ⊥ β_k,     μ·λ_n − Σ β_k ≥ 0 ⊥ σ                               (1)

has the solutions of the program whose shifts σ are its own slip speeds. Contacts that nearly repeat each other slide by
the little in which they differ, and the load between them turns over within as little of σ: to the search nothing, or
everything. Complementary pivots change one variable at a time, and do not mind.

Source: Stewart, Trinkle (1996), An implicit time-stepping scheme for rigid body dynamics with inelastic collisions and
Coulomb friction, Int. J. Numer. Methods Eng. 39.
"""

from __future__ import annotations

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit.data.status import SolveInfo
from corekit.roles.problem import LCPProblem, LCPSolver, PhysicalContactProblem

__all__ = ["solve_by_pivots"]


@compiled
def _assemble(
    delassus: Array, free: Array, friction: Array, directions: Array, matrix: Array, vector: Array
) -> None:
    """Write (1) into a zeroed matrix (n, n) and vector (n,), n = m·(r + 2)."""
    contacts, along, choices = len(friction), directions.shape[1], directions.shape[2]
    block = choices + 2
    for i in range(contacts):
        for k in range(choices + 1):
            row = i * block + k
            # the row of the normal, or a direction of the tangents
            for a in range(1 if k == 0 else along):
                r = i * (along + 1) + (0 if k == 0 else a + 1)
                own = 1.0 if k == 0 else directions[i, a, k - 1]
                vector[row] += own * free[r]
                for j in range(contacts):
                    c = j * (along + 1)
                    matrix[row, j * block] += own * delassus[r, c]
                    for m in range(choices):
                        total = 0.0
                        for b in range(along):
                            total += directions[j, b, m] * delassus[r, c + 1 + b]
                        matrix[row, j * block + 1 + m] += own * total
        cone = i * block + choices + 1
        matrix[cone, i * block] = friction[i]
        for k in range(choices):
            matrix[i * block + 1 + k, cone], matrix[cone, i * block + 1 + k] = 1.0, -1.0


def solve_by_pivots(
    solver: LCPSolver, delassus: Array, free: Array, friction: Array, directions: Array, tolerance: float,
    impulse: Array,
) -> SolveInfo:  # fmt: skip
    """Write the impulses of contacts alone, without bounded rows, shape (R,).

    Args:
        solver: of (1).
        delassus, free: W (R, R) and w₀ (R,). friction: μ, shape (m,).
        directions: D as in `contact_rows`.
        tolerance: natural residual of (1).
    """
    contacts, (_, along, choices) = len(friction), directions.shape
    own = np.ascontiguousarray(np.broadcast_to(directions, (contacts, along, choices)))
    size = contacts * (choices + 2)
    matrix, vector, z, ones = np.zeros((size, size)), np.zeros(size), np.zeros(size), np.ones(size)
    delassus = np.ascontiguousarray(delassus)
    _assemble(delassus, free, friction, own, matrix, vector)
    behind = PhysicalContactProblem(delassus, free, friction, own, np.zeros(0), np.zeros(0))
    info = solver.solve(LCPProblem(matrix, vector, ones, ones, tolerance, behind), z)
    parts = z.reshape(contacts, choices + 2)
    answer = impulse.reshape(contacts, along + 1)
    answer[:, 0] = parts[:, 0]
    answer[:, 1:] = np.einsum("cak,ck->ca", own, parts[:, 1:-1])
    answer[parts[:, 0] <= 0.0] = 0.0  # rounding of β is all there is where nothing pushes
    return info
