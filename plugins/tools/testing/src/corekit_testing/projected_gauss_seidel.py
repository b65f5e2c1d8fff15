"""Reference impulse solver: block Gauss–Seidel with projection onto the exact circular friction cone.

Contact by contact, with the rows w = W·λ + w₀ at the newest λ and W_tt the tangential 2 × 2 block,

    λ_n ← max(0, λ_n − w_n/W_nn)                                                       (1)
    λ_t ← projection of λ_t − w_t/‖W_tt‖∞ onto the disk of radius μ·λ_n                  (2)
    λ_b ← clip(λ_b − w_b/W_bb, lo, hi)                                                 (3)

It solves the problem in units of its own (`corekit.roles.contact_scale`). The residuals are those of (1)–(3) with unit
steps: in these units they decide, in the physical problem they are reported. Slow for ill-conditioned W.
Source: Jourdan, Alart and Jean (1998), "A Gauss-Seidel like algorithm to solve frictional contact problems".
"""

from __future__ import annotations

import math
from typing import final

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit.data.status import Residuals, SolveInfo, Status
from corekit.roles.component import BuildContext
from corekit.roles.contact import ImpulseSolver, StepProblem
from corekit.roles.contact_scale import ScaledContactProblem
from corekit_testing.projected_gauss_seidel_config import ProjectedGaussSeidelConfig

__all__ = ["ProjectedGaussSeidel", "ProjectedGaussSeidelConfig"]


@final
class ProjectedGaussSeidel(ImpulseSolver):
    """Implements (1)–(3)."""

    def __init__(
        self, config: ProjectedGaussSeidelConfig | None = None, context: BuildContext | None = None
    ) -> None:
        self._config = config or ProjectedGaussSeidelConfig()
        self._work, self._scaled = np.zeros(2), ScaledContactProblem()

    def solve(self, problem: StepProblem, impulse: Array) -> SolveInfo:
        tolerance, most = self._config.tolerance, self._config.max_iterations
        scaled, width = self._scaled, problem.rows_per_contact
        matrix = np.ascontiguousarray(problem.delassus())
        # sweeps compare, and what is not a number is neither larger nor smaller
        if not _is_finite(matrix, problem.free_velocity):
            impulse[:] = 0.0
            return SolveInfo(Status.NON_FINITE, 0, Residuals(normal=math.inf), "projected Gauss–Seidel")
        scaled.set_problem(problem, impulse)
        work = self._work[: width - 1]
        sweeps, error = _solve(
            scaled.delassus(), scaled.free_velocity, problem.friction, scaled.lower, scaled.upper,
            problem.contact_count, width, tolerance, most, impulse, work,
        )  # fmt: skip
        scaled.write_answer(impulse)
        residuals = Residuals(
            *_residuals(
                matrix, problem.free_velocity, problem.friction, problem.lower, problem.upper, problem.contact_count,
                width, impulse, work,
            )
        )  # fmt: skip
        if error <= tolerance:
            status = Status.CONVERGED
        else:
            status = Status.ITERATION_LIMIT if np.isfinite(impulse).all() else Status.NON_FINITE
        return SolveInfo(status, sweeps, residuals, "projected Gauss–Seidel")


@compiled
def _is_finite(matrix: Array, free: Array) -> bool:
    """Whether all of W and w₀ is finite."""
    for r in range(len(free)):
        if not math.isfinite(free[r]):
            return False
        for j in range(len(free)):
            if not math.isfinite(matrix[r, j]):
                return False
    return True


@compiled
def _solve(
    matrix: Array, free: Array, friction: Array, lower: Array, upper: Array, contacts: int, width: int,
    tolerance: float, most: int, impulse: Array, work: Array,
) -> tuple[int, float]:  # fmt: skip
    """Sweep until no residual is above the tolerance, `most` times at most; return how often, and the largest one.

    Args:
        work: room for the tangential impulses of a contact, (width − 1,).
    """
    sweeps = 0
    while True:
        rows, sliding, cone = _residuals(matrix, free, friction, lower, upper, contacts, width, impulse, work)
        # not `max`: what is not a number ends the loop
        worst = _larger(_larger(rows, sliding), cone)
        if not worst > tolerance or sweeps == most:
            return sweeps, worst
        _sweep(matrix, free, friction, lower, upper, contacts, width, impulse, work)
        sweeps += 1


@compiled
def _sweep(
    matrix: Array, free: Array, friction: Array, lower: Array, upper: Array, contacts: int, width: int,
    impulse: Array, work: Array,
) -> None:  # fmt: skip
    """Once (1) and (2) for every contact, then (3) for every bounded row; what nothing can move is left."""
    for c in range(contacts):
        n, end = c * width, (c + 1) * width
        if matrix[n, n] > 0.0:
            impulse[n] = max(0.0, impulse[n] - _speed(matrix, free, impulse, n) / matrix[n, n])
        stiffness = 0.0
        for i in range(n + 1, end):
            total = 0.0
            for j in range(n + 1, end):
                total += abs(matrix[i, j])
            stiffness = max(stiffness, total)
        if stiffness > 0.0:
            for i in range(n + 1, end):
                work[i - n - 1] = impulse[i] - _speed(matrix, free, impulse, i) / stiffness
            _into_disk(work, friction[c] * impulse[n])
            for i in range(n + 1, end):
                impulse[i] = work[i - n - 1]
    for b in range(len(lower)):
        r = contacts * width + b
        if matrix[r, r] > 0.0:
            wanted = impulse[r] - _speed(matrix, free, impulse, r) / matrix[r, r]
            impulse[r] = min(max(wanted, lower[b]), upper[b])


@compiled
def _residuals(
    matrix: Array, free: Array, friction: Array, lower: Array, upper: Array, contacts: int, width: int,
    impulse: Array, work: Array,
) -> tuple[float, float, float]:  # fmt: skip
    """By how much unit steps of (1) and (3), and of (2), change λ, and how far λ_t is outside of its disk."""
    rows = sliding = cone = 0.0
    for c in range(contacts):
        n = c * width
        rows = _larger(rows, abs(min(impulse[n], _speed(matrix, free, impulse, n))))
        radius, tangential = friction[c] * max(impulse[n], 0.0), impulse[n + 1 : n + width]
        for i in range(width - 1):
            work[i] = tangential[i] - _speed(matrix, free, impulse, n + 1 + i)
        _into_disk(work, radius)
        for i in range(width - 1):
            sliding = _larger(sliding, abs(tangential[i] - work[i]))
        cone = max(cone, _length(tangential) - radius)
    for b in range(len(lower)):
        r = contacts * width + b
        moved = min(max(impulse[r] - _speed(matrix, free, impulse, r), lower[b]), upper[b])
        rows = _larger(rows, abs(impulse[r] - moved))
    return rows, sliding, cone


@compiled
def _speed(matrix: Array, free: Array, impulse: Array, row: int) -> float:
    """w of a row."""
    total = free[row]
    for k in range(len(impulse)):
        total += matrix[row, k] * impulse[k]
    return total


@compiled
def _into_disk(vector: Array, radius: float) -> None:
    """Move a vector to the closest point in a disk about the origin."""
    size = _length(vector)
    if not size <= radius:
        for i in range(len(vector)):
            vector[i] *= radius / size


@compiled
def _length(vector: Array) -> float:
    square = 0.0
    for value in vector:
        square += value * value
    return math.sqrt(square)


@compiled
def _larger(worst: float, value: float) -> float:
    """The larger of two, where what is not a number stays."""
    return value if value > worst or value != value else worst
