"""Loads shared over all contacts that touch, so that each one's force can be read out.

Rank selection and pivoting give an answer at a corner: of equivalent contacts few carry everything. The
motion is the same for every λ′ with W·λ′ = W·λ. Of those that also satisfy the contact laws at the velocities
w of the answer, the one of least normal impulses is wanted. With w given the laws are linear,

    λ′_n ≥ 0 where w_n = 0,  else 0                                                        (1)
    β′_k ≥ 0 where d_k·w_t + γ = 0,  else 0                                                (2)
    μ·λ′_n − eᵀβ′ = 0 where γ > 0,  = σ ≥ 0 where γ = 0                                     (3)

and non-negative least squares finds it: minimise ‖X·(λ′ − λ)‖² + s·‖(3)‖² + ε·‖λ′_n‖² over λ′_n, β′, σ ≥ 0,
with W = Xᵀ·X, s the size of W and ε a small share of it.

Source: Lawson, Hanson (1974), "Solving Least Squares Problems", chapter 23.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls

from corekit.data.arrays import Array

__all__ = ["spread"]

SMALL = 1e-10
"""ε over the trace of W: its effect on w is this small against that of the impulses."""


def spread(
    delassus: Array,
    friction: Array,
    directions: Array,
    impulse: Array,
    velocity: Array,
    tolerance: float,
    out: Array,
) -> bool:
    """Write the λ′ of (1)–(3); bounded rows keep their impulses. False if least squares did not end.

    Args:
        delassus, friction, directions: W (R, R), μ (m,), D (m, width − 1, r).
        impulse, velocity: the answer λ [N·s] and its w [m/s], shape (R,).
        tolerance: speeds below this count as zero [m/s].
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
        along_each = directions[c].T @ velocity[row + 1 : row + width]
        slack = max(0.0, -float(along_each.min()))
        for k in np.flatnonzero(along_each + slack <= tolerance):
            shift = np.zeros(impulse.size)
            shift[row + 1 : row + width] = directions[c, :, k]
            cones.append((c, len(columns), -1.0))
            columns.append(shift)
        if slack <= tolerance:
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
    map_ = np.array(columns).T
    system = np.zeros((impulse.size + contacts + len(normals), len(columns)))
    target = np.zeros(len(system))
    system[: impulse.size] = root @ map_
    target[: impulse.size] = root @ (impulse - bounded)
    for row, column, factor in cones if count else ():
        system[impulse.size + row, column] = np.sqrt(size) * factor
    for i, column in enumerate(normals):
        system[impulse.size + contacts + i, column] = np.sqrt(SMALL * size)
    try:
        shared, _ = nnls(system, target)
    except RuntimeError:  # its iteration limit
        return False
    out[:] = bounded + map_ @ shared
    return True
