"""Distribution of loads over all touching contacts, so that the force of each contact can be read.

Rank selection and pivoting return a vertex of the solution set: of equivalent contacts, few carry the load. The motion
is the same for every λ′ with W·λ′ = W·λ. Of those that also satisfy the contact laws at the velocities w of the
solution, this module computes the one with the least normal impulses. With w given the laws are linear,

    λ′_n ≥ 0 where w_n = 0,  else 0                                                        (1)
    β′_k ≥ 0 where d_k·w_t + γ = 0,  else 0                                                (2)
    μ·λ′_n − eᵀβ′ = 0 where γ > 0,  = σ ≥ 0 where γ = 0                                     (3)

and non-negative least squares solves them: minimise ‖X·(λ′ − λ)‖² + s·‖(3)‖² + ε·‖λ′_n‖² over λ′_n, β′, σ ≥ 0,
with W = Xᵀ·X, s the size of W and ε a small fraction of it.

Source: Lawson, Hanson (1974), "Solving Least Squares Problems", chapter 23.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls

from corekit.data.arrays import Array

__all__ = ["distribute_impulses"]

SMALL = 1e-10
"""ε relative to the trace of W, and so the relative effect of ε on w."""


def distribute_impulses(
    delassus: Array,
    friction: Array,
    directions: Array,
    impulse: Array,
    velocity: Array,
    tolerance: float,
    out: Array,
) -> bool:
    """Write the λ′ of (1)–(3); bounded rows keep their impulses. Return False if least squares fails.

    Args:
        delassus, friction, directions: W (R, R), μ (m,), D (m, width − 1, r).
        impulse, velocity: the solution λ [N·s] and its w [m/s], shape (R,).
        tolerance: speed below which a velocity is zero [m/s].
        out: λ′, shape (R,), written.
    """
    contacts, along, count = directions.shape
    width = along + 1
    columns: list[Array] = []
    cones: list[tuple[int, int, float]] = []  # row, column, factor of (3)
    normals: list[int] = []
    for c in range(contacts):
        row = c * width
        if velocity[row] > tolerance:
            continue
        unit = np.zeros(impulse.size)
        unit[row] = 1.0
        normals.append(len(columns))
        cones.append((c, len(columns), friction[c]))
        columns.append(unit)
        if not count:
            continue
        projected = directions[c].T @ velocity[row + 1 : row + width]
        slip = max(0.0, -float(projected.min()))
        for k in np.flatnonzero(projected + slip <= tolerance):
            shift = np.zeros(impulse.size)
            shift[row + 1 : row + width] = directions[c, :, k]
            cones.append((c, len(columns), -1.0))
            columns.append(shift)
        if slip <= tolerance:
            cones.append((c, len(columns), -1.0))
            columns.append(np.zeros(impulse.size))
    out[:] = impulse
    if not columns:
        return True
    values, vectors = np.linalg.eigh(delassus)
    root = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    size = float(np.trace(delassus)) + np.finfo(float).tiny
    bounded = impulse.copy()
    bounded[: contacts * width] = 0.0
    to_impulses = np.array(columns).T
    system = np.zeros((impulse.size + contacts + len(normals), len(columns)))
    target = np.zeros(len(system))
    system[: impulse.size] = root @ to_impulses
    target[: impulse.size] = root @ (impulse - bounded)
    for row, column, factor in cones if count else ():
        system[impulse.size + row, column] = np.sqrt(size) * factor
    for i, column in enumerate(normals):
        system[impulse.size + contacts + i, column] = np.sqrt(SMALL * size)
    try:
        solution, _ = nnls(system, target)
    except RuntimeError:  # its iteration limit
        return False
    out[:] = bounded + to_impulses @ solution
    return True
