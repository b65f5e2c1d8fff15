"""The estimator `gauss-newton`: natural curvature by the exact sensitivity of equilibria.

An equilibrium 0 = f(q, 0, u(x)) changes with x by K·δq = ∂f/∂u·δu, K = −∂f/∂q, without prescribed coordinates, so

    S = ∂p/∂x = J_p·K⁻¹·∂f/∂u                                                                       (1)
    (Sᵀ·S/σ² + 1/s²)·δx = Sᵀ·(p̂ − p)/σ² + (x̄ − x)/s²                                                (2)

with x̄ the values of the previous shape and s the standard deviation from them. The weak second term determines
directions that markers do not show. A step that does not decrease the loss ½‖p̂ − p‖²/σ² + ½‖x − x̄‖²/s² is halved.

Source: the implicit function theorem on (1) of `equilibrium_shapes`; Nocedal, Wright (2006), section 10.3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.status import SolveInfo
from corekit.errors import CompositionError
from corekit.roles.component import BuildContext
from corekit.roles.estimator import Estimate, EstimationTask, Estimator
from corekit_fit.config import GaussNewtonConfig
from corekit_fit.equilibrium_shapes import EquilibriumShapes, Match, Shape, fit_shapes

__all__ = ["GaussNewton", "sensitivity"]


@final
class GaussNewton(Estimator):
    """Natural curvature over time from markers of a slow body.

    For models with `curvature-input` and `input-jacobian`, without constraints. Contacts enter the equilibria, but
    not (1).
    """

    def __init__(self, config: GaussNewtonConfig, context: BuildContext | None = None) -> None:
        self._config = config

    def estimate(
        self, task: EstimationTask, progress: Callable[[Mapping[str, float]], None]
    ) -> tuple[Estimate, SolveInfo]:
        """Fit all shapes in order.

        Raises:
            ConfigError: inconsistent markers, frames or channels.
            CompositionError: a model with constraints.
            StaticsFailed: a shape without an equilibrium.
        """
        if task.model.description.constraint_count:
            raise CompositionError(
                f"body {task.body!r} has constraints, which gauss-newton does not support: use curvature-descent"
            )
        shapes = EquilibriumShapes(task, self._config)
        return fit_shapes(shapes, _GaussNewtonFit(shapes, self._config), progress, "gauss-newton")


@final
class _GaussNewtonFit:
    """Fit of one shape by (2)."""

    def __init__(self, shapes: EquilibriumShapes, config: GaussNewtonConfig) -> None:
        self._shapes, self._config = shapes, config

    def __call__(self, previous: Shape, position: Array, time: float) -> Match:
        shapes, config = self._shapes, self._config
        noise, deviation = config.markers.deviation, config.prior_deviation
        observed = np.isfinite(position).ravel()
        current = shapes.solve(previous.x, previous.state, time)
        loss = self._loss(current, previous, position)
        for iteration in range(1, config.max_iterations + 1):
            S = sensitivity(shapes, current, time)[observed] / noise
            residual = (position - current.markers).ravel()[observed] / noise
            matrix = S.T @ S + np.eye(len(current.x)) / deviation**2
            rhs = S.T @ residual + (previous.x - current.x) / deviation**2
            step = np.asarray(np.linalg.solve(matrix, rhs), dtype=np.float64)
            scale = max(float(np.abs(current.x).max()), 1.0)
            while True:
                trial, fraction = shapes.step_towards(current, step, time)
                trial_loss = self._loss(trial, previous, position)
                step = fraction * step
                is_small = float(np.abs(step).max()) <= config.tolerance * scale
                if trial_loss <= loss or is_small:
                    break
                step = 0.5 * step
            if trial_loss <= loss:
                current, loss = trial, trial_loss
            if is_small:
                return Match(current, converged=True, iterations=iteration)
        return Match(current, converged=False, iterations=config.max_iterations)

    def _loss(self, shape: Shape, previous: Shape, position: Array) -> float:
        error = (
            np.where(np.isfinite(position), position - shape.markers, 0.0) / self._config.markers.deviation
        )
        drift = (shape.x - previous.x) / self._config.prior_deviation
        return 0.5 * float(np.sum(error**2) + np.sum(drift**2))


def sensitivity(shapes: EquilibriumShapes, shape: Shape, time: float) -> Array:
    """Return S of (1), shape (3m, len(x)) [m per unit of x]."""
    model: Any = shapes.task.model
    description = shapes.task.model.description
    n = len(description.velocities)
    inputs = shapes.inputs(shape.x, time)
    input_jacobian = np.zeros((n, description.input_size))
    model.compute_input_jacobian(shape.state, inputs, input_jacobian)
    stiffness, damping = model.new_stiffness_and_damping()
    model.compute_stiffness_and_damping(shape.state, inputs, stiffness, damping)
    free = np.setdiff1d(np.arange(n), description.prescribed_velocity_index)
    coordinate_rate = np.zeros((n, len(shapes.index)))
    coordinate_rate[free] = np.linalg.solve(
        stiffness.dense()[np.ix_(free, free)], input_jacobian[np.ix_(free, shapes.index)]
    )
    return shapes.marker_jacobian(shape.state) @ coordinate_rate
