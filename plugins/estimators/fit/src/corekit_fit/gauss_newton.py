"""The estimator `gauss-newton`: natural curvature by the exact sensitivity of equilibria.

An equilibrium 0 = f(q, 0, u(x)) moves with x as K·δq = ∂f/∂u·δu, K = −∂f/∂q, held coordinates apart, so

    S = ∂p/∂x = J_p·K⁻¹·∂f/∂u                                                                       (1)
    (Sᵀ·S/σ² + 1/s²)·δx = Sᵀ·(p̂ − p)/σ² + (x̄ − x)/s²                                                (2)

with x̄ the values of the shape before and s how far from them x may be expected: the weak second term settles what the
markers do not show. A step that does not lower the loss ½‖p̂ − p‖²/σ² + ½‖x − x̄‖²/s² is halved.

Source: the implicit function theorem on (1) of `rest_shapes`; Nocedal, Wright (2006), section 10.3.
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
from corekit_fit.rest_shapes import Match, RestShapes, Shape, fit_shapes

__all__ = ["GaussNewton", "sensitivity"]


@final
class GaussNewton(Estimator):
    """Natural-curvature schedules from markers of a body that moves slowly.

    For models with `curvature-input` and `input-jacobian` that have no bilateral rows; contacts enter the
    equilibria, but not (1).
    """

    def __init__(self, config: GaussNewtonConfig, context: BuildContext | None = None) -> None:
        self._config = config

    def estimate(
        self, task: EstimationTask, progress: Callable[[Mapping[str, float]], None]
    ) -> tuple[Estimate, SolveInfo]:
        """Fit every shape in turn.

        Raises:
            ConfigError: markers, frames or channels that do not fit together.
            CompositionError: a model with bilateral rows.
            StaticsFailed: a shape that could not be found.
        """
        if task.model.description.constraint_count:
            raise CompositionError(
                f"body {task.body!r} has bilateral rows, which gauss-newton does not follow: use curvature-descent"
            )
        shapes = RestShapes(task, self._config)
        return fit_shapes(shapes, _Search(shapes, self._config), progress, "gauss-newton")


@final
class _Search:
    """Matches one shape by (2)."""

    def __init__(self, shapes: RestShapes, config: GaussNewtonConfig) -> None:
        self._shapes, self._config = shapes, config

    def __call__(self, before: Shape, place: Array, time: float) -> Match:
        shapes, config = self._shapes, self._config
        noise, spread = config.markers.deviation, config.prior_deviation
        seen = np.isfinite(place).ravel()
        now = shapes.at(before.x, before.state, time)
        loss = self._loss(now, before, place)
        for iteration in range(1, config.max_iterations + 1):
            S = sensitivity(shapes, now, time)[seen] / noise
            residual = (place - now.markers).ravel()[seen] / noise
            matrix = S.T @ S + np.eye(len(now.x)) / spread**2
            right = S.T @ residual + (before.x - now.x) / spread**2
            step = np.asarray(np.linalg.solve(matrix, right), dtype=np.float64)
            scale = max(float(np.abs(now.x).max()), 1.0)
            while True:
                trial, share = shapes.towards(now, step, time)
                reached = self._loss(trial, before, place)
                step = share * step
                small = float(np.abs(step).max()) <= config.tolerance * scale
                if reached <= loss or small:
                    break
                step = 0.5 * step
            if reached <= loss:
                now, loss = trial, reached
            if small:
                return Match(now, settled=True, iterations=iteration)
        return Match(now, settled=False, iterations=config.max_iterations)

    def _loss(self, shape: Shape, before: Shape, place: Array) -> float:
        off = np.where(np.isfinite(place), place - shape.markers, 0.0) / self._config.markers.deviation
        drift = (shape.x - before.x) / self._config.prior_deviation
        return 0.5 * float(np.sum(off**2) + np.sum(drift**2))


def sensitivity(shapes: RestShapes, shape: Shape, time: float) -> Array:
    """Equation (1), shape (3m, len(x)) [m per unit of x]."""
    model: Any = shapes.task.model
    description = shapes.task.model.description
    n = len(description.velocities)
    inputs = shapes.inputs(shape.x, time)
    slopes = np.zeros((n, description.input_size))
    model.compute_input_jacobian(shape.state, inputs, slopes)
    stiffness, damping = model.new_stiffness_and_damping()
    model.compute_stiffness_and_damping(shape.state, inputs, stiffness, damping)
    free = np.setdiff1d(np.arange(n), description.prescribed_velocity_index)
    moved = np.zeros((n, len(shapes.where)))
    moved[free] = np.linalg.solve(stiffness.dense()[np.ix_(free, free)], slopes[np.ix_(free, shapes.where)])
    return shapes.marker_rows(shape.state) @ moved
