"""Reference impulse solver: block Gauss–Seidel with projection onto the exact circular friction cone.

Contact by contact, with the rows w = W·λ + w₀ at the newest λ and D_tt the tangential 2 × 2 block,

    λ_n ← max(0, λ_n − w_n/W_nn)                                                       (1)
    λ_t ← projection of λ_t − w_t/‖W_tt‖∞ onto the disk of radius μ·λ_n                  (2)
    λ_b ← clip(λ_b − w_b/W_bb, lo, hi)                                                 (3)

The residuals are those of (1)–(3) with unit steps, in the physical problem. Slow for ill-conditioned W.
Source: Jourdan, Alart and Jean (1998), "A Gauss-Seidel like algorithm to solve frictional contact problems".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array
from corekit.data.status import Residuals, SolveInfo, Status
from corekit.roles.component import BuildContext, Memory
from corekit.roles.contact import ContactProblem, ImpulseSolver
from corekit.roles.options import option

__all__ = ["ProjectedGaussSeidel", "ProjectedGaussSeidelConfig"]


@frozen(kw_only=True)
class ProjectedGaussSeidelConfig:
    """Options of the reference impulse solver."""

    tolerance: float = option(1e-12, "asked residual", unit="m/s or N·s", above=0)
    max_iterations: int = option(5000, "sweeps over all contacts", low=1)


def _disk(vector: Array, radius: float) -> Array:
    """The closest point to a vector in a disk about the origin."""
    size = float(np.sqrt(vector @ vector))
    return vector if size <= radius else vector * (radius / size)


@final
class ProjectedGaussSeidel(ImpulseSolver):
    """Implements (1)–(3)."""

    def __init__(
        self, config: ProjectedGaussSeidelConfig | None = None, context: BuildContext | None = None
    ) -> None:
        self._config = config or ProjectedGaussSeidelConfig()

    def memory(self) -> Memory:
        return {}

    def remember(self, memory: Mapping[str, np.ndarray[Any, Any]]) -> None:
        pass

    def solve(self, problem: ContactProblem, impulse: Array) -> SolveInfo:
        matrix = problem.delassus()
        stiffness = _tangential_stiffness(problem, matrix)
        sweep, residuals = 0, _residuals(problem, matrix, impulse)
        while residuals.worst > self._config.tolerance and sweep < self._config.max_iterations:
            _sweep(problem, matrix, stiffness, impulse)
            sweep, residuals = sweep + 1, _residuals(problem, matrix, impulse)
        if not np.isfinite(impulse).all():
            status = Status.NON_FINITE
        else:
            done = residuals.worst <= self._config.tolerance
            status = Status.CONVERGED if done else Status.ITERATION_LIMIT
        return SolveInfo(status, sweep, residuals, "projected Gauss–Seidel")


def _tangential_stiffness(problem: ContactProblem, matrix: Array) -> list[float]:
    """‖W_tt‖∞ of every contact."""
    width = problem.width
    blocks = [slice(c * width + 1, (c + 1) * width) for c in range(problem.contacts)]
    return [float(np.abs(matrix[t, t]).sum(axis=1).max()) for t in blocks]


def _sweep(problem: ContactProblem, matrix: Array, stiffness: list[float], impulse: Array) -> None:
    width, free = problem.width, problem.free
    for c, stiff in enumerate(stiffness):
        n, t = c * width, slice(c * width + 1, (c + 1) * width)
        if matrix[n, n] > 0:
            speed = matrix[n] @ impulse + free[n]
            impulse[n] = max(0.0, impulse[n] - speed / matrix[n, n])
        if stiff > 0:
            slip = matrix[t] @ impulse + free[t]
            impulse[t] = _disk(impulse[t] - slip / stiff, problem.friction[c] * impulse[n])
    for b in range(problem.bounded):
        r = problem.contacts * width + b
        if matrix[r, r] > 0:
            speed = matrix[r] @ impulse + free[r]
            impulse[r] = min(max(impulse[r] - speed / matrix[r, r], problem.lower[b]), problem.upper[b])


def _residuals(problem: ContactProblem, matrix: Array, impulse: Array) -> Residuals:
    """Natural residuals of the physical problem."""
    m, width = problem.contacts, problem.width
    speed = matrix @ impulse + problem.free
    contact, slip = impulse[: m * width].reshape(m, width), speed[: m * width].reshape(m, width)
    normal = _largest(np.minimum(contact[:, 0], slip[:, 0]))
    bounded = impulse[m * width :]
    held = _largest(bounded - np.clip(bounded - speed[m * width :], problem.lower, problem.upper))
    friction, cone = 0.0, 0.0
    for c in range(m):
        tangential, radius = contact[c, 1:], problem.friction[c] * max(contact[c, 0], 0.0)
        friction = max(friction, _largest(tangential - _disk(tangential - slip[c, 1:], radius)))
        cone = max(cone, float(np.sqrt(tangential @ tangential)) - radius)
    return Residuals(normal=max(normal, held), friction=friction, cone=cone)


def _largest(values: Array) -> float:
    """Largest absolute value, 0 of none; nan stays nan."""
    return float(np.abs(values).max()) if len(values) else 0.0
